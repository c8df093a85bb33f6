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
    struct message order = {.kind = MESSAGE_TIME, .text = "f/topk=1", .order = {true, false, true, true, 9, 4}}, read;
    struct message answer = {.kind = MESSAGE_TIMED,
                             .times = {.verdict = VERDICT_SKIP, .reason = "not supported: why", .us = {1.5, 2.25}, .n = 2,
                                       .calls = 7, .clock_mhz = 1980, .by_device = true}};
    struct arena   arena = {0};
    struct error   err = {0};
    char          *line = message_write(&order);
    line[strlen(line) - 1] = '\0';
    cr_assert_eq(message_read(line, &arena, &read, &err), STATUS_OK, "%s", err.text);
    cr_expect_eq(read.kind, MESSAGE_TIME);
    cr_expect_str_eq(read.text, "f/topk=1");
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
