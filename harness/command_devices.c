/* SPDX-License-Identifier: Apache-2.0 */
/* `topkcts devices`: what can run here, per backend, and why not the rest. */
#include "harness/command.h"
#include "harness/device.h"

#include <jansson.h>
#include <stdio.h>

/* The names a backend answers to, for the listing. */
static const char *const listed_devices[] = {"host", "sim", "sim:32", "sim:64", "hip:0", "cuda:0", NULL};

enum status command_devices(const struct settings *settings, struct error *err)
{
    json_t *list = json_array();
    (void)err;
    for (int i = 0; listed_devices[i]; i++) {
        struct store_device record;
        struct error        why = {0};
        bool                there = !device_describe(listed_devices[i], &record, &why);
        if (settings->json)
            json_array_append_new(list, there ? json_pack("{s:s, s:b, s:s, s:s, s:s, s:i, s:I, s:I}", "device",
                                                          listed_devices[i], "available", 1, "device_id",
                                                          record.device_id, "name", record.name, "arch", record.arch,
                                                          "wave_size", (int)record.wave_size, "lds_bytes",
                                                          (json_int_t)record.lds_bytes, "memory_bytes",
                                                          (json_int_t)record.memory_bytes)
                                              : json_pack("{s:s, s:b, s:s}", "device", listed_devices[i], "available",
                                                          0, "reason", why.text));
        else if (there)
            printf("%-8s %-16s %-10s id %s\n", listed_devices[i], record.name, record.arch, record.device_id);
        else
            printf("%-8s not available: %s\n", listed_devices[i], why.text);
    }
    if (settings->json) {
        json_dumpf(list, stdout, JSON_INDENT(1));
        putchar('\n');
    }
    json_decref(list);
    return STATUS_OK;
}
