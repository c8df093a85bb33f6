/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Opening, closing and reading the store; see store.h. Writing runs is store_plan.c's and store_record.c's,
 * tables are store_schema.c's.
 *
 * Most of this file tells apart what can be wrong with a file, because "cannot open database" costs somebody a night.
 * Nothing is written before the file is known to be ours and sound: the file is looked at without SQLite first, and
 * until it has passed, closing does not fold a write-ahead log into it. Start reading at store_open().
 */
#include "harness/store_database.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* Up to this size the whole file is checked when it is opened (tens of milliseconds); damage in a larger one is told
 * when it is met. */
#define CHECKED_BYTES ((off_t)16 << 20)

/* Pages of write-ahead log between two checkpoints: 16 MiB, so that fsync does not set the pace of store_record. */
#define CHECKPOINT_PAGES "4096"

/* What is known of a file before SQLite sees it. */
struct file_facts {
    bool  fresh;    /* not there, or empty */
    bool  writable; /* the file and its folder */
    off_t bytes;
};

/* The system's reason for a failed read or write, from wherever SQLite kept it; 0 when it kept none. */
static int system_cause(sqlite3 *db)
{
    sqlite3_file *journal = NULL;
    int           cause = sqlite3_system_errno(db);
    if (cause == 0)
        sqlite3_file_control(db, "main", SQLITE_FCNTL_LAST_ERRNO, &cause);
    if (cause == 0 && sqlite3_file_control(db, "main", SQLITE_FCNTL_JOURNAL_POINTER, (void *)&journal) == SQLITE_OK &&
        journal != NULL && journal->pMethods != NULL)
        journal->pMethods->xFileControl(journal, SQLITE_FCNTL_LAST_ERRNO, &cause);
    return cause;
}

/* Whether there was no room. A write that failed for no known reason under a limit on the size of files (ulimit -f)
 * failed for that: SQLite has no code for it. */
static bool is_out_of_room(int rc, int cause)
{
    struct rlimit limit;
    if ((rc & 0xff) == SQLITE_FULL || rc == SQLITE_IOERR_SHMSIZE)
        return true;
    if ((rc & 0xff) != SQLITE_IOERR)
        return false;
    if (cause == ENOSPC || cause == EDQUOT || cause == EFBIG)
        return true;
    return rc == SQLITE_IOERR_WRITE && cause == 0 && getrlimit(RLIMIT_FSIZE, &limit) == 0 &&
           limit.rlim_cur != RLIM_INFINITY;
}

enum status store_failure(struct store *store, const char *doing, struct error *err)
{
    int         rc = sqlite3_extended_errcode(store->db);
    int         cause = system_cause(store->db);
    const char *path = store->path;
    const char *message = sqlite3_errmsg(store->db);

    if (is_out_of_room(rc, cause))
        return error_set(err, STATUS_BOOKS, "%s: the disk is full (or a size limit is reached) while %s", path, doing);
    switch (rc & 0xff) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
        return error_set(err, STATUS_BOOKS, "%s: locked by another process for more than %d s while %s", path,
                         STORE_LOCK_MS / 1000, doing);
    case SQLITE_CORRUPT:
        sqlite3_db_config(store->db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
        return error_set(err, STATUS_BOOKS,
                         "%s: damaged (%s) while %s; the file was left as it is: restore a copy, or move it away", path,
                         message, doing);
    case SQLITE_NOTADB:
        return error_set(err, STATUS_BOOKS, "%s: not a SQLite database; it was left as it is", path);
    case SQLITE_READONLY:
    case SQLITE_PERM:
        return error_set(err, STATUS_BOOKS, "%s: no permission to write while %s (%s)", path, doing, message);
    case SQLITE_IOERR:
    case SQLITE_CANTOPEN:
        return error_set(err, STATUS_BOOKS, "%s: %s while %s (%s)", path, message, doing,
                         cause ? strerror(cause) : "no system error");
    case SQLITE_NOMEM:
        return error_no_memory(err);
    default:
        return error_set(err, STATUS_BOOKS, "%s: %s while %s", path, message, doing);
    }
}

enum status store_execute(struct store *store, const char *sql, const char *doing, struct error *err)
{
    if (sqlite3_exec(store->db, sql, NULL, NULL, NULL) == SQLITE_OK)
        return STATUS_OK;
    return store_failure(store, doing, err);
}

