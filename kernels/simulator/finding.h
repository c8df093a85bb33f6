/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A finding: what is wrong with a kernel, in terms that its author can act on. Recorded inside the running block,
 * where stacks are small; spelt after it, with source lines from debug information. Owns the words and the sentences.
 */
#ifndef TOPKCTS_SIMULATOR_FINDING_H
#define TOPKCTS_SIMULATOR_FINDING_H

#include <cstddef>
#include <cstdint>

namespace simulator {

/* Each with the word that a reason begins with. */
#define SIMULATOR_FINDING_LIST(X)                                                                                      \
    X(none, "")                                                                                                        \
    X(race, "race")                                                                                                    \
    X(uninitialised_lds, "uninitialised-lds")                                                                          \
    X(uninitialised_output, "uninitialised-output")                                                                    \
    X(uninitialised_workspace, "uninitialised-workspace")                                                              \
    X(out_of_bounds, "out-of-bounds")                                                                                  \
    X(misaligned, "misaligned")                                                                                        \
    X(writes_input, "writes-input")                                                                                    \
    X(diverged_barrier, "diverged-barrier")                                                                            \
    X(diverged_wave, "diverged-wave")                                                                                  \
    X(deadlock, "deadlock")                                                                                            \
    X(lds_over_budget, "lds-over-budget")

enum class finding_kind : unsigned char {
#define SIMULATOR_FINDING_VALUE(name, word) name,
    SIMULATOR_FINDING_LIST(SIMULATOR_FINDING_VALUE)
#undef SIMULATOR_FINDING_VALUE
};

const char *finding_word(finding_kind kind);

/* One access, as messages tell it. */
struct finding_access {
    const char *what;   /* "reads", "adds atomically to" */
    uint32_t    block;  /* blockIdx.x */
    unsigned    thread; /* linear within the block */
    uintptr_t   pc;     /* return address of the call-out; 0: unknown */
};

struct finding {
    finding_kind   kind;
    finding_access access;   /* of the running thread */
    finding_access before;   /* the other one; what == NULL: there is none */
    uintptr_t      address;
    unsigned       bytes;
    bool           is_lds;
    bool           other_block; /* the two accesses are of different blocks */
    char           text[256]; /* instead of accesses, or what is to be added; may be empty */
};

/* The finding of the launch that runs or ran last; kind none when there is none. */
extern finding the_finding;

/* "race: kernel K, block 0, thread 5: ..." for the_finding, once the block has been left. */
void finding_spell(const char *kernel, char *err, size_t err_size);

/* Records the kind and the place of the running thread; text and accesses are the caller's to fill in. */
finding &finding_begin(finding_kind kind);

} // namespace simulator

#endif
