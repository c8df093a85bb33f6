/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `topkcts guard GUARD`: is the candidate slower than the base by more than registry/guards.yaml allowed beforehand?
 * Finds the guard and both providers, writes the session to the store, measures, judges, writes what came of it.
 */
#include "harness/claims.h"
#include "harness/command.h"
#include "harness/guard_result.h"
#include "harness/project.h"
#include "harness/provenance.h"
#include "harness/version.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

enum { DEFAULT_SECONDS = 60 };

static const char *const side_names[2] = {"base", "candidate"};

/* Everything of one guard, so that one place can free it. */
struct books {
    struct registry      registry;
    struct arena         arena;
    struct settings      settings[2]; /* by which each side's plan is made */
    struct plan          plans[2];
    const char          *database;
    char                 name[32], started_at[32], host[256];
    char                *environment, *argv;
    struct provenance_source source;
    struct guard_session session;
    int64_t             *cell_ids;
    struct guard_result  result;
};

/* ---- who and what ------------------------------------------------------------------------------------------------- */

/* What a side loads: the command line's word, else the guard's own name when it names just one provider. */
static enum status find_word(const struct settings *given, const struct guard *guard, int side, const char **word,
                             struct error *err)
{
    const char *declared = side == 0 ? guard->base : guard->candidate;
    *word = side == 0 ? given->base : given->candidate;
    if (!*word && !strpbrk(declared, "*?["))
        *word = declared;
    if (!*word)
        return error_set(err, STATUS_USAGE, "guard %s: --%s P is needed: the guard is for any provider called '%s'",
                         guard->id, side_names[side], declared);
    return STATUS_OK;
}

static enum status plan_side(struct books *books, const struct settings *given, const struct guard *guard, int side,
                             struct error *err)
{
    struct settings *settings = &books->settings[side];
    const char      *word;
    if (find_word(given, guard, side, &word, err))
        return err->status;
    *settings = *given;
    settings->words = (struct word_list){.n = 0};
    for (size_t c = 0; c < guard->n_cases && c < OPTION_MAX_WORDS; c++)
        settings->words.items[settings->words.n++] = guard->cases[c];
    settings->suite = guard->suite;
    settings->providers = (struct option_list){.items = {word}, .n = 1};
    if (side == 1) /* on the base's device, or nowhere */
        settings->devices = (struct option_list){.items = {books->plans[0].targets[0].device}, .n = 1};
    if (plan_make(&books->plans[side], settings, &books->registry, err))
        return error_prefix(err, "guard %s: the %s", guard->id, side_names[side]);
    const struct target *target = &books->plans[side].targets[0];
    const char          *declared = side == 0 ? guard->base : guard->candidate;
    if (!target->load_failure && fnmatch(declared, target->description.name, 0) != 0)
        return error_set(err, STATUS_USAGE, "guard %s: the %s %s is called '%s', and the guard is for '%s': its limit was "
                         "declared for another pair", guard->id, side_names[side], word, target->description.name, declared);
    return STATUS_OK;
}

/* A case's name without its kind of output, which a guard chooses by itself. */
static const char *inputs_of(struct arena *arena, const char *name)
{
    const char *at = strstr(name, ",outputs=");
    if (!at)
        return name;
    return arena_format(arena, "%.*s%s", (int)(at - name), name, at + 1 + strcspn(at + 1, ","));
}

static bool is_planned(const struct plan *plan, const char *case_name)
{
    for (size_t r = 0; r < plan->n_rows; r++)
        if (strcmp(plan->rows[r].concrete->name, case_name) == 0)
            return true;
    return false;
}

static bool can_put_out(const struct target *target, enum outputs outputs)
{
    enum topk_outputs can = target->description.claims.outputs;
    return can == TOPK_OUTPUTS_ALL || (can == TOPK_OUTPUTS_PAGE && outputs == OUTPUTS_PAGE) ||
           (can == TOPK_OUTPUTS_RAW && outputs == OUTPUTS_RAW);
}

/* Every different input of the cases that both sides promise, with every kind of output that both can put out. */
static enum status choose_cells(struct books *books, const struct guard *guard, struct error *err)
{
    struct guard_session *session = &books->session;
    const char          **inputs = NULL;
    size_t                n_inputs = 0;
    for (size_t r = 0; r < books->plans[0].n_rows; r++) {
        const struct concrete_case *concrete = books->plans[0].rows[r].concrete;
        const char                 *these = inputs_of(&books->arena, concrete->name);
        size_t      i = 0;
        while (i < n_inputs && strcmp(inputs[i], these) != 0)
            i++;
        if (i < n_inputs || !is_planned(&books->plans[1], concrete->name))
            continue;
        inputs = arena_grow(&books->arena, inputs, n_inputs, sizeof *inputs);
        inputs[n_inputs++] = these;
        for (int o = 0; o < N_OUTPUTS; o++) {
            if (!(guard->outputs >> o & 1) || !can_put_out(&books->plans[0].targets[0], (enum outputs)o) ||
                !can_put_out(&books->plans[1].targets[0], (enum outputs)o))
                continue;
            session->cells = arena_grow(&books->arena, session->cells, session->n_cells, sizeof *session->cells);
            session->cells[session->n_cells++] = (struct guard_cell){.concrete = concrete, .outputs = (enum outputs)o};
        }
    }
    for (int o = 0; o < N_OUTPUTS && session->n_cells; o++)
        if (guard->outputs >> o & 1 && (!can_put_out(&books->plans[0].targets[0], (enum outputs)o) ||
                                        !can_put_out(&books->plans[1].targets[0], (enum outputs)o)))
            fprintf(stderr, "note: outputs %s are not timed: base and candidate do not both put them out\n",
                    outputs_text((enum outputs)o));
    return session->n_cells ? STATUS_OK
                            : error_set(err, STATUS_USAGE, "guard %s: no case and kind of output that both %s and %s promise",
                                        guard->id, books->plans[0].targets[0].description.name,
                                        books->plans[1].targets[0].description.name);
}

