/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The plugin interface: the only header that somebody else's kernel includes.
 *
 * A plugin is a shared object that exports `topk_provider_entry`. It returns a provider: a name, what the kernel
 * promises (`struct topk_claims`) and a few functions. The harness opens it once per worker process, launches it many
 * times, and judges it by exactly what it promises. Valid C17 and C++17; nothing but this header is needed.
 *
 *     gcc -shared -fPIC -I path/to/harness -o mine.so mine.c
 *     topkcts run --provider ./mine.so
 *
 * Ownership: every pointer that a provider returns is its own and stays valid until the plugin is unloaded; every
 * pointer in a `struct topk_problem` belongs to the harness and is valid until the launch has ended.
 * Errors: a function that can fail returns 0 for success; otherwise non-zero, with one line of cause in `err`.
 */
#ifndef TOPKCTS_PROVIDER_H
#define TOPKCTS_PROVIDER_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TOPK_PROVIDER_ABI 1u

/* Where the pointers of a problem live. */
enum topk_memory { TOPK_MEMORY_HOST, TOPK_MEMORY_HIP, TOPK_MEMORY_CUDA };

/* What may be promised; each level contains the ones before it. NONE is refused as a promise. */
enum topk_level {
    TOPK_LEVEL_NONE,
    TOPK_LEVEL_SAFE,           /* ends without error, stays inside its buffers, writes every promised slot */
    TOPK_LEVEL_VALID,          /* a right answer: indices, padding, page mapping, the top-k multiset of keys */
    TOPK_LEVEL_SET_REPEATABLE, /* the same launch gives the same set per row */
    TOPK_LEVEL_REPEATABLE,     /* the same launch gives the same bytes */
    TOPK_LEVEL_INVARIANT,      /* the same bytes per row whatever the neighbours, stride, alignment, workspace */
    TOPK_LEVEL_CANONICAL       /* the bytes of the reference: lowest indices among equals, ascending */
};

/* Which of several equal scores at the cut is taken. */
enum topk_tie { TOPK_TIE_LOWEST, TOPK_TIE_ANY };

/* Whether -0.0 and +0.0 are one score, or -0.0 ranks below +0.0. */
enum topk_zero { TOPK_ZERO_EQUAL, TOPK_ZERO_BITS };

/* NONE: no promise at all. ANY: any rank, but indices in range and distinct. BITS: by bit pattern after zero
 * normalisation, +NaN above +inf and -NaN below -inf. LARGEST: above +inf, either sign. NEVER: not selected, in a short
 * row either: where n <= topk the row's other indices stand in order and -1 follows them. A kernel that puts short rows
 * out whole without a look at their scores does select a NaN there, and promises ANY or NONE. */
enum topk_nan { TOPK_NAN_NONE, TOPK_NAN_ANY, TOPK_NAN_BITS, TOPK_NAN_LARGEST, TOPK_NAN_NEVER };

/* Whether -inf is a score like any other, or a hole that is never selected and leaves -1 at the tail. A hole is one in
 * a short row too, as in the one kernel in the field that has them (sgl-project/sglang#31115): where n <= topk the
 * row's other indices stand in order and -1 follows them. */
enum topk_neg_inf { TOPK_NEG_INF_SCORE, TOPK_NEG_INF_HOLE };

/* What the slots at or beyond min(n, topk) hold: -1, or anything. */
enum topk_padding { TOPK_PADDING_MINUS_ONE, TOPK_PADDING_UNSPECIFIED };

/* What a negative row length means: no promise, or an empty row. */
enum topk_negative { TOPK_NEGATIVE_LENGTH_NONE, TOPK_NEGATIVE_LENGTH_EMPTY };

/* What a row length beyond max_seq_len means: no promise, or max_seq_len. */
enum topk_overlong { TOPK_OVERLONG_NONE, TOPK_OVERLONG_CLAMPED };

/* Which outputs the provider can produce. RAW: it does not map pages. */
enum topk_outputs { TOPK_OUTPUTS_ALL, TOPK_OUTPUTS_PAGE, TOPK_OUTPUTS_RAW };

/* OK: launch neither synchronises nor allocates, so it can be captured into a graph. */
enum topk_capture { TOPK_CAPTURE_NONE, TOPK_CAPTURE_OK };

/* What a provider promises. All zeroes but `level` is the base contract. */
struct topk_claims {
    enum topk_level    level;
    enum topk_tie      tie;
    enum topk_zero     zero;
    enum topk_nan      nan;
    enum topk_neg_inf  neg_inf;
    enum topk_padding  padding;
    enum topk_negative negative_length;
    enum topk_overlong overlong;
    enum topk_outputs  outputs;
    enum topk_capture  capture;
    int32_t            max_topk; /* 0: 1024 */
};

/* An inner boundary worth testing on both sides: {"candidates", 4096}, {"split_length", 32768}, ... */
struct topk_limit {
    const char *name;
    int64_t     value;
};

/* One launch. Pointers live in the provider's memory space. */
struct topk_problem {
    const float   *scores;            /* [batch][score_stride]; 4-byte aligned, no more */
    const int32_t *seq_lens;          /* [batch]; the valid length of each row */
    const int32_t *page_table;        /* [batch][page_table_stride]; physical page of each logical page */
    int32_t       *page_indices;      /* [batch][topk], or NULL when only raw indices are asked for */
    int32_t       *raw_indices;       /* [batch][topk], or NULL */
    int64_t        score_stride;      /* elements; >= max_seq_len */
    int64_t        page_table_stride; /* elements; >= ceil(max_seq_len / page_size) */
    int32_t        batch;             /* >= 1 */
    int32_t        topk;              /* 1 .. claims.max_topk */
    int32_t        page_size;         /* a power of two */
    int32_t        max_seq_len;       /* the row width: these columns exist in every row */
    void          *workspace;         /* workspace_bytes() bytes, 256-byte aligned, contents undefined; or NULL */
    void          *stream;            /* hipStream_t or CUstream; NULL on the host */
};

/* A provider. Slots marked optional may be NULL. One host thread uses one `self`. */
struct topk_provider {
    uint32_t                 abi; /* TOPK_PROVIDER_ABI */
    const char              *name;
    const char              *version;
    enum topk_memory         memory;
    struct topk_claims       claims;
    const struct topk_limit *limits; /* optional; ends with a NULL name */

    /* Called once before anything else. `device` is the ordinal after the visibility variables; its primary context
     * is current at every call. Stores the provider's state in *self. */
    int (*open)(int device, void **self, char *err, size_t err_size);

    /* Optional (default: yes). 1: can run this problem; 0: cannot, with the reason in `why`. */
    int (*supports)(void *self, const struct topk_problem *problem, char *why, size_t why_size);

    /* Optional (default: 0). Bytes of workspace this problem needs. */
    size_t (*workspace_bytes)(void *self, const struct topk_problem *problem);

    /* Enqueues the work on problem->stream; on the host it does the work. */
    int (*launch)(void *self, const struct topk_problem *problem, char *err, size_t err_size);

    /* Optional. The inner path of the last launch, e.g. "long-row"; a string that stays valid until the next launch. */
    const char *(*path)(void *self);

    /* Called once, after the last launch has ended. */
    void (*close)(void *self);
};

/* The exported symbol. Never NULL; the same pointer every time. */
const struct topk_provider *topk_provider_entry(void);

#ifdef __cplusplus
}
#endif
#endif
