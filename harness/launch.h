/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One launch of a provider: lays the rows of a problem before it in a given form, launches, waits, and checks what
 * came back against guard bands, pristine inputs and the reference.
 *
 * The buffers belong to the bench and are reused by every launch of every case in a worker, so that what a kernel
 * leaves behind in one launch lies there in the next.
 */
#ifndef TOPKCTS_LAUNCH_H
#define TOPKCTS_LAUNCH_H

#include "harness/device.h"
#include "harness/guarded.h"
#include "harness/problem.h"
#include "harness/row_check.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { LAUNCH_TEXT_BYTES = 800 };

/* What a workspace holds at entry. KEPT: whatever the launch before left. */
enum workspace_contents { WORKSPACE_PATTERN, WORKSPACE_ZEROES, WORKSPACE_ONES, WORKSPACE_KEPT };

/* A launch as it is, kept in a graph and then replayed, or that graph again with other contents in the same buffers. */
enum launch_graph { GRAPH_NONE, GRAPH_CAPTURE, GRAPH_REPLAY };

/* How a problem is laid before the provider. All zeroes: as the case says. */
struct launch_form {
    const char    *what;       /* in words, for reasons: "rows rotated by one" */
    const int32_t *rows;       /* [n_rows]: which row of the problem stands at each place; NULL: all, in order */
    int32_t        n_rows;
    int32_t        extra_stride, extra_table_stride, extra_shift; /* elements beyond the case's own; strides may shrink
                                                                     to the row width and its pages */
    bool           at_end;     /* scores and page table end where the memory does */
    int            pattern;    /* of guards and poison; modulo N_PATTERNS */
    enum workspace_contents workspace;
    int32_t        turn;       /* the device's schedule for this launch */
    enum device_stream stream; /* on devices with streams */
    bool           busy;       /* the other stream has work of its own meanwhile */
    bool           late;       /* the scores arrive on the launch's stream, behind other work: who launches on another
                                  stream, or waits for none, reads what lay there before */
    enum launch_graph graph;
};

/* The outputs of a launch, by place: [n_rows][topk] each, NULL where not asked for. */
struct launch_outputs {
    int32_t *pages;
    int32_t *raw;
};

/* What came of a launch. */
struct launch_result {
    bool    ran;       /* false: `supports` refused this form; nothing else is set but `text` */
    bool    safe;      /* ended without error, nothing outside changed, every promised slot written */
    bool    valid, exact_set, canonical; /* every row */
    int32_t arrangement;
    bool    device_fault; /* the device reported one: this process is of no more use to it */
    bool    not_captured; /* the launch could not be kept in a graph; `text` says why */
    int32_t bad_place; /* the first place whose row is to blame for the lowest level missed; -1: none in particular */
    double  us;        /* from the call of launch to the end of its work, by the host's clock; of host memory the process's */
    char    text[LAUNCH_TEXT_BYTES];     /* what is wrong, for the lowest level missed; "" */
    bool    is_finding; /* of a device that watches: text begins with the word for it */
    char    arrangement_text[80];
    struct launch_outputs outputs; /* the bench's; valid until the next launch */
};

/* Where launches take place. One per worker. */
struct launch_bench {
    struct device              *device;
    const struct topk_provider *provider;
    void                       *self;  /* the provider's state, after open */
    bool                        with_pages, with_raw; /* outputs asked for by the case */
    void (*before_launch)(void *payload);             /* the watchdog is told; optional */
    void (*after_launch)(void *payload);              /* and again, where checking takes seconds; optional */
    void          *payload;
    int64_t        n_launches; /* since the bench was made */
    int64_t        explore_seconds; /* of new schedules for each case, on devices that have them */
    struct guarded scores, seq_lens, page_table, pages, raw, workspace;
    uint32_t      *score_image; /* host images of the inputs as laid out; grow only */
    int32_t       *length_image, *table_image;
    size_t         score_bytes, length_bytes, table_bytes; /* their capacities */
    int32_t       *scratch;
    size_t         scratch_bytes;
    struct guarded late_scores; /* where late scores wait */
    void               *graph;  /* captured last; NULL: none */
    struct topk_problem captured;
    /* Optional: the same provider by its other origin (aot, jit); NULL with the reason when there is none here. */
    const struct topk_provider *(*other_origin)(void **self, struct error *err);
    /* Optional: a second provider, open in the same process, for relation `beside` of trials. */
    const struct topk_provider *beside;
    void                       *beside_self;
};

/* Lays out, launches, waits, checks. STATUS_BOOKS only when this machine fails (memory); everything that is the
 * provider's doing is in *result. */
enum status launch_run(struct launch_bench *bench, const struct problem *problem, const struct launch_form *form,
                       struct launch_result *result, struct error *err);

/* Lays a problem before the provider without launching it, for measurements: *launch is what it would be given. */
enum status launch_lay_out(struct launch_bench *bench, const struct problem *problem, const struct launch_form *form,
                           struct topk_problem *launch, struct error *err);

/* Whether something was written far from every array since the last call: beyond the guard bands, in memory of the
 * bench that no launch had a right to. `text` says where. For the end of a case: it reads all of the memory. */
bool launch_bench_is_damaged_afar(struct launch_bench *bench, char *text, size_t size);

/* The row of the problem at a place of the form. */
int32_t launch_row_at(const struct launch_form *form, int32_t place);

/* The outputs of one place. */
struct row_outputs launch_row(const struct launch_outputs *outputs, int32_t topk, int32_t place);

void launch_bench_clear(struct launch_bench *bench);

#endif
