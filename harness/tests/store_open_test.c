/* SPDX-License-Identifier: Apache-2.0 */
/* What store_open makes of good files, bad files and missing ones. Each test has a folder of its own. */
#include "harness/store.h"
#include "harness/store_database.h"

#include <criterion/criterion.h>
#include <dirent.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static char folder[64];
static char path[128];

static void make_folder(void)
{
    snprintf(folder, sizeof folder, "/tmp/topkcts-store-open-XXXXXX");
    cr_assert_not_null(mkdtemp(folder));
    cr_assert_eq(chmod(folder, 0755), 0);
    snprintf(path, sizeof path, "%s/results.db", folder);
}

static void remove_folder(void)
{
    char           entry[512];
    struct dirent *item = NULL;
    DIR           *list = opendir(folder);
    while (list != NULL && (item = readdir(list)) != NULL) {
        snprintf(entry, sizeof entry, "%s/%s", folder, item->d_name);
        if (item->d_name[0] != '.')
            unlink(entry);
    }
    if (list != NULL)
        closedir(list);
    rmdir(folder);
}

TestSuite(store_open, .init = make_folder, .fini = remove_folder, .timeout = 60);

/* Opens and closes; the message is left in a static buffer for the assertion that follows. */
static struct error last;

static enum status try_open(const char *file, enum store_mode mode)
{
    struct store *store = NULL;
    memset(&last, 0, sizeof last);
    enum status status = store_open(&store, file, mode, &last);
    cr_assert_eq(status == STATUS_OK, store != NULL, "status and store disagree");
    cr_assert_eq(strchr(last.text, '\n'), NULL, "more than one line: %s", last.text);
    store_close(store);
    return status;
}

#define assert_refused(file, mode, expected)                                                                         \
    do {                                                                                                             \
        cr_assert_eq(try_open(file, mode), STATUS_BOOKS);                                                            \
        cr_assert_not_null(strstr(last.text, expected), "no '%s' in '%s'", expected, last.text);                     \
        cr_assert_not_null(strstr(last.text, file), "no path in '%s'", last.text);                                   \
    } while (0)

static void run_sql(const char *file, const char *sql)
{
    sqlite3 *db = NULL;
    cr_assert_eq(sqlite3_open(file, &db), SQLITE_OK);
    cr_assert_eq(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK, "%s", sqlite3_errmsg(db));
    cr_assert_eq(sqlite3_close(db), SQLITE_OK);
}

static int64_t number(const char *file, const char *sql)
{
    sqlite3      *db = NULL;
    sqlite3_stmt *statement = NULL;
    cr_assert_eq(sqlite3_open(file, &db), SQLITE_OK);
    cr_assert_eq(sqlite3_prepare_v2(db, sql, -1, &statement, NULL), SQLITE_OK, "%s", sqlite3_errmsg(db));
    cr_assert_eq(sqlite3_step(statement), SQLITE_ROW);
    int64_t value = sqlite3_column_int64(statement, 0);
    sqlite3_finalize(statement);
    sqlite3_close(db);
    return value;
}

static unsigned char *read_all(const char *file, size_t *n_bytes)
{
    struct stat attributes;
    cr_assert_eq(stat(file, &attributes), 0);
    FILE *stream = fopen(file, "rb");
    cr_assert_not_null(stream);
    *n_bytes = (size_t)attributes.st_size;
    unsigned char *bytes = malloc(*n_bytes + 1);
    cr_assert_eq(fread(bytes, 1, *n_bytes, stream), *n_bytes);
    fclose(stream);
    return bytes;
}

static void write_all(const char *file, const unsigned char *bytes, size_t n_bytes)
{
    FILE *stream = fopen(file, "wb");
    cr_assert_not_null(stream);
    cr_assert_eq(fwrite(bytes, 1, n_bytes, stream), n_bytes);
    cr_assert_eq(fclose(stream), 0);
}

