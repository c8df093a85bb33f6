/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Planted faults of the selection: each is wrong on the input that fits it, and right beside it, so that it plants one
 * defect and no other. The correct host top-k that they share is right on all of it.
 */
#include "kernels/tests/host_problem.h"

#include "kernels/faulty/host_topk.h"

#define LAUNCHES 3

/* Asserts that some launch is wrong / every launch is right on the problem, which it closes. */
#define CAUGHT(identifier, host) check(find("faulty/" identifier), host, 0, LAUNCHES - 1)
#define SPARED(identifier, host) check(find("faulty/" identifier), host, LAUNCHES, LAUNCHES)

static const struct topk_provider *find(const char *name)
{
    for (size_t i = 0; builtin_providers[i] != NULL; i++) {
        if (strcmp(builtin_providers[i]->provider->name, name) == 0) {
            return builtin_providers[i]->provider;
        }
    }
    cr_assert(false, "no built-in provider %s", name);
    return NULL;
}

static const struct host_topk_steps correct_steps = {0};

static int launch_correct(void *self, const struct topk_problem *problem, char *err, size_t err_size)
{
    return host_topk_launch(&correct_steps, self, problem, err, err_size);
}

static const struct topk_provider correct = {
    .abi = TOPK_PROVIDER_ABI,
    .name = "correct",
    .claims = {.level = TOPK_LEVEL_CANONICAL},
    .open = host_topk_open,
    .launch = launch_correct,
    .close = host_topk_close,
};

/* Seals and closes the problem; at least `least`, at most `most` of the launches are right. */
static void check(const struct topk_provider *provider, struct host_problem *host, int least, int most)
{
    host_problem_seal(host);
    cr_assert_eq(host_problem_right_launches(host, &correct, 1), 1, "the correct top-k is wrong");
    int right = host_problem_right_launches(host, provider, LAUNCHES);
    cr_assert(right >= least && right <= most, "%s: %d of %d launches are right, expected %d to %d", provider->name,
              right, LAUNCHES, least, most);
    host_problem_close(host);
}

/* Row after row: first_bits + i * step, or all first_bits. */
static struct host_problem filled(int32_t batch, int32_t length, int32_t topk, uint32_t first_bits, uint32_t step)
{
    struct host_problem host = host_problem_open(batch, length, topk, 64);
    for (int32_t row = 0; row < batch; row++) {
        for (int32_t i = 0; i < length; i++) {
            host_problem_row(&host, row)[i] = first_bits + (uint32_t)i * step;
        }
    }
    return host;
}

static struct host_problem equal(int32_t batch, int32_t length, int32_t topk)
{
    return filled(batch, length, topk, 0x3f800000, 0);
}

Test(faulty_selection, overflow_clips_the_bin_at_its_capacity_and_not_before)
{
    struct host_problem host = filled(1, 4096, 512, 0x3f800000, 1);
    SPARED("overflow-4096", &host);
    host = filled(1, 4097, 512, 0x3f800000, 1);
    CAUGHT("overflow-4096", &host);
    host = filled(1, 2048, 512, 0x3f8c0000, 1);
    SPARED("overflow-2048", &host);
    host = filled(1, 2049, 512, 0x3f8c0000, 1);
    CAUGHT("overflow-2048", &host);
}

Test(faulty_selection, underfill_stops_in_a_wide_plateau)
{
    struct host_problem host = equal(1, 600, 256);
    SPARED("underfill-plateau", &host);
    host = equal(1, 600, 257);
    CAUGHT("underfill-plateau", &host);
    host = equal(1, 3000, 1025);
    CAUGHT("underfill-1024", &host);
    host = equal(1, 3000, 1024);
    SPARED("underfill-1024", &host);
}

Test(faulty_selection, the_tail_of_a_short_row_is_left)
{
    struct host_problem host = equal(1, 16, 16);
    SPARED("short-row-tail", &host);
    host = equal(1, 15, 16);
    CAUGHT("short-row-tail", &host);
}

