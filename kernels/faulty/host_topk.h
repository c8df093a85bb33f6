/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The correct top-k on the host that every planted host fault spoils in one place.
 *
 * Shape: for each row, `locate` finds the row's arrays and its length, `select` chooses logical indices in ascending
 * order, `write` fills the output slots. The stock `select` works as the kernels in the field do: a coarse histogram
 * finds the bin in which place topk lies, scores in higher bins are winners, scores in that bin are candidates, and an
 * exact stage finds the cut among them. A place in the order is one 64-bit number, key above, tie below; a larger one
 * comes first and no two are equal.
 *
 * A fault is one file: a `static const struct host_topk_steps steps` that replaces one step, and HOST_TOPK_FAULT. A
 * step that is left out (NULL, 0) is the correct one, so all zeroes is a correct canonical kernel.
 *
 * Ownership: the state belongs to whoever opened it; a host_row lives for one row of one launch; `selected` has topk
 * slots. This folder knows harness/provider.h and kernels/builtin.h, nothing else of the harness.
 */
#ifndef TOPKCTS_HOST_TOPK_H
#define TOPKCTS_HOST_TOPK_H

#include <stdbool.h>
#include <stdint.h>

#include "kernels/builtin.h"

struct host_topk_steps;

/* What lives from open to close. */
struct host_topk {
    uint64_t  launches;          /* this one included */
    uint64_t *places;            /* [capacity]; the place of each index of the row at hand */
    uint64_t *scratch;           /* [capacity] */
    int32_t  *considered;        /* [capacity]; ascending */
    int32_t   capacity;          /* scores of the longest row so far */
    int32_t  *selected;          /* [selected_capacity] */
    int32_t   selected_capacity; /* the largest topk so far */
    uint32_t  remembered_key;    /* for faults that keep something too long; nothing correct reads it */
};

/* One row of one launch. */
struct host_row {
    const struct topk_problem    *problem;
    const struct host_topk_steps *steps;
    struct host_topk             *state;
    int32_t                       number; /* of the row in its batch */
    const float                  *scores; /* the row's first score */
    int32_t                       n;      /* 0 .. max_seq_len when correct */
    const int32_t                *page_table;
    int32_t                      *page_indices; /* [topk], or NULL */
    int32_t                      *raw_indices;  /* [topk], or NULL */
    int32_t                       above;        /* set by the coarse stage: scores in bins above the cut's */
    int32_t                       in_cut_bin;   /* set by the coarse stage: scores in the cut's bin */
};

/* The variation points; NULL or 0 is the correct step. */
struct host_topk_steps {
    void (*locate)(struct host_row *row);
    uint32_t (*key)(const struct host_row *row, int32_t index); /* a larger key comes first */
    uint32_t (*tie)(const struct host_row *row, int32_t index); /* among equal keys; distinct, larger first */
    uint32_t (*bin)(const struct host_row *row, int32_t index); /* < HOST_TOPK_BINS; follows the key's order */
    int32_t candidate_capacity;                                 /* candidates beyond it are dropped; 0: none are */
    int32_t (*select)(struct host_row *row, int32_t *selected); /* the count, or -1: no memory */
    int32_t (*map)(const struct host_row *row, int32_t index);  /* a selected index to its page index */
    void (*write)(const struct host_row *row, const int32_t *selected, int32_t count);
    size_t workspace_per_row; /* bytes */
};

#define HOST_TOPK_BINS 4096

/* The correct steps. host_topk_select_long is host_topk_select without the short-row rule (it needs n >= topk). */
void     host_topk_locate(struct host_row *row);
uint32_t host_topk_key(const struct host_row *row, int32_t index);
int32_t  host_topk_select(struct host_row *row, int32_t *selected);
int32_t  host_topk_select_long(struct host_row *row, int32_t *selected);
int32_t  host_topk_map(const struct host_row *row, int32_t index);
void     host_topk_write(const struct host_row *row, const int32_t *selected, int32_t count);

/* The row's place under its steps: key << 32 | tie. */
uint64_t host_topk_place(const struct host_row *row, int32_t index);

