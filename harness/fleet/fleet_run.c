/* SPDX-License-Identifier: Apache-2.0 */
/* What a fleet does: submit, and bring together; see fleet.h. */
#include "harness/digest.h"
#include "harness/fleet/fleet.h"
#include "harness/fleet/slurm.h"
#include "harness/store_merge.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* How many seconds before the end of its time a shard is told to close its books. */
#define WARNING_SECONDS "60"

static enum status submit_shards(const struct fleet_plan *plan, const char *shards, struct arena *arena, char job[32],
                                 struct error *err)
{
    const char *arguments[16];
    size_t      n = 0;
    arguments[n++] = arena_format(arena, "--array=%s", shards);
    arguments[n++] = arena_format(arena, "--job-name=%s", plan->name);
    arguments[n++] = arena_format(arena, "--output=%s/shard-%%a-%%A.log", plan->folder);
    arguments[n++] = arena_format(arena, "--time=%lld", (long long)plan->minutes);
    arguments[n++] = "--signal=B:TERM@" WARNING_SECONDS;
    arguments[n++] = "--no-requeue";
    if (plan->constraint)
        arguments[n++] = arena_format(arena, "--constraint=%s", plan->constraint);
    if (plan->partition)
        arguments[n++] = arena_format(arena, "--partition=%s", plan->partition);
    arguments[n++] = arena_format(arena, "%s/shard.sh", plan->folder);
    arguments[n] = NULL;
    return slurm_submit(arguments, job, err);
}

/* Collecting jobs of one database share a name, and Slurm runs one of a name at a time: two fleets that end together
 * do not overwrite each other's results. */
static enum status submit_collecting(const struct fleet_plan *plan, const char *array_job, struct arena *arena,
                                     char job[32], struct error *err)
{
    struct digest digest;
    char          hex[DIGEST_HEX];
    const char   *arguments[16];
    size_t        n = 0;
    digest_begin(&digest);
    digest_add(&digest, plan->database, strlen(plan->database));
    digest_end(&digest, hex);
    arguments[n++] = arena_format(arena, "--dependency=afterany:%s,singleton", array_job);
    arguments[n++] = arena_format(arena, "--job-name=topkcts-collect-%.8s", hex);
    arguments[n++] = arena_format(arena, "--output=%s/collect-%%j.log", plan->folder);
    arguments[n++] = "--requeue";
    if (plan->partition)
        arguments[n++] = arena_format(arena, "--partition=%s", plan->partition);
    arguments[n++] = arena_format(arena, "%s/collect.sh", plan->folder);
    arguments[n] = NULL;
    return slurm_submit(arguments, job, err);
}

enum status fleet_submit(const struct fleet_plan *plan, const char *shards, char array_job[32], char collect_job[32],
                         struct error *err)
{
    struct arena arena = {0};
    if (!submit_shards(plan, shards, &arena, array_job, err) &&
        submit_collecting(plan, array_job, &arena, collect_job, err))
        error_prefix(err, "the shards are job %s, but nothing collects them", array_job);
    arena_clear(&arena);
    return err->status;
}

static enum status copy_file(const char *from, const char *to, struct error *err)
{
    int source = open(from, O_RDONLY | O_CLOEXEC);
    int target = open(to, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    if (source < 0 || target < 0) {
        error_set(err, STATUS_BOOKS, "%s: cannot be copied to %s: %s", from, to, strerror(errno));
        goto done;
    }
    char   *chunk = malloc(1 << 20);
    ssize_t n = chunk ? 1 : -1;
    while (n > 0 && (n = read(source, chunk, 1 << 20)) > 0)
        for (ssize_t written = 0, w; written < n; written += w)
            if ((w = write(target, chunk + written, (size_t)(n - written))) < 0) {
                n = -1;
                break;
            }
    free(chunk);
    if (n < 0 || fsync(target) != 0)
        error_set(err, STATUS_BOOKS, "%s: cannot be copied to %s: %s", from, to, strerror(errno));
done:
    if (source >= 0)
        close(source);
    if (target >= 0)
        close(target);
    return err->status;
}

/* Brings the database to rest, so that its file alone is all of it, and copies it. */
static enum status fetch_database(const struct fleet_plan *plan, const char *own, struct arena *arena,
                                  struct error *err)
{
    struct stat   attributes;
    struct store *store = NULL;
    if (stat(plan->database, &attributes) != 0 && errno == ENOENT)
        return STATUS_OK;
    if (store_open(&store, plan->database, STORE_WRITE, err))
        return err->status;
    store_close(store);
    if (stat(arena_format(arena, "%s-wal", plan->database), &attributes) == 0)
        return error_set(err, STATUS_BOOKS,
                         "%s: another process has it open; nothing was merged. The shards stay in %s: run `topkcts "
                         "merge` when it is free",
                         plan->database, plan->folder);
    return copy_file(plan->database, own, err);
}

static void tell_conflict(void *unused, const struct store_merge_conflict *conflict)
{
    (void)unused;
    printf("CONFLICT %s %s: stored %s, found %s in %s\n", conflict->what, conflict->key ? conflict->key : "?",
           conflict->stored ? conflict->stored : "nothing", conflict->found ? conflict->found : "nothing",
           conflict->source);
}

static int is_shard(const struct dirent *entry)
{
    return fnmatch("shard-*-*.db", entry->d_name, 0) == 0;
}

static enum status merge_shards(const struct fleet_plan *plan, const char *own, struct arena *arena,
                                struct store_merge_counts *counts, size_t *n_merged, struct error *err)
{
    struct store   *store = NULL;
    struct dirent **entries;
    int             n = scandir(plan->folder, &entries, is_shard, alphasort);
    if (n < 0)
        return error_set(err, STATUS_BOOKS, "%s: cannot be read: %s", plan->folder, strerror(errno));
    store_open(&store, own, STORE_WRITE, err);
    for (int i = 0; i < n; i++) {
        const char *shard = arena_format(arena, "%s/%s", plan->folder, entries[i]->d_name);
        if (!err->status && !store_merge(store, shard, counts, tell_conflict, NULL, err))
            ++*n_merged;
        free(entries[i]);
    }
    free(entries);
    store_close(store);
    return err->status;
}

enum status fleet_merge(const struct fleet_plan *plan, struct store_merge_counts *counts, size_t *n_merged,
                        struct error *err)
{
    struct arena arena = {0};
    const char  *temporary = getenv("SLURM_TMPDIR");
    if (!temporary)
        temporary = getenv("TMPDIR");
    char       *folder = arena_format(&arena, "%s/topkcts-XXXXXX", temporary ? temporary : "/tmp");
    const char *placed = arena_format(&arena, "%s.%s", plan->database, plan->name);
    if (!mkdtemp(folder)) {
        error_set(err, STATUS_BOOKS, "%s: cannot be made: %s", folder, strerror(errno));
        goto done;
    }
    const char *own = arena_format(&arena, "%s/all.db", folder);
    if (!fetch_database(plan, own, &arena, err) && !merge_shards(plan, own, &arena, counts, n_merged, err) &&
        !copy_file(own, placed, err) && rename(placed, plan->database) != 0)
        error_set(err, STATUS_BOOKS, "%s: cannot be moved to %s: %s", placed, plan->database, strerror(errno));
    unlink(own);
    rmdir(folder);
done:
    arena_clear(&arena);
    return err->status;
}
