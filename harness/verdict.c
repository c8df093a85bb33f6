/* SPDX-License-Identifier: Apache-2.0 */
/* The verdict list as a table; see verdict.h. */
#include "harness/verdict.h"

#include <string.h>

static const struct {
    const char *text;
    bool        judged;
    bool        red;
    const char *meaning;
} verdicts[VERDICT_COUNT] = {
#define VERDICT_ROW(name, text, judged, red, meaning) [VERDICT_##name] = {text, judged, red, meaning},
    VERDICT_LIST(VERDICT_ROW)
#undef VERDICT_ROW
};

const char *verdict_text(enum verdict verdict)
{
    return verdicts[verdict].text;
}

const char *verdict_meaning(enum verdict verdict)
{
    return verdicts[verdict].meaning;
}

enum verdict verdict_from_text(const char *text)
{
    int i = 0;
    while (i < VERDICT_COUNT && strcmp(verdicts[i].text, text) != 0)
        i++;
    return (enum verdict)i;
}

bool verdict_is_judged(enum verdict verdict)
{
    return verdicts[verdict].judged;
}

bool verdict_is_red(enum verdict verdict)
{
    return verdicts[verdict].red;
}
