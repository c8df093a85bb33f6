/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory of given inputs. See given.h.
 */
#include "cases/given.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int given_init(struct given_inputs *given, int32_t n_rows, char *err, size_t err_size)
{
    memset(given, 0, sizeof *given);
    given->n_rows = n_rows;
    given->rows   = calloc((size_t)n_rows, sizeof *given->rows);
    if (given->rows == NULL) {
        snprintf(err, err_size, "no memory for %d rows", (int)n_rows);
        return 1;
    }
    return 0;
}

void given_clear(struct given_inputs *given)
{
    free(given->rows);
    free(given->scores);
    free(given->page_table);
    memset(given, 0, sizeof *given);
}

const char *given_param(const struct case_spec *spec, const struct case_param_spec *param)
{
    for (size_t i = 0; i < spec->n_params; i++) {
        if (strcmp(spec->params[i].name, param->name) == 0) {
            return spec->params[i].text;
        }
    }
    return param->fallback;
}