/* A database with a run of `n` planned results. */
static void make_database(const char *file, const char *run_name, size_t n)
{
    struct error          err = {0};
    struct store         *store = NULL;
    struct store_run      run = {.run = run_name, .started_at = "2026-11-30T00:00:00.000Z", .dirty = -1};
    struct store_device   device = {.device_id = "sim", .backend = "sim"};
    struct store_provider provider = {.name = "v1", .digest = "00112233445566778899aabbccddeeff", .origin = "sim"};
    struct store_planned *planned = calloc(n, sizeof *planned);
    int64_t              *ids = calloc(n, sizeof *ids);
    char(*names)[64] = calloc(n, sizeof *names);
    for (size_t i = 0; i < n; i++) {
        snprintf(names[i], sizeof names[i], "ties/topk=%zu", i);
        planned[i] = (struct store_planned){.case_name = names[i], .family = "ties", .outputs = "page",
                                            .promised = TOPK_LEVEL_CANONICAL, .in_budget = true};
    }
    cr_assert_eq(store_open(&store, file, STORE_WRITE, &err), STATUS_OK, "%s", err.text);
    cr_assert_eq(store_begin_run(store, &run, &device, 1, &provider, 1, planned, n, ids, &err), STATUS_OK, "%s",
                 err.text);
    store_close(store);
    free(names);
    free(ids);
    free(planned);
}

/* Root may do everything; the tests of permissions become somebody else. */
static void give_up_root(void)
{
    if (geteuid() == 0)
        cr_assert_eq(seteuid(65534), 0);
}

static void take_root_back(void)
{
    if (getuid() == 0)
        cr_assert_eq(seteuid(0), 0);
}

Test(store_open, writing_creates_a_file_that_reading_accepts)
{
    cr_assert_eq(try_open(path, STORE_WRITE), STATUS_OK, "%s", last.text);
    cr_assert_eq(number(path, "PRAGMA application_id"), 0x746b6373);
    cr_assert_eq(number(path, "PRAGMA user_version"), store_schema_version());
    cr_assert_eq(number(path, "SELECT count(*) FROM runs"), 0);
    cr_assert_eq(number(path, "SELECT (SELECT journal_mode FROM pragma_journal_mode) = 'wal'"), 1);
    cr_assert_eq(try_open(path, STORE_READ), STATUS_OK, "%s", last.text);
    cr_assert_eq(try_open(path, STORE_WRITE), STATUS_OK, "%s", last.text);
}

Test(store_open, relative_and_odd_names_are_plain_files)
{
    static const char *const names[] = {"plain.db", ":memory:", "50%3F?mode=memory#x", "file:a.db"};
    cr_assert_eq(chdir(folder), 0);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        cr_assert_eq(try_open(names[i], STORE_WRITE), STATUS_OK, "%s", last.text);
        cr_assert_eq(access(names[i], F_OK), 0, "%s is not a file", names[i]);
        cr_assert_eq(try_open(names[i], STORE_READ), STATUS_OK, "%s", last.text);
    }
}

Test(store_open, an_empty_file_is_new_when_writing_only)
{
    write_all(path, (const unsigned char *)"", 0);
    assert_refused(path, STORE_READ, "empty");
    cr_assert_eq(try_open(path, STORE_WRITE), STATUS_OK, "%s", last.text);
    cr_assert_eq(number(path, "SELECT count(*) FROM results"), 0);
}

Test(store_open, a_database_without_tables_is_new_when_writing_only)
{
    run_sql(path, "PRAGMA journal_mode = WAL");
    assert_refused(path, STORE_READ, "without tables");
    cr_assert_eq(try_open(path, STORE_WRITE), STATUS_OK, "%s", last.text);
    cr_assert_eq(number(path, "PRAGMA user_version"), store_schema_version());
}

Test(store_open, a_missing_file_is_named_when_reading)
{
    assert_refused(path, STORE_READ, "no such file");
    cr_assert_neq(access(path, F_OK), 0, "reading created the file");
}

Test(store_open, a_missing_folder_and_a_folder_in_place_of_a_file)
{
    char deep[192];
    snprintf(deep, sizeof deep, "%s/none/results.db", folder);
    assert_refused(deep, STORE_WRITE, "No such file or directory");
    assert_refused(folder, STORE_WRITE, "a folder, not a file");
    assert_refused(folder, STORE_READ, "a folder, not a file");
}

