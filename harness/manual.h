/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The man page topkcts(1), made from the command table, the option table and the lists of verdicts and exit codes, so
 * that it says what the program does. `make` writes it to build/topkcts.1; `man -l build/topkcts.1` shows it.
 */
#ifndef TOPKCTS_MANUAL_H
#define TOPKCTS_MANUAL_H

#include <stdio.h>

/* Writes the page as roff with the man macros. */
void manual_print(FILE *file);

#endif
