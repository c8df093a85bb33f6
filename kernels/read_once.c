/* SPDX-License-Identifier: Apache-2.0 */
/* Embeds the yardstick's text; the path is relative to the repository root, like the includes. */
#include "kernels/read_once.h"

__asm__(".pushsection .rodata\n"
        ".globl read_once_kernel_text\n"
        ".type read_once_kernel_text,@object\n"
        "read_once_kernel_text:\n"
        ".incbin \"kernels/read_once.hip\"\n"
        ".byte 0\n"
        ".popsection\n");
