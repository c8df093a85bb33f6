/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The one error idiom of the harness: a function that can fail returns an `enum status` and takes a `struct error *`
 * as its last argument. The message is set where the cause is known and never overwritten on the way up.
 *
 * The values of `enum status` are the exit codes of the program.
 */
#ifndef TOPKCTS_STATUS_H
#define TOPKCTS_STATUS_H

/* Columns: enum name, exit code, what it says to whoever started the program. */
#define STATUS_LIST(X)                                                                                                 \
    X(OK, 0, "everything was judged as promised or expected, or the question was answered")                            \
    X(FAIL, 1, "a kernel is to blame: a fail, crash, timeout, flaky or unexpected notrun, or skips over their bound")  \
    X(USAGE, 2,                                                                                                        \
      "nothing ran: the command line, the registry, an unknown name, a selection of nothing, or a plugin that cannot " \
      "be loaded")                                                                                                     \
    X(BOOKS, 3, "the machine: the books cannot be kept, a named device is not there, or nothing was judged")

enum status {
#define STATUS_ENUM(name, code, meaning) STATUS_##name = (code),
    STATUS_LIST(STATUS_ENUM)
#undef STATUS_ENUM
};

struct error {
    enum status status; /* STATUS_OK until error_set */
    char        text[1024];
};

/* Records the first cause; later calls on the same error are ignored. Returns the status that is recorded, so that
 * `return error_set(err, STATUS_USAGE, "...")` is the usual form. Adds no newline; give none. */
enum status error_set(struct error *err, enum status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Puts "prefix: " in front of the recorded text, for context that only the caller knows. */
enum status error_prefix(struct error *err, const char *format, ...) __attribute__((format(printf, 2, 3)));

#ifdef __clang_analyzer__
/* The analyser looks at one file at a time; this tells it that an error that was set is never STATUS_OK. */
void error_seen(const char *format, ...);
#define error_set(err, error_status, ...) ((err)->status = (error_status), error_seen(__VA_ARGS__), (error_status))
#endif

/* The message for memory that could not be had: STATUS_BOOKS. */
enum status error_no_memory(struct error *err);

#endif
