/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `topkcts query [NAME ..]`: the questions of reports/, asked. Without a name it lists them with their parameters.
 *
 * Parameters are options: `topkcts query history --case 'ties/ *' --days 30`. One parameter is filled in here, since it
 * stands in the registry and not in the database: `:fleet`, registry/fleet.yaml as JSON.
 */
#include "harness/answer.h"
#include "harness/command.h"
#include "harness/name_list.h"
#include "harness/project.h"
#include "harness/report_query.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

struct asking {
    const struct settings     *settings;
    struct arena               arena;
    struct report_query       *queries;
    size_t                     n_queries;
    const struct report_query *asked[OPTION_MAX_LIST];
    size_t                     n_asked;
    const char                *fleet; /* JSON; NULL until needed */
    struct store              *store;
    json_t                    *json;    /* with --json: by name */
    bool                       failing; /* a query of --fail-on answered something */
};

static void print_parameters(const struct report_query *query)
{
    for (size_t p = 0; p < query->n_parameters; p++)
        printf("    --%-12s %s\n", query->parameters[p].name, query->parameters[p].meaning);
}

static void list_queries(const struct asking *asking)
{
    json_t *list = json_array();
    for (size_t q = 0; q < asking->n_queries; q++) {
        const struct report_query *query = &asking->queries[q];
        json_t                    *parameters = json_object();
        if (!asking->settings->json)
            printf("%-14s %s\n", query->name, query->summary);
        if (!asking->settings->json)
            print_parameters(query);
        for (size_t p = 0; p < query->n_parameters; p++)
            json_object_set_new(parameters, query->parameters[p].name, json_string(query->parameters[p].meaning));
        json_array_append_new(list, json_pack("{s:s, s:s, s:o}", "query", query->name, "summary", query->summary,
                                              "parameters", parameters));
    }
    if (asking->settings->json) {
        json_dumpf(list, stdout, JSON_INDENT(1));
        putchar('\n');
    }
    json_decref(list);
}

static bool is_among(const struct option_list *list, const char *name)
{
    for (size_t i = 0; i < list->n; i++)
        if (strcmp(list->items[i], name) == 0)
            return true;
    return false;
}

static enum status ask_for(struct asking *asking, const char *name, struct error *err)
{
    const struct report_query *query = NULL;
    if (report_query_find(asking->queries, asking->n_queries, name, &query, err)) {
        for (size_t q = 0; q < asking->n_queries; q++)
            fprintf(stderr, "%-14s %s\n", asking->queries[q].name, asking->queries[q].summary);
        return err->status;
    }
    for (size_t i = 0; i < asking->n_asked; i++)
        if (asking->asked[i] == query)
            return STATUS_OK;
    if (asking->n_asked == OPTION_MAX_LIST)
        return error_set(err, STATUS_USAGE, "query: more than %d names", OPTION_MAX_LIST);
    asking->asked[asking->n_asked++] = query;
    return STATUS_OK;
}

/* A day, or a day and a time, as the database writes them: texts of times compare as the times do, and a word would be
 * later than all of them and find nothing. */
static bool is_time(const char *text)
{
    struct tm   unused = {0};
    const char *rest = strptime(text, "%Y-%m-%d", &unused);
    if (!rest || rest != text + strlen("2026-11-30"))
        return false;
    if (*rest == 'T' || *rest == ' ') {
        const char *minutes = strptime(rest + 1, "%H:%M", &unused);
        if (!minutes || minutes != rest + strlen("T13:00"))
            return false;
        rest = minutes + strspn(minutes, ":.0123456789");
        rest += *rest == 'Z';
    }
    return !*rest;
}

/* Every parameter that was given must belong to one of the queries that were asked, and a time must be one. */
static enum status check_parameters(const struct asking *asking, struct error *err)
{
    const struct option_list *given = &asking->settings->parameters;
    for (size_t i = 0; i < given->n; i += 2) {
        size_t           length = strcspn(given->items[i], "=");
        bool             known = false;
        struct name_list names = {0};
        for (size_t q = 0; q < asking->n_asked; q++) {
            const struct report_query *query = asking->asked[q];
            known |= report_parameter_find(query, given->items[i], length) != NULL;
            for (size_t p = 0; p < query->n_parameters; p++)
                name_list_add(&names, "--%s", query->parameters[p].name);
        }
        if (!known)
            return error_set(err, STATUS_USAGE,
                             "query: no option or parameter '--%.*s'; %s has the parameters %s, and every query the "
                             "options --db --json --csv --markdown --fail-on --registry",
                             (int)length, given->items[i], asking->n_asked == 1 ? asking->asked[0]->name : "this",
                             names.used ? names.text : "(none)");
        if (length == strlen("since") && strncmp(given->items[i], "since", length) == 0 && !is_time(given->items[i + 1]))
            return error_set(err, STATUS_USAGE,
                             "query: --since %s: no time; write it like 2026-11-30 or 2026-11-30T13:00, in UTC; in a shell "
                             "\"$(date -u -d 'last monday' +%%F)\" is one",
                             given->items[i + 1]);
    }
    return STATUS_OK;
}