Test(store_open, a_folder_without_write_permission)
{
    cr_assert_eq(chmod(folder, 0555), 0);
    give_up_root();
    assert_refused(path, STORE_WRITE, "cannot create files in the folder");
    take_root_back();
}

Test(store_open, a_file_without_permission)
{
    make_database(path, "r", 1);
    cr_assert_eq(chmod(folder, 0777), 0);
    cr_assert_eq(chmod(path, 0444), 0);
    give_up_root();
    assert_refused(path, STORE_WRITE, "no permission to write");
    take_root_back();
    cr_assert_eq(chmod(path, 0), 0);
    give_up_root();
    assert_refused(path, STORE_READ, "no permission to read");
    take_root_back();
}

Test(store_open, reading_needs_no_write_permission)
{
    make_database(path, "r", 3);
    cr_assert_eq(chmod(path, 0444), 0);
    cr_assert_eq(chmod(folder, 0555), 0);
    give_up_root();
    cr_assert_eq(try_open(path, STORE_READ), STATUS_OK, "%s", last.text);
    take_root_back();
}

Test(store_open, a_text_file_is_no_database)
{
    const char *text = "this is no database, however long it goes on: it is text, it is text, it is text, it is text";
    write_all(path, (const unsigned char *)text, strlen(text));
    assert_refused(path, STORE_READ, "not a SQLite database");
    assert_refused(path, STORE_WRITE, "not a SQLite database");
    write_all(path, (const unsigned char *)"x", 1);
    assert_refused(path, STORE_WRITE, "not a SQLite database");
}

Test(store_open, a_database_of_something_else)
{
    run_sql(path, "CREATE TABLE bookmarks (url TEXT)");
    assert_refused(path, STORE_WRITE, "of something else");
    run_sql(path, "PRAGMA application_id = 0x12345678");
    assert_refused(path, STORE_WRITE, "application id 0x12345678");
    assert_refused(path, STORE_READ, "application id 0x12345678");
    cr_assert_eq(number(path, "SELECT count(*) FROM sqlite_schema"), 1, "something was added");
}

Test(store_open, a_newer_schema_is_refused)
{
    make_database(path, "r", 1);
    run_sql(path, "PRAGMA user_version = 7");
    assert_refused(path, STORE_READ, "schema version 7");
    assert_refused(path, STORE_WRITE, "newer topkcts");
    cr_assert_eq(number(path, "PRAGMA user_version"), 7);
}

Test(store_open, missing_tables_and_columns_are_named)
{
    make_database(path, "r", 1);
    run_sql(path, "DROP TABLE sample");
    assert_refused(path, STORE_WRITE, "table sample");
    remove(path);
    make_database(path, "r", 1);
    run_sql(path, "ALTER TABLE device ADD COLUMN colour TEXT");
    assert_refused(path, STORE_READ, "table device");
    remove(path);
    make_database(path, "r", 1);
    run_sql(path, "CREATE TABLE notes (text TEXT); CREATE INDEX mine ON run (label)");
    cr_assert_eq(try_open(path, STORE_WRITE), STATUS_OK, "%s", last.text);
}

/* Opens a damaged copy in both modes: it must be called damaged, and must not change by a byte. */
static void assert_damaged(const unsigned char *bytes, size_t n_bytes)
{
    size_t n_after = 0;
    write_all(path, bytes, n_bytes);
    assert_refused(path, STORE_WRITE, "damaged");
    assert_refused(path, STORE_READ, "damaged");
    unsigned char *after = read_all(path, &n_after);
    cr_assert_eq(n_after, n_bytes);
    cr_assert_eq(memcmp(after, bytes, n_bytes), 0, "a damaged file was changed");
    free(after);
}

