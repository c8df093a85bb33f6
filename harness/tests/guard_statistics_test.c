/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The arithmetic of a guard on given numbers. Expected intervals were worked out by an implementation of its own, in
 * Python with NumPy (the same generator, medians by numpy.median over drawn indices), and are kept here as literals;
 * scipy.stats.bootstrap with other random numbers gives 0.985 to 1.03 and 1.28 to 1.34 for the first two.
 */
#include "harness/guard_statistics.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

TestSuite(guard_statistics, .timeout = 60);

enum { N_ROUNDS = 12 };
static const double level[] = {1.02, 0.99, 1.01, 1.05, 1.00, 0.98, 1.03, 1.01, 1.04, 0.97, 1.02, 1.00};
static const double slower[] = {1.31, 1.28, 1.33, 1.29, 1.35, 1.27, 1.30, 1.32, 1.36, 1.26, 1.34, 1.30, 1.29};

static void expect_interval(const double *const *ratios, size_t n_cases, size_t n_rounds, uint64_t seed, double ratio,
                            double low, double high)
{
    struct guard_interval found;
    struct error          err = {0};
    cr_assert_eq(guard_bootstrap(ratios, n_cases, n_rounds, seed, &found, &err), STATUS_OK, "%s", err.text);
    cr_expect_float_eq(found.ratio, ratio, 1e-11, "ratio %.12f", found.ratio);
    cr_expect_float_eq(found.low, low, 1e-11, "low %.12f", found.low);
    cr_expect_float_eq(found.high, high, 1e-11, "high %.12f", found.high);
}

Test(guard_statistics, median_of_few_and_of_many)
{
    double one[] = {3}, even[] = {4, 1, 3, 2}, odd[] = {9, -1, 5};
    cr_expect_eq(guard_median(NULL, 0), 0);
    cr_expect_eq(guard_median(one, 1), 3);
    cr_expect_eq(guard_median(even, 4), 2.5);
    cr_expect_eq(guard_median(odd, 3), 5);
}

Test(guard_statistics, intervals_are_those_of_an_independent_implementation)
{
    const double *first[] = {level}, *second[] = {slower}, *both[] = {level, slower};
    expect_interval(first, 1, N_ROUNDS, 1, 1.010000000000, 0.989949493661, 1.030000000000);
    expect_interval(second, 1, 13, 7, 1.300000000000, 1.280000000000, 1.340000000000);
    expect_interval(both, 2, N_ROUNDS, 42, 1.148059373741, 1.125653890587, 1.169102219654);
}

Test(guard_statistics, rounds_that_agree_leave_no_doubt)
{
    static const double same[] = {1.25, 1.25, 1.25, 1.25};
    const double       *one[] = {same};
    expect_interval(one, 1, 4, 1, 1.25, 1.25, 1.25);
    expect_interval(one, 1, 1, 1, 1.25, 1.25, 1.25);
}

Test(guard_statistics, the_order_of_a_round_is_a_palindrome_and_fair)
{
    int seen[2 * N_GUARD_ARMS][N_GUARD_ARMS] = {{0}};
    for (int32_t round = 0; round < 6; round++) {
        enum guard_arm order[2 * N_GUARD_ARMS];
        guard_order(round, order);
        int sum[N_GUARD_ARMS] = {0};
        for (int place = 0; place < 2 * N_GUARD_ARMS; place++) {
            cr_expect_eq(order[place], order[2 * N_GUARD_ARMS - 1 - place]);
            sum[order[place]] += place;
            seen[place][order[place]]++;
        }
        /* A machine that gets slower evenly adds the same to each. */
        for (int arm = 0; arm < N_GUARD_ARMS; arm++)
            cr_expect_eq(sum[arm], 2 * N_GUARD_ARMS - 1);
    }
    for (int place = 0; place < 2 * N_GUARD_ARMS; place++)
        for (int arm = 0; arm < N_GUARD_ARMS; arm++)
            cr_expect_eq(seen[place][arm], 2, "arm %d stands %d times at place %d", arm, seen[place][arm], place);
}

