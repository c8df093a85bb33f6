/* SPDX-License-Identifier: Apache-2.0 */
/* What the call-outs tell the monitor: how a thread touches memory. Between callouts.cpp and monitor.cpp. */
#ifndef TOPKCTS_SIMULATOR_MONITOR_ACCESS_H
#define TOPKCTS_SIMULATOR_MONITOR_ACCESS_H

#include <cstddef>
#include <cstdint>

namespace simulator {

enum access_way : uint8_t {
    ACCESS_LOAD,
    ACCESS_STORE,
    ACCESS_VOLATILE_LOAD,
    ACCESS_VOLATILE_STORE,
    ACCESS_UPDATE, /* an atomic that reads and writes */
    ACCESS_ATOMIC_LOAD,
    ACCESS_ATOMIC_STORE
};

/* A load or store that begins. `may_be_unwritten`: whole objects are copied with their padding. Does not return when
 * it is a finding. */
void note_access(uintptr_t address, size_t bytes, uint8_t way, bool may_be_unwritten, uintptr_t pc);

/* The same for atomics, which order what surrounds them. `may_be_unwritten`: an exchange, whose result may be dropped. */
void note_sync(uintptr_t address, size_t bytes, uint8_t way, bool may_be_unwritten, uintptr_t pc);

void note_fence(bool device);

} // namespace simulator

#endif
