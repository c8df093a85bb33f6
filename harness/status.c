/* SPDX-License-Identifier: Apache-2.0 */
/* The error idiom; see status.h. */
#include "harness/status.h"

#undef error_set /* its own definition below, for the analyser too */

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum status error_set(struct error *err, enum status status, const char *format, ...)
{
    if (err->status != STATUS_OK)
        return err->status;
    err->status = status;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(err->text, sizeof err->text, format, arguments);
    va_end(arguments);
    return status;
}

enum status error_prefix(struct error *err, const char *format, ...)
{
    char    cause[sizeof err->text];
    va_list arguments;
    memcpy(cause, err->text, sizeof cause);
    va_start(arguments, format);
    int length = vsnprintf(err->text, sizeof err->text, format, arguments);
    va_end(arguments);
    if (length >= 0 && (size_t)length < sizeof err->text)
        snprintf(err->text + length, sizeof err->text - (size_t)length, ": %s", cause);
    return err->status;
}

enum status error_no_memory(struct error *err)
{
    return error_set(err, STATUS_BOOKS, "out of memory");
}