/* The folder of `path`, in allocated memory; NULL when there is none to be had. */
static char *folder_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    if (slash == NULL)
        return strdup(".");
    return slash == path ? strdup("/") : strndup(path, (size_t)(slash - path));
}

/* The file is not there, or is empty: can it be made? */
static enum status examine_folder(const char *path, const char *folder, struct error *err)
{
    struct stat facts;
    if (stat(folder, &facts) != 0)
        return error_set(err, STATUS_BOOKS, "%s: the folder %s cannot be used: %s", path, folder, strerror(errno));
    if (!S_ISDIR(facts.st_mode))
        return error_set(err, STATUS_BOOKS, "%s: %s is not a folder", path, folder);
    if (faccessat(AT_FDCWD, folder, W_OK | X_OK, AT_EACCESS) != 0)
        return error_set(err, STATUS_BOOKS, "%s: cannot create files in the folder %s: %s", path, folder,
                         strerror(errno));
    return STATUS_OK;
}

/* Reads the 100 bytes that every SQLite file starts with and tells whose they are. */
static enum status examine_header(const char *path, struct error *err)
{
    unsigned char header[100];
    FILE         *file = fopen(path, "rb");
    if (file == NULL)
        return error_set(err, STATUS_BOOKS, "%s: cannot be read: %s", path, strerror(errno));
    size_t n = fread(header, 1, sizeof header, file);
    bool   failed = ferror(file) != 0;
    fclose(file);
    if (failed)
        return error_set(err, STATUS_BOOKS, "%s: cannot be read: %s", path, strerror(errno));
    if (n < 16 || memcmp(header, "SQLite format 3", 16) != 0)
        return error_set(err, STATUS_BOOKS, "%s: not a SQLite database; it was left as it is", path);
    if (n < sizeof header)
        return error_set(err, STATUS_BOOKS, "%s: damaged (only %zu bytes); the file was left as it is", path, n);
    uint32_t id = (uint32_t)header[68] << 24 | (uint32_t)header[69] << 16 | (uint32_t)header[70] << 8 | header[71];
    if (id != 0 && id != STORE_APPLICATION_ID)
        return error_set(err, STATUS_BOOKS,
                         "%s: a SQLite database of something else (application id 0x%08x, expected 0x%08x)", path, id,
                         STORE_APPLICATION_ID);
    return STATUS_OK;
}

static enum status examine_file(const char *path, enum store_mode mode, struct file_facts *facts, struct error *err)
{
    struct stat attributes;
    enum status status = STATUS_OK;
    char       *folder = folder_of(path);
    if (folder == NULL)
        return error_no_memory(err);

    if (stat(path, &attributes) != 0) {
        facts->fresh = true;
        if (errno != ENOENT)
            status = error_set(err, STATUS_BOOKS, "%s: cannot be reached: %s", path, strerror(errno));
        else if (mode == STORE_READ)
            status = error_set(err, STATUS_BOOKS, "%s: there is no such file; `topkcts run --db %s` makes one", path,
                               path);
    } else if (!S_ISREG(attributes.st_mode)) {
        status = error_set(err, STATUS_BOOKS, "%s: %s, not a file", path,
                           S_ISDIR(attributes.st_mode) ? "a folder" : "a special file");
    } else if (faccessat(AT_FDCWD, path, R_OK, AT_EACCESS) != 0) {
        status = error_set(err, STATUS_BOOKS, "%s: no permission to read: %s", path, strerror(errno));
    } else if (mode == STORE_WRITE && faccessat(AT_FDCWD, path, W_OK, AT_EACCESS) != 0) {
        status = error_set(err, STATUS_BOOKS, "%s: no permission to write: %s", path, strerror(errno));
    } else {
        facts->fresh = attributes.st_size == 0;
        facts->bytes = attributes.st_size;
        if (facts->fresh && mode == STORE_READ)
            status = error_set(err, STATUS_BOOKS, "%s: empty, no run was ever stored in it", path);
        else if (!facts->fresh)
            status = examine_header(path, err);
        facts->writable = faccessat(AT_FDCWD, path, W_OK, AT_EACCESS) == 0 &&
                          faccessat(AT_FDCWD, folder, W_OK | X_OK, AT_EACCESS) == 0;
    }
    if (status == STATUS_OK && mode == STORE_WRITE)
        status = examine_folder(path, folder, err);
    free(folder);
    return status;
}

