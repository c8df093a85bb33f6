/* SPDX-License-Identifier: Apache-2.0 */
/* The words of a command; see command_words.h. */
#include "harness/command_words.h"

#include <assert.h>
#include <stdio.h>

void command_words_add(struct command_words *words, const char *word)
{
    assert(words->n < COMMAND_MAX_WORDS);
    words->items[words->n++] = (char *)(uintptr_t)word; /* execv() writes to none */
}

void command_words_option(struct command_words *words, const char *name, const char *value)
{
    if (!value)
        return;
    command_words_add(words, name);
    command_words_add(words, value);
}

void command_words_number(struct command_words *words, const char *name, int64_t value)
{
    if (value <= 0)
        return;
    assert(words->n_numbers < COMMAND_MAX_NUMBERS);
    char *text = words->numbers[words->n_numbers++];
    snprintf(text, sizeof words->numbers[0], "%lld", (long long)value);
    command_words_option(words, name, text);
}
