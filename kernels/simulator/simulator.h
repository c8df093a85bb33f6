/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The SIMT simulator, as seen by C: runs a kernel written in the HIP/CUDA common subset on one CPU thread, one fiber
 * per GPU thread, block after block. The order in which threads proceed is an input.
 *
 * What a kernel itself includes is simulator/device.h (through the names hip/hip_runtime.h or cuda_runtime.h).
 * All launches of a process come from one OS thread: LDS is thread-local memory of that thread.
 */
#ifndef TOPKCTS_SIMULATOR_H
#define TOPKCTS_SIMULATOR_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* How the next thread is chosen. ROUND_ROBIN: ascending, switching at barriers and wave operations only; the threads
 * of one wave take turns until they all wait, then the next wave does. REVERSED: the same, descending. RANDOM: seeded;
 * also switches at atomics, with random bursts, and permutes the blocks. */
/* PRIORITIES: threads have random priorities and the first runnable one always runs; at a few random atomics the one
 * that runs falls behind all others (after PCT: Burckhardt, Kothari, Musuvathi, Nagarakatte 2010). DELAYED_WAVE: random,
 * but one wave runs only when no other can. STARVED_THREAD: the same for one thread. */
enum simulator_order {
    SIMULATOR_ROUND_ROBIN,
    SIMULATOR_REVERSED,
    SIMULATOR_RANDOM,
    SIMULATOR_PRIORITIES,
    SIMULATOR_DELAYED_WAVE,
    SIMULATOR_STARVED_THREAD
};

struct simulator_schedule {
    int                  wave_size; /* 32 or 64 */
    enum simulator_order order;
    uint64_t             seed; /* RANDOM: the same seed gives the same run */
};

/* One kernel launch. */
struct simulator_launch {
    const char *kernel_name;              /* for messages */
    void (*entry)(const void *arguments); /* called once in every thread; calls the kernel */
    const void *arguments;                /* the caller's; the same pointer for every thread */
    uint32_t    grid;                     /* blocks, >= 1 */
    uint32_t    block;                    /* threads a block, 1 .. 1024 */
    size_t      dynamic_lds;              /* bytes */

    /* Where LDS lies, in the launching thread's memory; poisoned before every block. The source file that holds the
     * kernel gets the static extent from simulator_static_lds() in device.h. */
    void  *static_lds;       /* NULL: the kernel has none */
    size_t static_lds_bytes;
    void  *dynamic_lds_at;   /* NULL: the array that `extern __shared__ T dynamic_lds[]` names */

    /* An address in the module that holds the kernel, when that was built by simulator_build.h: the kernel's accesses
     * are watched then, LDS is the module's, and the three members above are left out. NULL: linked in, not watched. */
    const void *module_address;
    uint32_t    block_y, block_z, grid_y, grid_z; /* 0 counts as 1 */
};

/* What a kernel may do with a buffer. OUTPUT and WORKSPACE: write, then read, in this or a later launch; what they held
 * when they were added is undefined. MEMORY: anything. */
enum simulator_buffer_kind { SIMULATOR_INPUT, SIMULATOR_OUTPUT, SIMULATOR_WORKSPACE, SIMULATOR_MEMORY };

/* Global memory that watched kernels may touch: everything else is out of bounds. A buffer at the same address is
 * replaced. The name must live as long as the buffer. NULL and empty buffers are ignored. */
void simulator_add_buffer(const char *name, const void *at, size_t bytes, enum simulator_buffer_kind kind);
void simulator_remove_buffer(const void *at);

/* Host code has filled these bytes of an OUTPUT or WORKSPACE buffer: kernels may read them. */
void simulator_mark_written(const void *at, size_t bytes);

/* The word for what was wrong in the launch that ran last ("race", "out-of-bounds"); NULL when nothing was. The text is
 * what simulator_run wrote. Cleared by simulator_forget_finding, for host code that swallows errors. */
const char *simulator_finding(void);
const char *simulator_finding_text(void);
void        simulator_forget_finding(void);

/* A digest of the order in which threads came to atomics in the last watched launch. */
uint64_t simulator_atomic_order(void);

/* LDS of the simulated device: the dynamic budget, and static + dynamic together. A launch beyond either is refused. */
#define SIMULATOR_DYNAMIC_LDS_BYTES ((size_t)48 * 1024)
#define SIMULATOR_LDS_BYTES ((size_t)64 * 1024)

/* Chooses the schedule of all following launches in this process. The default is wave 32, round-robin. A wave size
 * other than 64 counts as 32. */
void simulator_set_schedule(const struct simulator_schedule *schedule);

/* Schedule number 1, 2, 3 ... of a wave size: the plain ones, then every kind in turn with seeds of its own. The number
 * is all that is needed to replay a launch. */
struct simulator_schedule simulator_schedule_number(int wave_size, uint64_t number);

/* "round-robin", "priorities". */
const char *simulator_order_name(enum simulator_order order);

/* The schedule in force. */
const struct simulator_schedule *simulator_schedule(void);

/* Runs the launch to its end. 0, or non-zero with one line in `err`: a launch out of range, LDS over budget, a barrier
 * that some threads of the block can never reach (threads that ended among them), one barrier met at two places of the
 * source, wave operations whose participants disagree. Global memory then holds whatever was written until there. */
int simulator_run(const struct simulator_launch *launch, char *err, size_t err_size);

/* Fiber switches since the process started; for measurements. */
uint64_t simulator_switches(void);

#ifdef __cplusplus
}
#endif
#endif
