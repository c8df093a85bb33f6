/* SPDX-License-Identifier: Apache-2.0 */
/* What is said beyond the runs, each under a label that says what it is; see evidence.h. */
#include "harness/evidence.h"

#include "harness/digest.h"
#include "harness/provenance_files.h"

#include <stdio.h>
#include <string.h>

/* ---- carried to another commit ------------------------------------------------------------------------------------ */

/* The newest run that recorded the sources of its kernels. NULL when none did; the caller frees it. */
static json_t *newest_source(const struct evidence *evidence, const char **run, struct error *err)
{
    json_t *rows = evidence_ask(evidence,
                                "SELECT run_details.run AS run, json_extract(environment, '$.source') AS source FROM run_details "
                                "JOIN runs ON runs.run = run_details.run WHERE run_details.run IN $RUNS AND "
                                "json_type(environment, '$.source') = 'object' ORDER BY started_at DESC LIMIT 1",
                                evidence->runs, evidence->n_runs, err);
    json_t *source = json_loads(evidence_text(json_array_get(rows, 0), "source"), 0, NULL);
    for (size_t i = 0; i < evidence->n_runs; i++)
        if (strcmp(evidence->runs[i], evidence_text(json_array_get(rows, 0), "run")) == 0)
            *run = evidence->runs[i];
    json_decref(rows);
    return source;
}

static const char *member(const json_t *object, const char *name)
{
    const char *text = json_string_value(json_object_get(object, name));
    return text ? text : "";
}

/* The first path that changed and may be a file of the tested folder. Paths are within the repository, files within the
 * folder, so that a path that ends like a file counts: rather one rerun too many. */
static const char *intersection(const json_t *changed, const json_t *files)
{
    size_t  i;
    json_t *path;
    json_array_foreach(changed, i, path)
    {
        const char *file;
        json_t     *digest;
        json_object_foreach((json_t *)(uintptr_t)files, file, digest)
        {
            size_t n = strlen(json_string_value(path)), m = strlen(file);
            if (n >= m && strcmp(json_string_value(path) + n - m, file) == 0 &&
                (n == m || json_string_value(path)[n - m - 1] == '/'))
                return json_string_value(path);
        }
    }
    return NULL;
}

static void say(const char *question, int answer, const char *detail)
{
    printf("| %s | %s | %s |\n", question, answer > 0 ? "yes" : answer == 0 ? "no" : "unknown", detail);
}

/* Compares the folder as it stands with what the run recorded. True when the proof holds for it. */
static bool compare_sources(const json_t *tested, const json_t *now)
{
    const json_t *changed = json_object_get(json_object_get(json_object_get(now, "base"), "diffstat"), "paths");
    const json_t *fix = json_object_get(tested, "base"), *files = json_object_get(tested, "files");
    const char   *fix_id = member(fix, "patch_id"), *now_id = member(json_object_get(now, "own"), "patch_id");
    bool same_files = member(tested, "files_digest")[0] && strcmp(member(tested, "files_digest"), member(now, "files_digest")) == 0;
    int  same_patch = !fix_id[0] || !now_id[0] ? -1 : strcmp(fix_id, now_id) == 0;
    const char *hit = changed && json_is_object(files) ? intersection(changed, files) : NULL;
    bool        told = changed && json_is_object(files) && json_is_false(json_object_get(tested, "dirty"));
    int         apart = told ? hit == NULL : -1;
    printf("| question | answer | by |\n| --- | --- | --- |\n");
    say("equal file digests", same_files, member(now, "files_digest"));
    say("equal stable patch id of the change", same_patch, now_id[0] ? now_id : "no patch id on one side");
    say("no intersecting path between the two commits", apart,
        apart == 0   ? hit
        : apart == 1 ? "none of the changed paths is a tested file"
        : changed    ? "what was tested was not committed"
                     : "the tested commit is not in this repository");
    printf("\n");
    return same_files || (same_patch == 1 && apart == 1);
}

static void write_carried(struct evidence *evidence, const char *folder, struct error *err)
{
    const char *run = "";
    json_t     *tested = newest_source(evidence, &run, err), *now = NULL;
    if (err->status)
        return;
    if (!tested) {
        error_set(err, STATUS_USAGE, "--carry %s: no named run recorded its sources; run with --source DIR", folder);
        return;
    }
    now = provenance_files(folder, member(tested, "commit"), err);
    /* The change as it stands here: from the same base, on the paths that it is about. */
    json_t *fix = json_object_get(tested, "base");
    if (now && fix)
        json_object_set_new(now, "own",
                            provenance_difference(folder, member(fix, "commit"),
                                                  json_object_get(json_object_get(fix, "diffstat"), "paths")));
    if (!err->status) {
        printf("### %s\n\n**Not rerun.** Tested in run %s at commit %s; carried to commit %s%s.\n\n", folder, run,
               member(tested, "commit"), member(now, "commit"), json_is_true(json_object_get(now, "dirty")) ? " (dirty)" : "");
        bool holds = compare_sources(tested, now);
        printf("%s\n\n", holds ? "It holds there: what was tested is the same."
                               : "It does not carry: the tested files differ there, and nothing above says that it does not "
                                 "matter. It must be rerun.");
        evidence->holds &= holds;
    }
    json_decref(now);
    json_decref(tested);
}

