/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The registry: fault kinds, suites, case families and expectations, read from YAML and cross-checked.
 *
 *     registry.c          reads a registry folder               family*.c      one family: keys, axes, selections
 *     registry_check.c    `check`: budgets, hashes, update      pairwise.c     which combinations of axis values
 *     concrete_case.c     names and specs of concrete cases     hashes.c       the file hashes.txt
 *     expectation.c       expected failures, skip bounds
 *     registry_fleet.c    which device owes which suite
 *     registry_guard.c    limits on time, declared beforehand
 *     registry_reports.c  what people reported, and what covers it
 *
 * Everything lives in the registry's arena and is read-only after loading.
 */
#ifndef TOPKCTS_REGISTRY_H
#define TOPKCTS_REGISTRY_H

#include "cases/case.h"
#include "harness/arena.h"
#include "harness/provider.h"
#include "harness/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { MAX_AXES = 24, MAX_SUITES = 32 };

/* A kind of fault: what it is, and what a failure means to somebody who runs the kernel. */
struct fault_kind {
    const char *id, *summary, *means;
};

struct suite {
    const char        *id, *summary;
    const struct registry_root *root; /* which declares it */
    const char        *device;    /* the default device: host, sim, hip, cuda; NULL: the provider's own */
    const char *const *providers; /* the default providers; NULL: v1. "faulty" stands for all planted faults */
    size_t             n_providers;
    int64_t            budget_seconds;
    int64_t            max_cases; /* of the root that declares the suite; 0: no bound */
    bool               watched;   /* on the simulator every load and store is watched, of v1 too */
    bool               strict;    /* any skip is too many unless skips.yaml says otherwise */
    bool               meta;      /* about the harness itself: see DESIGN "meta" */
};

/* One value of an axis. Ragged lengths have their rows listed. */
struct axis_value {
    const char    *text; /* as it stands in a case's name */
    const int32_t *lengths;
    size_t         n_lengths; /* of the axis `length`; 0 elsewhere */
};

struct axis {
    const char        *name;
    struct axis_value *values;
    size_t             n_values;
};

/* The fixed axes stand first, in the order of a case's name; parameters follow in alphabetical order. */
enum fixed_axis { AXIS_TOPK, AXIS_LENGTH, AXIS_PAGE_SIZE, AXIS_BATCH, AXIS_OUTPUTS, N_FIXED_AXES };

struct matrix {
    struct axis axes[MAX_AXES];
    size_t      n_axes;
    bool        product; /* all combinations instead of every pair */
};

/* Which part of a family a suite takes: each list restricts the axis of its name. */
struct selection {
    size_t             suite; /* index into registry.suites */
    const struct axis *restrictions;
    size_t             n_restrictions;
};

/* A promise that a case needs: member `claim` of the claims must have one of the spellings. */
struct needed_promise {
    const char        *claim;
    const char *const *values; /* NULL-terminated */
};

/* A capability of the machine that a case needs; 0 or NULL where it does not care. */
struct needed_capability {
    int64_t     memory_mib;
    int64_t     lds_kib;
    int32_t     wave_size;
    const char *backend, *arch; /* globs */
};

/* A problem to be launched before every launch of the case, in the same open: the case with these axes replaced. */
struct sequence_step {
    int32_t                  topk, page_size, batch; /* 0: as in the case */
    const int32_t           *lengths;
    size_t                   n_lengths; /* 0: as in the case */
    const struct case_param *params;    /* those that the step replaces */
    size_t                   n_params;
};

/* Problems launched once, after the case itself: the case with one axis at every `step`-th value of a range. Finds what
 * is wrong at a single value that no list would name. */
struct sweep {
    enum fixed_axis axis;           /* topk, length or batch */
    int32_t         from, to, step; /* both ends included */
};