Test(store_open, damage_is_reported_and_left_alone)
{
    size_t n_bytes = 0;
    make_database(path, "r", 400);
    unsigned char *bytes = read_all(path, &n_bytes);
    cr_assert_eq(n_bytes % 4096, 0);
    cr_assert_gt(n_bytes, 40960);
    for (size_t page = 0; page < n_bytes / 4096; page++) {
        size_t header = page == 0 ? 100 : page * 4096;
        for (size_t i = header; i < header + 8; i++)
            bytes[i] ^= 0x5a;
        assert_damaged(bytes, n_bytes);
        for (size_t i = header; i < header + 8; i++)
            bytes[i] ^= 0x5a;
    }
    assert_damaged(bytes, n_bytes - 4096);
    assert_damaged(bytes, 4096 + 17);
    assert_damaged(bytes, 50);
    free(bytes);
}

Test(store_open, a_log_beside_a_damaged_file_is_not_folded_in)
{
    char   log[160];
    size_t n_bytes = 0;
    size_t n_after = 0;
    snprintf(log, sizeof log, "%s-wal", path);
    make_database(path, "r", 400);
    pid_t child = fork();
    if (child == 0) {
        sqlite3 *db = NULL;
        sqlite3_open(path, &db);
        sqlite3_exec(db, "UPDATE run SET label = 'late'", NULL, NULL, NULL);
        raise(SIGKILL);
    }
    waitpid(child, NULL, 0);
    cr_assert_eq(access(log, F_OK), 0);
    unsigned char *bytes = read_all(path, &n_bytes);
    bytes[n_bytes / 8192 * 4096] ^= 0x5a;
    write_all(path, bytes, n_bytes);
    assert_refused(path, STORE_WRITE, "damaged");
    unsigned char *after = read_all(path, &n_after);
    cr_assert_eq(n_after, n_bytes);
    cr_assert_eq(memcmp(after, bytes, n_bytes), 0, "the log was folded into a damaged file");
    cr_assert_eq(access(log, F_OK), 0, "the log is gone");
    free(after);
    free(bytes);
}

/* Holds an exclusive lock until it is killed; says so on the pipe. */
static pid_t lock_in_child(const char *file)
{
    int  ends[2];
    char ready = 0;
    cr_assert_eq(pipe(ends), 0);
    pid_t child = fork();
    if (child == 0) {
        sqlite3 *db = NULL;
        sqlite3_open(file, &db);
        int rc = sqlite3_exec(db, "PRAGMA journal_mode = DELETE; BEGIN EXCLUSIVE", NULL, NULL, NULL);
        ready = rc == SQLITE_OK ? 'y' : 'n';
        if (write(ends[1], &ready, 1) == 1)
            pause();
        _exit(0);
    }
    cr_assert_eq(read(ends[0], &ready, 1), 1);
    cr_assert_eq(ready, 'y');
    close(ends[0]);
    close(ends[1]);
    return child;
}

Test(store_open, a_lock_is_waited_for_ten_seconds_and_named)
{
    struct timespec before;
    struct timespec after;
    make_database(path, "r", 1);
    pid_t child = lock_in_child(path);
    clock_gettime(CLOCK_MONOTONIC, &before);
    assert_refused(path, STORE_WRITE, "locked by another process");
    clock_gettime(CLOCK_MONOTONIC, &after);
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    double seconds = (double)(after.tv_sec - before.tv_sec) + (double)(after.tv_nsec - before.tv_nsec) / 1e9;
    cr_assert(seconds > 9.5 && seconds < 15.0, "waited %g s", seconds);
    cr_assert_eq(try_open(path, STORE_WRITE), STATUS_OK, "%s", last.text);
}

