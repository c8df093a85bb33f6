/* SPDX-License-Identifier: Apache-2.0 */
/* Device names and the list of backends; see device.h. */
#include "harness/device.h"

#include "harness/gpu_probe.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const struct device_backend *const device_backends[] = {&device_host_backend, &device_sim_backend,
                                                         &device_hip_backend, &device_cuda_backend, NULL};

enum status device_parse(const char *name, const struct device_backend **backend, int *ordinal, struct error *err)
{
    size_t length = strcspn(name, ":");
    for (int i = 0; device_backends[i]; i++) {
        char *end = NULL;
        if (strlen(device_backends[i]->name) != length || strncmp(device_backends[i]->name, name, length) != 0)
            continue;
        long number = name[length] ? strtol(name + length + 1, &end, 10) : 0;
        if (name[length] && (end == name + length + 1 || *end || number < 0 || number > 4096))
            break;
        *backend = device_backends[i];
        *ordinal = (int)number;
        return STATUS_OK;
    }
    return error_set(err, STATUS_USAGE, "no device '%s'; a device is host, sim, sim:32, sim:64, hip:N or cuda:N", name);
}

enum status device_open(struct device *device, const char *name, struct error *err)
{
    memset(device, 0, sizeof *device);
    if (device_parse(name, &device->backend, &device->ordinal, err))
        return err->status;
    device->name = name;
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
    return strncmp(name, "cuda", 4) == 0 || strncmp(name, "hip", 3) == 0;
}

enum status device_count(const struct device_backend *backend, int *n, struct error *err)
{
    *n = 1;
    return device_is_gpu(backend->name) ? gpu_probe_count(backend->name, n, err) : STATUS_OK;
}
