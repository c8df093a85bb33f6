/* SPDX-License-Identifier: Apache-2.0 */
/*
 * CUDA and HIP devices for the judge, through the driver table (gpu/gpu_driver.h). Opening one loads the driver and
 * happens in workers only; describing one asks a probe process.
 *
 * All work of the judge goes through one stream of its own, which does not wait for the default stream: a kernel that is
 * launched on another stream than it was given is not waited for, and shows.
 */
#include "harness/device.h"
#include "harness/gpu_load.h"
#include "harness/gpu_probe.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { N_STREAMS = 2, BUSY_BYTES = 64 << 20, BUSY_ROUNDS = 40, MIN_FLUSH_BYTES = 64 << 20 };

struct gpu_device {
    const struct gpu_driver *driver;
    void                    *streams[N_STREAMS];
    void                    *events[2];
    void                    *traffic; /* memory that nobody reads, made when first needed */
    size_t                   traffic_bytes;
    struct gpu_description   description;
};

static enum status gpu_describe(const char *backend, const char *name, int ordinal, struct store_device *record,
                                struct error *err)
{
    static struct gpu_description kept[64]; /* the record's texts live as long as the process */
    struct gpu_description       *d = &kept[ordinal % 64];
    if (gpu_probe_describe(backend, ordinal, d, err))
        return error_prefix(err, "%s", name);
    *record = (struct store_device){
        .device_id = d->device_id,
        .backend = backend,
        .name = d->name,
        .arch = d->arch,
        .wave_size = d->wave_size,
        .lds_bytes = d->lds_bytes,
        .memory_bytes = d->memory_bytes,
        .driver = d->driver,
        .runtime = d->runtime,
    };
    return STATUS_OK;
}

static enum status cuda_describe(const char *name, int ordinal, struct store_device *record, struct error *err)
{
    return gpu_describe("cuda", name, ordinal, record, err);
}

static enum status hip_describe(const char *name, int ordinal, struct store_device *record, struct error *err)
{
    return gpu_describe("hip", name, ordinal, record, err);
}

static void gpu_close(struct device *device)
{
    struct gpu_device *gpu = device->self;
    if (!gpu)
        return;
    if (gpu->traffic)
        gpu->driver->free(gpu->traffic);
    for (int i = 0; i < N_STREAMS; i++)
        if (gpu->streams[i])
            gpu->driver->stream_destroy(gpu->streams[i]);
    for (int i = 0; i < 2; i++)
        if (gpu->events[i])
            gpu->driver->event_destroy(gpu->events[i]);
    gpu->driver->close();
    free(gpu);
    device->self = NULL;
}

static enum status gpu_open(struct device *device, struct error *err)
{
    struct gpu_device *gpu = calloc(1, sizeof *gpu);
    if (!gpu)
        return error_no_memory(err);
    gpu->driver = gpu_load_driver(device->backend->name, err);
    if (!gpu->driver) {
        free(gpu);
        return error_prefix(err, "%s", device->name);
    }
    device->self = gpu;
    device->host_visible = false;
    device->n_arrangements = 1;
    if (gpu->driver->describe(device->ordinal, &gpu->description, err) || gpu->driver->open(device->ordinal, err))
        goto done;
    for (int i = 0; i < N_STREAMS && !err->status; i++)
        gpu->streams[i] = gpu->driver->stream_create(err);
    for (int i = 0; i < 2 && !err->status; i++)
        gpu->events[i] = gpu->driver->event_create(err);
done:
    if (!err->status)
        return STATUS_OK;
    gpu_close(device);
    return error_prefix(err, "%s", device->name);
}

static const struct gpu_driver *driver_of(const struct device *device)
{
    return ((const struct gpu_device *)device->self)->driver;
}

static void *stream_of(struct device *device, enum device_stream which)
{
    return ((struct gpu_device *)device->self)->streams[which];
}

static void *gpu_alloc(struct device *device, size_t bytes, bool *ends_at_fault, struct error *err)
{
    *ends_at_fault = false;
    return driver_of(device)->alloc(bytes, err);
}

static void gpu_free(struct device *device, void *memory, size_t bytes)
{
    (void)bytes;
    driver_of(device)->free(memory);
}

static enum status gpu_write(struct device *device, void *to, const void *from, size_t bytes, struct error *err)
{
    void *stream = stream_of(device, STREAM_MAIN);
    if (driver_of(device)->write(stream, to, from, bytes, err))
        return err->status;
    return driver_of(device)->stream_wait(stream, err);
}

