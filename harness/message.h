/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a worker and the runner say to each other: one JSON object a line, a lone "." for "a launch begins"
 * and a lone ":" for "it has ended, and checking it will take a while".
 * The only code that writes or reads these lines.
 *
 *     runner to worker    {"do": "open", "text": "host"}     {"do": "case", "case": {...}, "repeats": 0}, see case_json.h
 *                         {"do": "trials", "text": "/proc/7/fd/5"}
 *                         {"do": "time", "case": {...}, "order": {...}}, answered by {"say": "timed", "times": {...}}
 *     worker to runner    {"say": "provider", ...}    {"say": "opened"}    {"say": "failed", "reason": "..."}
 *                         {"say": "unusable", ...}    {"say": "absent", ...}    {"say": "result", ...}
 *                         {"say": "closed"}       {"say": "tried"}                  .
 *
 * The worker says `provider` (or `unusable`, or `absent`) by itself after loading; every `do` is answered once. When the runner closes
 * its end, the worker closes the provider, says `closed` and ends with exit code 0; anything else is a provider that broke
 * on its way out. Every line of a worker also begins with a newline, so that what a provider may have written into the
 * pipe spoils no message.
 */
#ifndef TOPKCTS_MESSAGE_H
#define TOPKCTS_MESSAGE_H

#include "harness/arena.h"
#include "harness/judge.h"
#include "harness/kernel_time.h"
#include "harness/provider_load.h"

enum message_kind {
    MESSAGE_OPEN,     /* text: device */
    MESSAGE_CASE,     /* concrete, repeats */
    MESSAGE_TIME,     /* concrete, order */
    MESSAGE_PROVIDER, /* provider */
    MESSAGE_UNUSABLE, /* text: why it cannot be a provider */
    MESSAGE_ABSENT,   /* text: why it is not available here; after loading or for open */
    MESSAGE_OPENED,
    MESSAGE_FAILED,   /* text: why the provider's open failed */
    MESSAGE_RESULT,   /* judgement */
    MESSAGE_TIMED,    /* times */
    MESSAGE_CLOSED,
    MESSAGE_TRIALS,   /* text: path of memory with trials */
    MESSAGE_TRIED,    /* they have been judged, or so many that the worker should be replaced for the rest */
    MESSAGE_LAUNCH,   /* "." */
    MESSAGE_CHECKING  /* ":" */
};

/* What the runner knows of a provider without having loaded it. */
struct provider_description {
    char               name[128], version[64], origin[16], digest[DIGEST_HEX];
    char               versions[768]; /* of a process, what it reported of its libraries: a JSON object, or "" */
    enum topk_memory   memory;
    struct topk_claims claims;
    struct topk_limit *limits; /* in the arena; ends with a NULL name */
};

struct message {
    enum message_kind           kind;
    char                        text[1024];
    int32_t                     repeats;
    bool                        for_trials; /* of OPEN: the worker beats in memory, not in lines */
    const struct concrete_case *concrete;   /* of CASE and TIME; once read, in the arena, as case_json.h says */
    struct provider_description provider;
    struct judgement            judgement;
    struct launch_times_order   order;
    struct launch_times         times;
};

/* The line of a message, newline included; malloc'd, the caller frees it. NULL when out of memory. */
char *message_write(const struct message *message);

/* Reads a line without its newline. A case and the limits of a provider go to the arena. STATUS_BOOKS when it is no message. */
enum status message_read(const char *line, struct arena *arena, struct message *message, struct error *err);

/* A description of a loaded provider; limits are the provider's own. */
void message_describe(const struct loaded_provider *loaded, struct provider_description *description);

#endif
