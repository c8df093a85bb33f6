/* SPDX-License-Identifier: Apache-2.0 */
/* The list of ranges, sorted by address; see memory.h. */
#include "kernels/simulator/memory.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <sys/mman.h>
#include <vector>

namespace simulator {

namespace {

std::vector<memory_range> ranges;
size_t                    last_hit; /* kernels go on where they were */
uint32_t                  last_epoch;

struct spare_cells {
    shadow_cell *cells;
    size_t       bytes;
};

/* Shadows of ranges that are gone: their cells name blocks that have ended, and need no clearing. */
std::vector<spare_cells> spares;

void take_cells(memory_range &range, size_t bytes)
{
    for (size_t i = 0; i < spares.size(); i++) {
        if (spares[i].bytes < (bytes / 4 + 2) * sizeof(shadow_cell)) continue;
        range.cells = spares[i].cells;
        range.cell_bytes = spares[i].bytes;
        spares.erase(spares.begin() + static_cast<ptrdiff_t>(i));
        return;
    }
    range.cells = memory_map_cells(bytes, &range.cell_bytes);
}

} // namespace

shadow_cell *memory_map_cells(size_t bytes, size_t *mapped)
{
    *mapped = (bytes / 4 + 2) * sizeof(shadow_cell);
    void *const cells =
        mmap(nullptr, *mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return cells == MAP_FAILED ? nullptr : static_cast<shadow_cell *>(cells);
}

memory_range *memory_at(uintptr_t address)
{
    if (last_hit < ranges.size() && address >= ranges[last_hit].begin && address < ranges[last_hit].end)
        return &ranges[last_hit];
    for (size_t i = 0; i < ranges.size(); i++)
        if (address >= ranges[i].begin && address < ranges[i].end) {
            last_hit = i;
            return &ranges[i];
        }
    return nullptr;
}

memory_range *memory_add(uintptr_t begin, size_t bytes, enum simulator_buffer_kind kind, const char *name)
{
    memory_remove(begin);
    if (++last_epoch == 0) last_epoch = 1;
    memory_range range = {begin, begin + bytes, kind, name, nullptr, 0, last_epoch};
    if (kind != SIMULATOR_INPUT) take_cells(range, bytes);
    const auto place = std::find_if(ranges.begin(), ranges.end(),
                                    [begin](const memory_range &other) { return other.begin > begin; });
    return &*ranges.insert(place, range);
}

void memory_remove(uintptr_t begin)
{
    for (size_t i = 0; i < ranges.size(); i++) {
        if (ranges[i].begin != begin) continue;
        if (ranges[i].cells != nullptr) spares.push_back({ranges[i].cells, ranges[i].cell_bytes});
        ranges.erase(ranges.begin() + static_cast<ptrdiff_t>(i));
        return;
    }
}

void memory_mark_written(uintptr_t address, size_t bytes)
{
    memory_range *const range = memory_at(address);
    if (range == nullptr || range->cells == nullptr) return;
    const uintptr_t end = std::min(address + bytes, range->end);
    for (uintptr_t word = address & ~uintptr_t{3}; word < end; word += 4) {
        shadow_cell &cell = range->cells[(word - (range->begin & ~uintptr_t{3})) / 4];
        if (cell.written_in != range->epoch) cell.written = 0;
        cell.written_in = range->epoch;
        for (unsigned i = 0; i < 4; i++)
            if (word + i >= address && word + i < end) cell.written = static_cast<uint16_t>(cell.written | 1u << i);
    }
}

void memory_describe(uintptr_t address, char *text, size_t size)
{
    const memory_range *nearest = nullptr;
    uintptr_t           distance = UINTPTR_MAX;
    for (const memory_range &range : ranges) {
        const uintptr_t away = address < range.begin ? range.begin - address : address < range.end ? 0 : address - range.end + 1;
        if (away < distance) {
            distance = away;
            nearest = &range;
        }
    }
    if (nearest == nullptr || distance > (uintptr_t{1} << 30)) {
        (void)std::snprintf(text, size, "0x%zx, no memory of the kernel", static_cast<size_t>(address));
        return;
    }
    const size_t bytes = nearest->end - nearest->begin;
    if (address < nearest->begin)
        (void)std::snprintf(text, size, "memory %zu bytes before %s", static_cast<size_t>(distance), nearest->name);
    else if (address >= nearest->end)
        (void)std::snprintf(text, size, "memory %zu bytes past the end of %s (%zu bytes)",
                            static_cast<size_t>(address - nearest->end), nearest->name, bytes);
    else
        (void)std::snprintf(text, size, "%s[%zu]", nearest->name, static_cast<size_t>((address - nearest->begin) / 4));
}

} // namespace simulator

void simulator_add_buffer(const char *name, const void *at, size_t bytes, enum simulator_buffer_kind kind)
{
    if (at != nullptr && bytes > 0) (void)simulator::memory_add(reinterpret_cast<uintptr_t>(at), bytes, kind, name);
}

void simulator_mark_written(const void *at, size_t bytes)
{
    simulator::memory_mark_written(reinterpret_cast<uintptr_t>(at), bytes);
}

void simulator_remove_buffer(const void *at) { simulator::memory_remove(reinterpret_cast<uintptr_t>(at)); }