/* Bits of a score of the row. */
uint32_t host_topk_score_bits(const struct host_row *row, int32_t index);

/* The key of a bit pattern: zeros equal, NaN outside the infinities by bits. */
uint32_t host_topk_key_of_bits(uint32_t score_bits);

/* The score rounded to fp16 (nearest even, beyond 65520 infinity), as a 16-bit number that keeps the order. */
uint32_t host_topk_half_key(uint32_t score_bits);

/* The coarse bins of the kernels in the field: the upper 8 or 12 bits of host_topk_half_key. */
uint32_t host_topk_bin_of_8_bits(const struct host_row *row, int32_t index);
uint32_t host_topk_bin_of_12_bits(const struct host_row *row, int32_t index);

/* Fills one slot of whichever outputs are asked for. A negative index is padding: -1 in both. */
void host_topk_write_slot(const struct host_row *row, int32_t slot, int32_t index);

/* Sorts indices ascending. */
void host_topk_sort_indices(int32_t *indices, int32_t count);

/* Sorts indices by their place, first place first, under the stock tie. The count, or -1: no memory. */
int32_t host_topk_sort_by_place(const struct host_row *row, int32_t *indices, int32_t count);

/* The provider's functions, given the steps. */
int  host_topk_open(int device, void **self, char *err, size_t err_size);
int  host_topk_launch(const struct host_topk_steps *steps, void *self, const struct topk_problem *problem, char *err,
                      size_t err_size);
void host_topk_close(void *self);

/* The text of the file at hand and of the shared source, and the compiler, as one string: what identifies a build. The
 * assembler reads the files, from the directory and the include paths the compiler was given. */
#define HOST_TOPK_SOURCE_TEXT(symbol)                                                                                  \
    extern const char symbol[];                                                                                        \
    __asm__(".pushsection .rodata\n" #symbol ":\n"                                                                     \
            ".incbin \"" __FILE__ "\"\n"                                                                               \
            ".incbin \"kernels/faulty/host_topk.c\"\n"                                                                 \
            ".incbin \"kernels/faulty/host_topk.h\"\n"                                                                 \
            ".asciz \"" __VERSION__ "\"\n"                                                                             \
            ".popsection\n")

/* Defines `builtin_faulty_<identifier>` from the file's `steps`. The last arguments are the claims. */
#define HOST_TOPK_FAULT(identifier, provider_name, fault_kind, what_is_wrong, ...)                                     \
    HOST_TOPK_SOURCE_TEXT(host_topk_source_##identifier);                                                              \
    static int launch(void *self, const struct topk_problem *problem, char *err, size_t err_size)                      \
    {                                                                                                                  \
        return host_topk_launch(&steps, self, problem, err, err_size);                                                 \
    }                                                                                                                  \
    static size_t workspace_bytes(void *self, const struct topk_problem *problem)                                      \
    {                                                                                                                  \
        (void)self;                                                                                                    \
        return steps.workspace_per_row * (size_t)problem->batch;                                                       \
    }                                                                                                                  \
    static const struct topk_provider provider = {                                                                     \
        .abi = TOPK_PROVIDER_ABI,                                                                                      \
        .name = provider_name,                                                                                         \
        .version = "1",                                                                                                \
        .memory = TOPK_MEMORY_HOST,                                                                                    \
        .claims = {__VA_ARGS__},                                                                                       \
        .open = host_topk_open,                                                                                        \
        .workspace_bytes = workspace_bytes,                                                                            \
        .launch = launch,                                                                                              \
        .close = host_topk_close,                                                                                      \
    };                                                                                                                 \
    extern const struct builtin_provider builtin_faulty_##identifier;                                                  \
    const struct builtin_provider        builtin_faulty_##identifier = {                                               \
        .provider = &provider,                                                                                         \
        .place = BUILTIN_HOST,                                                                                         \
        .fault = fault_kind,                                                                                           \
        .summary = what_is_wrong,                                                                                      \
        .source = host_topk_source_##identifier,                                                                       \
    }

#endif
