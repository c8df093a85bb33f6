/* SPDX-License-Identifier: Apache-2.0 */
/* Where this program stands: its folder, its registries, the words it was called with. */
#ifndef TOPKCTS_PROJECT_H
#define TOPKCTS_PROJECT_H

#include "harness/option.h"
#include "harness/registry.h"

#include <stdbool.h>

/* The folder of the project, found relative to the binary, so that any working directory does. */
const char *project_folder(void);

/* Loads the project's own registry, then every --registry. The registry must be cleared in either case. */
enum status project_load_registry(const struct settings *settings, bool update, struct registry *registry,
                                  struct error *err);

/* The same for commands that people call: the registry's notes go to stderr. */
enum status project_load_registry_aloud(const struct settings *settings, bool update, struct registry *registry,
                                        struct error *err);

/* Keeps main's arguments, and gives them back as a JSON array (malloc'd; NULL when out of memory). */
void  project_keep_arguments(int argc, char **argv);
char *project_arguments_json(void);

#endif
