/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The list of built-in providers, in the order in which they are shown: v1, then the planted faults by name, those of
 * the host, of the simulator, and those that are kernel sources.
 *
 * Adding one is a source file that defines `builtin_faulty_<name>` and a line in one of the lists below. Nothing
 * else of the providers is known here.
 */
#include "kernels/builtin.h"

#define HOST_FAULT_LIST(X)                                                                                             \
    X(batch_dependence_lane)                                                                                           \
    X(batch_dependence_tie)                                                                                            \
    X(beyond_fp16)                                                                                                     \
    X(beyond_fp16_infinity)                                                                                            \
    X(denormal_flush)                                                                                                  \
    X(hang_empty_row)                                                                                                  \
    X(key_mismatch_half)                                                                                               \
    X(key_mismatch_pivot)                                                                                              \
    X(nan_duplicates)                                                                                                  \
    X(nan_fills)                                                                                                       \
    X(nan_sign)                                                                                                        \
    X(negative_infinity)                                                                                               \
    X(negative_infinity_hole)                                                                                          \
    X(negative_infinity_short)                                                                                         \
    X(offset_overflow_index)                                                                                           \
    X(offset_overflow_row)                                                                                             \
    X(output_order_disagree)                                                                                           \
    X(output_order_score)                                                                                              \
    X(overflow_2048)                                                                                                   \
    X(overflow_4096)                                                                                                   \
    X(page_mapping_offset)                                                                                             \
    X(page_mapping_row)                                                                                                \
    X(race_order)                                                                                                      \
    X(race_rare)                                                                                                       \
    X(read_past_end)                                                                                                   \
    X(read_past_end_crash)                                                                                             \
    X(read_past_end_width)                                                                                             \
    X(row_length_first)                                                                                                \
    X(row_length_negative)                                                                                             \
    X(row_length_overlong)                                                                                             \
    X(row_length_padding)                                                                                              \
    X(short_row_equal)                                                                                                 \
    X(short_row_mapped_padding)                                                                                        \
    X(short_row_padding)                                                                                               \
    X(short_row_plus_one)                                                                                              \
    X(short_row_sorted)                                                                                                \
    X(short_row_tail)                                                                                                  \
    X(signed_zero)                                                                                                     \
    X(signed_zero_denormal)                                                                                            \
    X(stale_state_cut)                                                                                                 \
    X(stale_state_short_row)                                                                                           \
    X(stale_state_workspace)                                                                                           \
    X(stride_aligned)                                                                                                  \
    X(stride_width)                                                                                                    \
    X(tie_arrival)                                                                                                     \
    X(tie_highest)                                                                                                     \
    X(tie_rule)                                                                                                        \
    X(tie_rule_shards)                                                                                                 \
    X(topk_limit_256)                                                                                                  \
    X(topk_limit_512)                                                                                                  \
    X(topk_limit_600)                                                                                                  \
    X(topk_limit_801)                                                                                                  \
    X(underfill_1024)                                                                                                  \
    X(underfill_plateau)                                                                                               \
    X(write_outside_end)                                                                                               \
    X(write_outside_far)                                                                                               \
    X(write_outside_neighbour)                                                                                         \
    X(writes_inputs)

#define SIMULATOR_FAULT_LIST(X)                                                                                        \
    X(hang_divergent_barrier)                                                                                          \
    X(lds_limit_total)                                                                                                 \
    X(output_order_atomic)                                                                                             \
    X(overflow_clipped)                                                                                                \
    X(race_missing_barrier)                                                                                            \
    X(race_plain_increment)                                                                                            \
    X(race_scan_reuse)                                                                                                 \
    X(stale_state_counter)                                                                                             \
    X(tie_atomic)                                                                                                      \
    X(wave_size_64)

#define SOURCE_FAULT_LIST(X)                                                                                           \
    X(barrier_in_branch)                                                                                               \
    X(candidates_clipped)                                                                                              \
    X(clear_meets_read)                                                                                                \
    X(clear_without_barrier)                                                                                           \
    X(counter_reset_early)                                                                                             \
    X(counter_stale)                                                                                                   \
    X(fence_missing)                                                                                                   \
    X(lds_unwritten)                                                                                                   \
    X(overflow_unguarded)                                                                                              \
    X(plain_increment)                                                                                                 \
    X(scalar_stale)                                                                                                    \
    X(tie_by_arrival)                                                                                                  \
    X(vector_load)                                                                                                     \
    X(vector_load_past_row)                                                                                            \
    X(wave_of_64)

#define DECLARE(name) extern const struct builtin_provider builtin_faulty_##name;
#define ADDRESS(name) &builtin_faulty_##name,

extern const struct builtin_provider builtin_v1;
HOST_FAULT_LIST(DECLARE)
SIMULATOR_FAULT_LIST(DECLARE)
SOURCE_FAULT_LIST(DECLARE)

const struct builtin_provider *const builtin_providers[] = {
    &builtin_v1,
    HOST_FAULT_LIST(ADDRESS) SIMULATOR_FAULT_LIST(ADDRESS) SOURCE_FAULT_LIST(ADDRESS) NULL,
};