/* Whether a write-ahead log with something in it stands beside the file. */
static bool has_log(const char *path)
{
    struct stat attributes;
    char       *log = sqlite3_mprintf("%s-wal", path);
    bool        found = log != NULL && stat(log, &attributes) == 0 && attributes.st_size > 0;
    sqlite3_free(log);
    return found;
}

/* A relative path gets "./" in front, so that no name has a meaning of its own (":memory:"). */
char *store_uri(const char *path, const char *query)
{
    sqlite3_str *uri = sqlite3_str_new(NULL);
    sqlite3_str_appendall(uri, path[0] == '/' ? "file://" : "file:./");
    for (const char *c = path; *c != '\0'; c++)
        if (strchr("%?#", *c) != NULL)
            sqlite3_str_appendf(uri, "%%%02X", (unsigned)(unsigned char)*c);
        else
            sqlite3_str_appendchar(uri, 1, *c);
    sqlite3_str_appendall(uri, query);
    return sqlite3_str_finish(uri);
}

/* Opens the connection and asks it for the header's numbers, which is the first time SQLite reads the file. */
static int connect_and_read(struct store *store, const char *query, int flags, int numbers[3])
{
    sqlite3_stmt *statement = NULL;
    char         *uri = store_uri(store->path, query);
    if (uri == NULL)
        return SQLITE_NOMEM;
    sqlite3_close(store->db);
    store->db = NULL;
    int rc = sqlite3_open_v2(uri, &store->db, flags | SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX, NULL);
    sqlite3_free(store->uri);
    store->uri = uri;
    if (rc != SQLITE_OK)
        return rc;
    sqlite3_extended_result_codes(store->db, 1);
    sqlite3_busy_timeout(store->db, STORE_LOCK_MS);
    sqlite3_db_config(store->db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
    rc = sqlite3_prepare_v2(store->db,
                            "SELECT (SELECT application_id FROM pragma_application_id), "
                            "(SELECT user_version FROM pragma_user_version), (SELECT count(*) FROM sqlite_schema)",
                            -1, &statement, NULL);
    if (rc == SQLITE_OK)
        rc = sqlite3_step(statement);
    for (int i = 0; rc == SQLITE_ROW && i < 3; i++)
        numbers[i] = sqlite3_column_int(statement, i);
    sqlite3_finalize(statement);
    return rc == SQLITE_ROW ? SQLITE_OK : rc;
}

/* Connects in the way the file allows. A reader without write permission cannot share a write-ahead log; when there is
 * none, the file is at rest and is read as such. */
static enum status connect_to(struct store *store, const struct file_facts *facts, int numbers[3], struct error *err)
{
    int         flags = SQLITE_OPEN_READONLY;
    const char *query = "?mode=ro";
    if (store->writable) {
        flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
        query = "";
    } else if (facts->writable) {
        flags = SQLITE_OPEN_READWRITE;
        query = "?mode=rw";
    }
    int rc = connect_and_read(store, query, flags, numbers);
    if (rc != SQLITE_OK && !facts->writable && !store->writable && !has_log(store->path) &&
        ((rc & 0xff) == SQLITE_CANTOPEN || (rc & 0xff) == SQLITE_READONLY || (rc & 0xff) == SQLITE_IOERR))
        rc = connect_and_read(store, "?immutable=1", SQLITE_OPEN_READONLY, numbers);
    if (rc == SQLITE_OK)
        return STATUS_OK;
    return store->db == NULL || rc == SQLITE_NOMEM ? error_no_memory(err)
                                                   : store_failure(store, "opening the database", err);
}

/* Asks SQLite to look at every page, and reports the first thing it complains of. */
static enum status check_pages(struct store *store, struct error *err)
{
    enum status   status = STATUS_OK;
    sqlite3_stmt *statement = NULL;
    if (sqlite3_prepare_v2(store->db, "PRAGMA quick_check(1)", -1, &statement, NULL) != SQLITE_OK ||
        sqlite3_step(statement) != SQLITE_ROW) {
        status = store_failure(store, "checking the database", err);
    } else {
        const char *complaint = (const char *)sqlite3_column_text(statement, 0);
        if (complaint == NULL || strcmp(complaint, "ok") != 0)
            status = error_set(err, STATUS_BOOKS,
                               "%s: damaged (%s); the file was left as it is: restore a copy, or move it away",
                               store->path, complaint ? complaint : "no answer");
    }
    sqlite3_finalize(statement);
    for (char *c = err->text; status != STATUS_OK && *c != '\0'; c++)
        if (*c == '\n')
            *c = ' ';
    return status;
}

/* Decides whether the file is ours, of a version we know, and sound. */
static enum status inspect(struct store *store, const struct file_facts *facts, const int numbers[3],
                           struct error *err)
{
    int  id = numbers[0];
    int  version = numbers[1];
    int  n_objects = numbers[2];
    bool blank = id == 0 && version == 0 && n_objects == 0;
    if (blank && store->writable)
        return STATUS_OK;
    if (blank)
        return error_set(err, STATUS_BOOKS, "%s: a database without tables, no run was ever stored in it", store->path);
    if (id != STORE_APPLICATION_ID)
        return error_set(err, STATUS_BOOKS,
                         "%s: a SQLite database of something else (application id 0x%08x, expected 0x%08x; %d tables, "
                         "indexes and views)",
                         store->path, (unsigned)id, STORE_APPLICATION_ID, n_objects);
    if (version > store_schema_version())
        return error_set(err, STATUS_BOOKS,
                         "%s: written by a newer topkcts (schema version %d, this one knows up to %d); use that one",
                         store->path, version, store_schema_version());
    if (version < 1)
        return error_set(err, STATUS_BOOKS, "%s: damaged (schema version %d); the file was left as it is", store->path,
                         version);
    enum status status = store_check_schema(store, version, err);
    if (status == STATUS_OK && facts->bytes <= CHECKED_BYTES)
        status = check_pages(store, err);
    return status;
}

/* Switches to write-ahead logging. SQLite does not wait for every lock on the way, so this does. A file system that
 * cannot hold such a log keeps its rollback journal: slower, and as safe. */
static enum status use_log(struct store *store, struct error *err)
{
    int waited_ms = 0;
    while (sqlite3_exec(store->db, "PRAGMA journal_mode = WAL", NULL, NULL, NULL) != SQLITE_OK) {
        if ((sqlite3_errcode(store->db) & 0xff) != SQLITE_BUSY || waited_ms >= STORE_LOCK_MS)
            return store_failure(store, "switching to write-ahead logging", err);
        waited_ms += 10 + sqlite3_sleep(10);
    }
    return STATUS_OK;
}

static enum status prepare_for_use(struct store *store, struct error *err)
{
    enum status status = STATUS_OK;
    if (store->writable) {
        if ((status = store_migrate(store, store_schema_scripts, store_schema_version(), err)) != STATUS_OK)
            return status;
        if ((status = use_log(store, err)) != STATUS_OK)
            return status;
        status = store_execute(store,
                               "PRAGMA synchronous = NORMAL; PRAGMA foreign_keys = ON; PRAGMA wal_autocheckpoint = "
                               CHECKPOINT_PAGES,
                               "setting up the connection", err);
    } else if ((status = store_lend_views(store, err)) == STATUS_OK) {
        status = store_execute(store, "PRAGMA query_only = ON", "setting up the connection", err);
    }
    if (status == STATUS_OK)
        sqlite3_db_config(store->db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 0, NULL);
    return status;
}

enum status store_open(struct store **store, const char *path, enum store_mode mode, struct error *err)
{
    struct file_facts facts = {0};
    struct store     *opened = NULL;
    int               numbers[3] = {0, 0, 0};

    *store = NULL;
    enum status status = examine_file(path, mode, &facts, err);
    if (status != STATUS_OK)
        goto done;
    opened = calloc(1, sizeof *opened);
    if (opened == NULL || (opened->path = strdup(path)) == NULL) {
        status = error_no_memory(err);
        goto done;
    }
    opened->writable = mode == STORE_WRITE;
    if ((status = connect_to(opened, &facts, numbers, err)) != STATUS_OK)
        goto done;
    if ((status = inspect(opened, &facts, numbers, err)) != STATUS_OK)
        goto done;
    if ((status = prepare_for_use(opened, err)) != STATUS_OK)
        goto done;
    *store = opened;
    opened = NULL;
done:
    store_close(opened);
    return status;
}

void store_close(struct store *store)
{
    if (store == NULL)
        return;
    for (int i = 0; i < STORE_MAX_PREPARED; i++)
        sqlite3_finalize(store->prepared[i]);
    sqlite3_close(store->db);
    sqlite3_free(store->uri);
    free(store->path);
    free(store);
}

/* The current time, broken down; *ms: milliseconds within the second. */
static void current_time(struct tm *parts, int *ms)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    gmtime_r(&now.tv_sec, parts);
    *ms = (int)(now.tv_nsec / 1000000);
}

