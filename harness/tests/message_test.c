/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lines between worker and runner: what is written is read back, and whatever else arrives (a provider may write into
 * the pipe) is refused without harm.
 */
#include "harness/message.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

static struct message sample_result(void)
{
    struct message message = {.kind = MESSAGE_RESULT};
    message.judgement.verdict = VERDICT_FAIL;
    message.judgement.promised = TOPK_LEVEL_CANONICAL;
    message.judgement.level = TOPK_LEVEL_SAFE;
    message.judgement.set_exact = 0;
    message.judgement.n_differences = 1;
    message.judgement.differences[0].row = 3;
    message.judgement.differences[0].n_extra = 1;
    message.judgement.differences[0].extra[0] = 17;
    strcpy(message.judgement.reason, "not valid: gr\xf6\xdf" "er"); /* what a provider says may be anything */
    return message;
}

Test(message, a_result_is_read_back_and_its_text_is_utf8)
{
    struct message message = sample_result(), read;
    struct arena   arena = {0};
    struct error   err = {0};
    char          *line = message_write(&message);
    line[strlen(line) - 1] = '\0';
    cr_assert_eq(message_read(line, &arena, &read, &err), STATUS_OK, "%s", err.text);
    cr_expect_eq(read.kind, MESSAGE_RESULT);
    cr_expect_eq(read.judgement.verdict, VERDICT_FAIL);
    cr_expect_eq(read.judgement.differences[0].extra[0], 17);
    cr_expect_str_eq(read.judgement.reason, "not valid: gr??er");
    free(line);
    arena_clear(&arena);
}

Test(message, an_order_to_time_and_its_answer_are_read_back)
{
    const int32_t              lengths[] = {7, 0};
    const struct family        family = {.id = "f"};
    const struct concrete_case concrete = {.name = "f/topk=1", .family = &family, .outputs = OUTPUTS_RAW,
                                           .spec = {.family = "f", .generator = "random", .topk = 1, .page_size = 64,
                                                    .batch = 2, .lengths = lengths, .n_lengths = 2}};
    struct message order = {.kind = MESSAGE_TIME, .concrete = &concrete, .order = {true, false, true, true, 9, 4}}, read;
    struct message answer = {.kind = MESSAGE_TIMED,
                             .times = {.verdict = VERDICT_SKIP, .reason = "not supported: why", .us = {1.5, 2.25}, .n = 2,
                                       .calls = 7, .clock_mhz = 1980, .by_device = true}};
    struct arena   arena = {0};
    struct error   err = {0};
    char          *line = message_write(&order);
    line[strlen(line) - 1] = '\0';
    cr_assert_eq(message_read(line, &arena, &read, &err), STATUS_OK, "%s", err.text);
    cr_expect_eq(read.kind, MESSAGE_TIME);
    cr_expect_str_eq(read.concrete->name, "f/topk=1");
    cr_expect(read.concrete->spec.batch == 2 && read.concrete->longest == 7 && read.concrete->outputs == OUTPUTS_RAW);
    cr_expect(read.order.with_pages && !read.order.with_raw && read.order.cold && read.order.check);
    cr_expect(read.order.n_samples == 9 && read.order.calls == 4);
    free(line);
    line = message_write(&answer);
    line[strlen(line) - 1] = '\0';
    cr_assert_eq(message_read(line, &arena, &read, &err), STATUS_OK, "%s", err.text);
    cr_expect_eq(read.kind, MESSAGE_TIMED);
    cr_expect_eq(read.times.verdict, VERDICT_SKIP);
    cr_expect_str_eq(read.times.reason, "not supported: why");
    cr_expect(read.times.n == 2 && read.times.us[1] == 2.25 && read.times.calls == 7 && read.times.clock_mhz == 1980 &&
              read.times.by_device);
    free(line);
    arena_clear(&arena);
}