static enum status gpu_read(struct device *device, void *to, const void *from, size_t bytes, struct error *err)
{
    void *stream = stream_of(device, STREAM_MAIN);
    if (driver_of(device)->read(stream, to, from, bytes, err))
        return err->status;
    return driver_of(device)->stream_wait(stream, err);
}

static enum status gpu_finish(struct device *device, void *stream, struct error *err)
{
    return driver_of(device)->stream_wait(stream, err);
}

static enum status gpu_copy_behind(struct device *device, void *stream, void *to, const void *from, size_t bytes,
                                   struct error *err)
{
    return driver_of(device)->copy(stream, to, from, bytes, err);
}

/* Memory that is only written, for traffic: at least twice the cache. */
static enum status have_traffic(struct gpu_device *gpu, struct error *err)
{
    size_t bytes = (size_t)gpu->description.l2_bytes * 2;
    if (gpu->traffic)
        return STATUS_OK;
    gpu->traffic_bytes = bytes < MIN_FLUSH_BYTES ? MIN_FLUSH_BYTES : (bytes + 3) / 4 * 4;
    gpu->traffic = gpu->driver->alloc(gpu->traffic_bytes, err);
    return err->status;
}

static enum status gpu_flush_cache(struct device *device, void *stream, struct error *err)
{
    struct gpu_device *gpu = device->self;
    if (have_traffic(gpu, err))
        return err->status;
    return gpu->driver->fill(stream, gpu->traffic, 0, gpu->traffic_bytes / 4, err);
}

static enum status gpu_keep_busy(struct device *device, void *stream, struct error *err)
{
    struct gpu_device *gpu = device->self;
    if (have_traffic(gpu, err))
        return err->status;
    for (int i = 0; i < BUSY_ROUNDS && !err->status; i++)
        gpu->driver->fill(stream, gpu->traffic, (uint32_t)i, BUSY_BYTES / 4, err);
    return err->status;
}

static enum status gpu_capture_begin(struct device *device, void *stream, struct error *err)
{
    return driver_of(device)->capture_begin(stream, err);
}

static enum status gpu_capture_end(struct device *device, void *stream, void **graph, struct error *err)
{
    return driver_of(device)->capture_end(stream, graph, err);
}

static enum status gpu_graph_launch(struct device *device, void *graph, void *stream, struct error *err)
{
    return driver_of(device)->graph_launch(graph, stream, err);
}

static void gpu_graph_free(struct device *device, void *graph)
{
    driver_of(device)->graph_free(graph);
}

static enum status gpu_time_begin(struct device *device, void *stream, struct error *err)
{
    return driver_of(device)->event_record(((struct gpu_device *)device->self)->events[0], stream, err);
}

static enum status gpu_time_end(struct device *device, void *stream, double *microseconds, struct error *err)
{
    struct gpu_device *gpu = device->self;
    if (gpu->driver->event_record(gpu->events[1], stream, err))
        return err->status;
    return gpu->driver->event_elapsed(gpu->events[0], gpu->events[1], microseconds, err);
}

static int32_t gpu_clock_mhz(struct device *device)
{
    return driver_of(device)->clock_mhz(device->ordinal);
}

#define GPU_SLOTS                                                                                                      \
    .is_gpu = true, .default_repeats = 10, .timeout_seconds = 60, .overhead_ms = 10, .element_ns = 4,                  \
    .open = gpu_open, .close = gpu_close, .alloc = gpu_alloc, .free = gpu_free, .write = gpu_write, .read = gpu_read,  \
    .finish = gpu_finish, .stream = stream_of, .keep_busy = gpu_keep_busy, .copy_behind = gpu_copy_behind,             \
    .capture_begin = gpu_capture_begin, .capture_end = gpu_capture_end, .graph_launch = gpu_graph_launch,              \
    .graph_free = gpu_graph_free, .time_begin = gpu_time_begin, .time_end = gpu_time_end,                              \
    .flush_cache = gpu_flush_cache, .clock_mhz = gpu_clock_mhz

const struct device_backend device_hip_backend = {
    .name = "hip",
    .names = {"hip:N"},
    .memory = TOPK_MEMORY_HIP,
    .describe = hip_describe,
    GPU_SLOTS,
};

const struct device_backend device_cuda_backend = {
    .name = "cuda",
    .names = {"cuda:N"},
    .memory = TOPK_MEMORY_CUDA,
    .describe = cuda_describe,
    GPU_SLOTS,
};
