/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A run as JUnit XML, the form that CI services show: one <testsuite> for each provider on a device, one <testcase> for
 * each planned row. The only code that writes XML.
 *
 *     pass, xpass                       nothing more; xpass says so in system-out
 *     fail, flaky                       <failure type="verdict">
 *     crash, timeout, error, notrun     <error type="verdict">
 *     skip, xfail, left out             <skipped message="why"/>
 *     planted faults of suite meta      pass; one case "caught" for each, which fails when the fault was missed
 */
#ifndef TOPKCTS_JUNIT_H
#define TOPKCTS_JUNIT_H

#include "harness/summary.h"

/* Writes the file whole or not at all: under another name first. STATUS_BOOKS when it cannot be written. */
enum status junit_write(const struct summary *summary, struct store *store, const char *path, struct error *err);

#endif
