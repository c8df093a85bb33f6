/* SPDX-License-Identifier: Apache-2.0 */
/* The files of a fleet: its plan and its scripts; see fleet.h. */
#include "harness/fleet/fleet.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Writes a file whole or not at all. */
static enum status write_file(const char *path, const char *text, mode_t mode, struct error *err)
{
    char  *temporary = NULL;
    FILE  *file = NULL;
    bool   written = false;
    if (asprintf(&temporary, "%s.writing", path) < 0)
        return error_no_memory(err);
    file = fopen(temporary, "w");
    if (file) {
        written = fputs(text, file) >= 0;
        written &= fchmod(fileno(file), mode) == 0;
        written &= fclose(file) == 0;
        written = written && rename(temporary, path) == 0;
    }
    if (!written)
        error_set(err, STATUS_BOOKS, "%s: cannot be written: %s", path, strerror(errno));
    free(temporary);
    return err->status;
}

enum status fleet_plan_write(const struct fleet_plan *plan, struct error *err)
{
    struct arena arena = {0};
    json_t      *arguments = json_array();
    for (size_t i = 0; i < plan->n_arguments; i++)
        json_array_append_new(arguments, json_string(plan->arguments[i]));
    json_t *json = json_pack("{s:s, s:s, s:s, s:s*, s:s*, s:I, s:I, s:I, s:I, s:o}", "name", plan->name, "database",
                             plan->database, "program", plan->program, "constraint", plan->constraint, "partition",
                             plan->partition, "shards", (json_int_t)plan->shards, "minutes", (json_int_t)plan->minutes,
                             "resubmits", (json_int_t)plan->resubmits, "round", (json_int_t)plan->round, "arguments",
                             arguments);
    char   *text = json ? json_dumps(json, JSON_INDENT(1)) : NULL;
    if (text)
        write_file(arena_format(&arena, "%s/plan.json", plan->folder), text, 0644, err);
    else
        error_set(err, STATUS_USAGE, "fleet: an argument is not UTF-8 and cannot be kept in plan.json");
    free(text);
    json_decref(json);
    arena_clear(&arena);
    return err->status;
}

enum status fleet_plan_read(const char *folder, struct arena *arena, struct fleet_plan *plan, struct error *err)
{
    const char  *path = arena_format(arena, "%s/plan.json", folder);
    json_error_t cause;
    json_int_t   shards = 0, minutes = 0, resubmits = 0, round = 0;
    json_t      *arguments = NULL;
    json_t      *json = json_load_file(path, 0, &cause);
    if (!json)
        return error_set(err, STATUS_USAGE, "%s: no plan of a fleet: %s", path, cause.text);
    memset(plan, 0, sizeof *plan);
    if (json_unpack_ex(json, &cause, 0, "{s:s, s:s, s:s, s?s, s?s, s:I, s:I, s:I, s:I, s:o}", "name", &plan->name,
                       "database", &plan->database, "program", &plan->program, "constraint", &plan->constraint,
                       "partition", &plan->partition, "shards", &shards, "minutes", &minutes, "resubmits", &resubmits,
                       "round", &round, "arguments", &arguments) != 0 ||
        shards < 1 || shards > FLEET_MAX_SHARDS) {
        error_set(err, STATUS_USAGE, "%s: no plan of a fleet: %s", path, cause.text[0] ? cause.text : "shards");
        goto done;
    }
    plan->folder = arena_text(arena, folder);
    plan->name = arena_text(arena, plan->name);
    plan->database = arena_text(arena, plan->database);
    plan->program = arena_text(arena, plan->program);
    plan->constraint = arena_text(arena, plan->constraint);
    plan->partition = arena_text(arena, plan->partition);
    plan->shards = shards;
    plan->minutes = minutes;
    plan->resubmits = resubmits;
    plan->round = round;
    plan->n_arguments = json_array_size(arguments);
    plan->arguments = arena_alloc(arena, (plan->n_arguments + 1) * sizeof *plan->arguments);
    for (size_t i = 0; i < plan->n_arguments; i++) {
        const char *text = json_string_value(json_array_get(arguments, i));
        plan->arguments[i] = arena_text(arena, text ? text : "");
    }
done:
    json_decref(json);
    return err->status;
}