static void limit_files_to(size_t n_bytes)
{
    struct rlimit limit = {.rlim_cur = n_bytes, .rlim_max = RLIM_INFINITY};
    signal(SIGXFSZ, SIG_IGN);
    cr_assert_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

Test(store_open, a_full_disk_is_named_and_leaves_no_half_made_store)
{
    limit_files_to(16384);
    assert_refused(path, STORE_WRITE, "disk is full");
    limit_files_to((size_t)1 << 30);
    cr_assert_eq(try_open(path, STORE_WRITE), STATUS_OK, "%s", last.text);
    cr_assert_eq(number(path, "SELECT count(*) FROM results"), 0);
}

Test(store_open, the_plan_is_all_or_nothing_on_a_full_disk)
{
    struct error          err = {0};
    struct store         *store = NULL;
    struct store_run      run = {.run = "big", .started_at = "2026-11-30T00:00:00.000Z"};
    struct store_device   device = {.device_id = "sim", .backend = "sim"};
    struct store_provider provider = {.name = "v1", .digest = "00112233445566778899aabbccddeeff", .origin = "sim"};
    char                  long_label[4096];
    make_database(path, "small", 3);
    memset(long_label, 'x', sizeof long_label - 1);
    long_label[sizeof long_label - 1] = '\0';
    run.label = run.suite = run.argv = run.environment = long_label;
    cr_assert_eq(store_open(&store, path, STORE_WRITE, &err), STATUS_OK, "%s", err.text);
    limit_files_to(8192);
    enum status status = store_begin_run(store, &run, &device, 1, &provider, 1, NULL, 0, NULL, &err);
    limit_files_to((size_t)1 << 30);
    cr_assert_eq(status, STATUS_BOOKS);
    cr_assert_not_null(strstr(err.text, "disk is full"), "%s", err.text);
    store_close(store);
    cr_assert_eq(number(path, "SELECT count(*) FROM runs"), 1);
    cr_assert_eq(number(path, "SELECT count(*) FROM results"), 3);
}

Test(store_open, steps_go_forward_once)
{
    static const char *const scripts[] = {"CREATE TABLE a (x); PRAGMA user_version = 1",
                                          "ALTER TABLE a ADD COLUMN y; PRAGMA user_version = 2"};
    static const char *const broken[] = {"", "", "CREATE TABLE b (x); CREATE TABLE a (x); PRAGMA user_version = 3"};
    static const char *const forgetful[] = {"", "", "CREATE TABLE c (x)"};
    struct store             store = {.path = path, .writable = true};
    struct error             err = {0};
    cr_assert_eq(sqlite3_open(path, &store.db), SQLITE_OK);
    cr_assert_eq(store_migrate(&store, scripts, 1, &err), STATUS_OK, "%s", err.text);
    cr_assert_eq(store_migrate(&store, scripts, 2, &err), STATUS_OK, "%s", err.text);
    cr_assert_eq(store_migrate(&store, scripts, 2, &err), STATUS_OK, "%s", err.text);
    cr_assert_eq(store_migrate(&store, scripts, 1, &err), STATUS_OK, "%s", err.text);
    cr_assert_eq(number(path, "SELECT count(*) FROM pragma_table_info('a')"), 2);
    cr_assert_eq(number(path, "PRAGMA user_version"), 2);
    cr_assert_eq(store_migrate(&store, broken, 3, &err), STATUS_BOOKS);
    cr_assert_not_null(strstr(err.text, "already exists"), "%s", err.text);
    err.status = STATUS_OK;
    cr_assert_eq(store_migrate(&store, forgetful, 3, &err), STATUS_BOOKS);
    cr_assert_not_null(strstr(err.text, "does not set user_version"), "%s", err.text);
    sqlite3_close(store.db);
    cr_assert_eq(number(path, "SELECT count(*) FROM sqlite_schema"), 1, "half a step stayed");
}

Test(store_open, many_processes_may_make_the_same_file)
{
    pid_t children[6];
    int   n_failed = 0;
    for (int i = 0; i < 6; i++)
        if ((children[i] = fork()) == 0) {
            char name[16];
            snprintf(name, sizeof name, "run-%d", i);
            make_database(path, name, 20);
            _exit(0);
        }
    for (int i = 0; i < 6; i++) {
        int state = 0;
        waitpid(children[i], &state, 0);
        n_failed += !WIFEXITED(state) || WEXITSTATUS(state) != 0;
    }
    cr_assert_eq(n_failed, 0);
    cr_assert_eq(number(path, "SELECT count(*) FROM runs"), 6);
    cr_assert_eq(number(path, "SELECT count(*) FROM results"), 120);
}
