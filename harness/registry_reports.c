/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reports.yaml and the table that is made of it. See registry_reports.h for the format. Nothing here takes part in a
 * run: `check` alone reads reports. Start reading at reports_check().
 */
#include "harness/registry_reports.h"

#include "harness/generated_file.h"
#include "harness/regular_file.h"
#include "harness/yaml_tree.h"
#include "kernels/builtin.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const char FAULTY[] = "faulty/";

struct names {
    const char *const *items;
    size_t             n;
};

struct report {
    const char  *id, *what;
    const char  *post, *date, *why_not; /* may be NULL */
    struct names also, kinds, covered_by;
    const char  *file;
    int          line;
};

struct reading {
    struct registry            *registry;
    const struct registry_root *root;
    struct check_result        *result;
    struct report              *reports;
    size_t                      n_reports;
};

/* ---- sources of families ---------------------------------------------------------------------------------------- */

/* Calls `each` with every source of a family, which are separated by commas, until it answers true. */
static bool any_source(const struct family *family, bool (*each)(const char *source, size_t length, void *context),
                       void *context)
{
    const char *rest = family->source ? family->source : "";
    while (*rest) {
        rest += strspn(rest, ", ");
        size_t length = strcspn(rest, ",");
        size_t trimmed = length;
        while (trimmed && rest[trimmed - 1] == ' ')
            trimmed--;
        if (trimmed && each(rest, trimmed, context))
            return true;
        rest += length;
    }
    return false;
}

static bool is_text(const char *source, size_t length, const char *text)
{
    return strlen(text) == length && memcmp(source, text, length) == 0;
}

static bool is_of_report(const char *source, size_t length, void *context)
{
    const struct report *report = context;
    bool                 found = is_text(source, length, report->id);
    for (size_t i = 0; i < report->also.n; i++)
        found |= is_text(source, length, report->also.items[i]);
    return found;
}

static bool family_names(const struct family *family, const struct report *report)
{
    return any_source(family, is_of_report, (void *)report);
}

/* ---- reading ---------------------------------------------------------------------------------------------------- */

/* owner/repo#number */
static enum status check_report_id(const struct yaml_node *node, const char *id, struct error *err)
{
    char owner[128], repo[128];
    int  number, used = 0;
    if (sscanf(id, "%127[A-Za-z0-9_.-]/%127[A-Za-z0-9_.-]#%9d%n", owner, repo, &number, &used) != 3 || id[used] ||
        number < 1)
        return yaml_error(node, err, "'%s' is no issue or pull request; write it like owner/repo#123", id);
    return STATUS_OK;
}

/* The texts of a list that may be left out. */
static enum status read_names(struct reading *reading, const struct yaml_node *node, struct names *names,
                              struct error *err)
{
    if (!node)
        return STATUS_OK;
    if (yaml_texts(node, node->key, &reading->registry->arena, &names->items, &names->n, err))
        return err->status;
    for (size_t i = 0; i < names->n; i++)
        for (size_t k = 0; k < i; k++)
            if (strcmp(names->items[k], names->items[i]) == 0)
                return yaml_error(node, err, "'%s' stands in the list twice", names->items[i]);
    return STATUS_OK;
}

static enum status check_kinds(const struct reading *reading, const struct yaml_node *node, const struct names *kinds,
                               struct error *err)
{
    for (size_t k = 0; k < kinds->n; k++)
        if (registry_fault(reading->registry, kinds->items[k], err))
            return yaml_error_at(node, err);
    return STATUS_OK;
}

/* An issue belongs to one entry, or to one for each of its posts. */
static enum status check_taken(const struct reading *reading, const struct yaml_node *node, const char *id,
                               const char *post, struct error *err)
{
    for (size_t r = 0; r < reading->n_reports; r++) {
        const struct report *before = &reading->reports[r];
        if (is_of_report(id, strlen(id), (void *)before) &&
            strcmp(before->post ? before->post : "", post ? post : "") == 0)
            return yaml_error(node, err, "'%s' has an entry already, in line %d; entries for several posts of an issue "
                              "tell them apart by 'post'", id, before->line);
    }
    return STATUS_OK;
}