/* registry/fleet.yaml as the JSON that queries read. */
static enum status read_fleet(struct asking *asking, struct error *err)
{
    struct registry registry = {0};
    json_t         *list = json_array();
    if (!project_load_registry(asking->settings, false, &registry, err)) {
        for (size_t i = 0; i < registry.n_duties; i++)
            json_array_append_new(list, json_pack("{s:s, s:s, s:I}", "device_id", registry.duties[i].device_glob,
                                                  "suite", registry.duties[i].suite, "every_hours",
                                                  (json_int_t)registry.duties[i].every_hours));
        char *text = json_dumps(list, JSON_COMPACT);
        asking->fleet = arena_text(&asking->arena, text ? text : "[]");
        free(text);
    }
    json_decref(list);
    registry_clear(&registry);
    return err->status;
}

static enum status fill_parameters(struct asking *asking, const struct report_query *query,
                                   struct store_parameter *parameters, size_t *n, struct error *err)
{
    const struct option_list *given = &asking->settings->parameters;
    *n = 0;
    for (size_t i = 0; i < given->n; i += 2) {
        const struct report_parameter *parameter =
            report_parameter_find(query, given->items[i], strcspn(given->items[i], "="));
        if (parameter)
            parameters[(*n)++] = (struct store_parameter){parameter->name, given->items[i + 1]};
    }
    if (!report_parameter_find(query, "fleet", strlen("fleet")))
        return STATUS_OK;
    for (size_t i = 0; i < *n; i++)
        if (strcmp(parameters[i].name, "fleet") == 0)
            return STATUS_OK;
    if (!asking->fleet && read_fleet(asking, err))
        return err->status;
    parameters[(*n)++] = (struct store_parameter){"fleet", asking->fleet};
    return STATUS_OK;
}

static void print_answer(struct asking *asking, const struct report_query *query, const struct answer *answer)
{
    bool is_one_of_many = asking->n_asked > 1;
    if (asking->settings->json) {
        json_object_set_new(asking->json, query->name, answer_json(answer));
    } else if (asking->settings->csv) {
        answer_print_csv(answer, stdout);
    } else if (asking->settings->as_markdown) {
        if (is_one_of_many)
            printf("### %s: %s\n\n", query->name, query->summary);
        answer_print_markdown(answer, stdout);
        if (is_one_of_many)
            putchar('\n');
    } else {
        if (is_one_of_many)
            printf("%s: %s\n", query->name, query->summary);
        if (answer->n_rows)
            answer_print_table(answer, stdout);
        else
            printf("%s: nothing\n", query->name);
        if (is_one_of_many)
            putchar('\n');
    }
}

/* What a parameter chooses from, and whether the database knows what was given: a column of each. */
static const struct {
    const char *parameter, *what, *sql;
} choices[] = {
    {"arch", "no device has this architecture",
     "SELECT (SELECT count(*) FROM devices WHERE arch GLOB :given OR arch GLOB :given || ':*') AS n, "
     "(SELECT group_concat(name, ', ') FROM (SELECT DISTINCT arch AS name FROM devices ORDER BY 1 LIMIT 30)) AS names"},
    {"device", "no device has this device_id",
     "SELECT (SELECT count(*) FROM devices WHERE device_id GLOB :given) AS n, "
     "(SELECT group_concat(name, ', ') FROM (SELECT device_id AS name FROM devices ORDER BY 1 LIMIT 30)) AS names"},
    {"provider", "no run had this provider",
     "SELECT (SELECT count(*) FROM run_providers WHERE provider GLOB :given) AS n, (SELECT group_concat(name, ', ') "
     "FROM (SELECT DISTINCT provider AS name FROM run_providers ORDER BY 1 LIMIT 30)) AS names"},
    {"case", "no result has this case_name; a family is 'NAME/*'",
     "SELECT EXISTS (SELECT 1 FROM latest WHERE case_name GLOB :given) AS n, (SELECT group_concat(name, ', ') "
     "FROM (SELECT DISTINCT family AS name FROM latest ORDER BY 1 LIMIT 30)) AS names"},
};
enum { N_CHOICES = sizeof choices / sizeof choices[0] };