void store_new_run_name(char name[32])
{
    struct tm parts;
    int       ms = 0;
    uint32_t  random = 0;
    char      time_text[20];
    current_time(&parts, &ms);
    if (getentropy(&random, sizeof random) != 0)
        random = (uint32_t)getpid() * 2654435761U ^ (uint32_t)ms;
    strftime(time_text, sizeof time_text, "%Y%m%dT%H%M%SZ", &parts);
    snprintf(name, 32, "%.19s-%08x", time_text, random);
}

void store_now(char text[32])
{
    struct tm parts;
    int       ms = 0;
    char      time_text[24];
    current_time(&parts, &ms);
    strftime(time_text, sizeof time_text, "%Y-%m-%dT%H:%M:%S", &parts);
    snprintf(text, 32, "%.23s.%03dZ", time_text, ms);
}

/* Prepares one statement and binds its parameters. The statement is the caller's, also after a failure. */
static enum status prepare_query(struct store *store, const char *sql, const char *const *parameters,
                                 size_t n_parameters, sqlite3_stmt **statement, struct error *err)
{
    const char *rest = NULL;
    if (sqlite3_prepare_v2(store->db, sql, -1, statement, &rest) != SQLITE_OK)
        return store_failure(store, "preparing the query", err);
    if (*statement == NULL)
        return error_set(err, STATUS_BOOKS, "the query is empty; expected one SELECT");
    sqlite3_stmt *next = NULL;
    bool          more = sqlite3_prepare_v2(store->db, rest, -1, &next, NULL) != SQLITE_OK || next != NULL;
    sqlite3_finalize(next);
    if (more)
        return error_set(err, STATUS_BOOKS, "the query has more than one statement; expected one SELECT");
    if (sqlite3_stmt_readonly(*statement) == 0 || sqlite3_column_count(*statement) == 0)
        return error_set(err, STATUS_BOOKS, "the query is not a SELECT; queries only read");
    if ((size_t)sqlite3_bind_parameter_count(*statement) != n_parameters)
        return error_set(err, STATUS_BOOKS, "the query has %d parameters, %zu values were given",
                         sqlite3_bind_parameter_count(*statement), n_parameters);
    for (size_t i = 0; i < n_parameters; i++)
        if (sqlite3_bind_text(*statement, (int)i + 1, parameters[i], -1, SQLITE_STATIC) != SQLITE_OK)
            return store_failure(store, "binding the parameters of the query", err);
    return STATUS_OK;
}

