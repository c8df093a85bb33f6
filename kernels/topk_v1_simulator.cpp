/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Top-k v1 on the simulator: the kernel source compiled for the CPU, and the built-in provider `v1`. The texts of the
 * kernel are embedded here, for digests and for compilers at run time. Knows no other device.
 */
#include "kernels/topk_v1.hip"

#include "kernels/builtin.h"
#include "kernels/simulator/simulator.h"
#include "kernels/topk_v1.h"

#include <cstring>

static_assert(TOPK_V1_CANDIDATES == TOPK_V1_CANDIDATE_CAPACITY, "topk_v1.h repeats the kernel's capacity");

#if defined(TOPKCTS_WATCHED)
/* In a module the provider is all that counts; the texts are those of the program. */
static const char topk_v1_own_text[] = "";
#define TOPK_V1_BUILD_TEXT topk_v1_own_text
#else
#define TOPK_V1_BUILD_TEXT topk_v1_build_text

/* One text that identifies the build (source, port, compiler), then the two parts for themselves. Paths are relative
 * to the repository root, like the includes. */
extern "C" const char topk_v1_build_text[];
__asm__(".pushsection .rodata\n"
        ".globl topk_v1_build_text, topk_v1_kernel_text, topk_v1_port_text\n"
        ".type topk_v1_build_text,@object\n"
        ".type topk_v1_kernel_text,@object\n"
        ".type topk_v1_port_text,@object\n"
        "topk_v1_build_text:\n"
        ".ascii \"compiler " __VERSION__ "\\n\"\n"
        ".incbin \"kernels/port.h\"\n"
        ".incbin \"kernels/topk_v1.hip\"\n"
        ".byte 0\n"
        "topk_v1_kernel_text:\n"
        ".incbin \"kernels/topk_v1.hip\"\n"
        ".byte 0\n"
        "topk_v1_port_text:\n"
        ".incbin \"kernels/port.h\"\n"
        ".byte 0\n"
        ".popsection\n");
#endif

namespace {

/* The arguments are the host's: no access of the kernel. */
template <typename Kernel> SIMULATOR_UNWATCHED void call(Kernel kernel, const void *arguments)
{
    const topk_problem &p = *static_cast<const topk_problem *>(arguments);
    kernel(p.scores, p.seq_lens, p.page_table, p.page_indices, p.raw_indices, p.score_stride, p.page_table_stride,
           p.topk, p.page_size, p.max_seq_len);
}

void enter_256(const void *arguments) { call(topk_v1_256, arguments); }
void enter_1024(const void *arguments) { call(topk_v1_1024, arguments); }

int open(int, void **self, char *, size_t)
{
    *self = nullptr;
    return 0;
}

int launch(void *, const topk_problem *problem, char *err, size_t err_size)
{
    return topk_v1_launch_simulator(problem, err, err_size);
}

void close(void *) {}

const topk_provider provider = {
    TOPK_PROVIDER_ABI, "v1", "1", TOPK_MEMORY_HOST, topk_v1_claims, topk_v1_limits, open, nullptr, nullptr, launch,
    nullptr, close,
};

} // namespace

int topk_v1_launch_simulator(const struct topk_problem *problem, char *err, size_t err_size)
{
    if (topk_v1_check(problem, err, err_size) != 0) return 1;
    const struct topk_v1_plan plan = topk_v1_plan(problem);
    simulator_launch          launch = {};
    launch.kernel_name = plan.kernel;
    launch.entry = plan.block == 256 ? enter_256 : enter_1024;
    launch.arguments = problem;
    launch.grid = plan.grid;
    launch.block = plan.block;
    launch.dynamic_lds = plan.dynamic_lds;
#if defined(TOPKCTS_WATCHED)
    launch.module_address = &provider;
#else
    launch.static_lds = simulator_static_lds(&launch.static_lds_bytes);
#endif
    return simulator_run(&launch, err, err_size);
}

extern "C" const struct builtin_provider builtin_v1;
const struct builtin_provider builtin_v1 = {
    &provider, BUILTIN_SIMULATOR, nullptr,
    "deterministic top-k v1: canonical answer, bounded LDS, exact beyond its buffer", TOPK_V1_BUILD_TEXT, nullptr,
};

#if defined(TOPKCTS_WATCHED)
extern "C" const topk_provider *topk_provider_entry(void) { return &provider; }
#endif
