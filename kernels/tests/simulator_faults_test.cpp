/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every planted kernel fault shows on its small input under some schedule; the correct kernel it derives from and v1 do
 * not, under any. The expectation comes from reference/.
 */
#include "kernels/faulty/small_topk.h"

extern "C" {
#include "reference/reference.h"
}

#include <criterion/criterion.h>
#include <cstdio>
#include <cstring>
#include <vector>

SMALL_TOPK_FAULT(nothing, "small-topk", nullptr, "the correct kernel, as a control");

extern "C" {
extern const struct builtin_provider builtin_v1;
extern const struct builtin_provider builtin_faulty_hang_divergent_barrier;
extern const struct builtin_provider builtin_faulty_lds_limit_total;
extern const struct builtin_provider builtin_faulty_output_order_atomic;
extern const struct builtin_provider builtin_faulty_overflow_clipped;
extern const struct builtin_provider builtin_faulty_race_missing_barrier;
extern const struct builtin_provider builtin_faulty_race_plain_increment;
extern const struct builtin_provider builtin_faulty_race_scan_reuse;
extern const struct builtin_provider builtin_faulty_stale_state_counter;
extern const struct builtin_provider builtin_faulty_tie_atomic;
extern const struct builtin_provider builtin_faulty_wave_size_64;
}

namespace {

constexpr int n_orders = 5;

/* Round-robin, reversed, three random seeds. */
struct simulator_schedule schedule_number(int i, int wave_size)
{
    struct simulator_schedule schedule = {wave_size, SIMULATOR_RANDOM, static_cast<uint64_t>(i)};
    if (i == 0) schedule.order = SIMULATOR_ROUND_ROBIN;
    if (i == 1) schedule.order = SIMULATOR_REVERSED;
    return schedule;
}

/* `batch` rows of `n` scores: bits(row, i). */
struct input {
    int                   n, batch, topk;
    std::vector<uint32_t> scores;
    std::vector<int32_t>  lengths, pages, expected;
};

template <typename Bits> input make_input(int n, int batch, int topk, Bits bits)
{
    input in = {n, batch, topk, {}, {}, {}, {}};
    for (int row = 0; row < batch; row++) {
        for (int i = 0; i < n; i++) in.scores.push_back(bits(row, i));
        in.lengths.push_back(n);
        in.expected.resize(static_cast<size_t>(row + 1) * topk);
        const struct reference_rules rules = {};
        cr_assert_eq(reference_select(&in.scores[static_cast<size_t>(row) * n], n, topk, &rules,
                                      &in.expected[static_cast<size_t>(row) * topk]),
                     topk);
    }
    in.pages.resize(static_cast<size_t>(batch) * n);
    for (size_t i = 0; i < in.pages.size(); i++) in.pages[i] = static_cast<int32_t>(i % n);
    return in;
}

/* 0: the expected bytes; 1: other bytes; 2: an error, whose text goes to err. */
int outcome(const builtin_provider &builtin, const input &in, char *err, size_t err_size)
{
    std::vector<int32_t> raw(in.expected.size(), 0x7abcdef1);
    topk_problem         problem = {};
    problem.scores = reinterpret_cast<const float *>(in.scores.data());
    problem.seq_lens = in.lengths.data();
    problem.page_table = in.pages.data();
    problem.raw_indices = raw.data();
    problem.score_stride = in.n;
    problem.page_table_stride = in.n;
    problem.batch = in.batch;
    problem.topk = in.topk;
    problem.page_size = 1;
    problem.max_seq_len = in.n;
    void *self = nullptr;
    cr_assert_eq(builtin.provider->open(0, &self, err, err_size), 0);
    const int status = builtin.provider->launch(self, &problem, err, err_size);
    builtin.provider->close(self);
    if (status != 0) return 2;
    return raw == in.expected ? 0 : 1;
}

/* How often each outcome occurs over all schedules of a wave size. */
struct tally {
    int  count[3];
    char err[300];
};

tally over_schedules(const builtin_provider &builtin, const input &in, int wave_size)
{
    tally t = {};
    for (int i = 0; i < n_orders; i++) {
        const struct simulator_schedule schedule = schedule_number(i, wave_size);
        simulator_set_schedule(&schedule);
        t.count[outcome(builtin, in, t.err, sizeof t.err)]++;
    }
    return t;
}

/* The controls are right everywhere; the fault has these many wrong answers or errors at least, and of its kind. */
void expect_caught(const builtin_provider &builtin, const char *kind, const input &in, int outcome_number)
{
    cr_assert_str_eq(builtin.fault, kind);
    int caught = 0;
    for (const int wave_size : {32, 64}) {
        for (const builtin_provider *const control : {&builtin_v1, &builtin_faulty_nothing}) {
            const tally t = over_schedules(*control, in, wave_size);
            cr_assert_eq(t.count[0], n_orders, "%s, wave %d: %d wrong, %d errors: %s", control->provider->name,
                         wave_size, t.count[1], t.count[2], t.err);
        }
        caught += over_schedules(builtin, in, wave_size).count[outcome_number];
    }
    cr_assert_gt(caught, 0, "%s was never caught", builtin.provider->name);
}

uint32_t random_bits(int row, int i)
{
    uint64_t x = (static_cast<uint64_t>(row) * 1000003u + static_cast<uint64_t>(i) + 1) * 0x9e3779b97f4a7c15u;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return static_cast<uint32_t>(x >> 32);
}

/* Positive finite scores over many exponents. */
uint32_t random_score(int row, int i) { return random_bits(row, i) % 0x7f800000u; }

} // namespace