/* ---- the books ---------------------------------------------------------------------------------------------------- */

static struct store_provider store_provider_of(const struct target *target)
{
    return (struct store_provider){.name = target->description.name,
                                   .version = target->description.version,
                                   .digest = target->description.digest,
                                   .origin = target->description.origin,
                                   .file = target->provider};
}

static enum status begin_session(struct books *books, const struct settings *given, struct error *err)
{
    struct guard_session    *session = &books->session;
    struct store_provider    base = store_provider_of(session->targets[0]), candidate = store_provider_of(session->targets[1]);
    struct store_guard_cell *cells = arena_alloc(&books->arena, session->n_cells * sizeof *cells);
    provenance_host(books->host);
    books->environment = provenance_environment();
    books->argv = project_arguments_json();
    if (!books->environment || !books->argv)
        return error_no_memory(err);
    if (provenance_source(project_folder(), &books->source, err))
        return err->status;
    for (size_t c = 0; c < session->n_cells; c++)
        cells[c] = (struct store_guard_cell){session->cells[c].concrete->name, session->cells[c].outputs};
    store_new_run_name(books->name);
    store_now(books->started_at);
    const struct store_run run = {.run = books->name,
                                  .started_at = books->started_at,
                                  .label = given->label,
                                  .host = books->host,
                                  .argv = books->argv,
                                  .harness_version = TOPKCTS_VERSION,
                                  .registry_hash = books->registry.hash,
                                  .source_commit = books->source.commit[0] ? books->source.commit : NULL,
                                  .dirty = books->source.dirty,
                                  .environment = books->environment};
    const struct store_guard_session stored = {.guard = session->guard,
                                               .run = &run,
                                               .device = &session->targets[0]->record,
                                               .base = &base,
                                               .candidate = &candidate,
                                               .budget_seconds = (double)session->budget_ms / 1000,
                                               .seed = (uint64_t)(given->seed ? given->seed : 1)};
    books->cell_ids = arena_alloc(&books->arena, session->n_cells * sizeof *books->cell_ids);
    session->cell_ids = books->cell_ids;
    return store_guard_begin(session->store, &stored, cells, session->n_cells, books->cell_ids, err);
}

static enum status tell(const struct books *books, const struct settings *given, struct error *err)
{
    if (!given->json) {
        guard_result_print(&books->result, &books->session, books->name, books->database, stdout);
        return STATUS_OK;
    }
    json_t *answer = guard_result_json(&books->result, &books->session, books->name, books->database);
    if (!answer)
        return error_no_memory(err);
    json_dumpf(answer, stdout, JSON_INDENT(1));
    putchar('\n');
    json_decref(answer);
    return STATUS_OK;
}

static enum status prepare(struct books *books, const struct settings *given, struct error *err)
{
    const struct guard *guard;
    if (project_load_registry_aloud(given, false, &books->registry, err))
        return err->status;
    if (given->words.n != 1) {
        struct error there = {0};
        registry_guard(&books->registry, "", &guard, &there);
        return error_set(err, STATUS_USAGE, "guard takes the id of one guard, %zu were given%s", given->words.n,
                         strchr(there.text, ';') ? strchr(there.text, ';') : "");
    }
    if (given->devices.n > 1)
        return error_set(err, STATUS_USAGE, "guard takes one --device, %zu were given", given->devices.n);
    if (registry_guard(&books->registry, given->words.items[0], &guard, err) || plan_side(books, given, guard, 0, err) ||
        plan_side(books, given, guard, 1, err) || choose_cells(books, guard, err))
        return err->status;
    books->session.settings = &books->settings[0];
    books->session.guard = guard;
    books->session.targets[0] = &books->plans[0].targets[0];
    books->session.targets[1] = &books->plans[1].targets[0];
    books->session.budget_ms = 1000 * (given->seconds ? given->seconds : DEFAULT_SECONDS);
    return STATUS_OK;
}

enum status command_guard(const struct settings *given, struct error *err)
{
    struct books *books = calloc(1, sizeof *books);
    enum status   exit_code = STATUS_BOOKS;
    if (!books)
        return error_no_memory(err);
    books->database = given->database ? given->database : "topkcts.db";
    uint64_t seed = (uint64_t)(given->seed ? given->seed : 1);
    if (prepare(books, given, err) || store_open(&books->session.store, books->database, STORE_WRITE, err) ||
        begin_session(books, given, err) || guard_measure(&books->session, err) ||
        guard_result_make(&books->result, &books->session, seed, err) ||
        store_guard_finish(books->session.store, books->name, &books->result.end, books->cell_ids, books->result.cells,
                           books->session.n_cells, err) ||
        tell(books, given, err))
        goto done;
    exit_code = guard_exit_code(books->result.end.verdict);
done:
    guard_result_clear(&books->result);
    guard_session_clear(&books->session);
    store_close(books->session.store);
    plan_clear(&books->plans[0]);
    plan_clear(&books->plans[1]);
    registry_clear(&books->registry);
    arena_clear(&books->arena);
    free(books->environment);
    free(books->argv);
    free(books);
    return err->status ? err->status : exit_code;
}
