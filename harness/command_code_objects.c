/* SPDX-License-Identifier: Apache-2.0 */
/* `topkcts code-objects`: v1 as it was built ahead of time, target by target, and the static gate over it. */
#include "harness/code_object.h"
#include "harness/command.h"
#include "harness/gpu_load.h"
#include "harness/jit_check.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

enum status command_code_objects(const struct settings *settings, struct error *err)
{
    struct code_object_list list = {0};
    char                    digest[DIGEST_HEX], folder[PATH_MAX + 32];
    snprintf(folder, sizeof folder, "%s/code_objects", gpu_binary_folder());
    if (settings->words.n > 1)
        return error_set(err, STATUS_USAGE, "code-objects takes one folder, not %zu (default: %s)", settings->words.n,
                         folder);
    if (settings->targets && !settings->targets[strspn(settings->targets, ",")])
        return error_set(err, STATUS_USAGE, "--targets %s: names of targets are wanted, separated by commas: gfx942,sm_90",
                         settings->targets);
    const char *where = settings->words.n ? settings->words.items[0] : folder;
    if (settings->jit)
        return jit_check(settings->targets ? settings->targets : "", err);
    if (settings->update) {
        if (!code_object_list_scan(where, &list, err))
            code_object_list_write(&list, err);
        goto done;
    }
    if (code_object_list_load(where, &list, err))
        goto done;
    code_object_source_digest(digest);
    size_t broken = code_object_gate(&list, settings->targets);
    if (list.n && strcmp(list.source_digest, digest) != 0)
        printf("note: these were compiled from another source than this program embeds; run make\n");
    if (broken)
        error_set(err, STATUS_FAIL, "%zu rule%s broken of the static gate", broken, broken == 1 ? " is" : "s are");
    else
        printf("%zu code objects in %s: within all limits\n", list.n, where);
done:
    code_object_list_clear(&list);
    return err->status;
}
