/* SPDX-License-Identifier: Apache-2.0 */
/* Streaks and rates over the nights; see history.h. The interval is E. B. Wilson's (JASA 22, 1927). */
#include "harness/history.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { TOLD_ROWS = 20, REMEMBERED_RUNS = 100 };

/* The newest verdicts of one series, newest first. */
struct past {
    enum verdict verdicts[REMEMBERED_RUNS];
    const char  *expected; /* of the newest */
    size_t       n;
    struct arena *arena;
};

static enum status take_past(void *payload, int n_columns, const char *const *names, const char *const *values,
                             struct error *err)
{
    struct past *past = payload;
    (void)n_columns;
    (void)names;
    (void)err;
    if (past->n == 0)
        past->expected = arena_text(past->arena, values[1]);
    if (past->n < REMEMBERED_RUNS)
        past->verdicts[past->n++] = verdict_from_text(values[0]);
    return STATUS_OK;
}

/* The last attempts, judged ones only, of the series that a row belongs to. */
static enum status recall(const struct runner *runner, size_t row, struct store *store, struct past *past,
                          struct error *err)
{
    const struct target *target = &runner->plan->targets[runner->plan->rows[row].target];
    const char *parameters[] = {runner->plan->rows[row].concrete->name, target->record.device_id,
                                target->description.name, target->description.origin};
    *past = (struct past){.arena = &runner->plan->arena};
    /* A row is its case's last attempt when no later one is in the same run and build. */
    return store_query(store,
                       "SELECT verdict, expected FROM (SELECT verdict, expected, started_at, run, attempt, "
                       "max(attempt) OVER (PARTITION BY run, provider_digest, input_hash) AS last FROM results WHERE "
                       "case_name = ?1 AND device_id = ?2 AND provider = ?3 AND origin = ?4 AND verdict NOT IN "
                       "('notrun', 'skip', 'error') AND run NOT IN (SELECT run FROM runs WHERE excluded)) WHERE attempt = last ORDER BY started_at DESC, run DESC LIMIT 100",
                       parameters, sizeof parameters / sizeof parameters[0], take_past, past, err);
}

void history_interval(int64_t k, int64_t n, double *low, double *high)
{
    const double z = 1.959964;
    if (n <= 0) {
        *low = 0;
        *high = 1;
        return;
    }
    double share = (double)k / (double)n, z2n = z * z / (double)n;
    double middle = (share + z2n / 2) / (1 + z2n);
    double half = z / (1 + z2n) * sqrt(share * (1 - share) / (double)n + z2n / (4 * (double)n));
    *low = k == 0 ? 0 : middle - half;
    *high = k == n ? 1 : middle + half;
}

static const char *tell_streak(const struct runner *runner, size_t row, const struct past *past)
{
    size_t streak = 0;
    while (streak < past->n && past->verdicts[streak] == VERDICT_XPASS)
        streak++;
    return arena_format(&runner->plan->arena, "xpass  %s: %s passed %zu run%s in a row although %s expects otherwise%s",
                        runner->plan->rows[row].concrete->name,
                        runner->plan->targets[runner->plan->rows[row].target].description.name, streak,
                        streak == 1 ? "" : "s", past->expected ? past->expected : "an expectation",
                        streak >= 3 ? "; time to remove the expectation" : "");
}

static const char *tell_rate(const struct runner *runner, size_t row, const struct past *past)
{
    int64_t flaky = 0;
    double  low, high;
    for (size_t i = 0; i < past->n; i++)
        flaky += past->verdicts[i] == VERDICT_FLAKY;
    history_interval(flaky, (int64_t)past->n, &low, &high);
    return arena_format(&runner->plan->arena, "flaky  %s: %s in %lld of %zu runs (%.0f %%, 95 %% interval %.0f to %.0f %%)",
                        runner->plan->rows[row].concrete->name,
                        runner->plan->targets[runner->plan->rows[row].target].description.name, (long long)flaky,
                        past->n, past->n ? 100.0 * (double)flaky / (double)past->n : 0.0, 100 * low, 100 * high);
}

enum status history_tell(struct summary *summary, struct store *store, struct error *err)
{
    const struct runner *runner = summary->runner;
    size_t               told = 0;
    for (size_t row = 0; row < runner->plan->n_rows && told < TOLD_ROWS; row++) {
        enum verdict verdict = runner->outcomes[row].verdict;
        struct past  past;
        if (verdict != VERDICT_XPASS && verdict != VERDICT_FLAKY)
            continue;
        if (recall(runner, row, store, &past, err))
            return err->status;
        summary_note(summary, verdict == VERDICT_XPASS ? tell_streak(runner, row, &past) : tell_rate(runner, row, &past));
        told++;
    }
    return STATUS_OK;
}
