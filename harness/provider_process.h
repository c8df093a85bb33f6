/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A provider that is a program of its own: Python with torch, SGLang, vLLM, or anything that speaks this protocol.
 *
 * The command is run by /bin/sh in the worker's process group, with TOPKCTS_PROTOCOL_FDS="R,W" in its environment: it
 * reads orders from descriptor R and writes answers to W, one JSON object a line. Its stdout and stderr are its own.
 * PYTHONPATH gets the folder of topkcts_adapter.py in front. Protocol 1:
 *
 *     it says first   {"say": "hello", "protocol": 1, "name": "..", "version": "..", "claims": {"level": "valid", ..},
 *                      "limits": {"candidates": 4096}, "versions": {"torch": "2.11.0"}, "supports": true}
 *     order           {"do": "open", "device": "host", "room": "/proc/1234/fd/7"}
 *     order           {"do": "supports", the same members as a launch but for `bytes`}
 *                                      only when its hello has "supports": true; the room holds nothing of it yet
 *     order           {"do": "launch", "bytes": N, "topk": 512, "page_size": 64,
 *                      "scores": {"offset": 0, "shape": [batch, max_seq_len], "stride": elements}, "seq_lens": {..},
 *                      "page_table": {..}, "page_indices": {"offset": .., "shape": [batch, topk], "stride": topk},
 *                      "raw_indices": {..}}                       the outputs that are wanted, one or both
 *     answers         {"say": "opened"}   {"say": "done"}         the order is carried out; done may add "path": "..",
 *                                                                 the inner path that served the launch
 *                     {"say": "yes"}      {"say": "no", "reason": ".."}   to supports
 *                     {"say": "failed", "reason": ".."}           it is not: a failure of the provider
 *                     {"say": "unavailable", "reason": ".."}      to hello or open: absent here, a skip
 *
 * Inputs and outputs lie in `room`, a file in memory that both sides map; it may grow between orders, `bytes` says how
 * large it is. Numbers are int32 and float32 in the machine's byte order. Every order is answered by one line; a line
 * that is no answer, or one too many, breaks the protocol: that launch and all after it fail. When the line is closed
 * the program ends. kernels/adapters/topkcts_adapter.py speaks all this for Python.
 */
#ifndef TOPKCTS_PROVIDER_PROCESS_H
#define TOPKCTS_PROVIDER_PROCESS_H

#include "harness/digest.h"
#include "harness/provider.h"
#include "harness/status.h"

#include <stdbool.h>
#include <stddef.h>

#define PROCESS_PREFIX "process:"

/* Whether a word on the command line names a process. */
bool process_is_named(const char *text);

/* Starts the program behind "process:CMD" and hears its hello. There is one in a worker. STATUS_USAGE: it speaks
 * another protocol or promises nonsense. *unavailable is set, with the reason in err->text, when it says so itself.
 * A program that ends before its hello takes the worker with it. */
enum status process_start(const char *command, const struct topk_provider **provider, char digest[DIGEST_HEX],
                          bool *unavailable, struct error *err);

/* The versions the program reported, as a JSON object; valid until process_stop. */
const char *process_versions(void);

/* The device by name, for `open`: a process has no ordinal of its own. Called before the provider's open. */
void process_set_device(const char *device);

/* Whether the last open failed because the program said "unavailable": a skip, no failure. */
bool process_is_unavailable(void);

/* The digest of a process that was never heard: of its command and the files in it. */
void process_digest(const char *command, char digest[DIGEST_HEX]);

/* What to call a process that was never heard: the stem of the script in its command (else the command's first word) and
 * the words after it, "sglang_topk-v2". */
void process_stem(const char *command, char *name, size_t size);

/* Hangs up and waits for its end. */
void process_stop(void);

#endif