/* A word that a shell reads back as it is. */
static const char *quoted(struct arena *arena, const char *word)
{
    char  *text = arena_alloc(arena, strlen(word) * 4 + 3);
    size_t n = 0;
    text[n++] = '\'';
    for (; *word; word++)
        if (*word == '\'')
            n = (size_t)(stpcpy(text + n, "'\\''") - text);
        else
            text[n++] = *word;
    text[n] = '\'';
    return text;
}

/* A format: folder, program, arguments, number of shards. */
static const char shard_script[] =
    "#!/bin/sh\n"
    "# Written by `topkcts fleet`: one shard of a run. Its database stays on this node's own disk while it is written\n"
    "# and comes to the shared folder at rest, whole.\n"
    "set -u\n"
    "folder=%s\n"
    "topkcts=%s\n"
    "shard=$SLURM_ARRAY_TASK_ID\n"
    "job=$SLURM_ARRAY_JOB_ID\n"
    "own=$(mktemp -d \"${SLURM_TMPDIR:-${TMPDIR:-/tmp}}/topkcts-XXXXXX\") || exit 3\n"
    "trap 'rm -rf \"$own\"' EXIT\n"
    "\"$topkcts\" run%s --shard \"$shard/%lld\" --db \"$own/running.db\" &\n"
    "runner=$!\n"
    "# Slurm announces the end of the job's time: the runner finishes its case and closes its books.\n"
    "trap 'kill -INT \"$runner\"' TERM INT\n"
    "wait \"$runner\"\n"
    "status=$?\n"
    "while kill -0 \"$runner\" 2>/dev/null; do\n"
    "    wait \"$runner\"\n"
    "    status=$?\n"
    "done\n"
    "trap '' TERM INT\n"
    "if [ -e \"$own/running.db\" ]; then\n"
    "    # A runner that was killed left a log beside its file; merging reads both.\n"
    "    \"$topkcts\" merge \"$own/closed.db\" \"$own/running.db\" || exit 3\n"
    "    cp \"$own/closed.db\" \"$folder/.shard-$shard-$job.db\" || exit 3\n"
    "    mv \"$folder/.shard-$shard-$job.db\" \"$folder/shard-$shard-$job.db\" || exit 3\n"
    "fi\n"
    "echo \"$status ${SLURMD_NODENAME:-unknown} $job\" >\"$folder/.shard-$shard-$job.done\" || exit 3\n"
    "mv \"$folder/.shard-$shard-$job.done\" \"$folder/shard-$shard.done\" || exit 3\n"
    "exit \"$status\"\n";

enum status fleet_scripts_write(const struct fleet_plan *plan, struct error *err)
{
    struct arena arena = {0};
    const char  *arguments = "";
    for (size_t i = 0; i < plan->n_arguments; i++)
        arguments = arena_format(&arena, "%s %s", arguments, quoted(&arena, plan->arguments[i]));
    const char *folder = quoted(&arena, plan->folder), *program = quoted(&arena, plan->program);
    const char *shard =
        arena_format(&arena, shard_script, folder, program, arguments, (long long)plan->shards);
    const char *collect = arena_format(&arena,
                                       "#!/bin/sh\n"
                                       "# Written by `topkcts fleet`: brings the shards together when all are over.\n"
                                       "exec %s fleet --collect %s\n",
                                       program, folder);
    if (!write_file(arena_format(&arena, "%s/shard.sh", plan->folder), shard, 0755, err))
        write_file(arena_format(&arena, "%s/collect.sh", plan->folder), collect, 0755, err);
    arena_clear(&arena);
    return err->status;
}

enum status fleet_shards_read(const struct fleet_plan *plan, struct fleet_shard *shards, struct error *err)
{
    struct arena arena = {0};
    for (int64_t i = 0; i < plan->shards && !err->status; i++) {
        const char *path = arena_format(&arena, "%s/shard-%lld.done", plan->folder, (long long)i + 1);
        long long   job = 0;
        FILE       *file = fopen(path, "r");
        memset(&shards[i], 0, sizeof shards[i]);
        if (!file) {
            if (errno != ENOENT)
                error_set(err, STATUS_BOOKS, "%s: cannot be read: %s", path, strerror(errno));
            continue;
        }
        shards[i].done = fscanf(file, "%d %63s %lld", &shards[i].exit_code, shards[i].node, &job) == 3;
        shards[i].job = job;
        fclose(file);
    }
    arena_clear(&arena);
    return err->status;
}