static bool same_text(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

static bool same_params(const struct case_param *a, size_t n_a, const struct case_param *b, size_t n_b)
{
    size_t i = 0;
    while (n_a == n_b && i < n_a && same_text(a[i].name, b[i].name) && same_text(a[i].text, b[i].text))
        i++;
    return n_a == n_b && i == n_a;
}

static bool same_lengths(const int32_t *a, size_t n_a, const int32_t *b, size_t n_b)
{
    return n_a == n_b && (n_a == 0 || memcmp(a, b, n_a * sizeof *a) == 0);
}

static bool same_spec(const struct case_spec *a, const struct case_spec *b)
{
    return same_text(a->family, b->family) && same_text(a->generator, b->generator) && a->seed == b->seed &&
           a->topk == b->topk && a->page_size == b->page_size && a->batch == b->batch &&
           same_lengths(a->lengths, a->n_lengths, b->lengths, b->n_lengths) &&
           same_params(a->params, a->n_params, b->params, b->n_params) && same_text(a->captured, b->captured);
}

/* What the judge looks at of a family. */
static bool same_family(const struct family *a, const struct family *b)
{
    bool same = same_text(a->id, b->id) && a->launches == b->launches && a->both_origins == b->both_origins &&
                a->n_promises == b->n_promises && a->n_sweeps == b->n_sweeps && a->n_sequence == b->n_sequence;
    for (size_t p = 0; same && p < a->n_promises; p++) {
        size_t v = 0;
        while (same_text(a->promises[p].values[v], b->promises[p].values[v]) && a->promises[p].values[v])
            v++;
        same = same_text(a->promises[p].claim, b->promises[p].claim) && !a->promises[p].values[v] && !b->promises[p].values[v];
    }
    for (size_t s = 0; same && s < a->n_sweeps; s++)
        same = memcmp(&a->sweeps[s], &b->sweeps[s], sizeof a->sweeps[s]) == 0;
    for (size_t s = 0; same && s < a->n_sequence; s++) {
        const struct sequence_step *x = &a->sequence[s], *y = &b->sequence[s];
        same = x->topk == y->topk && x->page_size == y->page_size && x->batch == y->batch &&
               same_lengths(x->lengths, x->n_lengths, y->lengths, y->n_lengths) &&
               same_params(x->params, x->n_params, y->params, y->n_params);
    }
    return same;
}

Test(message, every_case_of_the_registry_arrives_as_it_is)
{
    static struct message read;
    struct registry       registry;
    struct error          err = {0};
    const char *const     folders[] = {"registry"};
    size_t                n_sweeps = 0, n_steps = 0, n_promises = 0;
    cr_assert_eq(registry_load(&registry, folders, 1, false, &err), STATUS_OK, "%s", err.text);
    for (size_t i = 0; i < registry.n_cases; i++) {
        const struct concrete_case *sent = &registry.cases[i];
        struct message              order = {.kind = MESSAGE_CASE, .concrete = sent, .repeats = 5};
        struct arena                arena = {0};
        char                       *line = message_write(&order);
        line[strlen(line) - 1] = '\0';
        cr_assert_eq(message_read(line, &arena, &read, &err), STATUS_OK, "%s", err.text);
        const struct concrete_case *got = read.concrete;
        cr_expect(same_text(got->name, sent->name) && same_text(got->input_hash, sent->input_hash) &&
                      got->outputs == sent->outputs && got->longest == sent->longest && read.repeats == 5 &&
                      same_spec(&got->spec, &sent->spec) && same_family(got->family, sent->family),
                  "%s arrives as another case: %s", sent->name, line);
        n_sweeps += sent->family->n_sweeps;
        n_steps += sent->family->n_sequence;
        n_promises += sent->family->n_promises;
        free(line);
        arena_clear(&arena);
    }
    cr_expect(n_sweeps && n_steps && n_promises, "a registry without sweeps, sequences or promises tests none of them");
    registry_clear(&registry);
}

Test(message, a_path_of_any_bytes_arrives_as_it_is)
{
    static struct message      read;
    const struct family        family = {.id = "f"};
    const struct concrete_case concrete = {.name = "f/topk=1", .family = &family,
                                           .spec = {.family = "f", .generator = "captured", .topk = 1, .page_size = 64,
                                                    .batch = 1, .captured = "/\xff/\x80\xc3\xa4\xbf/\xc0\"\x01 x"}};
    struct message order = {.kind = MESSAGE_CASE, .concrete = &concrete};
    struct arena   arena = {0};
    struct error   err = {0};
    char          *line = message_write(&order);
    line[strlen(line) - 1] = '\0';
    cr_assert_eq(message_read(line, &arena, &read, &err), STATUS_OK, "%s", err.text);
    cr_expect_str_eq(read.concrete->spec.captured, concrete.spec.captured);
    free(line);
    arena_clear(&arena);
}

/* Every cut of a line, every line with one byte changed, and lines of the right form with wrong types. */
Test(message, what_is_no_message_does_no_harm)
{
    static const char *const odd[] = {
        "",        "null",  "[]",  "{}", "{\"say\": 1}", "{\"say\": \"provider\"}", "{\"say\": \"result\"}",
        "{\"say\": \"result\", \"judgement\": []}",
        "{\"say\": \"result\", \"judgement\": {\"verdict\": 5, \"level\": \"x\", \"differences\": {\"a\": 1}, \"reason\": []}}",
        "{\"say\": \"result\", \"judgement\": {\"verdict\": \"pass\", \"differences\": [1, null, {\"extra\": [\"x\", 99999999999]}, 1, 2, 3, 4, 5, 6]}}",
        "{\"say\": \"provider\", \"provider\": {\"claims\": [99, \"x\"], \"limits\": [1, [], [2, 3]], \"memory\": -7, \"name\": {}}}",
        "{\"say\": \"result\", \"say\": \"opened\"}",
        "{\"do\": \"case\"}",
        "{\"do\": \"case\", \"case\": {\"name\": 1, \"outputs\": 9, \"params\": [[1, 2]], \"lengths\": {}}}",
        "{\"do\": \"time\", \"case\": {\"name\": \"f\", \"family\": \"f\", \"generator\": \"g\", \"params\": [], \"sweeps\": [[7, 0, 0, 0]]}}",
    };
    struct message message = sample_result();
    static struct message read;
    char          *line = message_write(&message);
    size_t         length = strlen(line);
    size_t         refused = 0;
    for (size_t i = 0; i < sizeof odd / sizeof odd[0]; i++) {
        struct arena arena = {0};
        struct error err = {0};
        message_read(odd[i], &arena, &read, &err);
        cr_expect_leq(read.judgement.n_differences, (size_t)JUDGE_MAX_DIFFERENCES);
        arena_clear(&arena);
    }
    for (size_t cut = 0; cut + 2 < length; cut++) {
        struct arena arena = {0};
        struct error err = {0};
        char        *torn = strndup(line, cut);
        refused += message_read(torn, &arena, &read, &err) == STATUS_BOOKS;
        free(torn);
        torn = strdup(line);
        torn[cut] = (char)(torn[cut] ^ (1 << cut % 8));
        struct error ignored = {0};
        message_read(torn, &arena, &read, &ignored);
        free(torn);
        arena_clear(&arena);
    }
    cr_expect_eq(refused, length - 2, "a torn line was taken for a message");
    free(line);
}