Test(guard_statistics, verdicts)
{
    static const struct {
        struct guard_interval candidate, control;
        double                percent;
        bool                  same_build;
        enum guard_verdict    verdict;
        const char           *says;
    } table[] = {
        {{1.30, 1.28, 1.32}, {1.00, 0.99, 1.01}, 10, false, GUARD_EXCEEDS, "beyond the limit of 10 %"},
        {{1.02, 1.01, 1.03}, {1.00, 0.99, 1.01}, 10, false, GUARD_WITHIN, "at most the limit"},
        {{0.70, 0.69, 0.71}, {1.00, 0.99, 1.01}, 10, false, GUARD_WITHIN, "at most the limit"},
        {{1.10, 1.08, 1.12}, {1.00, 0.99, 1.01}, 10, false, GUARD_CANNOT_TELL, "lies between"},
        /* Right at the limit: reached is kept. */
        {{1.10, 1.09, 1.10}, {1.00, 0.99, 1.01}, 10, false, GUARD_WITHIN, "at most"},
        {{1.12, 1.10, 1.14}, {1.00, 0.99, 1.01}, 10, false, GUARD_CANNOT_TELL, "lies between"},
        /* The control alone decides that nothing can be told, on either side. */
        {{1.30, 1.28, 1.32}, {1.05, 0.99, 1.11}, 10, false, GUARD_CANNOT_TELL, "does not resolve 10 %"},
        {{1.00, 0.99, 1.01}, {0.95, 0.90, 1.00}, 10, false, GUARD_CANNOT_TELL, "does not resolve 10 %"},
        /* A bias of 2 % must be cleared, too. */
        {{1.115, 1.11, 1.12}, {1.03, 1.02, 1.04}, 10, false, GUARD_CANNOT_TELL, "bias"},
        {{1.13, 1.125, 1.14}, {1.03, 1.02, 1.04}, 10, false, GUARD_EXCEEDS, "beyond"},
        {{1.09, 1.085, 1.095}, {0.97, 0.96, 0.98}, 10, false, GUARD_CANNOT_TELL, "bias"},
        {{1.06, 1.05, 1.07}, {0.97, 0.96, 0.98}, 10, false, GUARD_WITHIN, "at most"},
        /* The same build never exceeds. */
        {{1.30, 1.28, 1.32}, {1.00, 0.99, 1.01}, 10, true, GUARD_CANNOT_TELL, "noise by definition"},
        {{1.00, 0.99, 1.01}, {1.00, 0.99, 1.01}, 10, true, GUARD_WITHIN, "noise by definition"},
    };
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        char reason[300];
        cr_expect_eq(guard_judge(&table[i].candidate, &table[i].control, table[i].percent, table[i].same_build, reason,
                                 sizeof reason),
                     table[i].verdict, "row %zu: %s", i, reason);
        cr_expect_not_null(strstr(reason, table[i].says), "row %zu: no '%s' in '%s'", i, table[i].says, reason);
    }
    struct guard_interval lopsided = {1.0, 0.8, 1.01};
    cr_expect_float_eq(guard_resolution(&lopsided), 25, 1e-9);
}

/* ---- sessions that are made up ------------------------------------------------------------------------------------ */

static uint64_t made_state;

static double uniform(void)
{
    uint64_t z = made_state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return ((double)((z ^ (z >> 31)) >> 11) + 0.5) / 9007199254740992.0;
}

static double normal(double deviation)
{
    return deviation * sqrt(-2 * log(uniform())) * cos(6.283185307179586 * uniform());
}

struct made_machine {
    double process, launch; /* standard deviations of a process's habit and of a launch, relative */
    double burst;           /* how often a leg is disturbed; by 30 % then */
    double drift;           /* from the first round to the last, and as much within a round as that allows */
};

