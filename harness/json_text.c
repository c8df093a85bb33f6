/* SPDX-License-Identifier: Apache-2.0 */
/* Foreign text as JSON; see json_text.h. */
#include "harness/json_text.h"

#include <stdlib.h>
#include <string.h>

json_t *json_text(const char *text)
{
    json_t *json = json_string(text);
    char   *clean = json ? NULL : strdup(text);
    for (char *c = clean; c && *c; c++)
        if ((unsigned char)*c >= 0x80)
            *c = '?';
    if (clean)
        json = json_string(clean);
    free(clean);
    return json;
}
