/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The inside of reading a family. Nobody else includes this.
 *
 *     family.c        the family's keys, and what they refer to
 *     family_axes.c   parameters, values, axes, matrices
 *     family_steps.c  sequences, sweeps, limits
 */
#ifndef TOPKCTS_FAMILY_READING_H
#define TOPKCTS_FAMILY_READING_H

#include "harness/registry.h"
#include "harness/yaml_tree.h"

#define MAX_TOPK 4096
#define MAX_BATCH (1 << 22)
#define MAX_LENGTH (1 << 28)

/* One family being read. */
struct reading {
    struct registry        *registry;
    struct arena           *arena;
    struct family          *family;
    const struct yaml_node *node;
    struct error           *err;
};

/* One value of an axis, fixed or a parameter; an axis from a list of values or a single one. */
enum status family_read_value(struct reading *reading, const char *axis, const struct yaml_node *node,
                              struct axis_value *value);
enum status family_read_axis(struct reading *reading, const struct yaml_node *node, struct axis *axis);

/* The text of a generator or layout parameter, checked. */
enum status family_read_param(struct reading *reading, const struct yaml_node *node, const char *name,
                              const char **text);

/* The lengths of the rows that the generator is given under these parameters; a mistake is reported at the node. */
enum status family_given_lengths(struct reading *reading, const struct yaml_node *node, const struct case_param *params,
                                 size_t n_params, const int32_t **lengths, size_t *n);

/* The keys `params`, `matrix`, `limits`, `sequence` and `sweep`. */
enum status family_read_params(struct reading *reading);
enum status family_read_matrices(struct reading *reading);
enum status family_read_limits(struct reading *reading);
enum status family_read_sequence(struct reading *reading);
enum status family_read_sweeps(struct reading *reading);

#endif
