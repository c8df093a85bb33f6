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

static_assert(TOPK_V1_BUFFER == TOPK_V1_BUFFER_KEYS, "topk_v1.h repeats the kernel's buffer");
static_assert(TOPK_V1_MOST_SPLITS == TOPK_V1_MAX_SPLITS, "topk_v1.h repeats the most splits of a row");
static_assert(sizeof(topk_v1_kept) == 256 * sizeof(unsigned), "topk_v1.c counts the workspace");
static_assert(sizeof(topk_v1_segment) == (2 * TOPK_V1_BUFFER_KEYS + TOPK_V1_MAX_TOPK) * sizeof(unsigned),
              "topk_v1.c counts the workspace");

#if defined(TOPKCTS_WATCHED)
/* In a module the provider is all that counts; the texts are those of the program. */
static const char topk_v1_own_text[] = "";
#define TOPK_V1_BUILD_TEXT topk_v1_own_text
#define topk_v1_claims (*simulator_v1_host.claims)
#define topk_v1_limits (simulator_v1_host.limits)
#define topk_v1_check (simulator_v1_host.check)
#define topk_v1_plan(problem) simulator_v1_host.plan(problem)
#define topk_v1_workspace_bytes (simulator_v1_host.workspace_bytes)
#else
#define TOPK_V1_BUILD_TEXT topk_v1_build_text

/* One text that identifies the build (compiler and source), then the source file by file. Paths are relative to the
 * repository root, like the includes. */
extern "C" const char topk_v1_build_text[];
extern "C" const char topk_v1_hip_text[], topk_v1_selection_text[], topk_v1_registers_text[], topk_v1_long_text[],
    topk_v1_split_text[], topk_v1_port_text[];
#define TOPK_V1_EMBED(name, file)                                                                                      \
    ".globl " name "\n.type " name ",@object\n" name ":\n.incbin \"" file "\"\n.byte 0\n"
__asm__(".pushsection .rodata\n"
        ".globl topk_v1_build_text\n"
        ".type topk_v1_build_text,@object\n"
        "topk_v1_build_text:\n"
        ".ascii \"compiler " __VERSION__ "\\n\"\n"
        ".incbin \"kernels/port.h\"\n"
        ".incbin \"kernels/topk_v1_selection.h\"\n"
        ".incbin \"kernels/topk_v1_registers.h\"\n"
        ".incbin \"kernels/topk_v1_long.h\"\n"
        ".incbin \"kernels/topk_v1_split.h\"\n"
        ".incbin \"kernels/topk_v1.hip\"\n"
        ".byte 0\n"
        TOPK_V1_EMBED("topk_v1_hip_text", "kernels/topk_v1.hip")
        TOPK_V1_EMBED("topk_v1_selection_text", "kernels/topk_v1_selection.h")
        TOPK_V1_EMBED("topk_v1_registers_text", "kernels/topk_v1_registers.h")
        TOPK_V1_EMBED("topk_v1_long_text", "kernels/topk_v1_long.h")
        TOPK_V1_EMBED("topk_v1_split_text", "kernels/topk_v1_split.h")
        TOPK_V1_EMBED("topk_v1_port_text", "kernels/port.h")
        ".popsection\n");

const struct topk_v1_text topk_v1_texts[] = {
    {"topk_v1.hip", topk_v1_hip_text},
    {"kernels/port.h", topk_v1_port_text},
    {"kernels/topk_v1_selection.h", topk_v1_selection_text},
    {"kernels/topk_v1_registers.h", topk_v1_registers_text},
    {"kernels/topk_v1_long.h", topk_v1_long_text},
    {"kernels/topk_v1_split.h", topk_v1_split_text},
    {nullptr, nullptr},
};
#endif

namespace {

/* What one launch hands to every thread. */
struct launch_arguments {
    const topk_problem *problem;
    int32_t             splits;
};

/* The arguments are the host's: no access of the kernel. */
template <typename Kernel> SIMULATOR_UNWATCHED void call(Kernel kernel, const void *arguments)
{
    const launch_arguments &a = *static_cast<const launch_arguments *>(arguments);
    const topk_problem     &p = *a.problem;
    kernel(p.scores, p.seq_lens, p.page_table, p.page_indices, p.raw_indices, p.score_stride, p.page_table_stride,
           p.topk, p.page_size, p.max_seq_len, p.workspace, a.splits);
}

void enter_narrow(const void *arguments) { call(topk_v1_narrow, arguments); }
void enter_wide(const void *arguments) { call(topk_v1_wide, arguments); }
void enter_long(const void *arguments) { call(topk_v1_long, arguments); }
void enter_split(const void *arguments) { call(topk_v1_split, arguments); }
void enter_merge(const void *arguments) { call(topk_v1_merge, arguments); }

struct entry {
    const char *kernel;
    void (*enter)(const void *arguments);
};

const entry entries[] = {
    {"topk_v1_narrow", enter_narrow}, {"topk_v1_wide", enter_wide},   {"topk_v1_long", enter_long},
    {"topk_v1_split", enter_split},   {"topk_v1_merge", enter_merge},
};

const char *last_path;

const char *path(void *) { return last_path; }

size_t workspace_bytes(void *, const topk_problem *problem) { return topk_v1_workspace_bytes(problem); }

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
    TOPK_PROVIDER_ABI, "v1", "1", TOPK_MEMORY_HOST, topk_v1_claims, topk_v1_limits, open, nullptr, workspace_bytes,
    launch, path, close,
};

} // namespace

int topk_v1_simulate(const struct topk_problem *problem, const struct topk_v1_launch *planned, int32_t splits, char *err,
                     size_t err_size)
{
    const launch_arguments arguments = {problem, splits};
    simulator_launch       launch = {};
    launch.kernel_name = planned->kernel;
    for (const entry &one : entries)
        if (std::strcmp(one.kernel, planned->kernel) == 0) launch.entry = one.enter;
    launch.arguments = &arguments;
    launch.grid = planned->grid;
    launch.block = planned->block;
    launch.dynamic_lds = planned->dynamic_lds;
#if defined(TOPKCTS_WATCHED)
    launch.module_address = &provider;
#else
    launch.static_lds = simulator_static_lds(&launch.static_lds_bytes);
#endif
    return simulator_run(&launch, err, err_size);
}

int topk_v1_launch_simulator(const struct topk_problem *problem, char *err, size_t err_size)
{
    if (topk_v1_check(problem, err, err_size) != 0) return 1;
    const auto plan = topk_v1_plan(problem);
    last_path = plan.launches[0].kernel;
    for (int32_t i = 0; i < plan.n_launches; i++)
        if (topk_v1_simulate(problem, &plan.launches[i], plan.splits, err, err_size) != 0) return 1;
    return 0;
}

extern "C" const struct builtin_provider builtin_v1;
const struct builtin_provider builtin_v1 = {
    &provider, BUILTIN_SIMULATOR, nullptr,
    "deterministic top-k v1: canonical answer, bounded LDS, exact beyond its buffer", TOPK_V1_BUILD_TEXT, nullptr,
};

#if defined(TOPKCTS_WATCHED)
extern "C" const topk_provider *topk_provider_entry(void) { return &provider; }
#endif
