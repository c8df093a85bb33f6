/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The driver table: every call to a GPU driver, for CUDA and HIP, behind one set of slots.
 *
 * gpu_driver.c is one source, compiled once per toolkit against its real headers into backends/topkcts_cuda.so and
 * backends/topkcts_hip.so. Worker processes load it (gpu_load.h); the program links neither. A backend that cannot be
 * loaded, or finds no device, says why.
 *
 * One host thread, one device at a time: `open` makes the device's primary context current, and everything else acts on
 * it. Slots that can fail return STATUS_BOOKS for what the machine refuses (no device, no memory) and STATUS_FAIL for a
 * fault of the device, after which the process is of no more use to it.
 */
#ifndef TOPKCTS_GPU_DRIVER_H
#define TOPKCTS_GPU_DRIVER_H

#include "harness/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define GPU_DRIVER_ABI 2u
#define GPU_DRIVER_ENTRY "topkcts_gpu_driver"

/* What a device is, without being opened for work. */
struct gpu_description {
    char    device_id[160]; /* uuid; else host, PCI address and partition mode */
    char    name[128];
    char    arch[64];       /* sm_90; the full target id gfx90a:sramecc+:xnack- */
    char    driver[64], runtime[64];
    int32_t wave_size;
    int64_t lds_bytes;      /* static + dynamic that one block may have */
    int64_t memory_bytes;
    int64_t l2_bytes;
};

/* What a loaded kernel needs. */
struct gpu_function_needs {
    int64_t static_lds;  /* bytes */
    int64_t local_bytes; /* scratch per thread */
    int32_t registers;
    int32_t max_threads; /* of a block */
    bool    may_wait;    /* its code has the means to wait for the launches before it: gpu_launch.early */
};

/* A launch of one dimension. `arguments` are pointers to the kernel's arguments, in order. */
struct gpu_launch {
    void    *function;
    uint32_t grid, block;
    uint32_t dynamic_lds; /* bytes */
    void    *stream;
    void   **arguments;
    bool     early; /* may begin before the launches before it on the stream are over, and waits for them by itself. Only for
                       functions that may wait, and do (programmatic dependent launch); HIP has none. */
};

struct gpu_driver {
    uint32_t    abi;
    const char *backend; /* cuda, hip */

    enum status (*count)(int *n, struct error *err);
    enum status (*describe)(int ordinal, struct gpu_description *description, struct error *err);

    enum status (*open)(int ordinal, struct error *err);
    void (*close)(void);

    void *(*alloc)(size_t bytes, struct error *err);
    void (*free)(void *memory);

    /* Enqueued on the stream; host memory is pageable, so that a copy may wait for the stream. */
    enum status (*write)(void *stream, void *to, const void *from, size_t bytes, struct error *err);
    enum status (*read)(void *stream, void *to, const void *from, size_t bytes, struct error *err);
    enum status (*copy)(void *stream, void *to, const void *from, size_t bytes, struct error *err); /* within the device */
    enum status (*fill)(void *stream, void *to, uint32_t word, size_t n_words, struct error *err);

    /* Streams do not wait for the default stream, nor it for them. */
    void *(*stream_create)(struct error *err);
    void (*stream_destroy)(void *stream);
    enum status (*stream_wait)(void *stream, struct error *err);

    void *(*event_create)(struct error *err);
    void (*event_destroy)(void *event);
    enum status (*event_record)(void *event, void *stream, struct error *err);
    /* Waits for `to`. Microseconds between two recorded events. */
    enum status (*event_elapsed)(void *from, void *to, double *microseconds, struct error *err);

    /* Everything launched on the stream from begin to end becomes a graph that can be launched many times. */
    enum status (*capture_begin)(void *stream, struct error *err);
    enum status (*capture_end)(void *stream, void **graph, struct error *err);
    enum status (*graph_launch)(void *graph, void *stream, struct error *err);
    void (*graph_free)(void *graph);

    void *(*module_load)(const void *image, struct error *err);
    void (*module_unload)(void *module);
    void *(*function)(void *module, const char *name, struct error *err);
    enum status (*function_needs)(void *function, struct gpu_function_needs *needs, struct error *err);
    /* Allows the function that much dynamic LDS, where more than the customary 48 KiB must be asked for. */
    enum status (*function_allow)(void *function, uint32_t dynamic_lds, struct error *err);
    enum status (*launch)(const struct gpu_launch *launch, struct error *err);

    /* MHz at which the device's multiprocessors run now; 0 when it cannot be told. */
    int32_t (*clock_mhz)(int ordinal);
};

/* The exported symbol. */
const struct gpu_driver *topkcts_gpu_driver(void);

#endif
