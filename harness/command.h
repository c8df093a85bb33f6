/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The commands. Each stands in a file of its own, command_NAME.c, and takes what the option table read. Adding one is
 * that file, a declaration here and a row in the table of main.c.
 *
 * A command writes its answer to stdout and progress to stderr. It returns the exit code; an error it could not deal
 * with is in *err and printed by main.
 */
#ifndef TOPKCTS_COMMAND_H
#define TOPKCTS_COMMAND_H

#include "harness/option.h"

enum status command_devices(const struct settings *settings, struct error *err);
enum status command_providers(const struct settings *settings, struct error *err);
enum status command_list(const struct settings *settings, struct error *err);
enum status command_show(const struct settings *settings, struct error *err);
enum status command_check(const struct settings *settings, struct error *err);
enum status command_run(const struct settings *settings, struct error *err);
enum status command_fuzz(const struct settings *settings, struct error *err);
enum status command_gate(const struct settings *settings, struct error *err);
enum status command_evidence(const struct settings *settings, struct error *err);
enum status command_guard(const struct settings *settings, struct error *err);
enum status command_bench(const struct settings *settings, struct error *err);
enum status command_merge(const struct settings *settings, struct error *err);
enum status command_exclude(const struct settings *settings, struct error *err);
enum status command_fleet(const struct settings *settings, struct error *err);
enum status command_query(const struct settings *settings, struct error *err);
enum status command_report(const struct settings *settings, struct error *err);
enum status command_compare(const struct settings *settings, struct error *err);
enum status command_code_objects(const struct settings *settings, struct error *err);
enum status command_plugin(const struct settings *settings, struct error *err);
enum status command_import(const struct settings *settings, struct error *err);
enum status command_shrink(const struct settings *settings, struct error *err);
enum status command_worker(const struct settings *settings, struct error *err);

#endif
