/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fibers on the contexts of context.h. Start reading at fiber_switch().
 */
#include "kernels/simulator/fiber.h"

#include "kernels/simulator/context.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <sys/mman.h>

#if defined(__SANITIZE_ADDRESS__)
#define SIMULATOR_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SIMULATOR_ASAN 1
#endif
#endif

#ifdef SIMULATOR_ASAN
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif

namespace simulator {

namespace {

constexpr size_t page_bytes = 4096;
#ifdef SIMULATOR_ASAN
constexpr size_t stack_bytes = size_t{256} * 1024; /* red zones make frames large */
#else
constexpr size_t stack_bytes = size_t{64} * 1024;
#endif

/* Stacks that all begin at a page boundary would share a few sets of the cache. */
constexpr size_t colour_bytes = 256;
constexpr size_t n_colours = 15;

char    *stacks; /* one mapping for all, so that an address can be told to be on one */
unsigned n_fibers;

thread *left; /* the fiber that control came from last */

/* For AddressSanitizer: control has arrived at the_block.current. */
void note_arrival()
{
#ifdef SIMULATOR_ASAN
    __sanitizer_finish_switch_fiber(the_block.current->fake_stack, const_cast<const void **>(&left->stack_bottom),
                                    &left->stack_bytes);
#endif
}

void fiber_main()
{
    note_arrival();
    for (;;) {
        the_block.launch->entry(the_block.launch->arguments);
        thread_ended();
    }
}

void begin(thread &t)
{
    char *const top = static_cast<char *>(t.stack_bottom) + t.stack_bytes;
#ifdef SIMULATOR_ASAN
    __asan_unpoison_memory_region(t.stack_bottom, t.stack_bytes);
    t.fake_stack = nullptr;
#endif
    t.context = context_make(top, t.stack_bytes, fiber_main);
}

} // namespace

uint64_t fiber_switches;

bool fibers_own(uintptr_t address)
{
    return stacks != nullptr && address - reinterpret_cast<uintptr_t>(stacks) < max_threads * (page_bytes + stack_bytes);
}

int fibers_prepare(unsigned n, char *err, size_t err_size)
{
    if (stacks == nullptr) {
        void *const map = mmap(nullptr, max_threads * (page_bytes + stack_bytes), PROT_READ | PROT_WRITE,
                               MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
        if (map == MAP_FAILED) {
            (void)std::snprintf(err, err_size, "no memory for the stacks of simulated threads: %s",
                                std::strerror(errno));
            return 1;
        }
        stacks = static_cast<char *>(map);
    }
    for (; n_fibers < n; n_fibers++) {
        char *const map = stacks + n_fibers * (page_bytes + stack_bytes);
        if (mprotect(map, page_bytes, PROT_NONE) != 0) {
            (void)std::snprintf(err, err_size, "cannot guard the stack of simulated thread %u: %s", n_fibers,
                                std::strerror(errno));
            return 1;
        }
        thread &t = the_block.threads[n_fibers];
        t.stack_bottom = map + page_bytes;
        t.stack_bytes = stack_bytes - n_fibers % n_colours * colour_bytes;
        begin(t);
    }
    return 0;
}

void fibers_abandon()
{
    for (unsigned i = 0; i < n_fibers; i++) begin(the_block.threads[i]);
}

void fiber_switch(thread *next)
{
    thread *const previous = the_block.current;
    the_block.current = next;
    simulator_thread_index = &next->index;
    fiber_switches++;
#ifdef SIMULATOR_ASAN
    __sanitizer_start_switch_fiber(&previous->fake_stack, next->stack_bottom, next->stack_bytes);
#endif
    left = previous;
    /* The stacks of a block do not fit the first cache. Most often the thread behind is next: its stack comes while this
     * one runs. */
    __builtin_prefetch(the_block.threads[(next->number + 1) % max_threads].context);
    context_switch(&previous->context, next->context);
    note_arrival();
}

} // namespace simulator
