/* SPDX-License-Identifier: Apache-2.0 */
/* A kernel source's first line; see kernel_source.h. Start reading at kernel_source_read(). */
#include "harness/kernel_source.h"

#include "harness/claims.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_WORDS "// topkcts:"
#define EXAMPLE "// topkcts: block=256 dynamic_lds=0 workspace_per_row=0 level=canonical"

enum { MAX_LINE_BYTES = 1024, MAX_FILE_BYTES = 16 << 20 };

static bool ends_in(const char *text, const char *ending)
{
    size_t length = strlen(text), n = strlen(ending);
    return length > n && strcmp(text + length - n, ending) == 0;
}

bool kernel_source_is_named(const char *text)
{
    return ends_in(text, ".hip") || ends_in(text, ".cu");
}

/* The keys that describe a launch; every other key is a claim. */
static const struct {
    const char *name;
    int64_t     low, high;
} launch_keys[] = {
    {"block", 1, 1024},
    {"dynamic_lds", 0, 1 << 20},
    {"workspace_per_row", 0, INT64_C(1) << 40},
    {"wave", 32, 64},
};
enum { N_LAUNCH_KEYS = sizeof launch_keys / sizeof launch_keys[0] };

static enum status set_launch_key(size_t key, const char *value, struct kernel_source *source, struct error *err)
{
    char *end;
    errno = 0;
    long long number = strtoll(value, &end, 10);
    if (end == value || *end || errno || number < launch_keys[key].low || number > launch_keys[key].high)
        return error_set(err, STATUS_USAGE, "%s=%s: a number from %lld to %lld is accepted", launch_keys[key].name,
                         value, (long long)launch_keys[key].low, (long long)launch_keys[key].high);
    if (key == 3 && number != 32 && number != 64)
        return error_set(err, STATUS_USAGE, "wave=%s: 32 or 64 is accepted", value);
    if (key == 0)
        source->block = (uint32_t)number;
    else if (key == 1)
        source->dynamic_lds = (uint32_t)number;
    else if (key == 2)
        source->workspace_per_row = number;
    else
        source->wave = (uint32_t)number;
    return STATUS_OK;
}

static enum status set_pair(const char *name, const char *value, struct kernel_source *source, struct error *err)
{
    for (size_t key = 0; key < N_LAUNCH_KEYS; key++)
        if (strcmp(launch_keys[key].name, name) == 0)
            return set_launch_key(key, value, source, err);
    if (claims_set(&source->claims, name, value, err))
        return error_prefix(err, "(launch keys are block, dynamic_lds, workspace_per_row, wave)");
    return STATUS_OK;
}

enum status kernel_source_parse_line(const char *line, struct kernel_source *source, struct error *err)
{
    char  words[MAX_LINE_BYTES], seen[MAX_LINE_BYTES] = " ";
    char *rest = NULL;
    source->block = 256;
    source->dynamic_lds = 0;
    source->workspace_per_row = 0;
    source->wave = 0;
    source->claims = (struct topk_claims){0};
    if (strncmp(line, FIRST_WORDS, strlen(FIRST_WORDS)) != 0)
        return error_set(err, STATUS_USAGE, "the first line must say how to launch the kernel: %s", EXAMPLE);
    if (strlen(line) >= sizeof words)
        return error_set(err, STATUS_USAGE, "the first line is longer than %d bytes", MAX_LINE_BYTES - 1);
    snprintf(words, sizeof words, "%s", line + strlen(FIRST_WORDS));
    for (char *word = strtok_r(words, " \t\r", &rest); word; word = strtok_r(NULL, " \t\r", &rest)) {
        char  key[MAX_LINE_BYTES + 2];
        char *equals = strchr(word, '=');
        if (!equals)
            return error_set(err, STATUS_USAGE, "'%s' on the first line is no key=value: %s", word, EXAMPLE);
        *equals = '\0';
        snprintf(key, sizeof key, " %s ", word);
        if (strstr(seen, key))
            return error_set(err, STATUS_USAGE, "the first line names %s twice", word);
        strncat(seen, key + 1, sizeof seen - strlen(seen) - 1);
        if (set_pair(word, equals + 1, source, err))
            return err->status;
    }
    if (!strstr(seen, " level "))
        return error_set(err, STATUS_USAGE, "the first line promises no level: %s", EXAMPLE);
    return claims_validate(&source->claims, err);
}

static enum status read_text(const char *path, struct kernel_source *source, struct error *err)
{
    FILE *file = fopen(path, "rb");
    long  bytes = -1;
    if (!file)
        return error_set(err, STATUS_USAGE, "cannot be read: %s", strerror(errno));
    if (fseek(file, 0, SEEK_END) == 0)
        bytes = ftell(file);
    if (bytes < 0 || bytes > MAX_FILE_BYTES || fseek(file, 0, SEEK_SET) != 0) {
        error_set(err, STATUS_USAGE, "is no file of at most %d bytes", MAX_FILE_BYTES);
        goto done;
    }
    source->text = malloc((size_t)bytes + 1);
    if (!source->text) {
        error_no_memory(err);
        goto done;
    }
    source->bytes = fread(source->text, 1, (size_t)bytes, file);
    source->text[source->bytes] = '\0';
    if (source->bytes != (size_t)bytes)
        error_set(err, STATUS_USAGE, "cannot be read: %s", ferror(file) ? strerror(errno) : "it is a folder, or it shrank");
    else if (strlen(source->text) != source->bytes)
        error_set(err, STATUS_USAGE, "holds a zero byte; a kernel source is text");
done:
    fclose(file);
    return err->status;
}

static void take_name(const char *path, struct kernel_source *source)
{
    const char *slash = strrchr(path, '/'), *file = slash ? slash + 1 : path;
    size_t      length = (size_t)(strrchr(file, '.') - file);
    if (length >= sizeof source->name)
        length = sizeof source->name - 1;
    memcpy(source->name, file, length);
    source->name[length] = '\0';
}

enum status kernel_source_read(const char *path, struct kernel_source *source, struct error *err)
{
    char line[MAX_LINE_BYTES + 1];
    memset(source, 0, sizeof *source);
    if (!kernel_source_is_named(path)) {
        error_set(err, STATUS_USAGE, "is no kernel source; its name must end in .hip or .cu");
        goto done;
    }
    source->is_cuda = ends_in(path, ".cu");
    take_name(path, source);
    if (source->name[0] == '\0') {
        error_set(err, STATUS_USAGE, "has no name before its ending");
        goto done;
    }
    if (read_text(path, source, err))
        goto done;
    snprintf(line, sizeof line, "%.*s", (int)strcspn(source->text, "\n"), source->text);
    if (!kernel_source_parse_line(line, source, err))
        digest_of_file(path, source->digest, err);
done:
    if (!err->status)
        return STATUS_OK;
    kernel_source_clear(source);
    return error_prefix(err, "kernel source %s", path);
}

void kernel_source_clear(struct kernel_source *source)
{
    free(source->text);
    memset(source, 0, sizeof *source);
}
