/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The list of a registry's concrete cases: from hashes.txt where a family is listed there, by expanding its matrices
 * otherwise, or both for `check --update`.
 */
#include "harness/registry.h"

#include <fnmatch.h>
#include <stdio.h>
#include <string.h>

/* The listed combinations of one matrix of one family. */
struct listed {
    uint16_t   *values;
    uint64_t   *suites;
    size_t      n;
};

/* Something worth saying that is no error. */
static void add_note(struct registry *registry, const char *note)
{
    registry->notes = arena_grow(&registry->arena, registry->notes, registry->n_notes, sizeof *registry->notes);
    registry->notes[registry->n_notes++] = note;
}

bool case_name_matches(const char *name, const char *pattern)
{
    size_t length = strlen(pattern);
    return fnmatch(pattern, name, 0) == 0 ||
           (strncmp(name, pattern, length) == 0 && name[length] == '/' && !strchr(pattern, '/'));
}

/* The suites of a line that exist and that the family still selects. */
static uint64_t suites_of_line(const struct registry *registry, const struct family *family, const char *suites)
{
    uint64_t bits = 0;
    for (size_t s = 0; s < family->n_selections; s++) {
        const char *id = registry->suites[family->selections[s].suite].id;
        size_t      length = strlen(id);
        for (const char *at = suites; at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL)
            if (strncmp(at, id, length) == 0 && (at[length] == ',' || at[length] == '\0'))
                bits |= UINT64_C(1) << family->selections[s].suite;
    }
    return bits;
}

static struct concrete_case *find_case(struct registry *registry, size_t from, const char *name)
{
    for (size_t i = from; i < registry->n_cases; i++)
        if (strcmp(registry->cases[i].name, name) == 0)
            return &registry->cases[i];
    return NULL;
}

/* Adds the case, or the suite to the case of that name. */
static struct concrete_case *add_case(struct registry *registry, size_t from, const struct concrete_case *made,
                                      uint64_t suites)
{
    struct concrete_case *have = find_case(registry, from, made->name);
    if (!have) {
        registry->cases =
            arena_grow(&registry->arena, registry->cases, registry->n_cases, sizeof *registry->cases);
        have = &registry->cases[registry->n_cases++];
        *have = *made;
    }
    have->suites |= suites;
    return have;
}

/* Expands one selection of one matrix around the combinations that the suite already has. */
static void expand(struct registry *registry, const struct family *family, size_t m, const struct selection *selection,
                   const struct listed *listed, size_t from)
{
    const struct matrix *matrix = &family->matrices[m];
    uint64_t             bit = selection ? UINT64_C(1) << selection->suite : 0;
    uint16_t            *kept = arena_alloc(&registry->arena, (listed->n + 1) * matrix->n_axes * sizeof *kept), *rows;
    size_t               n_kept = 0;
    for (size_t i = 0; i < listed->n; i++)
        if (!selection || (listed->suites[i] & bit))
            memcpy(kept + n_kept++ * matrix->n_axes, listed->values + i * MAX_AXES, matrix->n_axes * sizeof *kept);
    size_t n = matrix_combinations(&registry->arena, matrix, selection ? selection->restrictions : NULL,
                                   selection ? selection->n_restrictions : 0, kept, n_kept, &rows);
    for (size_t r = 0; r < n; r++) {
        struct concrete_case made = concrete_case_at(&registry->arena, family, matrix, rows + r * matrix->n_axes);
        add_case(registry, from, &made, bit);
    }
}

static enum status expand_family(struct registry *registry, const struct family *family, const struct listed *listed,
                                 struct error *err)
{
    size_t from = registry->n_cases;
    for (size_t s = 0; s < family->n_selections; s++) {
        uint64_t bit = UINT64_C(1) << family->selections[s].suite;
        bool     any = false;
        for (size_t m = 0; m < family->n_matrices; m++)
            expand(registry, family, m, &family->selections[s], &listed[m], from);
        for (size_t i = from; i < registry->n_cases; i++)
            any |= (registry->cases[i].suites & bit) != 0;
        if (!any)
            return error_set(err, STATUS_USAGE, "%s:%d: family '%s' has no case left in suite '%s'", family->file,
                             family->line, family->id, registry->suites[family->selections[s].suite].id);
    }
    if (family->n_selections == 0)
        for (size_t m = 0; m < family->n_matrices; m++)
            expand(registry, family, m, NULL, &listed[m], from);
    return STATUS_OK;
}

static void list_point(struct registry *registry, const uint16_t *values, uint64_t suites, struct listed *l)
{
    l->suites = arena_grow(&registry->arena, l->suites, l->n, sizeof *l->suites);
    l->values = arena_grow(&registry->arena, l->values, l->n, MAX_AXES * sizeof *l->values);
    l->suites[l->n] = suites;
    memcpy(l->values + l->n++ * MAX_AXES, values, MAX_AXES * sizeof *values);
}

