/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The words of a command, for the program to start itself again: a worker, a side of a gate. Starts as {0}; items ends with
 * NULL, as execv() wants it. Words are not copied and must outlive it.
 */
#ifndef TOPKCTS_COMMAND_WORDS_H
#define TOPKCTS_COMMAND_WORDS_H

#include "harness/option.h"

#include <stddef.h>
#include <stdint.h>

/* Room for all patterns, for three options that may be given again and again, and for the rest. */
enum { COMMAND_MAX_WORDS = OPTION_MAX_WORDS + 6 * OPTION_MAX_LIST + 32, COMMAND_MAX_NUMBERS = 8 };

struct command_words {
    char  *items[COMMAND_MAX_WORDS + 1];
    size_t n;
    char   numbers[COMMAND_MAX_NUMBERS][24];
    size_t n_numbers;
};

void command_words_add(struct command_words *words, const char *word);

/* Name and value; neither when the value is NULL. */
void command_words_option(struct command_words *words, const char *name, const char *value);

/* The same for a number, which is left out when it is not above 0. */
void command_words_number(struct command_words *words, const char *name, int64_t value);

#endif
