/* SPDX-License-Identifier: Apache-2.0 */
/* `topkcts exclude RUN --reason TEXT`: voids a run, or a session of a guard, without deleting it; what was latest before a
 * run is latest again. Names of both are unique among all machines, so that one word tells which is meant. */
#include "harness/command.h"
#include "harness/store_guard.h"

#include <stdio.h>

enum status command_exclude(const struct settings *settings, struct error *err)
{
    struct store *store = NULL;
    bool          is_guard = false;
    const char   *database = settings->database ? settings->database : "topkcts.db";
    if (settings->words.n != 1)
        return error_set(err, STATUS_USAGE, "exclude needs one run or session of a guard: topkcts exclude RUN --reason TEXT; "
                                            "`topkcts query runs` and `topkcts query guards` list them");
    if (!settings->reason)
        return error_set(err, STATUS_USAGE, "exclude needs --reason TEXT: whoever reads the run later asks why it does "
                                            "not count");
    /* Reading first: a mistyped path must not make an empty database. */
    if (store_open(&store, database, STORE_READ, err))
        return err->status;
    store_close(store);
    if (store_open(&store, database, STORE_WRITE, err))
        return err->status;
    const char *name = settings->words.items[0];
    if (!store_guard_exclude(store, name, settings->reason, &is_guard, err) &&
        (is_guard || !store_exclude_run(store, name, settings->reason, err))) {
        if (settings->json)
            printf("{\"excluded\": true}\n");
        else
            printf("%s %s does not count any more: %s\n", is_guard ? "guard session" : "run", name, settings->reason);
    }
    store_close(store);
    return err->status;
}
