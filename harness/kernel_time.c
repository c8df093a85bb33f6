/* SPDX-License-Identifier: Apache-2.0 */
/* Times of launches by the device's events, or by the wall clock; see kernel_time.h. */
#include "harness/kernel_time.h"

#include "harness/clock.h"
#include "harness/provider_call.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Beyond these a launch takes milliseconds, and its time hardly varies: a few samples say it. */
#define LARGE_BYTES ((size_t)256 << 20)
#define LONG_MICROSECONDS 5000.0
enum { FEW_SAMPLES = 3 };

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
    int32_t n = case_scores_bytes(&problem->inputs) > LARGE_BYTES ? FEW_SAMPLES : KERNEL_TIME_MAX_SAMPLES;
    *time = (struct kernel_time){0};
    if (!backend->time_begin || launch_lay_out(bench, problem, &form, &launch, &err) ||
        !one_sample(bench, &launch, false, &unused))
        return;
    time->clock_before_mhz = backend->clock_mhz(bench->device);
    while (time->n_warm < n && one_sample(bench, &launch, false, &time->warm_us[time->n_warm]))
        if (time->warm_us[time->n_warm++] > LONG_MICROSECONDS)
            n = FEW_SAMPLES;
    while (time->n_cold < n && one_sample(bench, &launch, true, &time->cold_us[time->n_cold]))
        time->n_cold++;
    time->clock_after_mhz = backend->clock_mhz(bench->device);
}

/* A leg under way: one case, one kind of output, one process. */
struct leg {
    struct launch_bench             *bench;
    const struct launch_times_order *order;
    struct launch_times             *times;
    struct topk_problem              launch;
};

/* Launches before the samples: the first finds another process's data in the caches, and a clock that may have idled. */
enum { UNMEASURED_LAUNCHES = 2 };
/* A launch that takes longer has warmed up everything by itself. */
static const double LONG_LAUNCH_US = 5000;

/* The wall clock's own cost and steps are tens of nanoseconds: a sample of this many microseconds makes them vanish. */
static const double LEAST_SAMPLE_US = 200;
enum { MOST_CALLS = 4096 };

static bool end_leg(struct leg *leg, enum verdict verdict, const char *format, ...) __attribute__((format(printf, 3, 4)));

static bool end_leg(struct leg *leg, enum verdict verdict, const char *format, ...)
{
    va_list arguments;
    leg->times->verdict = verdict;
    va_start(arguments, format);
    vsnprintf(leg->times->reason, sizeof leg->times->reason, format, arguments);
    va_end(arguments);
    return false;
}

static bool launch_once(struct leg *leg)
{
    char cause[384] = "";
    int  code = provider_call_launch(leg->bench->provider, leg->bench->self, &leg->launch, cause, sizeof cause);
    return code == 0 || end_leg(leg, VERDICT_FAIL, "launch returned %d: %s", code, cause);
}

/* Microseconds of one launch, by events where the device has them. */
static bool take_sample(struct leg *leg, int32_t calls, double *microseconds)
{
    struct device               *device = leg->bench->device;
    const struct device_backend *backend = device->backend;
    struct error                 err = {0};
    if (leg->order->cold && backend->flush_cache(device, leg->launch.stream, &err))
        return end_leg(leg, VERDICT_ERROR, "%s", err.text);
    if (!leg->times->by_device) {
        int64_t started = clock_ns();
        for (int32_t i = 0; i < calls; i++)
            if (!launch_once(leg))
                return false;
        *microseconds = (double)(clock_ns() - started) / 1e3 / calls;
        return true;
    }
    if (backend->time_begin(device, leg->launch.stream, &err))
        return end_leg(leg, VERDICT_FAIL, "%s", err.text);
    for (int32_t i = 0; i < calls; i++)
        if (!launch_once(leg))
            return false;
    if (backend->time_end(device, leg->launch.stream, microseconds, &err))
        return end_leg(leg, VERDICT_FAIL, "%s", err.text);
    *microseconds /= calls;
    return true;
}

static bool check_answer(struct leg *leg, const struct problem *problem)
{
    struct launch_form   form = {.what = "a measurement"};
    struct launch_result result;
    struct error         err = {0};
    if (launch_run(leg->bench, problem, &form, &result, &err))
        return end_leg(leg, VERDICT_ERROR, "%s", err.text);
    if (!result.ran)
        return end_leg(leg, VERDICT_SKIP, "not supported: %s", result.text);
    return (result.safe && result.valid) || end_leg(leg, VERDICT_FAIL, "a wrong answer, which is not worth timing: %s",
                                                    result.text);
}

static bool warm_up(struct leg *leg)
{
    double us = 0;
    if (leg->bench->before_launch)
        leg->bench->before_launch(leg->bench->payload);
    for (int i = 0; i < UNMEASURED_LAUNCHES && us < LONG_LAUNCH_US; i++)
        if (!take_sample(leg, 1, &us))
            return false;
    leg->times->calls = leg->order->calls;
    if (leg->times->calls == 0) {
        double calls = leg->times->by_device || leg->order->cold ? 1 : LEAST_SAMPLE_US / (us > 0 ? us : 0.001);
        leg->times->calls = calls < 1 ? 1 : calls > MOST_CALLS ? MOST_CALLS : (int32_t)(calls + 0.999);
    }
    return true;
}

void kernel_time_leg(struct launch_bench *bench, const struct problem *problem, const struct launch_times_order *order,
                     struct launch_times *times)
{
    const struct device_backend *backend = bench->device->backend;
    struct leg                   leg = {.bench = bench, .order = order, .times = times};
    struct launch_form           form = {.what = "a measurement"};
    struct error                 err = {0};
    char                         unused[80];
    *times = (struct launch_times){.verdict = VERDICT_PASS, .by_device = backend->time_begin != NULL};
    bench->with_pages = order->with_pages;
    bench->with_raw = order->with_raw;
    if (order->cold && !backend->flush_cache) {
        end_leg(&leg, VERDICT_SKIP, "a cold cache cannot be had on %s", bench->device->name);
        return;
    }
    if (backend->arrange) /* on the simulator: the same wave size and schedule for everyone */
        backend->arrange(bench->device, 0, unused, sizeof unused);
    if (order->check && !check_answer(&leg, problem))
        return;
    if (launch_lay_out(bench, problem, &form, &leg.launch, &err)) {
        end_leg(&leg, err.status == STATUS_FAIL ? VERDICT_FAIL : VERDICT_ERROR, "%s", err.text);
        return;
    }
    if (!warm_up(&leg))
        return;
    while (times->n < order->n_samples && times->n < KERNEL_TIME_MAX_SAMPLES) {
        if (!take_sample(&leg, times->calls, &times->us[times->n]))
            return;
        times->n++;
    }
    if (backend->clock_mhz)
        times->clock_mhz = backend->clock_mhz(bench->device);
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
