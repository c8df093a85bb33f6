/* SPDX-License-Identifier: Apache-2.0 */
/* `topkcts devices`: what can run here, per backend, and why not the rest. */
#include "harness/command.h"
#include "harness/device.h"

#include <jansson.h>
#include <stdio.h>
#include <string.h>

static void list_one(json_t *list, bool as_json, const char *name)
{
    struct store_device record;
    struct error        why = {0};
    bool                there = !device_describe(name, &record, &why);
    char                prefix[32]; /* the line begins with the name already */
    snprintf(prefix, sizeof prefix, "%s: ", name);
    if (as_json && there)
        json_array_append_new(list, json_pack("{s:s, s:b, s:s, s:s, s:s, s:s, s:i, s:I, s:I, s:s?, s:s?}", "device", name,
                                              "available", 1, "device_id", record.device_id, "backend", record.backend,
                                              "name", record.name, "arch", record.arch, "wave_size",
                                              (int)record.wave_size, "lds_bytes", (json_int_t)record.lds_bytes,
                                              "memory_bytes", (json_int_t)record.memory_bytes, "driver", record.driver,
                                              "runtime", record.runtime));
    else if (as_json)
        json_array_append_new(list, json_pack("{s:s, s:b, s:s}", "device", name, "available", 0, "reason", why.text));
    else if (there)
        printf("%-8s %-16s %-10s id %s%s%s\n", name, record.name, record.arch, record.device_id,
               record.driver ? ", driver " : "", record.driver ? record.driver : "");
    else
        printf("%-8s not available: %s\n", name,
               why.text + (strncmp(why.text, prefix, strlen(prefix)) == 0 ? strlen(prefix) : 0));
}

enum status command_devices(const struct settings *settings, struct error *err)
{
    json_t *list = json_array();
    (void)err;
    for (int b = 0; device_backends[b]; b++) {
        struct error unknown = {0};
        int          n = 0;
        for (int i = 0; device_backends[b]->names[i] && !device_backends[b]->is_gpu; i++)
            list_one(list, settings->json, device_backends[b]->names[i]);
        if (!device_backends[b]->is_gpu)
            continue;
        device_count(device_backends[b], &n, &unknown);
        for (int i = 0; i < (n > 0 ? n : 1); i++) { /* a backend without devices says why, on the line of its first */
            char name[32];
            snprintf(name, sizeof name, "%s:%d", device_backends[b]->name, i);
            list_one(list, settings->json, name);
        }
    }
    if (settings->json) {
        json_dumpf(list, stdout, JSON_INDENT(1));
        putchar('\n');
    }
    json_decref(list);
    return STATUS_OK;
}
