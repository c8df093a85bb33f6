/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A concrete case on its way from the runner to a worker: all that makes its inputs and its launches. The runner has
 * read the registry; a worker is told its case and reads none, so that both mean the same case whatever becomes of the
 * files meanwhile, and a worker starts without parsing any of them.
 *
 *     {"name": "f/topk=..", "family": "f", "generator": "ties", "seed": 1, "topk": 512, "page_size": 64, "batch": 2,
 *      "lengths": [4096, 17], "params": [["distinct", "2"]], "captured": null, "outputs": 0, "input_hash": "..",
 *      "launches": 0, "both_origins": false, "promises": [["nan", ["bits"]]], "sweeps": [[0, 1, 1024, 1]],
 *      "sequence": [{"topk": 0, "page_size": 0, "batch": 0, "lengths": [], "params": []}]}
 *
 * `captured` is a path, which may be any bytes: the characters U+0001 to U+00FF stand for bytes of these numbers.
 */
#ifndef TOPKCTS_CASE_JSON_H
#define TOPKCTS_CASE_JSON_H

#include "harness/arena.h"
#include "harness/registry.h"

#include <jansson.h>
#include <stdbool.h>

/* A new reference; NULL when memory runs out. */
json_t *case_to_json(const struct concrete_case *concrete);

/* The case in the arena, with a family that has what judging looks at (id, generator, seed, promises, sequence, sweeps,
 * launches, both_origins) and nothing else; it is in no suite. NULL when the JSON is no case. */
const struct concrete_case *case_from_json(const json_t *json, struct arena *arena);

#endif