/* Lists every point of the matrix that a case's name stands for. Batches below the number of ragged lengths are raised
 * to it, so several points may be one case; were only one listed, each update would add cases for the others. */
static void list_points(struct registry *registry, const struct family *family, size_t m, const uint16_t *values,
                        const char *name, uint64_t suites, struct listed *listed)
{
    const struct matrix *matrix = &family->matrices[m];
    uint16_t             point[MAX_AXES];
    memcpy(point, values, sizeof point);
    if (matrix->axes[AXIS_LENGTH].values[values[AXIS_LENGTH]].n_lengths < 2) {
        list_point(registry, point, suites, listed);
        return;
    }
    for (size_t batch = 0; batch < matrix->axes[AXIS_BATCH].n_values; batch++) {
        point[AXIS_BATCH] = (uint16_t)batch;
        if (strcmp(concrete_case_at(&registry->arena, family, matrix, point).name, name) == 0)
            list_point(registry, point, suites, listed);
    }
}

/* Sorts the lines of one family into its matrices; lines that are legal no more are noted and dropped. With
 * `take_cases` they also become the family's cases. Returns how many lines were legal. */
static size_t take_lines(struct registry *registry, const struct family *family, const struct hashes_line *lines,
                         size_t n_lines, const char *path, bool take_cases, struct listed *listed)
{
    size_t taken = 0, length = strlen(family->id), from = registry->n_cases;
    for (size_t i = 0; i < n_lines; i++) {
        size_t   m;
        uint16_t values[MAX_AXES] = {0};
        if (strncmp(lines[i].name, family->id, length) != 0 || lines[i].name[length] != '/')
            continue;
        uint64_t suites = suites_of_line(registry, family, lines[i].suites);
        if (!concrete_case_point(family, lines[i].name, &m, values)) {
            if (take_cases)
                add_note(registry, arena_format(&registry->arena, "%s:%d: '%s' is no case of its family any more; run 'topkcts check --update'",
                                                     path, lines[i].line, lines[i].name));
            continue;
        }
        taken++;
        /* A file merged by hand may hold a case twice; in the store it is one row. */
        struct concrete_case *have = take_cases ? find_case(registry, from, lines[i].name) : NULL;
        if (have) {
            have->suites |= suites;
            add_note(registry, arena_format(&registry->arena, "%s:%d: '%s' is listed twice; run 'topkcts check --update'",
                                                 path, lines[i].line, lines[i].name));
        } else if (take_cases) {
            struct concrete_case made = concrete_case_at(&registry->arena, family, &family->matrices[m], values);
            made.input_hash = lines[i].hash;
            made.suites = suites;
            registry->cases =
                arena_grow(&registry->arena, registry->cases, registry->n_cases, sizeof *registry->cases);
            registry->cases[registry->n_cases++] = made;
        }
        list_points(registry, family, m, values, lines[i].name, suites, &listed[m]);
    }
    return taken;
}

/* Lines whose family is gone altogether. */
static void note_orphans(struct registry *registry, const struct hashes_line *lines, size_t n_lines, const char *path)
{
    for (size_t i = 0; i < n_lines; i++) {
        size_t length = strcspn(lines[i].name, "/"), f = 0;
        while (f < registry->n_families && (strncmp(registry->families[f].id, lines[i].name, length) != 0 ||
                                            registry->families[f].id[length] != '\0'))
            f++;
        if (f == registry->n_families)
            add_note(registry, arena_format(&registry->arena, "%s:%d: there is no family '%.*s'; run 'topkcts check --update'",
                                                 path, lines[i].line, (int)length, lines[i].name));
    }
}

enum status cases_read(struct registry *registry, const struct registry_root *root, bool update, struct error *err)
{
    struct hashes_line *lines = NULL;
    size_t              n_lines = 0;
    bool                exists;
    const char         *path = arena_format(&registry->arena, "%s/hashes.txt", root->folder);
    if (hashes_read(path, &registry->arena, &lines, &n_lines, update, &exists, err))
        return err->status;
    for (size_t f = 0; f < registry->n_families; f++) {
        const struct family *family = &registry->families[f];
        if (family->root != root || family->limits)
            continue;
        struct listed *listed = arena_alloc(&registry->arena, family->n_matrices * sizeof *listed);
        size_t         taken = take_lines(registry, family, lines, n_lines, path, !update, listed);
        if (taken && !update)
            continue;
        if (exists && !update)
            add_note(registry, arena_format(&registry->arena, "%s does not list family '%s' yet; run 'topkcts check --update'",
                                                 path, family->id));
        if (expand_family(registry, family, listed, err))
            return err->status;
    }
    if (!exists)
        add_note(registry, arena_format(&registry->arena, "%s is not there: inputs are not checked against known digests; 'topkcts check --update' writes it", path));
    else if (!update)
        note_orphans(registry, lines, n_lines, path);
    return STATUS_OK;
}
