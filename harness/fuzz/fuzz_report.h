/* SPDX-License-Identifier: Apache-2.0 */
/* What a fuzzing run came to, for people and as JSON; and its findings as files. */
#ifndef TOPKCTS_FUZZ_REPORT_H
#define TOPKCTS_FUZZ_REPORT_H

#include "harness/fuzz/fuzz_probe.h"
#include "harness/fuzz/fuzz_run.h"

#include <stddef.h>

/* Writes every example into `folder`, which is made when there is anything to write. Sets the examples' `file`. */
enum status fuzz_write_findings(struct fuzz_run *run, const char *device, const char *folder, struct error *err);

/* Prints the run to stdout, as text or as one JSON object. */
void        fuzz_print(const struct fuzz_run *run, const char *provider_name, const char *device,
                       const struct fuzz_probe *probe);
enum status fuzz_print_json(const struct fuzz_run *run, const char *provider_name, const char *device,
                            const struct fuzz_probe *probe, struct error *err);

#endif
