/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The block that is being simulated: its threads, waves and where each of them waits. One block exists at a time.
 *
 * Shared by the simulator's own sources only. schedule.cpp decides who runs, rendezvous.cpp who waits and who is
 * released, fiber.cpp how control passes, simulator.cpp what a launch is.
 */
#ifndef TOPKCTS_SIMULATOR_BLOCK_H
#define TOPKCTS_SIMULATOR_BLOCK_H

#include "kernels/simulator/device.h"
#include "kernels/simulator/finding.h"
#include "kernels/simulator/module.h"
#include "kernels/simulator/simulator.h"

namespace simulator {

constexpr unsigned max_threads = 1024;
constexpr unsigned word_bits = 64;

/* A position in a kernel's source. `file` is a literal of the kernel. */
struct site {
    const char *file;
    int         line;
};

enum class waiting_for : unsigned char { nothing, barrier, wave, ended };

/* A GPU thread and the fiber that carries it. */
struct thread {
    uint3       index;  /* threadIdx */
    unsigned    number; /* linear within the block */
    waiting_for waits; /* of a thread that is runnable: what it waited for */
    site        at;    /* where it waits */

    /* The wave operation it waits in; `result` is what it returns. */
    simulator_wave_kind kind;
    int                 source;
    uint64_t            mask;
    uint64_t            value;
    uint64_t            result;
    int                 recent[4]; /* source lines of the wave operations it did last, a ring */
    unsigned            n_done;    /* wave operations */

    /* The fiber; fiber.cpp's. */
    void  *context;
    void  *stack_bottom;
    size_t stack_bytes;
    void  *fake_stack; /* AddressSanitizer's */
};

/* Bits are lanes. */
struct wave {
    uint64_t alive;
    uint64_t arrived; /* wait in a wave operation */
    bool     uniform; /* all arrived wait in the same operation */
};

struct block {
    thread   threads[max_threads];
    wave     waves[max_threads / 32];
    uint64_t runnable[max_threads / word_bits]; /* bit: thread may be switched to */
    unsigned n_threads;
    unsigned n_ended;
    unsigned n_at_barrier;
    unsigned barrier_first; /* the thread that came first, and where */
    site     barrier_at;
    unsigned barrier_votes; /* non-zero predicates at the barrier that fills */
    unsigned barrier_count; /* of the barrier that was released last */
    unsigned wave_size;
    thread  *current;
    thread   launcher; /* the caller of simulator_run */

    /* The launch, for messages and for fibers that begin. */
    const simulator_launch *launch;
    const module           *where; /* the module of an instrumented kernel; NULL: the kernel is linked in */
    bool                    failed;
};

extern block the_block;

/* Of a thread's number. A wave size is a power of two, and this is asked at every switch: no division. */
inline unsigned wave_number(unsigned thread) { return thread >> __builtin_ctz(the_block.wave_size); }
inline unsigned lane_number(unsigned thread) { return thread & (the_block.wave_size - 1); }
inline wave    &wave_of(const thread &t) { return the_block.waves[wave_number(t.number)]; }
inline unsigned lane_of(const thread &t) { return lane_number(t.number); }
inline void     set_runnable(unsigned number)
{
    the_block.runnable[number / word_bits] |= uint64_t{1} << (number % word_bits);
}
inline void clear_runnable(unsigned number)
{
    the_block.runnable[number / word_bits] &= ~(uint64_t{1} << (number % word_bits));
}

inline void all_runnable()
{
    for (unsigned first = 0; first < max_threads; first += word_bits) {
        const unsigned left = the_block.n_threads > first ? the_block.n_threads - first : 0;
        the_block.runnable[first / word_bits] = left >= word_bits ? ~uint64_t{0} : (uint64_t{1} << left) - 1;
    }
}

/* rendezvous.cpp: the running thread has ended; control never comes back before the next block. */
void thread_ended();

/* Leaves the block for good with the_finding, which has been filled in; never returns. */
[[noreturn]] void fail_with_finding();

/* The same with a finding of this kind, about the running thread, in these words. */
[[noreturn]] __attribute__((format(printf, 2, 3))) void fail_block(finding_kind kind, const char *format, ...);

} // namespace simulator

#endif
