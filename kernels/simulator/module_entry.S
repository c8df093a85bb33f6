/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Linked into every module of instrumented kernels: what the compiler's call-outs are named, as jumps to the
 * simulator, so that the return address stays that of the kernel and no sanitizer run time is needed. Hidden, so that a
 * harness built with sanitizers keeps its own. x86-64 only.
 */
        .text

        .macro jump name, target
        .globl \name
        .hidden \name
        .type \name, @function
\name:  jmp \target@PLT
        .size \name, .-\name
        .endm

        /* with the number of bytes as second argument */
        .macro sized name, target, bytes
        .globl \name
        .hidden \name
        .type \name, @function
\name:  movl $\bytes, %esi
        jmp \target@PLT
        .size \name, .-\name
        .endm

        .macro nothing name
        .globl \name
        .hidden \name
        .type \name, @function
\name:  ret
        .size \name, .-\name
        .endm

        .irp way, read, write
        .irp bytes, 1, 2, 4, 8, 16
        sized __tsan_\way\bytes, simulator_note_\way, \bytes
        sized __tsan_unaligned_\way\bytes, simulator_note_\way, \bytes
        sized __tsan_volatile_\way\bytes, simulator_note_volatile_\way, \bytes
        sized __tsan_unaligned_volatile_\way\bytes, simulator_note_volatile_\way, \bytes
        .endr
        jump __tsan_\way\()_range, simulator_note_range_\way
        .endr

        nothing __tsan_init
        nothing __tsan_func_entry
        nothing __tsan_func_exit
        nothing __tsan_vptr_update
        nothing __tsan_vptr_read
        nothing __tsan_ignore_thread_begin
        nothing __tsan_ignore_thread_end

        jump memcpy, simulator_copy
        jump memmove, simulator_copy
        jump memset, simulator_fill
        jump __tsan_memcpy, simulator_copy
        jump __tsan_memmove, simulator_copy
        jump __tsan_memset, simulator_fill

        .irp bits, 8, 16, 32, 64
        .irp what, load, store, exchange, fetch_add, fetch_sub, fetch_and, fetch_or, fetch_xor, fetch_nand, compare_exchange_strong, compare_exchange_weak, compare_exchange_val
        jump __tsan_atomic\bits\()_\what, simulator_atomic\bits\()_\what
        .endr
        .endr
        jump __tsan_atomic_thread_fence, simulator_atomic_thread_fence
        nothing __tsan_atomic_signal_fence

        jump __ubsan_handle_type_mismatch_v1, simulator_note_misaligned
        jump __ubsan_handle_out_of_bounds, simulator_note_index

        /* LDS: the arena of the module that runs, and the offset in its thread-local block. */
        .globl __tls_get_addr
        .hidden __tls_get_addr
        .type __tls_get_addr, @function
__tls_get_addr:
        movq simulator_lds_arena@GOTPCREL(%rip), %rax
        movq (%rax), %rax
        addq 8(%rdi), %rax
        ret
        .size __tls_get_addr, .-__tls_get_addr

        /* Tells a module from other objects. */
        .globl simulator_module_mark
        .type simulator_module_mark, @object
        .section .rodata
simulator_module_mark:
        .long 1
        .size simulator_module_mark, 4

        .section .note.GNU-stack, "", @progbits
