/* SPDX-License-Identifier: Apache-2.0 */
/* Providers by name; see provider_load.h. The only code that calls dlopen for plugins. */
#include "harness/provider_load.h"

#include "harness/claims.h"
#include "harness/device.h"
#include "harness/kernel_source.h"
#include "harness/name_list.h"
#include "harness/provider_gpu.h"
#include "harness/provider_process.h"
#include "harness/provider_watched.h"
#include "harness/simulator_object.h"
#include "harness/regular_file.h"

#include <dlfcn.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PROVIDER_NAME_BYTES = 128, PROVIDER_VERSION_BYTES = 64 }; /* with the end; message.h keeps as many */

static enum status no_such_provider(const char *text, struct error *err)
{
    struct name_list names = {0};
    size_t           faulty = 0;
    name_list_add(&names, "reference");
    for (size_t i = 0; builtin_providers[i]; i++) {
        const char *name = builtin_providers[i]->provider->name;
        if (builtin_providers[i]->fault)
            faulty++;
        else
            name_list_add(&names, "%s", name);
    }
    return error_set(err, STATUS_USAGE,
                     "no provider '%s'; there are %s, %zu planted faults named faulty/NAME ('topkcts providers' lists "
                     "them), plugins by path (./mine.so), kernel sources (./mine.hip, ./mine.cu) and programs ('process:python3 mine.py')",
                     text, names.text, faulty);
}

static bool is_path(const char *text)
{
    size_t length = strlen(text);
    return (strchr(text, '/') && strncmp(text, "faulty/", 7) != 0) ||
           (length > 3 && strcmp(text + length - 3, ".so") == 0);
}

/* Whether there is a file to read; a named pipe would be waited for by whoever opens it next. */
static enum status check_file(const char *what, const char *path, struct error *err)
{
    FILE *file;
    if (regular_file_open(path, &file, err))
        return error_prefix(err, "%s", what);
    fclose(file);
    return STATUS_OK;
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
        return check_file("kernel source", text, err);
    }
    if (!is_path(text))
        return no_such_provider(text, err);
    name->kind = PROVIDER_PLUGIN;
    if (check_file("plugin", text, err))
        return err->status;
    name->is_watched = simulator_object_is_watched(text);
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
    for (const struct topk_limit *limit = provider->limits; limit && limit->name; limit++)
        if (limit->value < 1)
            return error_set(err, STATUS_USAGE, "%s: limit '%.64s' is %lld; a positive number is accepted", what,
                             limit->name, (long long)limit->value);
    return STATUS_OK;
}

static enum status check_reserved_name(const char *what, const char *name, struct error *err)
{
    if (strcmp(name, "v1") == 0 || strcmp(name, "reference") == 0 || strncmp(name, "faulty/", 7) == 0)
        return error_set(err, STATUS_USAGE,
                         "%s: it calls itself '%s', a name that topkcts keeps for itself; give it another", what, name);
    return STATUS_OK;
}

/* A name or version is a key of the store and a word in every table: one line of UTF-8 with something to see, kept
 * whole. Looks at no more than `size` bytes. */
static enum status check_text(const char *what, const char *slot, const char *text, size_t size, struct error *err)
{
    bool has_ink = false;
    if (strnlen(text, size) == size)
        return error_set(err, STATUS_USAGE, "%s: %s '%.40s...' is too long; at most %zu bytes are accepted", what, slot,
                         text, size - 1);
    for (const char *c = text; *c; c++) {
        if ((unsigned char)*c < 0x20 || *c == 0x7f)
            return error_set(err, STATUS_USAGE, "%s: %s has the control character 0x%02x; one line of text is accepted",
                             what, slot, (unsigned)(unsigned char)*c);
        has_ink |= *c != ' ';
    }
    if (!has_ink)
        return error_set(err, STATUS_USAGE, "%s: %s is blank; something to tell it by is needed", what, slot);
    json_t *checked = json_string(text);
    if (!checked)
        return error_set(err, STATUS_USAGE, "%s: %s is not UTF-8", what, slot);
    json_decref(checked);
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
    loaded->library = dlopen(full, RTLD_NOW | RTLD_LOCAL | (simulator_object_is_watched(full) ? RTLD_NODELETE : 0));
    if (!loaded->library)
        return error_set(err, STATUS_USAGE, "%s: cannot be loaded: %s", what, dlerror());
    void *symbol = dlsym(loaded->library, "topk_provider_entry");
    if (!symbol)
        return error_set(err, STATUS_USAGE,
                         "%s: exports no symbol topk_provider_entry; define it with C linkage, see harness/provider.h", what);
    const struct topk_provider *(*entry)(void);
    memcpy(&entry, &symbol, sizeof entry);
    const struct topk_provider *declared = entry();
    loaded->origin = "plugin";
    if (check_provider(what, declared, err) || check_reserved_name(path, declared->name, err) ||
        check_text(what, "name", declared->name, PROVIDER_NAME_BYTES, err) ||
        check_text(what, "version", declared->version, PROVIDER_VERSION_BYTES, err))
        return err->status;
    /* It is judged by what it declares here, whatever it does to its own tables later. */
    loaded->as_loaded = *declared;
    loaded->provider = &loaded->as_loaded;
    return STATUS_OK;
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
        if (name->builtin->place == BUILTIN_SOURCE)
            return provider_watched_load(name, loaded, err);
        if (place && place->watch && strcmp(name->text, "v1") == 0 && provider_watched_load(name, loaded, err))
            return err->status;
        digest_text(name->builtin->source ? name->builtin->source : name->builtin->provider->name, loaded->digest);
        if (loaded->is_watched)
            return STATUS_OK;
        loaded->provider = name->builtin->provider;
        loaded->origin = name->builtin->place == BUILTIN_SIMULATOR ? "sim" : "scalar";
        return check_provider(name->text, loaded->provider, err);
    case PROVIDER_PROCESS:
        return load_process(name->text, loaded, err);
    case PROVIDER_SOURCE:
        return provider_watched_load(name, loaded, err);
    default:
        if (load_plugin(name->text, loaded, err))
            return err->status;
        if (name->is_watched) { /* its "device" memory is the simulator's, which is the host's */
            static struct topk_provider on_simulator;
            on_simulator = *loaded->provider;
            on_simulator.memory = TOPK_MEMORY_HOST;
            loaded->provider = &on_simulator;
            loaded->is_watched = true;
        }
        return STATUS_OK;
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
    if (loaded->is_watched && !loaded->library)
        provider_watched_unload();
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
    if (name->is_watched || (name->kind == PROVIDER_BUILTIN && name->builtin->place != BUILTIN_HOST))
        return "sim";
    return memory == TOPK_MEMORY_HIP ? "hip:0" : memory == TOPK_MEMORY_CUDA ? "cuda:0" : "host";
}

bool provider_fits(const struct provider_name *name, enum topk_memory memory, const char *backend)
{
    const struct device_backend *device = device_backend_find(backend);
    const char *const           *backends;
    if (provider_depends_on_device(name)) {
        size_t n = kernel_backends(name, &backends);
        for (size_t i = 0; i < n; i++)
            if (strcmp(backends[i], backend) == 0)
                return true;
        return false;
    }
    if (name->is_watched || (name->kind == PROVIDER_BUILTIN && name->builtin->place != BUILTIN_HOST))
        return device->simulates;
    if (name->kind == PROVIDER_PROCESS) /* its tensors are its own affair; the harness's buffers stay on the host */
        return !device->simulates;
    return device->memory == memory && !device->simulates;
}
