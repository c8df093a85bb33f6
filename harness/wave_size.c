/* SPDX-License-Identifier: Apache-2.0 */
/* Failures that depend on the wave size; see wave_size.h. */
#include "harness/wave_size.h"

#include <stdio.h>

enum { WAVE_SIZES = 2, TURNS = 4, TEXT_BYTES = 128 };

static bool misses(const struct launch_result *result, enum topk_level promised)
{
    return !result->safe || (promised >= TOPK_LEVEL_VALID && !result->valid) ||
           (promised == TOPK_LEVEL_CANONICAL && !result->canonical);
}

/* Launches with each wave size in turn; true when one fails every time and the other never. */
static bool one_fails(struct judging *judging, char text[TEXT_BYTES])
{
    static const int sizes[WAVE_SIZES] = {32, 64};
    int              failed[WAVE_SIZES] = {0};
    for (int32_t turn = 0; turn < WAVE_SIZES * TURNS; turn++) {
        struct launch_form   form = {.what = "with each wave size", .turn = turn, .pattern = turn};
        struct launch_result result;
        if (launch_run(judging->bench, &judging->problem, &form, &result, &judging->error) || !result.ran ||
            result.device_fault)
            return false;
        failed[result.arrangement] += misses(&result, judging->judgement->promised);
    }
    for (int a = 0; a < WAVE_SIZES; a++) {
        if (failed[a] != TURNS || failed[1 - a] != 0)
            continue;
        snprintf(text, TEXT_BYTES, "wave-size: wave %d fails each of %d times, wave %d never", sizes[a], TURNS, sizes[1 - a]);
        return true;
    }
    return false;
}

/* Compares the problem's own first outputs with both. */
static bool they_differ(struct judging *judging, char text[TEXT_BYTES])
{
    const char *what = NULL;
    if (judging->missed != TOPK_LEVEL_INVARIANT || !judging->has_first[0] || !judging->has_first[1])
        return false;
    for (int32_t row = 0; row < judging->problem.inputs.batch; row++) {
        int32_t            topk = judging->problem.inputs.topk;
        struct row_outputs a = launch_row(&judging->first[0], topk, row), b = launch_row(&judging->first[1], topk, row);
        if (!judging_same_bytes(&judging->problem, row, a, b))
            what = what ? what : "other bytes";
        if (!judging_same_set(judging, row, a, b))
            what = "another set";
    }
    if (what)
        snprintf(text, TEXT_BYTES, "wave-size: wave 64 gives %s than wave 32, each the same every time", what);
    return what != NULL;
}

void wave_size_name(struct judging *judging)
{
    struct judgement *judgement = judging->judgement;
    char              text[TEXT_BYTES], reason[JUDGE_REASON_BYTES];
    if (judging->bench->device->n_arrangements != WAVE_SIZES)
        return;
    /* Launched alone, a problem of a sequence is another problem. */
    if (!they_differ(judging, text) && (judging->n_steps || !one_fails(judging, text)))
        return;
    snprintf(reason, sizeof reason, "%s", judgement->reason);
    snprintf(judgement->reason, sizeof judgement->reason, "%s (--device sim:32, sim:64): %s", text, reason);
}
