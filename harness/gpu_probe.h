/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Asking a GPU driver what is there, in a process of its own: the program itself never calls a driver, which may hang,
 * crash, or leave threads behind.
 */
#ifndef TOPKCTS_GPU_PROBE_H
#define TOPKCTS_GPU_PROBE_H

#include "harness/gpu/gpu_driver.h"
#include "harness/status.h"

/* How many devices the backend ("cuda", "hip") has. STATUS_BOOKS with the reason when it cannot be asked. */
enum status gpu_probe_count(const char *backend, int *n, struct error *err);

/* What a device is. STATUS_BOOKS with the reason when it is not there. Answers are kept for the process's life. */
enum status gpu_probe_describe(const char *backend, int ordinal, struct gpu_description *description,
                               struct error *err);

#endif