static enum status read_report(struct reading *reading, const struct yaml_node *node, struct report *report,
                               struct error *err)
{
    static const char *const keys[] = {"report", "what",       "post",    "also", "date",
                                       "kinds",  "covered_by", "why_not", NULL};
    const struct yaml_node  *item;
    *report = (struct report){.file = node->file, .line = node->line};
    if (yaml_check_keys(node, "report", keys, 2, err) || yaml_text(yaml_get(node, "report"), &report->id, err) ||
        check_report_id(yaml_get(node, "report"), report->id, err) ||
        ((item = yaml_get(node, "post")) && yaml_text(item, &report->post, err)) ||
        check_taken(reading, yaml_get(node, "report"), report->id, report->post, err) ||
        yaml_text(yaml_get(node, "what"), &report->what, err) ||
        read_names(reading, yaml_get(node, "also"), &report->also, err) ||
        read_names(reading, yaml_get(node, "kinds"), &report->kinds, err) ||
        check_kinds(reading, yaml_get(node, "kinds"), &report->kinds, err) ||
        read_names(reading, yaml_get(node, "covered_by"), &report->covered_by, err) ||
        ((item = yaml_get(node, "date")) && yaml_date(item, &report->date, err)) ||
        ((item = yaml_get(node, "why_not")) && yaml_text(item, &report->why_not, err)))
        return err->status;
    for (size_t i = 0; i < report->also.n; i++)
        if (check_report_id(yaml_get(node, "also"), report->also.items[i], err) ||
            check_taken(reading, yaml_get(node, "also"), report->also.items[i], report->post, err))
            return err->status;
    return STATUS_OK;
}

static enum status read_reports(struct reading *reading, const char *path, struct error *err)
{
    struct yaml_node *list;
    struct report     report;
    if (yaml_load_list(path, &reading->registry->arena, &list, err))
        return err->status;
    for (size_t i = 0; i < list->n_items; i++) {
        if (read_report(reading, &list->items[i], &report, err))
            return err->status;
        reading->reports =
            arena_grow(&reading->registry->arena, reading->reports, reading->n_reports, sizeof report);
        reading->reports[reading->n_reports++] = report;
    }
    return STATUS_OK;
}

/* ---- checking --------------------------------------------------------------------------------------------------- */

static void check_planted_fault(const struct reading *reading, const struct report *report, const char *name)
{
    const struct builtin_provider *const *found = builtin_providers;
    while (*found && strcmp((*found)->provider->name, name) != 0)
        found++;
    if (!*found) {
        check_problem(reading->result, "%s:%d: covered_by: no planted fault '%s'; 'topkcts providers' lists them",
                      report->file, report->line, name);
        return;
    }
    for (size_t k = 0; k < report->kinds.n; k++)
        if (strcmp(report->kinds.items[k], (*found)->fault) == 0)
            return;
    check_problem(reading->result, "%s:%d: covered_by: '%s' plants the kind %s, which is not among the report's kinds",
                  report->file, report->line, name, (*found)->fault);
}

/* A family's id, a case's name or a glob over names. */
static void check_cases(const struct reading *reading, const struct report *report, const char *pattern)
{
    const struct registry *registry = reading->registry;
    size_t                 length = strcspn(pattern, "/"), f = 0, i = 0;
    while (f < registry->n_families && !is_text(pattern, length, registry->families[f].id))
        f++;
    if (f == registry->n_families) {
        check_problem(reading->result, "%s:%d: covered_by: no family '%.*s'; 'topkcts list' lists them", report->file,
                      report->line, (int)length, pattern);
        return;
    }
    const struct family *family = &registry->families[f];
    while (i < registry->n_cases && !case_name_matches(registry->cases[i].name, pattern))
        i++;
    if (i == registry->n_cases && !family->limits)
        check_problem(reading->result, "%s:%d: covered_by: '%s' matches no case", report->file, report->line, pattern);
    if (!family_names(family, report))
        check_problem(reading->result, "%s:%d: covered_by: family '%s' (%s:%d) does not name %s as a source",
                      report->file, report->line, family->id, family->file, family->line, report->id);
}

static void check_report(const struct reading *reading, const struct report *report)
{
    const struct registry *registry = reading->registry;
    bool                   is_covered = report->covered_by.n > 0;
    for (size_t i = 0; i < report->covered_by.n; i++)
        if (strncmp(report->covered_by.items[i], FAULTY, strlen(FAULTY)) == 0)
            check_planted_fault(reading, report, report->covered_by.items[i]);
        else
            check_cases(reading, report, report->covered_by.items[i]);
    for (size_t f = 0; f < registry->n_families; f++)
        is_covered |= family_names(&registry->families[f], report);
    if (!is_covered && !report->why_not)
        check_problem(reading->result,
                      "%s:%d: nothing covers %s: give 'covered_by', name it as a family's source, or say 'why_not'",
                      report->file, report->line, report->id);
}

