/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Counts relative to topk. See count_choice.h.
 */
#include "cases/count_choice.h"

#include <stddef.h>

const char *const count_choices[] = {"none",        "one",     "three",    "ten",       "half",
                                     "all-but-one", "exactly", "one-more", "whole-row", NULL};

int32_t count_choice(enum count_choice choice, int32_t topk, int32_t length)
{
    int64_t count = 0;
    switch (choice) {
    case COUNT_NONE: count = 0; break;
    case COUNT_ONE: count = 1; break;
    case COUNT_THREE: count = 3; break;
    case COUNT_TEN: count = 10; break;
    case COUNT_HALF: count = topk / 2; break;
    case COUNT_ALL_BUT_ONE: count = topk - 1; break;
    case COUNT_EXACTLY: count = topk; break;
    case COUNT_ONE_MORE: count = (int64_t)topk + 1; break;
    case COUNT_WHOLE_ROW: count = length; break;
    }
    return count < length ? (int32_t)count : length;
}
