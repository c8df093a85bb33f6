/* SPDX-License-Identifier: Apache-2.0 */
/* Time of a case before it runs; see estimate.h. */
#include "harness/estimate.h"

#include "harness/device.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Launches beside the repeats: other contents, once more, and the other circumstances of judge.h. */
enum { OTHER_LAUNCHES = 8 };

/* A backend that is not known here, as in a suite's `device`, costs what the last of the list does. */
static const struct device_backend *cost_of(const char *backend)
{
    const struct device_backend *found = device_backend_find(backend);
    for (int i = 0; !found && device_backends[i]; i++)
        if (!device_backends[i + 1])
            found = device_backends[i];
    return found;
}

double estimate_plain(const struct settings *settings, const struct target *target,
                      const struct concrete_case *concrete)
{
    const struct device_backend *cost = cost_of(target->record.backend);
    double                       elements = 0;
    int64_t                      repeats = cost->default_repeats;
    for (int32_t row = 0; row < concrete->spec.batch; row++)
        elements += case_row_length(&concrete->spec, row);
    if (repeats < concrete->family->launches)
        repeats = concrete->family->launches;
    if (repeats < settings->repeat)
        repeats = settings->repeat;
    return cost->overhead_ms + elements * (double)(repeats + OTHER_LAUNCHES) * cost->element_ns * 1e-6;
}

static enum status take_factor(void *payload, int n_columns, const char *const *names, const char *const *values,
                               struct error *err)
{
    double *factor = payload;
    double  taken = values[0] ? strtod(values[0], NULL) : 0, estimated = values[1] ? strtod(values[1], NULL) : 0;
    (void)n_columns;
    (void)names;
    (void)err;
    if (taken > 0 && estimated > 0)
        *factor = taken / estimated;
    return STATUS_OK;
}

enum status estimate_factor(struct store *store, const struct target *target, double *factor, struct error *err)
{
    const struct device_backend *cost = cost_of(target->record.backend);
    char                         overhead[32], per_element[32], others[16];
    snprintf(overhead, sizeof overhead, "%.9g", cost->overhead_ms);
    snprintf(per_element, sizeof per_element, "%.9g", cost->element_ns * 1e-6);
    snprintf(others, sizeof others, "%d", OTHER_LAUNCHES);
    const char *parameters[] = {target->record.device_id, target->description.name, overhead, per_element, others};
    *factor = 1;
    return store_query(store,
                       "SELECT sum(wall_ms), sum(?3 + 1.0 * length * batch * (repeats + ?5) * ?4) FROM latest "
                       "WHERE device_id = ?1 AND provider = ?2 AND repeats > 0 AND wall_ms > 0",
                       parameters, sizeof parameters / sizeof parameters[0], take_factor, factor, err);
}
