/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Text of a foreign provider as JSON. It may be anything, and JSON wants UTF-8: where it is none, every byte beyond ASCII
 * becomes '?'.
 */
#ifndef TOPKCTS_JSON_TEXT_H
#define TOPKCTS_JSON_TEXT_H

#include <jansson.h>

/* The caller's; NULL only for want of memory. */
json_t *json_text(const char *text);

#endif
