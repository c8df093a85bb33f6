/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A HIP plugin with v1's kernels and one fault: it launches on the default stream and waits for that, whatever stream it
 * was given. Every answer is right as long as the inputs are there before; what is still on its way on the given stream
 * is not seen. For tests against the HIP test double.
 */
#include "harness/provider.h"
#include "kernels/topk_v1.h"

#include <hip/hip_runtime_api.h>
#include <stdio.h>

/* An empty AMD object: the double takes it for v1. */
static const unsigned char image[64] = {0x7f, 'E', 'L', 'F', 2, 1, 1, [18] = 224};

static hipModule_t module;

static int open_plugin(int device, void **self, char *err, size_t err_size)
{
    (void)device;
    *self = NULL;
    if (hipModuleLoadData(&module, image) == hipSuccess)
        return 0;
    snprintf(err, err_size, "the kernels cannot be loaded");
    return 1;
}

static size_t workspace_bytes(void *self, const struct topk_problem *problem)
{
    (void)self;
    return topk_v1_workspace_bytes(problem);
}

static int launch(void *self, const struct topk_problem *problem, char *err, size_t err_size)
{
    struct topk_problem p = *problem;
    struct topk_v1_plan plan = topk_v1_plan(problem);
    hipError_t          error = hipSuccess;
    void *arguments[] = {&p.scores,       &p.seq_lens, &p.page_table,  &p.page_indices, &p.raw_indices, &p.score_stride,
                         &p.page_table_stride, &p.topk, &p.page_size, &p.max_seq_len,  &p.workspace,   &plan.splits};
    (void)self;
    for (int32_t i = 0; i < plan.n_launches && error == hipSuccess; i++) {
        const struct topk_v1_launch *planned = &plan.launches[i];
        hipFunction_t                function;
        error = hipModuleGetFunction(&function, module, planned->kernel);
        if (error == hipSuccess)
            error = hipModuleLaunchKernel(function, planned->grid, 1, 1, planned->block, 1, 1, planned->dynamic_lds, NULL,
                                          arguments, NULL);
    }
    if (error == hipSuccess && hipStreamSynchronize(NULL) == hipSuccess)
        return 0;
    snprintf(err, err_size, "the launch failed");
    return 1;
}

static void close_plugin(void *self)
{
    (void)self;
}

static const struct topk_provider provider = {
    .abi = TOPK_PROVIDER_ABI,
    .name = "wrong-stream",
    .version = "1",
    .memory = TOPK_MEMORY_HIP,
    .claims = {.level = TOPK_LEVEL_CANONICAL},
    .open = open_plugin,
    .workspace_bytes = workspace_bytes,
    .launch = launch,
    .close = close_plugin,
};

const struct topk_provider *topk_provider_entry(void)
{
    return &provider;
}