/* ---- the table -------------------------------------------------------------------------------------------------- */

/* Text in a cell. */
static void print_cell(FILE *out, const char *text)
{
    for (; *text; text++)
        fprintf(out, *text == '|' ? "\\|" : "%c", *text);
}

static void print_issue(FILE *out, const char *source, size_t length)
{
    const char *hash = memchr(source, '#', length);
    if (hash)
        fprintf(out, "[%.*s](https://github.com/%.*s/issues/%.*s)", (int)length, source, (int)(hash - source), source,
                (int)(length - (size_t)(hash - source) - 1), hash + 1);
    else
        fprintf(out, "%.*s", (int)length, source);
}

/* A link from the table's folder. */
static void print_family(FILE *out, const struct registry_root *root, const struct family *family)
{
    size_t inside = strlen(root->folder);
    fprintf(out, "[%s](%s)", family->id,
            strncmp(family->file, root->folder, inside) == 0 ? family->file + inside + 1 : family->file);
}

static void print_coverage(FILE *out, const struct reading *reading, const struct report *report)
{
    const struct registry *registry = reading->registry;
    const char            *separator = "";
    for (size_t f = 0; f < registry->n_families; f++)
        if (registry->families[f].root == reading->root && family_names(&registry->families[f], report)) {
            fputs(separator, out);
            print_family(out, reading->root, &registry->families[f]);
            separator = ", ";
        }
    for (size_t i = 0; i < report->covered_by.n; i++)
        if (strchr(report->covered_by.items[i], '/')) {
            fprintf(out, "%s`", separator);
            print_cell(out, report->covered_by.items[i]);
            fputc('`', out);
            separator = ", ";
        }
    if (report->why_not) {
        fputs(*separator ? "; not: " : "not: ", out);
        print_cell(out, report->why_not);
    }
}

static void print_report(FILE *out, const struct reading *reading, const struct report *report)
{
    fputs("| ", out);
    print_issue(out, report->id, strlen(report->id));
    if (report->post)
        fprintf(out, " (%s)", report->post);
    for (size_t i = 0; i < report->also.n; i++) {
        fputs(", ", out);
        print_issue(out, report->also.items[i], strlen(report->also.items[i]));
    }
    fprintf(out, " | %s | ", report->date ? report->date : "");
    for (size_t k = 0; k < report->kinds.n; k++)
        fprintf(out, "%s%s", k ? ", " : "", report->kinds.items[k]);
    fputs(" | ", out);
    print_cell(out, report->what);
    fputs(" | ", out);
    print_coverage(out, reading, report);
    fputs(" |\n", out);
}

/* The sources of families that no entry describes, each with its families. */
struct undescribed {
    const struct reading *reading;
    const struct family  *family;
    FILE                 *out;
    size_t                n;
};

static bool is_same_source(const char *source, size_t length, void *context)
{
    const struct names *wanted = context;
    return is_text(source, length, wanted->items[0]);
}

static bool is_described(const struct reading *reading, const char *source, size_t length)
{
    for (size_t r = 0; r < reading->n_reports; r++)
        if (is_of_report(source, length, &reading->reports[r]))
            return true;
    return false;
}

static bool print_undescribed(const char *source, size_t length, void *context)
{
    struct undescribed    *undescribed = context;
    const struct reading  *reading = undescribed->reading;
    const struct registry *registry = reading->registry;
    const struct family   *family = undescribed->family;
    const char            *text = arena_format(&reading->registry->arena, "%.*s", (int)length, source);
    struct names           wanted = {&text, 1};
    if (is_described(reading, source, length))
        return false;
    fprintf(stderr,
            "note: %s:%d: source %s of family '%s' has no entry in %s/reports.yaml, which would say what it is\n",
            family->file, family->line, text, family->id, reading->root->folder);
    for (const struct family *before = registry->families; before < family; before++)
        if (before->root == reading->root && any_source(before, is_same_source, &wanted))
            return false;
    if (undescribed->n++ == 0)
        fputs("\nSources that reports.yaml does not describe yet:\n\n| source | covered by |\n| --- | --- |\n",
              undescribed->out);
    fputs("| ", undescribed->out);
    print_issue(undescribed->out, source, length);
    fputs(" |", undescribed->out);
    const char *separator = " ";
    for (const struct family *f = family; f < registry->families + registry->n_families; f++)
        if (f->root == reading->root && any_source(f, is_same_source, &wanted)) {
            fputs(separator, undescribed->out);
            print_family(undescribed->out, reading->root, f);
            separator = ", ";
        }
    fputs(" |\n", undescribed->out);
    return false;
}

