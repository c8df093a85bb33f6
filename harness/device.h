/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A device, as the judge sees it: memory that a provider can be launched on. Used in worker processes only.
 *
 *     device.c        names, the list of backends          device_host.c   plain CPU memory, and the simulator on top
 *     device_gpu.c    CUDA and HIP devices, through the driver table
 *
 * Adding a backend is one source with a `const struct device_backend`, its declaration here and its place in the list of
 * device.c; names, time limits, estimates and what `topkcts devices` prints follow from it. README.md has the rest, for a
 * GPU with a driver of its own.
 */
#ifndef TOPKCTS_DEVICE_H
#define TOPKCTS_DEVICE_H

#include "harness/provider.h"
#include "harness/status.h"
#include "harness/store.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct device_backend;

/* Memory of a launch, by its name in struct topk_problem. */
struct device_buffer {
    const char *name;
    const void *at; /* NULL: not given */
    size_t      bytes;
    bool        is_output, is_workspace;
};

enum device_stream { STREAM_MAIN, STREAM_OTHER };

/* An open device. Fields are read-only for others. */
struct device {
    const struct device_backend *backend;
    const char                  *name;    /* as on the command line: "host", "sim:32", "cuda:0" */
    int                          ordinal; /* 0 where it has no meaning */
    enum topk_memory             memory;
    bool                         host_visible; /* device pointers can be read and written by the CPU */
    int64_t                      memory_bytes; /* in all; 0: not known */
    int32_t                      default_repeats;
    int32_t                      timeout_seconds; /* of one launch */
    int32_t                      n_arrangements;  /* wave sizes: launches of different arrangements are compared from
                                                     level `invariant` up only */
    void                        *self;
};

/* What a backend does. Slots marked optional may be NULL. */
struct device_backend {
    const char        *name;     /* the word before ':' in a device name */
    const char        *names[4]; /* its devices as people write them; of a GPU "hip:N". NULL-terminated */
    bool               is_gpu;   /* devices are counted by a driver; one worker at a time, in a process that may be lost */
    bool               simulates; /* runs kernels of kernels/simulator and no others */
    enum topk_memory   memory;   /* of its buffers: whose providers it fits */
    int32_t            default_repeats;
    int32_t            timeout_seconds;          /* of one launch */
    double             overhead_ms, element_ns;  /* a case: inputs, reference, judging; one score in one launch: roughly,
                                                    two cores, suite conformance */

    /* The identity of a device without opening it for work. STATUS_BOOKS with the reason when it is not there. */
    enum status (*describe)(const char *name, int ordinal, struct store_device *record, struct error *err);

    enum status (*open)(struct device *device, struct error *err);
    void (*close)(struct device *device);

    /* Memory aligned to 256 bytes. Where the machine can do it, the byte after the last one faults when touched;
     * *ends_at_fault then says so. */
    void *(*alloc)(struct device *device, size_t bytes, bool *ends_at_fault, struct error *err);
    void (*free)(struct device *device, void *memory, size_t bytes);

    enum status (*write)(struct device *device, void *to, const void *from, size_t bytes, struct error *err);
    enum status (*read)(struct device *device, void *to, const void *from, size_t bytes, struct error *err);

    /* Optional. Chooses how the next launches proceed: turn 0, 1, 2 ... of a repeat check. Returns the arrangement (an
     * index below n_arrangements) and writes how it is called. */
    int32_t (*arrange)(struct device *device, int32_t turn, char *text, size_t text_size);

    /* Optional: on devices whose waves or schedules can be chosen. From now on only waves of `wave_size` lanes (0: any)
     * and, unless 0, only this schedule. */
    void (*restrict_to)(struct device *device, int32_t wave_size, int64_t schedule);

    /* Optional: on devices that watch kernels. Names the memory that the next launch may touch; every other is out of
     * bounds. n buffers replace those named before. */
    void (*declare)(struct device *device, const struct device_buffer *buffers, size_t n);

    /* Optional, with `declare`. A digest of the order in which threads came to atomics in the last launch; 0: not known. */
    uint64_t (*order)(struct device *device);

    /* Optional, with `declare`. The word for what was wrong in the last launch ("race"), and all about it; NULL when
     * nothing was. */
    const char *(*finding)(struct device *device, const char **text);

    /* Optional. Waits until everything on the stream has ended; a device fault is STATUS_FAIL. */
    enum status (*finish)(struct device *device, void *stream, struct error *err);

    /* Optional: on devices with streams. STREAM_MAIN serves every launch that asks for no other. */
    void *(*stream)(struct device *device, enum device_stream which);

    /* Optional, with `stream`. Enqueues about a millisecond of memory traffic there. */
    enum status (*keep_busy)(struct device *device, void *stream, struct error *err);

    /* Optional, with `stream`. Copies within the device, behind what is enqueued there; the host does not wait. */
    enum status (*copy_behind)(struct device *device, void *stream, void *to, const void *from, size_t bytes,
                               struct error *err);

    /* Optional: on devices with graphs. What is launched on the stream between begin and end is kept, not run. */
    enum status (*capture_begin)(struct device *device, void *stream, struct error *err);
    enum status (*capture_end)(struct device *device, void *stream, void **graph, struct error *err);
    enum status (*graph_launch)(struct device *device, void *graph, void *stream, struct error *err);
    void (*graph_free)(struct device *device, void *graph);

    /* Optional. Microseconds on the stream from `begin` to `end`. `flush_cache` makes the next launch start cold. */
    enum status (*time_begin)(struct device *device, void *stream, struct error *err);
    enum status (*time_end)(struct device *device, void *stream, double *microseconds, struct error *err);
    enum status (*flush_cache)(struct device *device, void *stream, struct error *err);
    int32_t (*clock_mhz)(struct device *device);
};

/* All backends, NULL-terminated, in the order of `topkcts devices`. */
enum { DEVICE_MAX_BACKENDS = 8 };
extern const struct device_backend *const device_backends[];

/* The backend of that name, or of a device's name; NULL when there is none. */
const struct device_backend *device_backend_find(const char *name);

/* All names that a device may have, for messages: "host, sim, sim:32, sim:64, hip:N, cuda:N". */
const char *device_names(void);

/* Splits "cuda:1" into backend and ordinal. STATUS_USAGE with the valid names for anything else. */
enum status device_parse(const char *name, const struct device_backend **backend, int *ordinal, struct error *err);

/* Opens and closes a device by name. */
enum status device_open(struct device *device, const char *name, struct error *err);
void        device_close(struct device *device);

/* The record of the device of that name, for the store. */
enum status device_describe(const char *name, struct store_device *record, struct error *err);

/* How many devices of a backend this machine has; with the reason in *err when that cannot be told. */
enum status device_count(const struct device_backend *backend, int *n, struct error *err);

/* Whether a device of that name is a GPU: launched by one worker at a time, in a process that may lose it. */
bool device_is_gpu(const char *name);

extern const struct device_backend device_host_backend, device_sim_backend, device_hip_backend, device_cuda_backend;

#endif