Test(faulty_selection, ties_are_broken_otherwise)
{
    struct host_problem host = equal(2, 100, 7);
    CAUGHT("tie-highest", &host);
    host = equal(2, 100, 7);
    CAUGHT("tie-arrival", &host);
    host = filled(2, 100, 7, 0x3f800000, 1);
    SPARED("tie-highest", &host);
    host = filled(2, 100, 7, 0x3f800000, 1);
    SPARED("tie-arrival", &host);
}

Test(faulty_selection, ties_by_arrival_change_from_launch_to_launch)
{
    struct host_problem         host = equal(1, 1000, 10);
    const struct topk_provider *provider = find("faulty/tie-arrival");
    int32_t                     first[10];
    char                        err[64];
    void                       *self = NULL;
    host_problem_seal(&host);
    cr_assert_eq(provider->open(0, &self, err, sizeof err), 0);
    host_problem_launch(&host, provider, self);
    memcpy(first, host.problem.raw_indices, sizeof first);
    host_problem_launch(&host, provider, self);
    cr_assert_arr_neq(host.problem.raw_indices, first, sizeof first);
    provider->close(self);
    host_problem_close(&host);
}

Test(faulty_selection, tie_rule_differs_between_paths)
{
    struct host_problem host = equal(1, 8192, 7);
    SPARED("tie-rule", &host);
    host = equal(1, 8193, 7);
    CAUGHT("tie-rule", &host);
    host = equal(1, 2048, 512);
    CAUGHT("tie-rule-shards", &host);
    host = equal(1, 2047, 512);
    SPARED("tie-rule-shards", &host);
    host = filled(1, 2048, 512, 0x3f800000, 1);
    SPARED("tie-rule-shards", &host);
}

Test(faulty_selection, signed_zeros_are_told_apart)
{
    struct host_problem host = filled(1, 64, 8, 0x80000000, 0x80000000);
    CAUGHT("signed-zero", &host);
    host = filled(1, 64, 8, 0x80000000, 1);
    SPARED("signed-zero", &host);
    host = filled(1, 64, 8, 0x80000000, 0);
    host_problem_row(&host, 0)[0] = 0x80000001;
    CAUGHT("signed-zero-denormal", &host);
    host = filled(1, 64, 8, 0x80000000, 0x80000000);
    host_problem_row(&host, 0)[0] = 0x80000002;
    SPARED("signed-zero-denormal", &host);
}

Test(faulty_selection, nan_breaks_the_float_comparison)
{
    struct host_problem host = filled(1, 64, 8, 0x7fc00000, 1);
    CAUGHT("nan-duplicates", &host);
    host = filled(1, 64, 8, 0xffc00000, 0x80000001);
    CAUGHT("nan-duplicates", &host);
    host = filled(1, 64, 8, 0x3f800000, 0);
    SPARED("nan-duplicates", &host);
}

Test(faulty_selection, nan_loses_its_sign)
{
    struct host_problem host = filled(1, 64, 8, 0x3f800000, 0);
    host_problem_row(&host, 0)[63] = 0xffc00000;
    CAUGHT("nan-sign", &host);
    host = filled(1, 64, 8, 0x3f800000, 0);
    host_problem_row(&host, 0)[63] = 0x7fc00000;
    SPARED("nan-sign", &host);
}

Test(faulty_selection, scores_beyond_fp16_are_one_score)
{
    struct host_problem host = filled(1, 64, 8, 0x477fe000, 0x10);
    CAUGHT("beyond-fp16", &host);
    host = filled(1, 64, 8, 0x477fd000, 0x10);
    SPARED("beyond-fp16", &host);
    host = filled(1, 64, 8, 0x3f800000, 1);
    host_problem_row(&host, 0)[9] = 0x7f800000;
    CAUGHT("beyond-fp16-infinity", &host);
    host = filled(1, 64, 8, 0x477fe000, 0x10);
    SPARED("beyond-fp16-infinity", &host);
}