Test(simulator_faults, missing_barrier_gives_wrong_answers)
{
    expect_caught(builtin_faulty_race_missing_barrier, "race", make_input(700, 1, 100, random_score), 1);
}

Test(simulator_faults, reused_scan_sums_give_wrong_answers)
{
    expect_caught(builtin_faulty_race_scan_reuse, "race", make_input(700, 1, 300, random_score), 1);
}

Test(simulator_faults, plain_increments_get_lost)
{
    expect_caught(builtin_faulty_race_plain_increment, "race", make_input(1500, 1, 200, random_score), 1);
}

Test(simulator_faults, code_for_64_lanes_is_right_with_64_and_wrong_with_32)
{
    const input in = make_input(700, 2, 64, random_score);
    expect_caught(builtin_faulty_wave_size_64, "wave-size", in, 1);
    cr_assert_eq(over_schedules(builtin_faulty_wave_size_64, in, 64).count[0], n_orders);
    cr_assert_eq(over_schedules(builtin_faulty_wave_size_64, in, 32).count[1], n_orders);
}

Test(simulator_faults, ties_by_arrival_depend_on_the_schedule)
{
    const input in = make_input(600, 1, 50, [](int, int i) { return i % 7 == 0 ? 0x40000000u : 0x3f800000u; });
    expect_caught(builtin_faulty_tie_atomic, "tie-break", in, 1);
    const struct simulator_schedule ascending = schedule_number(0, 32);
    simulator_set_schedule(&ascending);
    char err[300];
    cr_assert_eq(outcome(builtin_faulty_tie_atomic, in, err, sizeof err), 0, "ascending arrival hides the fault");
}

Test(simulator_faults, clipped_candidates_are_missed_past_the_capacity)
{
    /* All in one first digit, the best last. */
    const auto rising = [](int, int i) { return 0x3f800000u + static_cast<uint32_t>(i); };
    expect_caught(builtin_faulty_overflow_clipped, "overflow", make_input(SMALL_TOPK_CANDIDATES + 1, 1, 8, rising), 1);
    const input fits = make_input(SMALL_TOPK_CANDIDATES, 1, 8, rising);
    cr_assert_eq(over_schedules(builtin_faulty_overflow_clipped, fits, 32).count[0], n_orders);
}

Test(simulator_faults, a_stale_counter_spoils_the_second_row)
{
    expect_caught(builtin_faulty_stale_state_counter, "stale-state", make_input(400, 2, 100, random_score), 1);
    const input alone = make_input(400, 1, 100, random_score);
    cr_assert_eq(over_schedules(builtin_faulty_stale_state_counter, alone, 32).count[0], n_orders);
}

Test(simulator_faults, lds_over_the_total_is_refused)
{
    const input in = make_input(100, 1, 10, random_score);
    expect_caught(builtin_faulty_lds_limit_total, "lds-limit", in, 2);
    const tally t = over_schedules(builtin_faulty_lds_limit_total, in, 64);
    cr_assert_eq(t.count[2], n_orders);
    cr_assert_not_null(strstr(t.err, "more than the 65536 of a workgroup"), "%s", t.err);
}

Test(simulator_faults, a_barrier_that_some_threads_skip_is_an_error)
{
    const input in = make_input(600, 1, 10, random_score);
    expect_caught(builtin_faulty_hang_divergent_barrier, "hang", in, 2);
    cr_assert_eq(over_schedules(builtin_faulty_hang_divergent_barrier, in, 32).count[2], n_orders);
    const input whole_tiles = make_input(512, 1, 10, random_score);
    cr_assert_eq(over_schedules(builtin_faulty_hang_divergent_barrier, whole_tiles, 32).count[0], n_orders);
}

Test(simulator_faults, slots_by_arrival_depend_on_the_schedule)
{
    expect_caught(builtin_faulty_output_order_atomic, "output-order", make_input(600, 1, 50, random_score), 1);
}

/* Whatever goes wrong in one launch, the next one starts clean. */
Test(simulator_faults, a_failed_launch_leaves_nothing_behind)
{
    const input in = make_input(600, 1, 10, random_score);
    char        err[300];
    for (int i = 0; i < n_orders; i++) {
        const struct simulator_schedule schedule = schedule_number(i, 32);
        simulator_set_schedule(&schedule);
        cr_assert_eq(outcome(builtin_faulty_hang_divergent_barrier, in, err, sizeof err), 2);
        cr_assert_eq(outcome(builtin_v1, in, err, sizeof err), 0);
    }
}
