/* SPDX-License-Identifier: Apache-2.0 */
/* The manifest of code objects: which one serves which device, and what a damaged file is taken for. */
#include "harness/code_object.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char                    folder[] = "/tmp/code_object_XXXXXX";
static struct code_object_list list;

static void put(const char *name, const char *text)
{
    char  path[128];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "w");
    cr_assert_not_null(file);
    fputs(text, file);
    fclose(file);
}

static void load(void)
{
    struct error err = {0};
    cr_assert_not_null(mkdtemp(folder));
    put("manifest.json", "{\"source_digest\": \"s\", \"objects\": ["
                         "{\"file\": \"a\", \"target\": \"gfx90a:xnack+\", \"backend\": \"hip\", \"digest\": \"d\"},"
                         "{\"file\": \"b\", \"target\": \"gfx90a\", \"backend\": \"hip\", \"digest\": \"d\"},"
                         "{\"file\": \"c\", \"target\": \"gfx1100\", \"backend\": \"hip\", \"digest\": \"d\"},"
                         "{\"file\": \"d\", \"target\": \"sm_90\", \"backend\": \"cuda\", \"digest\": \"06b05ab6733a618578af5f94892f3950\"},"
                         "{\"file\": \"e\", \"target\": \"compute_80\", \"backend\": \"cuda\", \"digest\": \"d\"}]}");
    cr_assert_eq(code_object_list_load(folder, &list, &err), STATUS_OK, "%s", err.text);
}

static const char *found(const char *backend, const char *arch)
{
    const struct code_object *object = code_object_find(&list, backend, arch);
    return object ? object->file : "none";
}

Test(code_object, only_the_exact_target_serves)
{
    load();
    cr_assert_str_eq(found("hip", "gfx90a:sramecc+:xnack-"), "b");
    cr_assert_str_eq(found("hip", "gfx90a:sramecc+:xnack+"), "a");
    cr_assert_str_eq(found("hip", "gfx1100"), "c");
    cr_assert_str_eq(found("hip", "gfx110"), "none");
    cr_assert_str_eq(found("hip", "gfx1101"), "none");
    cr_assert_str_eq(found("hip", "gfx11001"), "none");
    cr_assert_str_eq(found("cuda", "gfx1100"), "none");
    cr_assert_str_eq(found("cuda", "sm_90"), "d");
    cr_assert_str_eq(found("cuda", "sm_89"), "none");
}

Test(code_object, ptx_serves_what_is_newer_than_it)
{
    load();
    cr_assert_str_eq(code_object_find_portable(&list, "cuda", "sm_86")->file, "e");
    cr_assert_str_eq(code_object_find_portable(&list, "cuda", "sm_120")->file, "e");
    cr_assert_null(code_object_find_portable(&list, "cuda", "sm_75"));
    cr_assert_null(code_object_find_portable(&list, "hip", "gfx1100"));
}

Test(code_object, a_file_that_differs_from_the_manifest_is_not_loaded)
{
    struct error err = {0};
    void        *bytes;
    load();
    put("d", "abc");
    cr_assert_eq(code_object_read(&list, code_object_find(&list, "cuda", "sm_90"), &bytes, &err), STATUS_OK, "%s", err.text);
    cr_assert_str_eq(bytes, "abc");
    free(bytes);
    put("d", "abd");
    cr_assert_eq(code_object_read(&list, code_object_find(&list, "cuda", "sm_90"), &bytes, &err), STATUS_BOOKS);
    cr_assert_null(bytes);
    cr_assert(strstr(err.text, "the manifest says 06b05ab6733a618578af5f94892f3950") != NULL);
    code_object_list_clear(&list);
}

Test(code_object, no_manifest_is_an_empty_list_and_a_damaged_one_an_error)
{
    struct error err = {0};
    cr_assert_not_null(mkdtemp(folder));
    cr_assert_eq(code_object_list_load(folder, &list, &err), STATUS_OK);
    cr_assert_eq(list.n, 0);
    put("manifest.json", "{\"objects\": [");
    cr_assert_eq(code_object_list_load(folder, &list, &err), STATUS_BOOKS);
    cr_assert(strstr(err.text, "manifest.json:1") != NULL);
}
