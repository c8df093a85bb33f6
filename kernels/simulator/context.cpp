/* SPDX-License-Identifier: Apache-2.0 */
/* See context.h. */
#include "kernels/simulator/context.h"

#if defined(__x86_64__)

#include <cstdint>

extern "C" __attribute__((visibility("hidden"))) void simulator_switch_stack(void **from, void *to);

/* An indirect jump, where a return would be predicted to go back to the caller. */
__asm__(".pushsection .text\n"
        ".globl simulator_switch_stack\n"
        ".hidden simulator_switch_stack\n"
        ".type simulator_switch_stack,@function\n"
        ".balign 16\n"
        "simulator_switch_stack:\n"
        "pushq %rbp\n"
        "pushq %rbx\n"
        "pushq %r15\n"
        "pushq %r14\n"
        "pushq %r13\n"
        "pushq %r12\n"
        "movq %rsp, (%rdi)\n"
        "movq %rsi, %rsp\n"
        "popq %r12\n"
        "popq %r13\n"
        "popq %r14\n"
        "popq %r15\n"
        "popq %rbx\n"
        "popq %rbp\n"
        "popq %rcx\n"
        "jmp *%rcx\n"
        ".size simulator_switch_stack, . - simulator_switch_stack\n"
        ".popsection\n");

namespace simulator {

void *context_make(void *top, size_t, void (*entry)())
{
    /* What simulator_switch_stack takes from the stack: six registers, then where to go on. Above it stands the return
     * address of `entry`, 0, at which a debugger's walk ends. */
    constexpr size_t n_saved = 6;
    void           **context = static_cast<void **>(top) - n_saved - 2;
    for (size_t i = 0; i < n_saved + 2; i++) context[i] = nullptr;
    context[n_saved] = reinterpret_cast<void *>(reinterpret_cast<uintptr_t>(entry));
    return context;
}

void context_switch(void **from, void *to) { simulator_switch_stack(from, to); }

} // namespace simulator

#else

#include <boost/context/detail/fcontext.hpp>

namespace simulator {

namespace {

using boost::context::detail::jump_fcontext;
using boost::context::detail::make_fcontext;
using boost::context::detail::transfer_t;

void (*entry_of_all)();

/* Whoever switched here is suspended now. */
void keep(const transfer_t &arrival) { *static_cast<void **>(arrival.data) = arrival.fctx; }

void enter(transfer_t arrival)
{
    keep(arrival);
    entry_of_all();
}

} // namespace

void *context_make(void *top, size_t bytes, void (*entry)())
{
    entry_of_all = entry;
    return make_fcontext(top, bytes, enter);
}

void context_switch(void **from, void *to) { keep(jump_fcontext(to, from)); }

} // namespace simulator

#endif
