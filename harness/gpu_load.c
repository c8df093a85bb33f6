/* SPDX-License-Identifier: Apache-2.0 */
/* Finding the loadable backends; see gpu_load.h. */
#include "harness/gpu_load.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* What people know the two by. */
static const struct {
    const char *backend, *toolkit, *driver, *driver_library, *compiler_library;
} vendors[] = {
    {"cuda", "CUDA toolkit", "NVIDIA driver", "libcuda.so", "libnvrtc.so"},
    {"hip", "HIP development files", "ROCm (HIP) library", "libamdhip64.so", "libhiprtc.so"},
};
enum { N_VENDORS = sizeof vendors / sizeof vendors[0] };

const char *gpu_binary_folder(void)
{
    static char folder[PATH_MAX];
    if (folder[0])
        return folder;
    ssize_t length = readlink("/proc/self/exe", folder, sizeof folder - 1);
    folder[length < 0 ? 0 : length] = '\0';
    char *slash = strrchr(folder, '/');
    if (slash)
        *slash = '\0';
    else
        snprintf(folder, sizeof folder, ".");
    return folder;
}

/* Opens one backend and returns what its entry gives; NULL with the reason. */
static const void *open_backend(int vendor, bool compiler, struct error *err)
{
    char path[PATH_MAX + 64];
    snprintf(path, sizeof path, "%s/backends/topkcts_%s%s.so", gpu_binary_folder(), vendors[vendor].backend,
             compiler ? "_jit" : "");
    if (access(path, R_OK) != 0) {
        error_set(err, STATUS_BOOKS,
                  "this build has no %s backend%s (no file %s): it was built without the %s; install it and run make",
                  vendors[vendor].backend, compiler ? " for compiling at run time" : "", path, vendors[vendor].toolkit);
        return NULL;
    }
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        const char *cause = dlerror();
        const char *what = compiler ? vendors[vendor].compiler_library : vendors[vendor].driver_library;
        if (cause && strstr(cause, "cannot open shared object file"))
            error_set(err, STATUS_BOOKS, "this machine has no %s (%s)",
                      compiler ? "compiler for run time" : vendors[vendor].driver, cause);
        else if (cause && strstr(cause, "undefined symbol"))
            error_set(err, STATUS_BOOKS, "the %s of this machine is too old for this build (%s)", what, cause);
        else
            error_set(err, STATUS_BOOKS, "%s: cannot be loaded: %s", path, cause ? cause : "no reason given");
        return NULL;
    }
    const void *(*entry)(void) = NULL;
    *(void **)&entry = dlsym(library, compiler ? GPU_COMPILER_ENTRY : GPU_DRIVER_ENTRY);
    const void *table = entry ? entry() : NULL;
    uint32_t    abi = 0;
    if (table)
        memcpy(&abi, table, sizeof abi); /* the first member of either table */
    if (abi != (compiler ? GPU_COMPILER_ABI : GPU_DRIVER_ABI)) {
        error_set(err, STATUS_BOOKS, "%s: was built for another version of topkcts; run make", path);
        return NULL;
    }
    return table;
}

static int vendor_of(const char *backend)
{
    int vendor = 0;
    while (vendor + 1 < N_VENDORS && strcmp(vendors[vendor].backend, backend) != 0)
        vendor++;
    return vendor;
}

const struct gpu_driver *gpu_load_driver(const char *backend, struct error *err)
{
    static const struct gpu_driver *drivers[N_VENDORS];
    int                             vendor = vendor_of(backend);
    if (!drivers[vendor])
        drivers[vendor] = open_backend(vendor, false, err);
    return drivers[vendor];
}

const struct gpu_compiler *gpu_load_compiler(const char *backend, struct error *err)
{
    static const struct gpu_compiler *compilers[N_VENDORS];
    int                               vendor = vendor_of(backend);
    if (!compilers[vendor])
        compilers[vendor] = open_backend(vendor, true, err);
    return compilers[vendor];
}