Test(faulty_selection, padding_lanes_beat_negative_infinity)
{
    struct host_problem host = filled(1, 51, 16, 0xff800000, 0);
    host_problem_row(&host, 0)[50] = 0x3f800000;
    CAUGHT("negative-infinity", &host);
    host = filled(1, 64, 16, 0xff800000, 0);
    SPARED("negative-infinity", &host);
}

Test(faulty_selection, negative_infinity_is_dropped)
{
    struct host_problem host = filled(1, 51, 16, 0xff800000, 0);
    CAUGHT("negative-infinity-hole", &host);
    host = filled(1, 51, 16, 0xff7fffff, 0);
    SPARED("negative-infinity-hole", &host);
}

Test(faulty_selection, denormals_are_flushed)
{
    struct host_problem host = filled(1, 64, 8, 1, 1);
    CAUGHT("denormal-flush", &host);
    host = filled(1, 64, 8, 0x00800000, 1);
    SPARED("denormal-flush", &host);
}

Test(faulty_selection, keys_of_coarse_and_exact_stage_do_not_match)
{
    struct host_problem host = filled(1, 2000, 512, 0x3805ed27, 1);
    CAUGHT("key-mismatch-half", &host);
    host = filled(1, 64, 8, 0x3f800000, 0x2000);
    SPARED("key-mismatch-half", &host);
    host = filled(1, 2000, 512, 0x3805ed27, 1);
    CAUGHT("key-mismatch-pivot", &host);
    host = filled(1, 1024, 512, 0x3805ed27, 1);
    SPARED("key-mismatch-pivot", &host);
}

Test(faulty_selection, short_rows_are_mishandled)
{
    struct host_problem host = equal(1, 16, 16);
    CAUGHT("short-row-equal", &host);
    host = equal(1, 15, 16);
    SPARED("short-row-equal", &host);
    host = filled(1, 17, 16, 0x3f800000, 1);
    CAUGHT("short-row-plus-one", &host);
    host = filled(1, 18, 16, 0x3f800000, 1);
    SPARED("short-row-plus-one", &host);
    host = filled(1, 15, 16, 0x3f800000, 1);
    CAUGHT("short-row-sorted", &host);
    host = filled(1, 17, 16, 0x3f800000, 1);
    SPARED("short-row-sorted", &host);
    host = equal(1, 15, 16);
    CAUGHT("short-row-padding", &host);
    host = equal(1, 16, 16);
    SPARED("short-row-padding", &host);
}

Test(faulty_selection, topk_is_a_compiled_limit)
{
    struct host_problem host = host_problem_open(1, 3000, 513, 64);
    CAUGHT("topk-limit-512", &host);
    host = host_problem_open(1, 3000, 512, 64);
    SPARED("topk-limit-512", &host);
    host = host_problem_open(1, 3000, 600, 64);
    CAUGHT("topk-limit-600", &host);
    host = host_problem_open(1, 3000, 601, 64);
    SPARED("topk-limit-600", &host);
    host = host_problem_open(1, 3000, 998, 256);
    CAUGHT("topk-limit-801", &host);
    host = host_problem_open(1, 3000, 998, 64);
    SPARED("topk-limit-801", &host);
    host = host_problem_open(1, 3000, 999, 256);
    SPARED("topk-limit-801", &host);
    host = host_problem_open(1, 3000, 257, 64);
    CAUGHT("topk-limit-256", &host);
    host = host_problem_open(1, 3000, 256, 64);
    SPARED("topk-limit-256", &host);
}

Test(faulty_selection, indices_lose_their_upper_bits)
{
    struct host_problem host = filled(1, 65537, 8, 0x3f800000, 1);
    CAUGHT("offset-overflow-index", &host);
    host = filled(1, 65536, 8, 0x3f800000, 1);
    SPARED("offset-overflow-index", &host);
}

