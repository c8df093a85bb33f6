/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The file hashes.txt of a registry: which concrete cases there are, in which suites, and the digest of their inputs.
 * Runs read their case lists from here, so that a new axis value adds cases and renames none.
 */
#include "harness/digest.h"
#include "harness/generated_file.h"
#include "harness/regular_file.h"
#include "harness/registry.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char HEADER[] =
    "# Written by `topkcts check --update`: xxh3-128 of each case's inputs (- where it is only known at run), the case,\n"
    "# its suites. Runs read their case lists from here. Do not edit.\n";

static enum status read_line(const char *path, int number, char *text, struct arena *arena, struct hashes_line *line,
                             struct error *err)
{
    char *rest = NULL;
    char *hash = strtok_r(text, " \n", &rest), *name = strtok_r(NULL, " \n", &rest),
         *suites = strtok_r(NULL, " \n", &rest), *surplus = strtok_r(NULL, " \n", &rest);
    if (!hash || !name || !suites || surplus)
        return error_set(err, STATUS_USAGE,
                         "%s:%d: a line is 'hash case suites'; restore the file or run 'topkcts check --update'", path,
                         number);
    if (strcmp(hash, "-") != 0 &&
        (strlen(hash) != DIGEST_HEX - 1 || strspn(hash, "0123456789abcdef") != strlen(hash)))
        return error_set(err, STATUS_USAGE, "%s:%d: '%s' is no xxh3-128 in hex (32 digits)", path, number, hash);
    line->hash = strcmp(hash, "-") == 0 ? NULL : arena_text(arena, hash);
    line->name = arena_text(arena, name);
    line->suites = arena_text(arena, suites);
    line->line = number;
    return STATUS_OK;
}

enum status hashes_read(const char *path, struct arena *arena, struct hashes_line **lines, size_t *n_lines,
                        bool update, bool *exists, struct error *err)
{
    char  *text = NULL;
    size_t size = 0;
    int    number = 0;
    FILE  *file;
    *exists = access(path, F_OK) == 0 || errno != ENOENT;
    if (!*exists || regular_file_open(path, &file, err))
        return err->status;
    while (getline(&text, &size, file) >= 0) {
        number++;
        if (text[0] == '#' || text[0] == '\n')
            continue;
        *lines = arena_grow(arena, *lines, *n_lines, sizeof **lines);
        struct error bad_line = {0};
        if (!read_line(path, number, text, arena, &(*lines)[*n_lines], &bad_line))
            (*n_lines)++;
        else if (!update && error_set(err, bad_line.status, "%s", bad_line.text))
            break;
    }
    if (ferror(file))
        error_set(err, STATUS_USAGE, "%s: cannot be read: %s", path, strerror(errno));
    free(text);
    fclose(file);
    return err->status;
}

static void write_suites(FILE *file, const struct registry *registry, uint64_t suites)
{
    const char *separator = "";
    for (size_t s = 0; s < registry->n_suites; s++)
        if (suites >> s & 1) {
            fprintf(file, "%s%s", separator, registry->suites[s].id);
            separator = ",";
        }
    if (!suites)
        fputc('-', file);
}

enum status hashes_write(const char *path, const struct registry *registry, const struct registry_root *root,
                         struct error *err)
{
    FILE *file;
    if (generated_file_begin(path, &file, err))
        return err->status;
    fputs(HEADER, file);
    for (size_t i = 0; i < registry->n_cases; i++) {
        const struct concrete_case *concrete = &registry->cases[i];
        if (concrete->family->root != root)
            continue;
        fprintf(file, "%s %s ", concrete->input_hash ? concrete->input_hash : "-", concrete->name);
        write_suites(file, registry, concrete->suites);
        fputc('\n', file);
    }
    return generated_file_end(path, file, err);
}