struct family {
    const char                 *id, *summary, *fault, *source, *generator;
    const struct case_param    *origin; /* captured_from: model, layer, step, dtype ... as they were noted */
    size_t                      n_origin;
    const char                 *file;
    int                         line;
    const struct registry_root *root;
    const struct case_param    *params; /* fixed ones; sorted by name */
    size_t                      n_params;
    struct matrix              *matrices;
    size_t                      n_matrices;
    struct selection           *selections;
    size_t                      n_selections;
    struct needed_promise      *promises;
    size_t                      n_promises;
    struct needed_capability    needs;
    const char *const          *limits; /* names of provider limits whose values become lengths; NULL-terminated */
    struct sequence_step       *sequence;
    size_t                      n_sequence;
    struct sweep               *sweeps;
    size_t                      n_sweeps;
    bool                        both_origins; /* v1 on a GPU also by the origin that is not under test */
    int32_t                     launches; /* at least so many launches a check; 0: the device's number */
    uint64_t                    seed;
};

enum outputs { OUTPUTS_PAGE, OUTPUTS_PAGE_RAW, OUTPUTS_RAW, N_OUTPUTS };

/* "page", "page+raw", "raw" */
const char *outputs_text(enum outputs outputs);

/* The same as a list for those who read them, NULL-terminated. */
extern const char *const outputs_names[N_OUTPUTS + 1];

/* One concrete case: a point of a family's matrix. */
struct concrete_case {
    const char          *name;
    const struct family *family;
    struct case_spec     spec;
    enum outputs         outputs;
    int32_t              longest;    /* the longest row */
    const char          *input_hash; /* 32 hex digits from hashes.txt; NULL when it has none */
    uint64_t             suites;     /* bit s: in registry.suites[s] */
    bool                 huge;       /* inputs past 4 GiB: hashed only where it runs */
};

/* One folder that was read. The project's own comes first, then every --registry. */
struct registry_root {
    const char *folder;
    const char *captured;   /* the folder of captured contents: cases/captured beside the project's registry, captured in
                               another one; absolute, since a worker's provider may have changed the folder */
    bool        has_hashes; /* there is a hashes.txt */
};

/* What is known to fail: still run, reported, and not counted as a failure. */
struct expectation {
    const char *case_glob, *arch_glob, *device_glob, *provider_glob; /* arch or device may be NULL */
    const char *verdict;                                             /* fail, crash, timeout, error, skip */
    int         level;                                               /* the level it may stop at; -1: any */
    const char *reason, *issue, *expires;
    const char *file;
    int         line;
    bool        expired;
};

/* How many skips of a reason are all right. */
struct skip_bound {
    const char *suite, *device_glob, *provider_glob, *reason_glob;
    int64_t     at_most;
};

/* What a device owes: a night of a suite every so many hours. */
struct fleet_duty {
    const char *device_glob, *suite;
    int64_t     every_hours;
    const char *file;
    int         line;
};

/* A limit on time, declared before anything is measured: how much slower a candidate may be than a base. */
struct guard {
    const char        *id, *what, *reason;
    const char        *declared; /* the day, "2026-11-30" */
    const char        *base, *candidate; /* globs over the names of providers */
    const char        *suite;    /* NULL: `cases` */
    const char *const *cases;    /* patterns */
    size_t             n_cases;
    unsigned           outputs;  /* bit o: enum outputs o is timed */
    bool               cold;     /* the cache is overwritten before every launch */
    double             percent;  /* the candidate may take up to 1 + percent/100 of the base's time */
    const char        *file;
    int                line;
};

struct digest;

