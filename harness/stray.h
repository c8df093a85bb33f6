/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Nothing that a provider started outlives its worker, and no worker outlives its runner.
 *
 * A worker and all its descendants carry a marker in their environment, which forking, daemonising and changing
 * sessions leave in place; strays are found by it in /proc, whoever their parent is by then. A descendant that
 * replaces its whole environment escapes. A keeper process waits for the runner's death, kill -9 included, and then
 * kills whatever carries one of the runner's markers and removes the folders it was told of.
 */
#ifndef TOPKCTS_STRAY_H
#define TOPKCTS_STRAY_H

#include <stddef.h>

/* Room for one "NAME=value" marker. */
enum { STRAY_MARKER_BYTES = 96 };

/* A new marker of this runner, as an environment entry. The first call starts the keeper; one that cannot be started
 * is no error: workers still die with their parent, only what they left behind would not. */
void stray_new_marker(char marker[STRAY_MARKER_BYTES]);

/* Kills every process that carries the marker. */
void stray_kill(const char *marker);

/* Has the keeper remove a folder of files, made by this runner alone, when the runner is gone: what a kill -9 leaves no
 * time for. Who removes it earlier is free to. Paths that are too many or too long for the keeper are not removed. */
void stray_keep_folder(const char *folder);

#endif
