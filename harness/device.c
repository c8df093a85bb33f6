/* SPDX-License-Identifier: Apache-2.0 */
/* Device names and the list of backends; see device.h. */
#include "harness/device.h"

#include "harness/gpu_probe.h"
#include "harness/name_list.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const struct device_backend *const device_backends[DEVICE_MAX_BACKENDS + 1] = {&device_host_backend, &device_sim_backend,
                                                         &device_hip_backend, &device_cuda_backend, NULL};

const struct device_backend *device_backend_find(const char *name)
{
    size_t length = strcspn(name, ":");
    for (int i = 0; device_backends[i]; i++)
        if (strlen(device_backends[i]->name) == length && strncmp(device_backends[i]->name, name, length) == 0)
            return device_backends[i];
    return NULL;
}

const char *device_names(void)
{
    static struct name_list names;
    names = (struct name_list){0};
    for (int i = 0; device_backends[i]; i++)
        for (int n = 0; device_backends[i]->names[n]; n++)
            name_list_add(&names, "%s", device_backends[i]->names[n]);
    return names.text;
}

enum status device_parse(const char *name, const struct device_backend **backend, int *ordinal, struct error *err)
{
    const struct device_backend *found = device_backend_find(name);
    const char                  *colon = strchr(name, ':');
    char                        *end = NULL;
    long                         number = colon ? strtol(colon + 1, &end, 10) : 0;
    if (!found || (colon && (end == colon + 1 || *end || number < 0 || number > 4096)))
        return error_set(err, STATUS_USAGE, "no device '%s'; a device is one of %s", name, device_names());
    *backend = found;
    *ordinal = (int)number;
    return STATUS_OK;
}

enum status device_open(struct device *device, const char *name, struct error *err)
{
    memset(device, 0, sizeof *device);
    if (device_parse(name, &device->backend, &device->ordinal, err))
        return err->status;
    device->name = name;
    device->memory = device->backend->memory;
    device->default_repeats = device->backend->default_repeats;
    device->timeout_seconds = device->backend->timeout_seconds;
    return device->backend->open(device, err);
}

void device_close(struct device *device)
{
    if (device->backend)
        device->backend->close(device);
    memset(device, 0, sizeof *device);
}

enum status device_describe(const char *name, struct store_device *record, struct error *err)
{
    const struct device_backend *backend;
    int                          ordinal;
    memset(record, 0, sizeof *record);
    if (device_parse(name, &backend, &ordinal, err))
        return err->status;
    return backend->describe(name, ordinal, record, err);
}

bool device_is_gpu(const char *name)
{
    const struct device_backend *backend = device_backend_find(name);
    return backend && backend->is_gpu;
}

enum status device_count(const struct device_backend *backend, int *n, struct error *err)
{
    *n = 1;
    return backend->is_gpu ? gpu_probe_count(backend->name, n, err) : STATUS_OK;
}
