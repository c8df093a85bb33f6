/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Row width, strides, base address, page tables. See layout.h.
 */
#include "cases/layout.h"

#include <stdio.h>

#include "cases/generator.h"
#include "cases/random.h"

enum layout_table {
    TABLE_PER_ROW,
    TABLE_IDENTITY,
    TABLE_REVERSED,
    TABLE_PERMUTED,
    TABLE_SHARED,
    TABLE_HIGH,
    TABLE_INTERLEAVED
};

static const char *const table_choices[] = {"per-row", "identity", "reversed",    "permuted",
                                            "shared",  "high",     "interleaved", NULL};

static const struct case_param_spec layout_params[LAYOUT_PARAMS + 1] = {
    {.name = "base_shift", .high = 63, .fallback = "auto", .meaning = "elements from a 256-byte boundary to scores[0]"},
    {.name = "stride_extra", .high = 1 << 20, .fallback = "auto", .meaning = "score_stride less the row width"},
    {.name     = "table",
     .choices  = table_choices,
     .fallback = "per-row",
     .meaning  = "physical pages: random per row, one permutation for all rows, a prefix shared by all rows, "
                 "the highest that int32 allows, row after row interleaved, ..."},
    {.name     = "table_stride_extra",
     .high     = 1 << 20,
     .fallback = "auto",
     .meaning  = "page_table_stride less the pages of the row width"},
    {.name = "width_slack", .high = 1 << 20, .fallback = "auto", .meaning = "max_seq_len less the longest row"},
    {.name = NULL},
};

const struct case_param_spec *case_layout_params(void)
{
    return layout_params;
}

static int64_t given_or(int64_t given, int64_t automatic)
{
    return given == GENERATOR_AUTO ? automatic : given;
}

/* Three of four cases have exact widths; the others are loose by 1 to 64. */
static int64_t automatic_slack(uint64_t key)
{
    const uint64_t bits = random_bits(key, 0, 0);
    return bits % 4 != 0 ? 0 : 1 + (int64_t)random_below(bits, 64);
}

/* Odd, even, vector-sized and padded strides; one in nine is packed. */
static int64_t automatic_stride(uint64_t key)
{
    static const int64_t extras[] = {3, 5, 7, 8, 13, 31, 64, 129, 0};
    return extras[random_below(random_bits(key, 0, 1), sizeof extras / sizeof extras[0])];
}

static int64_t automatic_table_stride(uint64_t key)
{
    static const int64_t extras[] = {0, 1, 3, 8};
    return extras[random_below(random_bits(key, 0, 2), sizeof extras / sizeof extras[0])];
}

static int64_t automatic_shift(uint64_t key)
{
    const uint64_t bits = random_bits(key, 0, 3);
    return bits % 8 != 0 ? 0 : 1 + (int64_t)random_below(bits, 3);
}

int layout_init(struct layout *layout, int32_t longest, int32_t page_size, const int64_t values[LAYOUT_PARAMS],
                uint64_t key, char *err, size_t err_size)
{
    const int64_t width = longest + given_or(values[LAYOUT_WIDTH_SLACK], automatic_slack(key));
    if (width > INT32_MAX) {
        snprintf(err, err_size, "row width %lld (longest row %d and width_slack): must be at most %d",
                 (long long)width, (int)longest, (int)INT32_MAX);
        return 1;
    }
    const int64_t pages       = (width + page_size - 1) / page_size;
    layout->key               = key;
    layout->max_seq_len       = (int32_t)width;
    layout->score_stride      = width + given_or(values[LAYOUT_STRIDE_EXTRA], automatic_stride(key));
    layout->page_table_stride = pages + given_or(values[LAYOUT_TABLE_STRIDE_EXTRA], automatic_table_stride(key));
    layout->base_shift        = (int32_t)given_or(values[LAYOUT_BASE_SHIFT], automatic_shift(key));
    layout->table             = values[LAYOUT_TABLE];

    /* A batch of empty rows still has arrays. */
    layout->score_stride      = layout->score_stride > 0 ? layout->score_stride : 1;
    layout->page_table_stride = layout->page_table_stride > 0 ? layout->page_table_stride : 1;
    return 0;
}

/* The pages a random table draws from: a power of two, at least twice as many as the row has, where int32 allows. */
static uint32_t page_pool(uint32_t pages, uint32_t possible)
{
    uint32_t pool = 64;
    while (pool / 2 < pages && pool < possible) {
        pool *= 2;
    }
    return pool < possible ? pool : possible;
}

/* The first pages of a row are the prefix that all rows share. */
static uint32_t shared_entry(const struct random_permutation *prefix, const struct random_permutation *own,
                             uint32_t shared_pages, uint32_t page)
{
    return page < shared_pages ? random_permutation_at(prefix, page)
                               : shared_pages + random_permutation_at(own, page - shared_pages);
}

void layout_fill_table_row(const struct layout *layout, int32_t row, int32_t batch, int32_t length, int32_t page_size,
                           int32_t *entries)
{
    const uint32_t pages    = ((uint32_t)length + (uint32_t)page_size - 1) / (uint32_t)page_size;
    const uint32_t possible = (UINT32_C(1) << 31) / (uint32_t)page_size; /* entry * page_size must fit int32 */
    const uint32_t shared   = pages / 2;
    const uint32_t groups   = pages > 0 && possible / pages < (uint32_t)batch ? possible / pages : (uint32_t)batch;
    const uint64_t common   = random_key_text(layout->key, "table");
    const uint64_t own_key  = random_key_word(common, (uint64_t)row);

    struct random_permutation per_row;
    struct random_permutation compact;
    struct random_permutation prefix;
    struct random_permutation suffix;
    random_permutation_init(&per_row, own_key, page_pool(pages, possible));
    random_permutation_init(&compact, common, pages > 0 ? pages : 1);
    random_permutation_init(&prefix, common, shared > 0 ? shared : 1);
    random_permutation_init(&suffix, own_key, page_pool(pages, possible) - shared);

    for (uint32_t page = 0; page < pages; page++) {
        uint32_t entry = page;
        switch ((enum layout_table)layout->table) {
        case TABLE_IDENTITY: break;
        case TABLE_REVERSED: entry = pages - 1 - page; break;
        case TABLE_PERMUTED: entry = random_permutation_at(&compact, page); break;
        case TABLE_SHARED: entry = shared_entry(&prefix, &suffix, shared, page); break;
        case TABLE_HIGH: entry = possible - 1 - random_permutation_at(&compact, page); break;
        case TABLE_INTERLEAVED: entry = page * groups + (uint32_t)row % groups; break;
        case TABLE_PER_ROW: entry = random_permutation_at(&per_row, page); break;
        }
        entries[page] = (int32_t)entry;
    }
    for (int64_t page = pages; page < layout->page_table_stride; page++) {
        const uint64_t bits = random_bits(own_key, 1, (uint64_t)page);
        entries[page]       = INT32_MIN + (int32_t)random_below(bits, INT32_MAX - 1);
    }
}