struct registry {
    struct arena           arena;
    struct registry_root  *roots;
    size_t                 n_roots;
    struct fault_kind     *faults;
    size_t                 n_faults;
    struct suite          *suites;
    size_t                 n_suites;
    struct family         *families;
    size_t                 n_families;
    struct concrete_case  *cases; /* by family in file order, then as listed in hashes.txt */
    size_t                 n_cases;
    struct expectation    *expectations;
    size_t                 n_expectations;
    struct skip_bound     *skip_bounds;
    size_t                 n_skip_bounds;
    struct fleet_duty     *duties;
    size_t                 n_duties;
    struct guard          *guards;
    size_t                 n_guards;
    const char            *hash;  /* 32 hex digits over every file that was read, expectations and bounds included */
    struct digest         *files; /* while it is read: the digest of those so far */
    const char           **mistakes; /* what is wrong with it */
    size_t                 n_mistakes;
    const char           **notes; /* things worth saying that are no errors: no hashes.txt, a stale line in it */
    size_t                 n_notes;
};

/* Reads the folders. With `update` the case lists are expanded anew around what hashes.txt lists. STATUS_USAGE with
 * file, line, key and accepted values of the first mistake; `mistakes` then has one of every family, expectation and
 * other file, for `check` to list. The registry must be cleared in either case. */
enum status registry_load(struct registry *registry, const char *const *folders, size_t n_folders, bool update,
                          struct error *err);
void        registry_clear(struct registry *registry);

/* The suite of that name; STATUS_USAGE with the valid names otherwise. */
enum status registry_suite(const struct registry *registry, const char *id, size_t *suite, struct error *err);

/* Whether a kind of fault is declared in faults.yaml; STATUS_USAGE with those that are otherwise. */
enum status registry_fault(const struct registry *registry, const char *id, struct error *err);

/* The concrete case of exactly that name, also one that no suite lists: any legal point of its family's matrix, and
 * any lengths for a family with limits. The case lives in `arena`. STATUS_USAGE with near names otherwise. */
enum status registry_case(const struct registry *registry, const char *name, struct arena *arena,
                          struct concrete_case *out, struct error *err);

/* The concrete cases of a family with limits for the limits a provider declares, appended to *cases. */
void registry_limit_cases(const struct family *family, const struct topk_limit *limits, struct arena *arena,
                          struct concrete_case **cases, size_t *n_cases);

/* The claims under which the expectations of a case are shown without a provider: base contract plus what it needs. */
struct topk_claims registry_case_claims(const struct concrete_case *concrete);

/* Whether `name` is asked for: a pattern is a glob over names ('*' also matches '/'), or a family's id. */
bool case_name_matches(const char *name, const char *pattern);

/* Whether a provider that claims this promises all the case needs; otherwise the first missing promise is written to
 * `why`. */
bool registry_case_is_promised(const struct concrete_case *concrete, const struct topk_claims *claims, char *why,
                               size_t why_size);

/* The spec of a step of the family's sequence. The case's spec, the family and `params` must outlive it: room for the
 * parameters of both; may be NULL for a step that replaces none. */
struct case_spec registry_sequence_spec(const struct concrete_case *concrete, const struct sequence_step *step,
                                        struct case_param *params);

/* The spec of the case with a sweep's axis at *value. The case's spec and *value must outlive it. */
struct case_spec registry_sweep_spec(const struct concrete_case *concrete, const struct sweep *sweep,
                                     const int32_t *value);

/* "topk", "length", ... */
const char *fixed_axis_text(enum fixed_axis axis);

/* The level a case asks of a provider: its promise, or `valid` where the claim leaves something of the case unranked. */
enum topk_level registry_case_level(const struct concrete_case *concrete, const struct topk_claims *claims);

/* The expectation that applies, or NULL. Expired ones never apply. */
const struct expectation *registry_expectation(const struct registry *registry, const char *case_name,
                                               const char *arch, const char *device_id, const char *provider);

/* The guard of that id. STATUS_USAGE with the ids there are otherwise, and when it is declared for a day to come. */
enum status registry_guard(const struct registry *registry, const char *id, const struct guard **guard,
                           struct error *err);

/* ---- inside the registry ------------------------------------------------------------------------------------ */

/* The parameters with those of `others` put in their places or added, sorted by name, into out[0 .. n + n_others - 1].
 * Returns how many there are. */
