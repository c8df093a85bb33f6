/* SPDX-License-Identifier: Apache-2.0 */
/* Lists of names for messages: separators, and what does not fit. */
#include "harness/name_list.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

Test(name_list, names_are_separated_by_commas)
{
    struct name_list list = {0};
    cr_assert_str_eq(list.text, "");
    name_list_add(&list, "%s", "smoke");
    name_list_add(&list, "--%s", "race");
    cr_assert_str_eq(list.text, "smoke, --race");
}

Test(name_list, one_that_is_too_long_ends_behind_a_whole_name)
{
    struct name_list list = {0};
    char             expected[sizeof list.text + 16] = "";
    for (int i = 0; i < 100; i++)
        name_list_add(&list, "name-%02d", i);
    for (int i = 0; strlen(expected) + strlen("name-00, , ...") < sizeof list.text; i++)
        snprintf(expected + strlen(expected), sizeof expected - strlen(expected), "name-%02d, ", i);
    strcat(expected, "...");
    cr_assert_str_eq(list.text, expected);
    name_list_add(&list, "x");
    cr_assert_str_eq(list.text, expected, "something was added behind the end");
}

Test(name_list, a_first_name_that_does_not_fit_leaves_dots)
{
    struct name_list list = {0};
    name_list_add(&list, "%0800d", 1);
    cr_assert_str_eq(list.text, "...");
}