enum status store_query(struct store *store, const char *sql, const char *const *parameters, size_t n_parameters,
                        enum status (*row)(void *payload, int n_columns, const char *const *names,
                                           const char *const *values, struct error *err),
                        void *payload, struct error *err)
{
    sqlite3_stmt *statement = NULL;
    const char  **texts = NULL; /* the columns' names, then their values */
    int           rc = SQLITE_DONE;
    enum status   status = prepare_query(store, sql, parameters, n_parameters, &statement, err);
    if (status != STATUS_OK)
        goto done;

    int n = sqlite3_column_count(statement);
    texts = calloc((size_t)n * 2, sizeof *texts);
    if (texts == NULL) {
        status = error_no_memory(err);
        goto done;
    }
    for (int i = 0; i < n; i++)
        texts[i] = sqlite3_column_name(statement, i);
    while (status == STATUS_OK && (rc = sqlite3_step(statement)) == SQLITE_ROW) {
        for (int i = 0; i < n; i++)
            texts[n + i] = (const char *)sqlite3_column_text(statement, i);
        status = row(payload, n, texts, texts + n, err);
    }
    if (status == STATUS_OK && rc != SQLITE_DONE)
        status = store_failure(store, "running the query", err);
done:
    free(texts);
    sqlite3_finalize(statement);
    return status;
}