size_t case_params_replaced(const struct case_param *params, size_t n, const struct case_param *others, size_t n_others,
                            struct case_param *out);

/* Reads a file of the registry, which its hash then covers. */
struct yaml_node;
enum status registry_file_read(struct registry *registry, const char *path, struct yaml_node **root, struct error *err);

/* The same for one that is a list; with `optional` one that is not there is an empty list. */
enum status registry_list_read(struct registry *registry, const char *path, bool optional, struct yaml_node **list,
                               struct error *err);

/* Takes what reading one part came to: a mistake is noted, so that the other parts are looked at too; anything else
 * that went wrong is the error. Returns err->status. */
enum status registry_note_mistake(struct registry *registry, const struct error *found, struct error *err);

/* Reads one family from its map. */
enum status family_read(struct registry *registry, const struct registry_root *root, const struct yaml_node *node,
                        struct error *err);

/* The combinations of a matrix restricted by a selection, as value indices [n][n_axes]; pairwise keeps every row of
 * `kept` that is legal. Returns the number of rows; *rows lives in the arena. */
size_t matrix_combinations(struct arena *arena, const struct matrix *matrix, const struct axis *restrictions,
                           size_t n_restrictions, const uint16_t *kept, size_t n_kept, uint16_t **rows);

/* Builds the concrete case at one point of a matrix. */
struct concrete_case concrete_case_at(struct arena *arena, const struct family *family, const struct matrix *matrix,
                                      const uint16_t *values);

/* Finds the point of a case name in the family's matrices. False when no matrix has it. */
bool concrete_case_point(const struct family *family, const char *name, size_t *matrix, uint16_t *values);

/* Reads all expected/ *.yaml and skips.yaml of a root. */
enum status expectations_read(struct registry *registry, const struct registry_root *root, struct error *err);

/* Reads fleet.yaml of a root, where there is one. */
enum status fleet_read(struct registry *registry, const struct registry_root *root, struct error *err);

/* Reads guards.yaml of a root, where there is one. */
enum status guards_read(struct registry *registry, const struct registry_root *root, struct error *err);

/* Whether a guard's day is still to come: it then guards nothing yet, since a limit stands before the measurement. */
bool guard_is_to_come(const struct guard *guard);

/* Fills registry->cases from hashes.txt of a root, and by expansion where there is none. With `update` every list is
 * expanded anew around the listed combinations. */
enum status cases_read(struct registry *registry, const struct registry_root *root, bool update, struct error *err);

/* Whether an id is a slug: lower case letters, digits and '-', at most 64 of them. */
bool family_id_is_legal(const char *id);

/* Whether a folder is not there, or holds no families yet. */
bool registry_folder_is_empty(const char *folder);

/* The file hashes.txt: one line for each concrete case: hash (or "-"), name, suites joined by commas. With `update`
 * lines that are none, such as the marks of a merge, are left out, since the file is about to be written anew. */
struct hashes_line {
    const char *hash, *name, *suites;
    int         line;
};
enum status hashes_read(const char *path, struct arena *arena, struct hashes_line **lines, size_t *n_lines,
                        bool update, bool *exists, struct error *err);
enum status hashes_write(const char *path, const struct registry *registry, const struct registry_root *root,
                         struct error *err);

/* What `check` finds beyond loading. Progress goes to stderr. `expanded`: the same registry loaded for an update, whose
 * cases the listed ones must be; NULL: this is the update, and hashes.txt is written. */
struct check_result {
    size_t n_families, n_cases, n_hashed, n_huge, n_added, n_removed;
    size_t n_tables;   /* roots that keep reports */
    size_t n_problems; /* each was printed to stderr */
};
enum status registry_check(struct registry *registry, const struct registry *expanded, struct check_result *result,
                           struct error *err);

/* Prints a mistake to stderr and counts it. */
void check_problem(struct check_result *result, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
