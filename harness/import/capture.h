/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A capture: tensors of a model as the inputs of one case.
 *
 *     capture.c        which tensor is what, shapes, lengths, rows
 *     score_bits.c     scores of any float type as the bits of float32
 *     rank_only.c      scores without their magnitudes
 *     capture_store.c  contents and YAML entry of the case, on the disk
 */
#ifndef TOPKCTS_CAPTURE_H
#define TOPKCTS_CAPTURE_H

#include "cases/case.h"
#include "harness/import/tensor_file.h"
#include "harness/option.h"
#include "harness/registry.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

/* What was captured. Owned by itself, its texts by the arena of capture_read; cleared with capture_clear. */
struct capture {
    struct case_inputs inputs;   /* page_table NULL: none was captured */
    enum outputs       outputs;
    json_t            *described; /* case.json of `show --dump`, where it was given; or NULL */
    const char        *score_type; /* "float32", "bfloat16", ...: what the scores were before they became float32 */
    const char        *files;      /* where the arrays come from, for people */
    int32_t            n_nan_rows, n_negative, n_overlong; /* rows with NaN within their length; told lengths */
};

/*
 * Reads the arrays from the files of the command line: .npy, .npz, .safetensors, a case.json, or a folder that
 * `show --dump` wrote. Which tensor is what is told by its name (scores, logits; seq_lens, lengths; page_table,
 * block_table; the last part of a dotted name counts) or by --tensor ROLE=NAME.
 *   scores      float32, float16, bfloat16, or float64 that float32 holds exactly; [batch][columns] or [columns]; the
 *               columns become the stride
 *   seq_lens    any integer type; [batch]; without it every row is as long as the width
 *   page_table  any integer type; [batch][entries]; optional
 * --topk, --page-size, --width, --rows, --outputs come from the command line, or from case.json where they are not
 * given. STATUS_USAGE with file, tensor and value for whatever is wrong; STATUS_BOOKS when memory runs out.
 */
enum status capture_read(const struct settings *settings, struct arena *arena, struct capture *capture,
                         struct error *err);
void        capture_clear(struct capture *capture);

/* The bits of n scores as float32, exactly. STATUS_USAGE for types that hold no scores, and where a float64 is no
 * float32. `name` is for messages. */
enum status score_bits(const struct tensor *tensor, const void *elements, int64_t n, uint32_t *bits, struct error *err);

/* "float32" ... for a tensor of scores. */
const char *score_type_text(const struct tensor *tensor);

/*
 * Replaces the scores of each row by their ranks, so that rows of a production model can be shared.
 * Kept within a row: the order and the ties of the base key (-0.0 = +0.0), the sign of each zero, which scores are
 * +inf, -inf and NaN, and the sign, order and ties of NaN patterns. Not kept: magnitudes, distances, denormals, relations
 * between rows, and whatever lies beyond a row's length (+inf stands there afterwards).
 * The distinct finite scores above zero become 1, 2, 3 ... from the smallest up; those below zero -1, -2, -3 ... from the
 * largest down; quiet NaNs get their rank as payload. The result is a function of the order alone.
 * STATUS_USAGE for a row with more than 2^24 distinct finite scores of one sign or 2^22 NaN patterns; STATUS_BOOKS
 * without memory.
 */
enum status capture_rank_only(struct case_inputs *inputs, struct error *err);

/* Writes the contents and the YAML entry, so that after any interruption there is the whole case or none; checks before
 * that the case gives back the capture bit for bit. *concrete is the case, `hash` its input hash, paths are where things
 * stand; texts live in the arena. `family` must live as long as *concrete. */
struct capture_stored {
    const char *case_name, *yaml_path, *contents_path, *registry;
    char        hash[33];
    size_t      contents_bytes, packed_bytes;
    bool        is_own; /* in the project's own registry */
};
enum status capture_store(const struct settings *settings, const struct capture *capture, struct arena *arena,
                          struct capture_stored *stored, struct error *err);

#endif