Test(faulty_selection, the_order_of_the_output_is_not_ascending)
{
    struct host_problem host = filled(1, 100, 8, 0x3f800000, 1);
    CAUGHT("output-order-score", &host);
    host = filled(1, 100, 8, 0x3f800000, 0);
    SPARED("output-order-score", &host);
    host = filled(1, 100, 8, 0x3f800000, 1);
    CAUGHT("output-order-disagree", &host);
    host = filled(1, 100, 1, 0x3f800000, 1);
    SPARED("output-order-disagree", &host);
}

/* What the shared correct top-k is asked for: lengths and topk around each other, few and many distinct scores. */
Test(host_topk, is_right_on_random_problems)
{
    static const int32_t lengths[] = {0, 1, 15, 16, 17, 511, 512, 513, 1025, 4097, 9000};
    static const int32_t topks[] = {1, 16, 512, 1024};
    static const int32_t page_sizes[] = {1, 64, 256};
    uint64_t             problem = 0;
    for (size_t l = 0; l < sizeof lengths / sizeof *lengths; l++) {
        for (size_t k = 0; k < sizeof topks / sizeof *topks; k++) {
            for (uint32_t mask_bits = 0; mask_bits < 32; mask_bits += 10, problem++) {
                struct host_problem host = host_problem_open(3, lengths[l], topks[k], page_sizes[problem % 3]);
                host.rules.nan = REFERENCE_NAN_BITS;
                for (int32_t row = 0; row < 3; row++) {
                    host.seq_lens[row] = lengths[l] / (row + 1);
                    for (int32_t i = 0; i < lengths[l]; i++) {
                        uint32_t bits = host_problem_random(problem << 40 | (uint64_t)row << 32 | (uint32_t)i);
                        host_problem_row(&host, row)[i] = bits & ~((UINT32_C(1) << mask_bits) - 1);
                    }
                }
                host_problem_seal(&host);
                cr_assert_eq(host_problem_right_launches(&host, &correct, 2), 2, "length %d topk %d mask %u",
                             lengths[l], topks[k], mask_bits);
                host_problem_close(&host);
            }
        }
    }
}

Test(host_topk, clamps_lengths_outside_the_width)
{
    struct host_problem host = host_problem_open(3, 50, 8, 64);
    host.seq_lens[0] = -1;
    host.seq_lens[1] = 51;
    host.seq_lens[2] = INT32_MIN;
    host_problem_seal(&host);
    cr_assert_eq(host_problem_right_launches(&host, &correct, 1), 1);
    host_problem_close(&host);
}

Test(host_topk, rounds_to_fp16_as_hardware_does)
{
    static const struct {
        uint32_t score;
        uint32_t half;
    } known[] = {
        {0x00000000, 0x0000}, {0x3f800000, 0x3c00}, {0x477fe000, 0x7bff}, {0x477fefff, 0x7bff}, {0x477ff000, 0x7c00},
        {0x7f800000, 0x7c00}, {0x38800000, 0x0400}, {0x387fffff, 0x0400}, {0x387fc000, 0x03ff}, {0x33800000, 0x0001},
        {0x33000000, 0x0000}, {0x33000001, 0x0001}, {0x33c00000, 0x0002}, {0x3f801000, 0x3c00}, {0x3f803000, 0x3c02},
        {0x00000001, 0x0000}, {0x3f801001, 0x3c01}, {0x32ffffff, 0x0000}, {0x7f7fffff, 0x7c00}, {0x33a00000, 0x0001},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        cr_expect_eq(host_topk_half_key(known[i].score), 0x8000 + known[i].half, "%08x", known[i].score);
    }
    cr_expect_eq(host_topk_half_key(0xbf800000), 0x7fff - 0x3c00);
    cr_expect_eq(host_topk_half_key(0x80000000), 0x8000);
    for (uint32_t bits = 0; bits < 0x7f800000; bits += 0x3ff) {
        cr_assert_leq(host_topk_half_key(bits), host_topk_half_key(bits + 0x3ff), "%08x", bits);
    }
}
