/* SPDX-License-Identifier: Apache-2.0 */
/* Providers by name; see provider_load.h. The only code that calls dlopen for plugins. */
#include "harness/provider_load.h"

#include "harness/claims.h"
#include "harness/device.h"
#include "harness/kernel_source.h"
#include "harness/provider_gpu.h"
#include "harness/provider_process.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static enum status no_such_provider(const char *text, struct error *err)
{
    char   names[512];
    size_t used = (size_t)snprintf(names, sizeof names, "reference");
    size_t faulty = 0;
    for (size_t i = 0; builtin_providers[i]; i++) {
        const char *name = builtin_providers[i]->provider->name;
        if (builtin_providers[i]->fault)
            faulty++;
        else if (used < sizeof names)
            used += (size_t)snprintf(names + used, sizeof names - used, ", %s", name);
    }
    return error_set(err, STATUS_USAGE,
                     "no provider '%s'; there are %s, %zu planted faults named faulty/NAME ('topkcts providers' lists "
                     "them), plugins by path (./mine.so), kernel sources (./mine.hip, ./mine.cu) and programs ('process:python3 mine.py')",
                     text, names, faulty);
}

static bool is_path(const char *text)
{
    size_t length = strlen(text);
    return (strchr(text, '/') && strncmp(text, "faulty/", 7) != 0) ||
           (length > 3 && strcmp(text + length - 3, ".so") == 0);
}

enum status provider_find(const char *text, struct provider_name *name, struct error *err)
{
    *name = (struct provider_name){.text = text};
    if (strcmp(text, provider_reference.name) == 0) {
        name->kind = PROVIDER_REFERENCE;
        return STATUS_OK;
    }
    for (size_t i = 0; builtin_providers[i]; i++)
        if (strcmp(builtin_providers[i]->provider->name, text) == 0) {
            name->kind = PROVIDER_BUILTIN;
            name->builtin = builtin_providers[i];
            return STATUS_OK;
        }
    if (process_is_named(text)) {
        name->kind = PROVIDER_PROCESS;
        return STATUS_OK;
    }
    if (kernel_source_is_named(text)) {
        name->kind = PROVIDER_SOURCE;
        if (access(text, R_OK) != 0)
            return error_set(err, STATUS_USAGE, "kernel source %s: cannot be read: %s", text, strerror(errno));
        return STATUS_OK;
    }
    if (!is_path(text))
        return no_such_provider(text, err);
    name->kind = PROVIDER_PLUGIN;
    if (access(text, R_OK) != 0)
        return error_set(err, STATUS_USAGE, "plugin %s: cannot be read: %s", text, strerror(errno));
    return STATUS_OK;
}

/* What a provider must have before any of its functions is called. */
static enum status check_provider(const char *what, const struct topk_provider *provider, struct error *err)
{
    if (!provider)
        return error_set(err, STATUS_USAGE, "%s: topk_provider_entry returned NULL; it must return a provider", what);
    if (provider->abi != TOPK_PROVIDER_ABI)
        return error_set(err, STATUS_USAGE,
                         "%s: built for ABI %u, this harness speaks ABI %u; rebuild it against this harness/provider.h",
                         what, provider->abi, TOPK_PROVIDER_ABI);
    if (!provider->name || !provider->name[0] || !provider->version)
        return error_set(err, STATUS_USAGE, "%s: the slots name and version must be set", what);
    const char *missing = !provider->open ? "open" : !provider->launch ? "launch" : !provider->close ? "close" : NULL;
    if (missing)
        return error_set(err, STATUS_USAGE, "%s: the slot %s is NULL; only supports, workspace_bytes, path and limits are optional",
                         what, missing);
    if ((unsigned)provider->memory > TOPK_MEMORY_CUDA)
        return error_set(err, STATUS_USAGE, "%s: memory is %u; TOPK_MEMORY_HOST, _HIP or _CUDA is accepted", what,
                         (unsigned)provider->memory);
    if (claims_validate(&provider->claims, err))
        return error_prefix(err, "%s", what);
    return STATUS_OK;
}

static enum status check_reserved_name(const char *what, const char *name, struct error *err)
{
    if (strcmp(name, "v1") == 0 || strcmp(name, "reference") == 0 || strncmp(name, "faulty/", 7) == 0)
        return error_set(err, STATUS_USAGE,
                         "%s: it calls itself '%s', a name that topkcts keeps for itself; give it another", what, name);
    return STATUS_OK;
}

static enum status load_plugin(const char *path, struct loaded_provider *loaded, struct error *err)
{
    char        what[512];
    const char *full = strchr(path, '/') ? path : NULL;
    char        here[4096];
    snprintf(what, sizeof what, "plugin %s", path);
    if (!full) { /* dlopen would search the library path for a bare name */
        snprintf(here, sizeof here, "./%s", path);
        full = here;
    }
    if (digest_of_file(full, loaded->digest, err))
        return err->status;
    loaded->library = dlopen(full, RTLD_NOW | RTLD_LOCAL);
    if (!loaded->library)
        return error_set(err, STATUS_USAGE, "%s: cannot be loaded: %s", what, dlerror());
    void *symbol = dlsym(loaded->library, "topk_provider_entry");
    if (!symbol)
        return error_set(err, STATUS_USAGE,
                         "%s: exports no symbol topk_provider_entry; define it with C linkage, see harness/provider.h", what);
    const struct topk_provider *(*entry)(void);
    memcpy(&entry, &symbol, sizeof entry);
    loaded->provider = entry();
    loaded->origin = "plugin";
    if (check_provider(what, loaded->provider, err))
        return err->status;
    return check_reserved_name(what, loaded->provider->name, err);
}

