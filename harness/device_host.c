/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The two devices that every machine has: `host`, plain CPU memory for host plugins and the reference, and `sim`, the
 * SIMT simulator on the same memory, whose schedule and wave size this file chooses for each turn of a repeat check.
 *
 * Memory is mapped so that it ends at a page nobody may touch: a read past the last row is a crash, not luck.
 */
#include "harness/device.h"
#include "kernels/simulator/simulator.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define COMPILER_TEXT "gcc or clang " __VERSION__

static size_t mapped_bytes(size_t bytes, size_t page)
{
    return (bytes + page - 1) / page * page;
}

static void *host_alloc(struct device *device, size_t bytes, bool *ends_at_fault, struct error *err)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE), whole = mapped_bytes(bytes, page);
    char  *base = mmap(NULL, whole + page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    (void)device;
    if (base == MAP_FAILED || mprotect(base, whole, PROT_READ | PROT_WRITE) != 0) {
        error_set(err, STATUS_BOOKS, "out of memory: %zu bytes for a buffer", bytes);
        if (base != MAP_FAILED)
            munmap(base, whole + page);
        return NULL;
    }
    *ends_at_fault = true;
    return base;
}

static void host_free(struct device *device, void *memory, size_t bytes)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    (void)device;
    munmap(memory, mapped_bytes(bytes, page) + page);
}

static enum status host_copy(struct device *device, void *to, const void *from, size_t bytes, struct error *err)
{
    (void)device;
    (void)err;
    memcpy(to, from, bytes);
    return STATUS_OK;
}

static int64_t machine_memory(void)
{
    return (int64_t)sysconf(_SC_PHYS_PAGES) * sysconf(_SC_PAGESIZE);
}

static enum status refuse_ordinal(const char *name, const char *accepted, struct error *err)
{
    return error_set(err, STATUS_USAGE, "no device '%s'; accepted are %s", name, accepted);
}

static enum status host_describe(const char *name, int ordinal, struct store_device *record, struct error *err)
{
    (void)ordinal;
    if (strcmp(name, "host") != 0)
        return refuse_ordinal(name, "host", err);
    *record = (struct store_device){
        .device_id = "host:x86_64",
        .backend = "host",
        .name = "CPU",
        .arch = "x86_64",
        .memory_bytes = machine_memory(),
        .toolchain = COMPILER_TEXT,
    };
    return STATUS_OK;
}

static enum status host_open(struct device *device, struct error *err)
{
    struct store_device unused;
    device->host_visible = true;
    device->memory_bytes = machine_memory();
    device->n_arrangements = 1;
    return host_describe(device->name, device->ordinal, &unused, err);
}

static void host_close(struct device *device)
{
    (void)device;
}

static enum status sim_describe(const char *name, int ordinal, struct store_device *record, struct error *err)
{
    static const char *const names[] = {"sim", "sim:32", "sim:64"};
    int                      which = 0;
    (void)ordinal;
    while (which < 3 && strcmp(names[which], name) != 0)
        which++;
    if (which == 3)
        return refuse_ordinal(name, "sim (both wave sizes), sim:32, sim:64", err);
    *record = (struct store_device){
        .device_id = names[which],
        .backend = "sim",
        .name = "SIMT simulator",
        .arch = names[which],
        .wave_size = which == 0 ? 0 : which == 1 ? 32 : 64,
        .lds_bytes = SIMULATOR_LDS_BYTES,
        .memory_bytes = machine_memory(),
        .toolchain = COMPILER_TEXT,
    };
    return STATUS_OK;
}

static enum status sim_open(struct device *device, struct error *err)
{
    struct store_device record;
    if (sim_describe(device->name, device->ordinal, &record, err))
        return err->status;
    device->host_visible = true;
    device->memory_bytes = machine_memory();
    device->n_arrangements = record.wave_size ? 1 : 2;
    return STATUS_OK;
}

/* The schedule that every launch of the simulator must use; 0: a new one for each turn. */
static int64_t fixed_schedule;

static void sim_restrict_to(struct device *device, int32_t wave_size, int64_t schedule)
{
    struct simulator_schedule first = {.wave_size = device->ordinal == 64 ? 64 : 32};
    fixed_schedule = schedule;
    simulator_set_schedule(&first); /* whoever asks for the wave size before the first launch */
    if (wave_size && device->n_arrangements == 2) {
        device->n_arrangements = 1;
        device->ordinal = wave_size;
    }
}

/* Schedule 1 is the plainest, so that a failure is first seen where it is easiest to follow. */
static int32_t sim_arrange(struct device *device, int32_t turn, char *text, size_t text_size)
{
    int32_t                   arrangement = device->n_arrangements == 2 ? turn % 2 : 0;
    int64_t                   number = fixed_schedule ? fixed_schedule : turn / device->n_arrangements + 1;
    int                       wave_size = device->n_arrangements == 2 ? (arrangement ? 64 : 32) : device->ordinal;
    struct simulator_schedule schedule = simulator_schedule_number(wave_size, (uint64_t)number);
    simulator_set_schedule(&schedule);
    snprintf(text, text_size, "wave %d, --schedule %lld: %s", schedule.wave_size, (long long)number,
             simulator_order_name(schedule.order));
    return arrangement;
}

static void sim_declare(struct device *device, const struct device_buffer *buffers, size_t n)
{
    enum { MOST = 8 };
    static const void *declared[MOST];
    (void)device;
    for (size_t i = 0; i < MOST; i++) {
        if (declared[i])
            simulator_remove_buffer(declared[i]);
        declared[i] = NULL;
    }
    for (size_t i = 0; i < n && i < MOST; i++) {
        if (!buffers[i].at)
            continue;
        simulator_add_buffer(buffers[i].name, buffers[i].at, buffers[i].bytes,
                             buffers[i].is_output      ? SIMULATOR_OUTPUT
                             : buffers[i].is_workspace ? SIMULATOR_WORKSPACE
                                                       : SIMULATOR_INPUT);
        declared[i] = buffers[i].at;
    }
    simulator_forget_finding();
}

static const char *sim_finding(struct device *device, const char **text)
{
    (void)device;
    *text = simulator_finding_text();
    return simulator_finding();
}

static uint64_t sim_order(struct device *device)
{
    (void)device;
    return simulator_atomic_order();
}

const struct device_backend device_host_backend = {
    .name = "host",
    .names = {"host"},
    .memory = TOPK_MEMORY_HOST,
    .default_repeats = 3,
    .timeout_seconds = 10,
    .overhead_ms = 0.5,
    .element_ns = 12,
    .describe = host_describe,
    .open = host_open,
    .close = host_close,
    .alloc = host_alloc,
    .free = host_free,
    .write = host_copy,
    .read = host_copy,
};

const struct device_backend device_sim_backend = {
    .name = "sim",
    .names = {"sim", "sim:32", "sim:64"},
    .simulates = true,
    .memory = TOPK_MEMORY_HOST,
    .default_repeats = 10,
    .timeout_seconds = 60,
    .overhead_ms = 2,
    .element_ns = 90,
    .describe = sim_describe,
    .open = sim_open,
    .close = host_close,
    .alloc = host_alloc,
    .free = host_free,
    .write = host_copy,
    .read = host_copy,
    .arrange = sim_arrange,
    .restrict_to = sim_restrict_to,
    .declare = sim_declare,
    .finding = sim_finding,
    .order = sim_order,
};
