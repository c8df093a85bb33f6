/* SPDX-License-Identifier: Apache-2.0 */
/* `topkcts exclude RUN --reason TEXT`: voids a run without deleting it; what was latest before it is latest again. */
#include "harness/command.h"
#include "harness/store.h"

#include <stdio.h>

enum status command_exclude(const struct settings *settings, struct error *err)
{
    struct store *store = NULL;
    const char   *database = settings->database ? settings->database : "topkcts.db";
    if (settings->words.n != 1)
        return error_set(err, STATUS_USAGE, "exclude needs one run: topkcts exclude RUN --reason TEXT; `topkcts query "
                                            "runs` lists the runs");
    if (!settings->reason)
        return error_set(err, STATUS_USAGE, "exclude needs --reason TEXT: whoever reads the run later asks why it does "
                                            "not count");
    /* Reading first: a mistyped path must not make an empty database. */
    if (store_open(&store, database, STORE_READ, err))
        return err->status;
    store_close(store);
    if (store_open(&store, database, STORE_WRITE, err))
        return err->status;
    if (!store_exclude_run(store, settings->words.items[0], settings->reason, err)) {
        if (settings->json)
            printf("{\"excluded\": true}\n");
        else
            printf("run %s does not count any more: %s\n", settings->words.items[0], settings->reason);
    }
    store_close(store);
    return err->status;
}
