/* SPDX-License-Identifier: Apache-2.0 */
/* A run as JUnit XML; see junit.h. libxml2 escapes what XML needs escaped; what XML cannot hold is replaced here. */
#include "harness/junit.h"

#include "harness/generated_file.h"

#include <libxml/parserInternals.h>
#include <libxml/xmlwriter.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum element { ELEMENT_NONE, ELEMENT_FAILURE, ELEMENT_ERROR, ELEMENT_SKIPPED };

static const char *const element_names[] = {"", "failure", "error", "skipped"};

struct writing {
    const struct summary *summary;
    xmlTextWriterPtr      xml;
    const char           *started_at, *host;
    bool                  failed; /* a call of libxml2 did */
};

static void check(struct writing *writing, int code)
{
    writing->failed |= code < 0;
}

static void begin(struct writing *writing, const char *element)
{
    check(writing, xmlTextWriterStartElement(writing->xml, BAD_CAST element));
}

static void end(struct writing *writing)
{
    check(writing, xmlTextWriterEndElement(writing->xml));
}

/* The text with what no XML document may hold, or is no UTF-8, as '?'. */
static const char *clean(const struct writing *writing, const char *text)
{
    static const int smallest[] = {0, 0, 0x80, 0x800, 0x10000}; /* by the number of bytes: smaller ones are overlong */
    char *copy = arena_text(&writing->summary->runner->plan->arena, text ? text : "");
    int   n;
    for (char *c = copy; *c; c += n) {
        n = (int)strnlen(c, 4);
        int code = xmlGetUTF8Char(BAD_CAST c, &n);
        if (code < 0)
            n = 1;
        if (code < 0 || code == 0x7f || !IS_CHAR(code) || code < smallest[n])
            memset(c, '?', (size_t)n);
    }
    return copy;
}

static void attribute(struct writing *writing, const char *name, const char *value)
{
    check(writing, xmlTextWriterWriteAttribute(writing->xml, BAD_CAST name, BAD_CAST clean(writing, value)));
}

static void count(struct writing *writing, const char *name, size_t value)
{
    check(writing, xmlTextWriterWriteFormatAttribute(writing->xml, BAD_CAST name, "%zu", value));
}

static void seconds(struct writing *writing, double ms)
{
    check(writing, xmlTextWriterWriteFormatAttribute(writing->xml, BAD_CAST "time", "%.3f", ms / 1000));
}

static void content(struct writing *writing, const char *element, const char *text)
{
    begin(writing, element);
    check(writing, xmlTextWriterWriteString(writing->xml, BAD_CAST clean(writing, text)));
    end(writing);
}

static enum element element_of(const struct outcome *outcome, bool is_planted)
{
    if (outcome->left_out)
        return ELEMENT_SKIPPED;
    switch (outcome->verdict) {
    case VERDICT_FAIL:
    case VERDICT_FLAKY:
        return is_planted ? ELEMENT_NONE : ELEMENT_FAILURE;
    case VERDICT_CRASH:
    case VERDICT_TIMEOUT:
    case VERDICT_ERROR:
    case VERDICT_NOTRUN:
        return is_planted ? ELEMENT_NONE : ELEMENT_ERROR;
    case VERDICT_SKIP:
    case VERDICT_XFAIL:
        return ELEMENT_SKIPPED;
    default:
        return ELEMENT_NONE;
    }
}

static void write_row(struct writing *writing, size_t row)
{
    const struct runner  *runner = writing->summary->runner;
    const struct outcome *outcome = &runner->outcomes[row];
    size_t                t = runner->plan->rows[row].target;
    const struct target  *target = &runner->plan->targets[t];
    enum element          element = element_of(outcome, writing->summary->targets[t].is_planted);
    char                  line[2048];
    summary_rerun_line(runner, row, line, sizeof line);
    begin(writing, "testcase");
    attribute(writing, "classname",
              arena_format(&runner->plan->arena, "%s.%s.%s", target->description.name, target->device,
                           runner->plan->rows[row].concrete->family->id));
    attribute(writing, "name", runner->plan->rows[row].concrete->name);
    seconds(writing, outcome->wall_ms);
    if (element == ELEMENT_SKIPPED) {
        begin(writing, "skipped");
        attribute(writing, "message",
                  outcome->left_out ? "left out by --budget"
                                    : arena_format(&runner->plan->arena, "%s: %s", verdict_text(outcome->verdict),
                                                   outcome->reason ? outcome->reason : ""));
        end(writing);
    } else if (element != ELEMENT_NONE) {
        begin(writing, element_names[element]);
        attribute(writing, "type", verdict_text(outcome->verdict));
        attribute(writing, "message", outcome->reason);
        check(writing,
              xmlTextWriterWriteFormatString(writing->xml, "%s\nrerun: %s\n",
                                             clean(writing, outcome->reason ? outcome->reason : ""),
                                             clean(writing, line)));
        end(writing);
    }
    if (outcome->verdict == VERDICT_XPASS || (element == ELEMENT_NONE && outcome->verdict != VERDICT_PASS))
        content(writing, "system-out", verdict_text(outcome->verdict));
    if (outcome->log)
        content(writing, "system-err", outcome->log);
    end(writing);
}