/* "Nothing" must not be the answer to a name that is written wrong: it would read as if all were well. */
static enum status doubt_nothing(const struct asking *asking, const struct store_parameter *parameters, size_t n,
                                 struct error *err)
{
    for (size_t i = 0; i < n && !err->status; i++)
        for (size_t c = 0; c < N_CHOICES && !err->status; c++) {
            const struct store_parameter given = {"given", parameters[i].value};
            struct answer                known = {0};
            if (strcmp(parameters[i].name, choices[c].parameter) != 0)
                continue;
            if (!store_query_named(asking->store, choices[c].sql, &given, 1, answer_add_row, &known, err) &&
                known.values[0].integer == 0)
                error_set(err, STATUS_USAGE, "query: --%s %s: %s in the database; there are %s", parameters[i].name,
                          given.value, choices[c].what, known.values[1].text ? known.values[1].text : "none at all");
            answer_clear(&known);
        }
    return err->status;
}

static enum status ask(struct asking *asking, const struct report_query *query, struct error *err)
{
    struct store_parameter parameters[OPTION_MAX_LIST / 2 + 1];
    size_t                 n_parameters = 0;
    struct answer          answer = {0};
    if (!fill_parameters(asking, query, parameters, &n_parameters, err)) {
        if (store_query_named(asking->store, query->sql, parameters, n_parameters, answer_add_row, &answer, err))
            error_prefix(err, "%s.sql", query->name);
        else if (answer.n_rows || !doubt_nothing(asking, parameters, n_parameters, err))
            print_answer(asking, query, &answer);
    }
    if (answer.n_rows && is_among(&asking->settings->fail_on, query->name))
        asking->failing = true;
    answer_clear(&answer);
    return err->status;
}

static enum status check_form(const struct settings *settings, const struct asking *asking, struct error *err)
{
    if (settings->json + settings->csv + settings->as_markdown > 1)
        return error_set(err, STATUS_USAGE, "query: --json, --csv and --markdown exclude each other");
    if (settings->csv && asking->n_asked > 1)
        return error_set(err, STATUS_USAGE, "query: --csv takes one query, %zu were asked", asking->n_asked);
    return STATUS_OK;
}

/* The queries of reports/, and which of them the words name. */
static enum status read_queries(struct asking *asking, struct error *err)
{
    const char *folder = arena_format(&asking->arena, "%s/reports", project_folder());
    if (report_queries_read(folder, &asking->arena, &asking->queries, &asking->n_queries, err))
        return err->status;
    for (size_t i = 0; i < asking->settings->words.n; i++)
        if (ask_for(asking, asking->settings->words.items[i], err))
            return err->status;
    return STATUS_OK;
}

enum status command_query_explain(const struct settings *settings, struct error *err)
{
    struct asking asking = {.settings = settings};
    if (!read_queries(&asking, err)) {
        for (size_t q = 0; q < asking.n_asked; q++) {
            printf("\n%-14s %s\n", asking.asked[q]->name, asking.asked[q]->summary);
            print_parameters(asking.asked[q]);
        }
        if (asking.n_asked == 0)
            printf("\nWhat can be asked, with all parameters: topkcts query; one of them: topkcts query NAME --help\n");
    }
    arena_clear(&asking.arena);
    return err->status;
}

enum status command_query(const struct settings *settings, struct error *err)
{
    struct asking asking = {.settings = settings};
    if (read_queries(&asking, err))
        goto done;
    for (size_t i = 0; i < settings->fail_on.n; i++)
        if (ask_for(&asking, settings->fail_on.items[i], err))
            goto done;
    if (check_parameters(&asking, err) || check_form(settings, &asking, err))
        goto done;
    if (asking.n_asked == 0) {
        list_queries(&asking);
        goto done;
    }
    if (store_open(&asking.store, settings->database ? settings->database : "topkcts.db", STORE_READ, err))
        goto done;
    asking.json = json_object();
    for (size_t i = 0; i < asking.n_asked; i++)
        if (ask(&asking, asking.asked[i], err))
            goto done;
    if (settings->json) {
        json_dumpf(asking.n_asked == 1 ? json_object_get(asking.json, asking.asked[0]->name) : asking.json, stdout,
                   JSON_INDENT(1));
        putchar('\n');
    }
done:
    json_decref(asking.json);
    store_close(asking.store);
    arena_clear(&asking.arena);
    return err->status ? err->status : asking.failing ? STATUS_FAIL : STATUS_OK;
}
