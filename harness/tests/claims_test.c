/* SPDX-License-Identifier: Apache-2.0 */
/* Claims as text: what is written can be read back, and what is wrong is named. */
#include "harness/claims.h"

#include <criterion/criterion.h>
#include <string.h>

Test(claims, text_lists_the_level_and_what_differs)
{
    struct topk_claims claims = {.level = TOPK_LEVEL_SET_REPEATABLE,
                                 .tie = TOPK_TIE_ANY,
                                 .nan = TOPK_NAN_BITS,
                                 .padding = TOPK_PADDING_UNSPECIFIED,
                                 .max_topk = 512};
    char               text[256];
    claims_format(&claims, text, sizeof text);
    cr_assert_str_eq(text, "level=set-repeatable tie=any nan=bits padding=unspecified max_topk=512");
    claims = (struct topk_claims){.level = TOPK_LEVEL_CANONICAL, .max_topk = 1024};
    claims_format(&claims, text, sizeof text);
    cr_assert_str_eq(text, "level=canonical");
}

Test(claims, every_spelling_is_read_back)
{
    static const char *const pairs[][2] = {
        {"level", "valid"},      {"tie", "any"},           {"zero", "bits"},
        {"nan", "largest"},      {"neg_inf", "hole"},      {"padding", "unspecified"},
        {"negative_length", "empty"}, {"overlong", "clamped"}, {"outputs", "raw"},
        {"capture", "ok"},       {"max_topk", "2048"},
    };
    struct topk_claims claims = {0};
    struct error       err = {0};
    char               text[256];
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
        cr_assert_eq(claims_set(&claims, pairs[i][0], pairs[i][1], &err), STATUS_OK, "%s", err.text);
        cr_assert(claims_has(&claims, pairs[i][0], pairs[i][1]));
    }
    claims_format(&claims, text, sizeof text);
    cr_assert_str_eq(text, "level=valid tie=any zero=bits nan=largest neg_inf=hole padding=unspecified "
                           "negative_length=empty overlong=clamped outputs=raw capture=ok max_topk=2048");
}

Test(claims, a_wrong_name_or_value_lists_the_right_ones)
{
    struct topk_claims claims = {0};
    struct error       err = {0};
    cr_assert_eq(claims_set(&claims, "nan", "highest", &err), STATUS_USAGE);
    cr_assert(strstr(err.text, "none, any, bits, largest, never"), "%s", err.text);
    err = (struct error){0};
    cr_assert_eq(claims_set(&claims, "nans", "any", &err), STATUS_USAGE);
    cr_assert(strstr(err.text, "neg_inf"), "%s", err.text);
    err = (struct error){0};
    cr_assert_eq(claims_set(&claims, "max_topk", "0", &err), STATUS_USAGE);
}

Test(claims, members_out_of_range_are_found)
{
    struct topk_claims claims = {.level = TOPK_LEVEL_CANONICAL};
    struct error       err = {0};
    unsigned           wild = 17;
    memcpy(&claims.tie, &wild, sizeof wild);
    cr_assert_eq(claims_validate(&claims, &err), STATUS_USAGE);
    cr_assert(strstr(err.text, "claims.tie is 17"), "%s", err.text);
    err = (struct error){0};
    claims = (struct topk_claims){.level = TOPK_LEVEL_NONE};
    cr_assert_eq(claims_validate(&claims, &err), STATUS_USAGE);
    err = (struct error){0};
    claims = (struct topk_claims){.level = TOPK_LEVEL_SAFE, .max_topk = -1};
    cr_assert_eq(claims_validate(&claims, &err), STATUS_USAGE);
}