static enum status load_process(const char *command, struct loaded_provider *loaded, struct error *err)
{
    loaded->origin = "process";
    loaded->is_process = true;
    if (process_start(command, &loaded->provider, loaded->digest, &loaded->unavailable, err))
        return err->status;
    return check_reserved_name(command, loaded->provider->name, err);
}

/* A built-in is identified by its source and by what built it. */
static void digest_text(const char *text, char hex[DIGEST_HEX])
{
    struct digest digest;
    digest_begin(&digest);
    digest_add(&digest, text, strlen(text));
    digest_add(&digest, __VERSION__, sizeof __VERSION__);
    digest_end(&digest, hex);
}

bool provider_depends_on_device(const struct provider_name *name)
{
    return name->kind == PROVIDER_SOURCE || (name->kind == PROVIDER_BUILTIN && strcmp(name->text, "v1") == 0);
}

static enum status load_for_gpu(const struct provider_name *name, const struct provider_place *place,
                                struct loaded_provider *loaded, struct error *err)
{
    const struct device_backend *backend;
    int                          ordinal;
    if (device_parse(place->device, &backend, &ordinal, err) ||
        provider_gpu_load(name, backend->name, ordinal, place->origin, loaded, err))
        return err->status;
    loaded->is_gpu_kernel = true;
    return STATUS_OK;
}

enum status provider_load(const struct provider_name *name, const struct provider_place *place,
                          struct loaded_provider *loaded, struct error *err)
{
    memset(loaded, 0, sizeof *loaded);
    if (provider_depends_on_device(name) && place && device_is_gpu(place->device))
        return load_for_gpu(name, place, loaded, err);
    switch (name->kind) {
    case PROVIDER_REFERENCE:
        loaded->provider = &provider_reference;
        loaded->origin = "scalar";
        digest_text(provider_reference.version, loaded->digest);
        return STATUS_OK;
    case PROVIDER_BUILTIN:
        loaded->provider = name->builtin->provider;
        loaded->origin = name->builtin->place == BUILTIN_SIMULATOR ? "sim" : "scalar";
        digest_text(name->builtin->source ? name->builtin->source : loaded->provider->name, loaded->digest);
        return check_provider(name->text, loaded->provider, err);
    case PROVIDER_PROCESS:
        return load_process(name->text, loaded, err);
    case PROVIDER_SOURCE:
        return error_set(err, STATUS_BOOKS, "kernel source %s: this build cannot run it on %s", name->text,
                         place ? place->device : "the simulator");
    default:
        return load_plugin(name->text, loaded, err);
    }
}

void provider_unload(struct loaded_provider *loaded)
{
    if (loaded->library)
        dlclose(loaded->library);
    if (loaded->is_process)
        process_stop();
    if (loaded->is_gpu_kernel)
        provider_gpu_unload();
    memset(loaded, 0, sizeof *loaded);
}

/* The first device of these backends that this machine has; the last is taken for granted. */
static const char *first_present(const char *const *backends, size_t n)
{
    static const char *const first_devices[][2] = {{"hip", "hip:0"}, {"cuda", "cuda:0"}, {"sim", "sim"}};
    for (size_t i = 0; i < n; i++)
        for (size_t d = 0; d < sizeof first_devices / sizeof first_devices[0]; d++) {
            struct store_device record;
            struct error        none = {0};
            if (strcmp(first_devices[d][0], backends[i]) == 0 &&
                (i + 1 == n || !device_describe(first_devices[d][1], &record, &none)))
                return first_devices[d][1];
        }
    return "sim";
}

/* Where v1 and kernel sources run, in order of preference; how many. */
static size_t kernel_backends(const struct provider_name *name, const char *const **backends)
{
    static const char *const v1[] = {"hip", "cuda", "sim"}, *const hip[] = {"hip", "sim"}, *const cuda[] = {"cuda", "sim"};
    if (name->kind == PROVIDER_BUILTIN) {
        *backends = v1;
        return 3;
    }
    size_t length = strlen(name->text);
    *backends = length > 3 && strcmp(name->text + length - 3, ".cu") == 0 ? cuda : hip;
    return 2;
}

const char *provider_default_device(const struct provider_name *name, enum topk_memory memory)
{
    const char *const *backends;
    if (provider_depends_on_device(name)) {
        size_t n = kernel_backends(name, &backends);
        return first_present(backends, n);
    }
    if (name->kind == PROVIDER_BUILTIN && name->builtin->place == BUILTIN_SIMULATOR)
        return "sim";
    return memory == TOPK_MEMORY_HIP ? "hip:0" : memory == TOPK_MEMORY_CUDA ? "cuda:0" : "host";
}

bool provider_fits(const struct provider_name *name, enum topk_memory memory, const char *backend)
{
    static const char *const by_memory[] = {"host", "hip", "cuda"};
    const char *const       *backends;
    if (provider_depends_on_device(name)) {
        size_t n = kernel_backends(name, &backends);
        for (size_t i = 0; i < n; i++)
            if (strcmp(backends[i], backend) == 0)
                return true;
        return false;
    }
    if (name->kind == PROVIDER_BUILTIN && name->builtin->place == BUILTIN_SIMULATOR)
        return strcmp(backend, "sim") == 0;
    if (name->kind == PROVIDER_PROCESS) /* its tensors are its own affair; the harness's buffers stay on the host */
        return strcmp(backend, "sim") != 0;
    return strcmp(backend, by_memory[memory]) == 0;
}
