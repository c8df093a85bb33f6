/* SPDX-License-Identifier: Apache-2.0 */
/* Names of relations and kinds of reasons; see trial.h. */
#include "harness/trial.h"

#include <ctype.h>
#include <string.h>

const char *trial_relation_text(enum trial_relation relation)
{
    static const char *const texts[] = {
#define TRIAL_RELATION_TEXT(name, text) text,
        TRIAL_RELATION_LIST(TRIAL_RELATION_TEXT)
#undef TRIAL_RELATION_TEXT
    };
    return relation < N_TRIAL_RELATIONS ? texts[relation] : "";
}

/* Skips "word NUMBER" and what follows up to the next ": ", as in "launch 3 (rows rotated): " and "row 5: ". */
static const char *skip_place(const char *text, const char *word)
{
    size_t      length = strlen(word);
    const char *end = text;
    if (strncmp(text, word, length) != 0 || !isdigit((unsigned char)text[length]))
        return text;
    int depth = 0;
    for (; *end; end++) {
        depth += (*end == '(') - (*end == ')');
        if (depth <= 0 && end[0] == ':' && end[1] == ' ')
            return end + 2;
    }
    return text;
}

static const char *skip_level(const char *text)
{
    const char *colon = strchr(text, ':');
    return strncmp(text, "not ", 4) == 0 && colon && colon[1] == ' ' ? colon + 2 : text;
}

void trial_reason_kind(const char *reason, char kind[TRIAL_KIND_BYTES])
{
    size_t      n = 0;
    const char *from = skip_place(skip_place(skip_level(reason), "launch "), "row ");
    while (*from && n + 2 < TRIAL_KIND_BYTES) {
        bool is_number = isdigit((unsigned char)*from) && (n == 0 || !isalpha((unsigned char)from[-1]));
        if (!is_number) {
            kind[n++] = *from++;
            continue;
        }
        if (n > 0 && kind[n - 1] == '-')
            n--;
        kind[n++] = '#';
        while (isxdigit((unsigned char)*from) || *from == 'x' || *from == '.')
            from++;
    }
    kind[n] = '\0';
}