/* ---- attached ----------------------------------------------------------------------------------------------------- */

static enum status refuse(struct error *err, const char *path, const char *what)
{
    return error_set(err, STATUS_USAGE,
                     "--attach %s: %s; wanted is {\"title\": .., \"origin\": .., \"declared_at\": \"2026-11-01\", \"measured_at\": "
                     "\"2026-11-02\", \"limit\": {\"figure\": .., \"at_most\": 1.0}, \"figures\": {..: number}}",
                     path, what);
}

static void write_attached(struct evidence *evidence, const char *path, struct error *err)
{
    json_error_t unread;
    char         hex[DIGEST_HEX];
    const char  *name;
    json_t      *value, *json = json_load_file(path, 0, &unread);
    json_t      *limit = json_object_get(json, "limit"), *figures = json_object_get(json, "figures");
    const char  *judged = member(limit, "figure"), *declared = member(json, "declared_at"), *measured = member(json, "measured_at");
    json_t      *most = json_object_get(limit, "at_most"), *figure = json_object_get(figures, judged);
    if (!json)
        refuse(err, path, unread.text);
    else if (!member(json, "title")[0] || !member(json, "origin")[0] || !json_is_object(figures))
        refuse(err, path, "title, origin or figures are missing");
    else if (!json_is_number(most) || !json_is_number(figure))
        refuse(err, path, "there is no limit, or no figure that it is for");
    else if (!declared[0] || !measured[0] || strcmp(declared, measured) >= 0)
        refuse(err, path, "the limit must be declared before the measurement");
    else if (!digest_of_file(path, hex, err)) {
        bool within = json_number_value(figure) <= json_number_value(most);
        printf("### %s\n\n**Attached, not measured by topkcts.** From %s; measured %s; file %s.\n\n", member(json, "title"),
               member(json, "origin"), measured, hex);
        printf("| figure | value |\n| --- | --- |\n");
        json_object_foreach(figures, name, value)
        {
            if (json_is_number(value))
                printf("| %s | %g |\n", name, json_number_value(value));
        }
        printf("\nLimit, declared %s: %s at most %g. It is %g: %s.\n\n", declared, judged, json_number_value(most),
               json_number_value(figure), within ? "within the limit" : "**beyond the limit**");
        evidence->holds &= within;
    }
    json_decref(json);
}

/* ---- unchanged code objects ---------------------------------------------------------------------------------------- */

static void write_same(struct evidence *evidence, const char *pair, struct error *err)
{
    char        first[4096], digests[2][DIGEST_HEX];
    const char *colon = strchr(pair, ':');
    if (!colon) {
        error_set(err, STATUS_USAGE, "--same %s: two files with a colon between them are accepted: A:B", pair);
        return;
    }
    snprintf(first, sizeof first, "%.*s", (int)(colon - pair), pair);
    if (digest_of_file(first, digests[0], err) || digest_of_file(colon + 1, digests[1], err))
        return;
    bool same = strcmp(digests[0], digests[1]) == 0;
    printf("| %s | %s | %s | %s | %s |\n", first, digests[0], colon + 1, digests[1], same ? "unchanged" : "**changed**");
    evidence->holds &= same;
}

void evidence_write_claims(struct evidence *evidence, struct error *err)
{
    const struct settings *settings = evidence->settings;
    if (settings->carried.n && !err->status)
        printf("## Carried to another commit\n\n");
    for (size_t i = 0; i < settings->carried.n && !err->status; i++)
        write_carried(evidence, settings->carried.items[i], err);
    if (settings->same.n && !err->status)
        printf("## Code objects that must not change\n\n| before | digest | after | digest | |\n| --- | --- | --- | --- | --- |\n");
    for (size_t i = 0; i < settings->same.n && !err->status; i++)
        write_same(evidence, settings->same.items[i], err);
    if (settings->attached.n && !err->status)
        printf("%s## Attached figures\n\n", settings->same.n ? "\n" : "");
    for (size_t i = 0; i < settings->attached.n && !err->status; i++)
        write_attached(evidence, settings->attached.items[i], err);
}