static void print_table(FILE *out, const struct reading *reading)
{
    const struct registry *registry = reading->registry;
    struct undescribed     undescribed = {.reading = reading, .out = out};
    size_t                 n_part = 0, n_not = 0;
    for (size_t r = 0; r < reading->n_reports; r++) {
        const struct report *report = &reading->reports[r];
        bool                 is_covered = report->covered_by.n > 0;
        for (size_t f = 0; f < registry->n_families; f++)
            is_covered |= family_names(&registry->families[f], report);
        n_part += is_covered && report->why_not;
        n_not += !is_covered;
    }
    fprintf(out,
            "<!-- SPDX-License-Identifier: Apache-2.0 -->\n"
            "<!-- Written by `topkcts check --update` from reports.yaml and the families' sources. Do not edit. -->\n"
            "# Reports, and what covers them\n\n"
            "%zu reports: %zu covered, %zu in part, %zu not. A family covers what it names as its source; names of\n"
            "cases and of planted faults (`faulty/NAME`) say where exactly.\n\n"
            "| report | date | kinds | what was wrong | covered by |\n"
            "| --- | --- | --- | --- | --- |\n",
            reading->n_reports, reading->n_reports - n_part - n_not, n_part, n_not);
    for (size_t r = 0; r < reading->n_reports; r++)
        print_report(out, reading, &reading->reports[r]);
    for (size_t f = 0; f < registry->n_families; f++) {
        undescribed.family = &registry->families[f];
        if (undescribed.family->root == reading->root)
            any_source(undescribed.family, print_undescribed, &undescribed);
    }
}

void reports_check(struct registry *registry, const struct registry_root *root, char **table,
                   struct check_result *result)
{
    struct reading reading = {.registry = registry, .root = root, .result = result};
    struct error   err = {0};
    struct stat    unused;
    size_t         bytes;
    const char    *path = arena_format(&registry->arena, "%s/reports.yaml", root->folder);
    *table = NULL;
    if (stat(path, &unused) != 0)
        return;
    if (read_reports(&reading, path, &err)) {
        check_problem(result, "%s", err.text);
        return;
    }
    for (size_t r = 0; r < reading.n_reports; r++)
        check_report(&reading, &reading.reports[r]);
    FILE *out = open_memstream(table, &bytes);
    if (out)
        print_table(out, &reading);
    if (!out || fclose(out) != 0) {
        check_problem(result, "%s: no memory for the table", path);
        free(*table);
        *table = NULL;
    }
}

void reports_compare(const struct registry_root *root, const char *table, struct check_result *result)
{
    char         path[4096];
    struct error err = {0};
    FILE        *file;
    char        *line = NULL;
    size_t       capacity = 0;
    int          number = 1;
    snprintf(path, sizeof path, "%s/reports.md", root->folder);
    if (regular_file_open(path, &file, &err)) {
        check_problem(result, "%s; run 'topkcts check --update'", err.text);
        return;
    }
    for (ssize_t n; (n = getline(&line, &capacity, file)) >= 0 && strncmp(table, line, (size_t)n) == 0; number++)
        table += n;
    if (*table || !feof(file))
        check_problem(result,
                      "%s:%d: is not what reports.yaml and the sources of the families give; "
                      "run 'topkcts check --update'",
                      path, number);
    free(line);
    fclose(file);
}

enum status reports_write(const struct registry_root *root, const char *table, struct error *err)
{
    char  path[4096];
    FILE *file;
    snprintf(path, sizeof path, "%s/reports.md", root->folder);
    if (generated_file_begin(path, &file, err))
        return err->status;
    fputs(table, file);
    return generated_file_end(path, file, err);
}
