/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A module: a shared object that holds instrumented kernels. Knows where its LDS arrays and variables lie and which
 * source line an address belongs to (libelf, libdw); knows nothing of threads.
 *
 * `__shared__` objects are thread-local objects of the module. Its calls of __tls_get_addr end in module_entry.S, so
 * that they lie in memory that the simulator provides: one arena for each module, with the gaps between objects that
 * the build put there (harness/simulator_build.c).
 */
#ifndef TOPKCTS_SIMULATOR_MODULE_H
#define TOPKCTS_SIMULATOR_MODULE_H

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace simulator {

/* An LDS array or a variable. */
struct module_object {
    std::string name; /* demangled */
    uintptr_t   begin; /* address; of LDS: within the arena */
    size_t      bytes;
};

struct module {
    std::string                path;
    uintptr_t                  base;         /* what addresses of the file are relative to */
    uintptr_t                  begin, end;   /* of everything loaded */
    unsigned char             *lds;          /* the arena; page aligned */
    size_t                     lds_bytes;
    uintptr_t                  dynamic_lds;  /* where `extern __shared__` begins, at the arena's end */
    size_t                     static_bytes; /* of LDS objects, gaps not counted */
    std::vector<module_object> shared;       /* static LDS, by address */
    std::vector<module_object> variables;    /* of global memory: __device__ variables */
};

/* The module that holds the address; NULL when it is none (an object without module_entry.S). Kept for the life of the
 * process: a module must not be unloaded before its last launch. */
const module *module_of(const void *address);

/* "k.hip:33", the innermost place that is not in the simulator's own headers; false when there is no debug
 * information. */
bool module_source_line(const module &where, uintptr_t pc, char *text, size_t size);

/* "hist[12]": the object at the address, and its place in elements as wide as the access. False when there is none. */
bool module_describe(const std::vector<module_object> &objects, uintptr_t address, unsigned bytes, char *text,
                     size_t size);

} // namespace simulator

#endif
