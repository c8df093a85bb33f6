/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The closed list of verdicts. Everything that counts, prints, stores or checks verdicts expands this list.
 *
 * Columns: enum name, stored text, whether a kernel was judged, whether it turns the run red (exit 1) when unexpected,
 * what it says.
 */
#ifndef TOPKCTS_VERDICT_H
#define TOPKCTS_VERDICT_H

#include <stdbool.h>

#define VERDICT_LIST(X)                                                                                                \
    X(PASS, "pass", true, false, "the promised level was reached")                                                     \
    X(FAIL, "fail", true, true, "it was not")                                                                          \
    X(CRASH, "crash", true, true, "the worker died of a signal or a device fault, or left by itself")                  \
    X(TIMEOUT, "timeout", true, true, "a launch did not end in time")                                                  \
    X(FLAKY, "flaky", true, true, "attempts disagreed; the row of the last attempt")                                   \
    X(XFAIL, "xfail", true, false, "failed as an expectation says")                                                    \
    X(XPASS, "xpass", true, false, "passed although an expectation says otherwise")                                    \
    X(ERROR, "error", false, false, "the harness or the machine failed, not the kernel")                               \
    X(SKIP, "skip", false, false, "a capability is missing; the reason says which")                                    \
    X(NOTRUN, "notrun", false, true, "planned and never reached")

enum verdict {
#define VERDICT_ENUM(name, text, judged, red, meaning) VERDICT_##name,
    VERDICT_LIST(VERDICT_ENUM)
#undef VERDICT_ENUM
    VERDICT_COUNT
};

/* The stored spelling: "pass", "fail", ... */
const char *verdict_text(enum verdict verdict);

/* What it says, in a few words. */
const char *verdict_meaning(enum verdict verdict);

/* The verdict of that spelling, or VERDICT_COUNT. */
enum verdict verdict_from_text(const char *text);

/* Whether a kernel was judged: it ran, or broke while it was asked to. */
bool verdict_is_judged(enum verdict verdict);

/* Whether one such row makes a run exit 1. */
bool verdict_is_red(enum verdict verdict);

#endif
