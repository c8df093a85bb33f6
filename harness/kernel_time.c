/* SPDX-License-Identifier: Apache-2.0 */
/* Times of launches by the device's events; see kernel_time.h. */
#include "harness/kernel_time.h"

#include "harness/provider_call.h"

#include <stdlib.h>
#include <string.h>

/* Beyond this many bytes of scores a launch takes milliseconds, and its time hardly varies. */
#define LARGE_BYTES ((size_t)256 << 20)

static bool one_sample(struct launch_bench *bench, const struct topk_problem *launch, bool cold, double *microseconds)
{
    const struct device_backend *backend = bench->device->backend;
    struct error                 err = {0};
    char                         cause[256];
    if (bench->before_launch)
        bench->before_launch(bench->payload);
    if ((cold && backend->flush_cache(bench->device, launch->stream, &err)) ||
        backend->time_begin(bench->device, launch->stream, &err) ||
        provider_call_launch(bench->provider, bench->self, launch, cause, sizeof cause) != 0 ||
        backend->time_end(bench->device, launch->stream, microseconds, &err))
        return false;
    return true;
}

void kernel_time_measure(struct launch_bench *bench, const struct problem *problem, struct kernel_time *time)
{
    const struct device_backend *backend = bench->device->backend;
    struct launch_form           form = {.what = "a measurement"};
    struct topk_problem          launch;
    struct error                 err = {0};
    double                       unused;
    int32_t n = case_scores_bytes(&problem->inputs) > LARGE_BYTES ? 3 : KERNEL_TIME_MAX_SAMPLES;
    *time = (struct kernel_time){0};
    if (!backend->time_begin || launch_lay_out(bench, problem, &form, &launch, &err) ||
        !one_sample(bench, &launch, false, &unused))
        return;
    time->clock_before_mhz = backend->clock_mhz(bench->device);
    while (time->n_warm < n && one_sample(bench, &launch, false, &time->warm_us[time->n_warm]))
        time->n_warm++;
    while (time->n_cold < n && one_sample(bench, &launch, true, &time->cold_us[time->n_cold]))
        time->n_cold++;
    time->clock_after_mhz = backend->clock_mhz(bench->device);
}

static int by_value(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

double kernel_time_median(const double *samples, int32_t n)
{
    double sorted[KERNEL_TIME_MAX_SAMPLES];
    if (n < 1)
        return -1;
    memcpy(sorted, samples, (size_t)n * sizeof *samples);
    qsort(sorted, (size_t)n, sizeof *sorted, by_value);
    return n % 2 ? sorted[n / 2] : (sorted[n / 2 - 1] + sorted[n / 2]) / 2;
}