/* One session of 24 rounds with 15 samples a leg, and its verdict. */
static enum guard_verdict made_session(const struct made_machine *machine, double true_ratio, double percent)
{
    enum { ROUNDS = 24, SAMPLES = 15 };
    double                ratios[ROUNDS], control[ROUNDS];
    const double         *candidate_of[] = {ratios}, *control_of[] = {control};
    struct guard_interval candidate, copy;
    struct error          err = {0};
    char                  reason[300];
    for (int32_t round = 0; round < ROUNDS; round++) {
        double         samples[N_GUARD_ARMS][2 * SAMPLES], habit[N_GUARD_ARMS], median[N_GUARD_ARMS];
        size_t         n[N_GUARD_ARMS] = {0};
        enum guard_arm order[2 * N_GUARD_ARMS];
        guard_order(round, order);
        for (int arm = 0; arm < N_GUARD_ARMS; arm++)
            habit[arm] = normal(machine->process);
        for (int place = 0; place < 2 * N_GUARD_ARMS; place++) {
            double when = (round + place / (2.0 * N_GUARD_ARMS)) / ROUNDS;
            double disturbed = uniform() < machine->burst ? 1.3 : 1;
            for (int i = 0; i < SAMPLES; i++)
                samples[order[place]][n[order[place]]++] = (order[place] == GUARD_CANDIDATE ? true_ratio : 1) * disturbed *
                                                           exp(habit[order[place]] + normal(machine->launch) +
                                                               machine->drift * when);
        }
        for (int arm = 0; arm < N_GUARD_ARMS; arm++)
            median[arm] = guard_median(samples[arm], n[arm]);
        ratios[round] = median[GUARD_CANDIDATE] / median[GUARD_BASE];
        control[round] = median[GUARD_COPY] / median[GUARD_BASE];
    }
    cr_assert_eq(guard_bootstrap(candidate_of, 1, ROUNDS, 1, &candidate, &err), STATUS_OK);
    cr_assert_eq(guard_bootstrap(control_of, 1, ROUNDS, 1, &copy, &err), STATUS_OK);
    return guard_judge(&candidate, &copy, percent, false, reason, sizeof reason);
}

static void count(const struct made_machine *machine, double true_ratio, double percent, int n[GUARD_FAILED + 1])
{
    enum { SESSIONS = 200 };
    memset(n, 0, (GUARD_FAILED + 1) * sizeof *n);
    made_state = 2026;
    for (int i = 0; i < SESSIONS; i++)
        n[made_session(machine, true_ratio, percent)]++;
    cr_log_info("ratio %g, limit %g %%: %d within, %d exceed, %d cannot tell\n", true_ratio, percent, n[GUARD_WITHIN],
                n[GUARD_EXCEEDS], n[GUARD_CANNOT_TELL]);
}

static const struct made_machine quiet = {.process = 0.01, .launch = 0.02, .burst = 0.02, .drift = 0.10};
static const struct made_machine restless = {.process = 0.05, .launch = 0.10, .burst = 0.30, .drift = 0.30};

/* 200 sessions each. Rates that are stated in reports/README.md. */
Test(guard_statistics, equal_kernels_raise_no_alarm)
{
    int n[GUARD_FAILED + 1];
    count(&quiet, 1.0, 5, n);
    cr_expect_eq(n[GUARD_EXCEEDS], 0);
    cr_expect_geq(n[GUARD_WITHIN], 195, "%d", n[GUARD_WITHIN]);
    count(&restless, 1.0, 5, n);
    cr_expect_eq(n[GUARD_EXCEEDS], 0);
    cr_expect_geq(n[GUARD_CANNOT_TELL], 195, "a machine this restless tells nothing at 5 %%: %d", n[GUARD_CANNOT_TELL]);
}

Test(guard_statistics, right_at_the_limit_alarms_are_as_rare_as_stated)
{
    int n[GUARD_FAILED + 1];
    count(&quiet, 1.05, 5, n);
    cr_expect_leq(n[GUARD_EXCEEDS], 4, "%d of 200", n[GUARD_EXCEEDS]);
    cr_expect_leq(n[GUARD_WITHIN], 4, "%d of 200", n[GUARD_WITHIN]);
}

Test(guard_statistics, what_is_slower_is_found)
{
    int n[GUARD_FAILED + 1];
    count(&quiet, 1.10, 5, n);
    cr_expect_geq(n[GUARD_EXCEEDS], 195, "%d of 200", n[GUARD_EXCEEDS]);
    count(&quiet, 1.30, 10, n);
    cr_expect_eq(n[GUARD_EXCEEDS], 200, "%d of 200", n[GUARD_EXCEEDS]);
    count(&restless, 1.30, 10, n);
    cr_expect_eq(n[GUARD_WITHIN], 0, "%d of 200", n[GUARD_WITHIN]);
}