/* A planted fault is a test of this suite: was it caught? */
static void write_planted(struct writing *writing, size_t t)
{
    const struct target_summary *counts = &writing->summary->targets[t];
    const struct target         *target = &writing->summary->runner->plan->targets[t];
    begin(writing, "testcase");
    attribute(writing, "classname", target->description.name);
    attribute(writing, "name", "caught");
    seconds(writing, 0);
    if (!counts->caught_by) {
        begin(writing, "failure");
        attribute(writing, "type", "missed");
        attribute(writing, "message", "no case of its kind caught this planted fault");
        end(writing);
    }
    end(writing);
}

static void write_target(struct writing *writing, size_t t)
{
    const struct runner *runner = writing->summary->runner;
    const struct target *target = &runner->plan->targets[t];
    bool                 is_planted = writing->summary->targets[t].is_planted;
    size_t               counts[4] = {0}, n = is_planted;
    double               ms = 0;
    for (size_t row = 0; row < runner->plan->n_rows; row++)
        if (runner->plan->rows[row].target == t) {
            counts[element_of(&runner->outcomes[row], is_planted)]++;
            ms += runner->outcomes[row].wall_ms;
            n++;
        }
    counts[ELEMENT_FAILURE] += is_planted && !writing->summary->targets[t].caught_by;
    begin(writing, "testsuite");
    attribute(writing, "name",
              arena_format(&runner->plan->arena, "%s.%s.%s", runner->plan->suite ? runner->plan->suite->id : "selection",
                           target->description.name, target->device));
    count(writing, "tests", n);
    count(writing, "failures", counts[ELEMENT_FAILURE]);
    count(writing, "errors", counts[ELEMENT_ERROR]);
    count(writing, "skipped", counts[ELEMENT_SKIPPED]);
    seconds(writing, ms);
    attribute(writing, "timestamp", arena_format(&runner->plan->arena, "%.19s", writing->started_at));
    attribute(writing, "hostname", writing->host);
    begin(writing, "properties");
    const char *properties[][2] = {{"run", writing->summary->run},
                                   {"device_id", target->record.device_id},
                                   {"arch", target->record.arch},
                                   {"provider_version", target->description.version},
                                   {"provider_digest", target->description.digest}};
    for (size_t i = 0; i < sizeof properties / sizeof properties[0]; i++) {
        begin(writing, "property");
        attribute(writing, "name", properties[i][0]);
        attribute(writing, "value", properties[i][1]);
        end(writing);
    }
    end(writing);
    for (size_t row = 0; row < runner->plan->n_rows; row++)
        if (runner->plan->rows[row].target == t)
            write_row(writing, row);
    if (is_planted)
        write_planted(writing, t);
    end(writing);
}

static enum status take_facts(void *payload, int n_columns, const char *const *names, const char *const *values,
                              struct error *err)
{
    struct writing *writing = payload;
    struct arena   *arena = &writing->summary->runner->plan->arena;
    (void)n_columns;
    (void)names;
    (void)err;
    writing->started_at = arena_text(arena, values[0] ? values[0] : "");
    writing->host = arena_text(arena, values[1] ? values[1] : "");
    return STATUS_OK;
}

/* The whole document, in memory: libxml2 takes names of files for URIs, %41 for an A, and keeps no errno. */
static enum status make_document(struct writing *writing, xmlBufferPtr text, struct error *err)
{
    writing->xml = xmlNewTextWriterMemory(text, 0);
    if (!writing->xml)
        return error_no_memory(err);
    check(writing, xmlTextWriterSetIndent(writing->xml, 1));
    check(writing, xmlTextWriterStartDocument(writing->xml, NULL, "UTF-8", NULL));
    begin(writing, "testsuites");
    attribute(writing, "name", "topkcts");
    for (size_t t = 0; t < writing->summary->runner->plan->n_targets; t++)
        write_target(writing, t);
    end(writing);
    check(writing, xmlTextWriterEndDocument(writing->xml));
    check(writing, xmlTextWriterFlush(writing->xml));
    xmlFreeTextWriter(writing->xml);
    return writing->failed ? error_no_memory(err) : STATUS_OK;
}

enum status junit_write(const struct summary *summary, struct store *store, const char *path, struct error *err)
{
    struct writing writing = {.summary = summary, .started_at = "", .host = ""};
    FILE          *file;
    if (store_query(store, "SELECT started_at, host FROM runs WHERE run = ?1", &summary->run, 1, take_facts, &writing,
                    err))
        return err->status;
    xmlBufferPtr text = xmlBufferCreate();
    if (!text)
        return error_no_memory(err);
    if (!make_document(&writing, text, err) && !generated_file_begin(path, &file, err)) {
        fwrite(xmlBufferContent(text), 1, (size_t)xmlBufferLength(text), file);
        generated_file_end(path, file, err);
    }
    xmlBufferFree(text);
    return err->status;
}
