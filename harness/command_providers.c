/* SPDX-License-Identifier: Apache-2.0 */
/* `topkcts providers`: what is built in, what it promises, and what each planted fault has wrong. */
#include "harness/claims.h"
#include "harness/command.h"
#include "harness/provider_load.h"

#include <jansson.h>
#include <stdio.h>

static void add(json_t *list, bool as_json, const struct topk_provider *provider, const char *device,
                const char *fault, const char *summary)
{
    char claims[256];
    claims_format(&provider->claims, claims, sizeof claims);
    if (as_json)
        json_array_append_new(list, json_pack("{s:s, s:s, s:s, s:s, s:s?, s:s}", "provider", provider->name, "version",
                                              provider->version, "device", device, "claims", claims, "fault", fault,
                                              "summary", summary));
    else if (fault)
        printf("%-34s %-5s %-20s %s\n", provider->name, device, fault, summary);
    else
        printf("%-34s %-5s %s\n%-34s       %s\n", provider->name, device, claims, "", summary);
}

enum status command_providers(const struct settings *settings, struct error *err)
{
    json_t *list = json_array();
    (void)err;
    add(list, settings->json, &provider_reference, "host", NULL, "the scalar reference itself: a check of this suite");
    for (size_t i = 0; builtin_providers[i]; i++)
        add(list, settings->json, builtin_providers[i]->provider,
            builtin_providers[i]->place != BUILTIN_HOST ? "sim" : "host", builtin_providers[i]->fault,
            builtin_providers[i]->summary);
    if (settings->json) {
        json_dumpf(list, stdout, JSON_INDENT(1));
        putchar('\n');
    } else
        printf("\nA kernel of your own is a plugin: topkcts run --provider ./mine.so (see kernels/plugin/README.md)\n");
    json_decref(list);
    return STATUS_OK;
}
