/* SPDX-License-Identifier: Apache-2.0 */
/* Lists of names for messages; see name_list.h. */
#include "harness/name_list.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void name_list_add(struct name_list *list, const char *format, ...)
{
    static const char and_more[] = ", ...";
    const char       *separator = list->used ? ", " : "";
    char             *end = list->text + list->used;
    size_t            room = sizeof list->text - list->used - (sizeof and_more - 1), before = strlen(separator);
    va_list           arguments;
    if (list->is_full)
        return;
    memcpy(end, separator, before + 1);
    va_start(arguments, format);
    int length = vsnprintf(end + before, room - before, format, arguments);
    va_end(arguments);
    list->is_full = length < 0 || (size_t)length >= room - before;
    if (list->is_full)
        memcpy(end, and_more + (list->used ? 0 : 2), sizeof and_more - (list->used ? 0 : 2));
    else
        list->used += before + (size_t)length;
}
