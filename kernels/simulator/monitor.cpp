/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the call-outs of an instrumented kernel mean: every access against the shadow of the word it touches. Start
 * reading at note_load(), note_store() and note_sync(); the rules of order are monitor_order.h's.
 */
#include "kernels/simulator/monitor.h"

#include "kernels/simulator/fiber.h"
#include "kernels/simulator/memory.h"
#include "kernels/simulator/monitor_order.h"
#include "kernels/simulator/monitor_access.h"

#include <cstdio>
#include <cstring>
#include <vector>

unsigned char *simulator_lds_arena;

namespace simulator {

bool monitor_is_on;

namespace {

bool          was_on; /* in the last launch */
const module *where;
uintptr_t     lds_begin;
size_t        lds_bytes;
uintptr_t     static_end; /* LDS from here on is dynamic */
uintptr_t     dynamic_end;
shadow_cell  *lds_cells;
size_t        lds_cell_bytes;
std::vector<uint8_t> lds_legal; /* for each byte of the arena: a mark of its object, 0 between objects */

/* A store over somebody else's unordered store: no finding if it turns out to store the same bytes. */
struct pending_store {
    bool          is_on;
    unsigned char bytes[16];
    finding       what;
};
pending_store pending;

/* A store to global memory that may not be visible to other blocks yet. */
struct buffered_word {
    uintptr_t address;
    uint32_t  before;
    uint32_t  after;
    bool      is_hidden;
};
std::vector<buffered_word> stored;  /* by the running block, oldest first */
std::vector<buffered_word> delayed; /* by blocks that ended: hidden until the launch ends */

const char *const way_names[] = {"reads", "writes", "reads (volatile)", "writes (volatile)", "updates atomically",
                                 "loads atomically", "stores atomically"};

bool is_store(uint8_t way)
{
    return way == ACCESS_STORE || way == ACCESS_VOLATILE_STORE || way == ACCESS_UPDATE || way == ACCESS_ATOMIC_STORE;
}
bool is_plain(uint8_t way) { return way == ACCESS_LOAD || way == ACCESS_STORE; }

uint32_t block_index_of(uint32_t running_number);

/* ---- findings ------------------------------------------------------------------------------------------------- */

finding &begin_access(finding_kind kind, uintptr_t address, unsigned bytes, uint8_t way, uintptr_t pc)
{
    finding &f = finding_begin(kind);
    f.access.what = way_names[way];
    f.access.pc = pc;
    f.address = address;
    f.bytes = bytes;
    f.is_lds = address - lds_begin < lds_bytes;
    return f;
}

/* A finding that waits until the next barrier, since the cause may be another one. A read of LDS that nobody has written:
 * when somebody writes the word by then, it is a race that one order of threads shows like this. A race with a thread that
 * waits at a barrier: when the barrier is one that others never come to, that is why. Whatever else goes wrong meanwhile
 * follows from it. */
struct held_finding {
    bool     is_on;
    unsigned patience; /* accesses; the wrong value may be the bound of a loop */
    finding  what;
};
held_finding       held;
constexpr unsigned held_patience = 1u << 22;

void settle_held()
{
    if (!held.is_on) return;
    held.is_on = false;
    the_finding = held.what;
    fail_with_finding();
}

/* A race in the array that was read unwritten is why it was; one elsewhere may follow from what was read. */
bool same_lds_object(uintptr_t a, uintptr_t b)
{
    if (a - lds_begin >= lds_bytes || b - lds_begin >= lds_bytes) return false;
    if (a >= static_end || b >= static_end) return a >= static_end && b >= static_end;
    return lds_legal[a - lds_begin] == lds_legal[b - lds_begin];
}

void hold(const finding &f)
{
    if (!held.is_on) held = {true, held_patience, f};
    the_finding = {};
}

/* A race within the block: at once, unless the other thread waits at a barrier. */
void report_race(const finding &f)
{
    if (held.is_on && held.what.kind != finding_kind::race && same_lds_object(f.address, held.what.address))
        held.is_on = false;
    if (!f.other_block && the_block.threads[f.before.thread].waits == waiting_for::barrier) {
        hold(f);
        return;
    }
    the_finding = f;
    fail_with_finding();
}

[[noreturn]] void out_of_bounds(uintptr_t address, unsigned bytes, uint8_t way, uintptr_t pc)
{
    (void)begin_access(finding_kind::out_of_bounds, address, bytes, way, pc);
    fail_with_finding();
}

void race(const seen_access &earlier, uintptr_t address, unsigned bytes, uint8_t way, uintptr_t pc)
{
    finding &f = begin_access(finding_kind::race, address, bytes, way, pc);
    f.before.what = way_names[earlier.way];
    f.before.block = earlier.block == order_block ? simulator_block_index.x : block_index_of(earlier.block);
    f.before.thread = earlier.thread;
    f.before.pc = where->base + earlier.pc;
    f.other_block = earlier.block != order_block;
    (void)std::snprintf(f.text, sizeof f.text, "%s",
                        f.other_block ? "no fence and atomic orders the two blocks"
                                      : "no barrier, wave operation or atomic orders them");
    const bool both_store = (way == ACCESS_STORE && earlier.way == ACCESS_STORE) ||
                            (way == ACCESS_VOLATILE_STORE && earlier.way == ACCESS_VOLATILE_STORE);
    if (!both_store || bytes > sizeof pending.bytes) {
        report_race(f);
        return;
    }
    pending.is_on = true;
    pending.what = f;
    std::memcpy(pending.bytes, reinterpret_cast<const void *>(address), bytes);
    the_finding = {};
}

void settle_pending()
{
    pending.is_on = false;
    if (std::memcmp(pending.bytes, reinterpret_cast<const void *>(pending.what.address), pending.what.bytes) == 0)
        return;
    report_race(pending.what);
}

inline void settle()
{
    if (__builtin_expect(pending.is_on, 0)) settle_pending();
    if (__builtin_expect(held.is_on, 0) && held.patience-- == 0) settle_held();
}

/* ---- one word --------------------------------------------------------------------------------------------------- */

inline seen_access make_access(uint8_t mask, uint8_t way, uintptr_t pc)
{
    return {order_block, order_clock(), static_cast<uint32_t>(pc - where->base),
            static_cast<uint16_t>(the_block.current->number), mask, way};
}

/* What an access is checked for: its word, its place, how it came. */
struct touch {
    shadow_cell *cell;
    uintptr_t    address;
    unsigned     bytes;
    uint8_t      mask; /* of this word */
    uint8_t      way;
    uintptr_t    pc;
    uint32_t     first_block; /* accesses of blocks before it are of no interest */
};

/* Whether the access meets what the running thread does, in no order. */
inline bool conflicts(const seen_access &earlier, const touch &t)
{
    return (earlier.mask & t.mask) != 0 && earlier.block >= t.first_block && !order_is_before(earlier);
}

void keep_load(shadow_cell &cell, const seen_access &now)
{
    if (cell.loads[0].thread != now.thread || cell.loads[0].block != now.block) cell.loads[1] = cell.loads[0];
    cell.loads[0] = now;
}

/* Against the plain stores that the word remembers. */
inline void check_stores(const shadow_cell &cell, const touch &t)
{
    if (conflicts(cell.store, t)) race(cell.store, t.address, t.bytes, t.way, t.pc);
    for (unsigned i = 0; i < cell.n_parts; i++)
        if (conflicts(cell.parts[i], t)) race(cell.parts[i], t.address, t.bytes, t.way, t.pc);
}

/* Threads that store to the bytes of one word are all remembered. */
inline void keep_store(shadow_cell &cell, const seen_access &now)
{
    constexpr uint8_t whole = 0xf;
    if ((now.mask & 1) != 0) {
        cell.store = now;
        if (now.mask == whole) cell.n_parts = 0;
        return;
    }
    if (cell.n_parts == 0)
        for (seen_access &part : cell.parts) part.mask = 0;
    cell.n_parts = 3;
    cell.parts[__builtin_ctz(now.mask) - 1] = now;
}

void touch_load(const touch &t)
{
    shadow_cell &cell = *t.cell;
    check_stores(cell, t);
    if (is_plain(t.way) && conflicts(cell.sync, t)) race(cell.sync, t.address, t.bytes, t.way, t.pc);
    keep_load(cell, make_access(t.mask, t.way, t.pc));
}

/* What each thread saw when it did its last volatile load. */
struct look {
    uintptr_t address;
    uint32_t  block;
    uint32_t  value;
};
look last_look[max_threads];

void keep_look(uintptr_t address, size_t bytes)
{
    look &own = last_look[the_block.current->number];
    own = {address, order_block, 0};
    if (bytes <= sizeof own.value) std::memcpy(&own.value, reinterpret_cast<const void *>(address), bytes);
    else own.block = 0;
}

/* A volatile store over what another thread has stored since this one looked: that store is lost. Volatile accesses race
 * with nothing, but no order of threads can be right here. Stores of what stands there already lose nothing. */
void check_lost_update(const shadow_cell &cell, const touch &t)
{
    const look &own = last_look[the_block.current->number];
    uint32_t    value = 0;
    if (own.address != t.address || own.block != order_block || t.bytes > sizeof value) return;
    std::memcpy(&value, reinterpret_cast<const void *>(t.address), t.bytes);
    if (value != own.value && cell.sync.block == order_block && conflicts(cell.sync, t))
        race(cell.sync, t.address, t.bytes, t.way, t.pc);
}

void touch_store(const touch &t, uint32_t epoch)
{
    shadow_cell &cell = *t.cell;
    const bool   plain = is_plain(t.way);
    check_stores(cell, t);
    if (t.way == ACCESS_VOLATILE_STORE) check_lost_update(cell, t);
    if (plain && conflicts(cell.sync, t)) race(cell.sync, t.address, t.bytes, t.way, t.pc);
    for (const seen_access &load : cell.loads)
        if ((plain || is_plain(load.way)) && conflicts(load, t)) race(load, t.address, t.bytes, t.way, t.pc);
    const seen_access now = make_access(t.mask, t.way, t.pc);
    if (plain) keep_store(cell, now);
    else cell.sync = now;
    if (cell.written_in != epoch) {
        cell.written_in = epoch;
        cell.written = 0;
    }
    cell.written = static_cast<uint16_t>(cell.written | t.mask);
}

void check_written(const touch &t, uint32_t epoch, finding_kind kind)
{
    if (t.cell->written_in == epoch && (t.cell->written & t.mask) == t.mask) return;
    if (held.is_on) return;
    finding &f = begin_access(kind, t.address, t.bytes, t.way, t.pc);
    (void)std::snprintf(f.text, sizeof f.text, "nobody has written it %s",
                        kind == finding_kind::uninitialised_lds ? "in this block" : "since the problem began");
    if (kind != finding_kind::uninitialised_lds) fail_with_finding();
    hold(f);
}

/* Calls `action` with each word that the access touches. `cells`: of the memory that begins at `begin`. */
template <typename Action>
inline void for_words(shadow_cell *cells, uintptr_t begin, uintptr_t address, size_t bytes, uint8_t way, uintptr_t pc,
                      uint32_t first_block, Action action)
{
    const uintptr_t first_word = begin & ~uintptr_t{3};
    for (size_t done = 0; done < bytes;) {
        const uintptr_t at = address + done;
        const unsigned  within = at & 3;
        const unsigned  here = bytes - done < 4 - within ? static_cast<unsigned>(bytes - done) : 4 - within;
        touch           t = {&cells[(at - first_word) / 4], address, static_cast<unsigned>(bytes),
                             static_cast<uint8_t>(((1u << here) - 1) << within), way, pc, first_block};
        action(t);
        done += here;
    }
}

/* ---- LDS and global memory --------------------------------------------------------------------------------------- */

inline bool lds_is_legal(uintptr_t address, size_t bytes)
{
    if (address >= static_end) return address + bytes <= dynamic_end;
    const size_t offset = address - lds_begin;
    return lds_legal[offset] != 0 && lds_legal[offset] == lds_legal[offset + bytes - 1];
}

void access_lds(uintptr_t address, size_t bytes, uint8_t way, bool may_be_unwritten, uintptr_t pc)
{
    if (!lds_is_legal(address, bytes)) out_of_bounds(address, static_cast<unsigned>(bytes), way, pc);
    for_words(lds_cells, lds_begin, address, bytes, way, pc, order_block, [may_be_unwritten](const touch &t) {
        if (!is_store(t.way) || t.way == ACCESS_UPDATE)
            if (!may_be_unwritten) check_written(t, order_block, finding_kind::uninitialised_lds);
        if (is_store(t.way)) touch_store(t, order_block);
        else touch_load(t);
    });
}

/* Keeps what a store will hide from other blocks if nothing makes it visible. */
void buffer_words(uintptr_t address, size_t bytes, const memory_range &range)
{
    for (uintptr_t at = address & ~uintptr_t{3}; at < address + bytes; at += 4) {
        if (at < range.begin || at + 4 > range.end) continue;
        uint32_t before = 0;
        std::memcpy(&before, reinterpret_cast<const void *>(at), sizeof before);
        stored.push_back({at, before, 0, false});
    }
}

void access_range(memory_range &range, uintptr_t address, size_t bytes, uint8_t way, bool may_be_unwritten, uintptr_t pc)
{
    if (address + bytes > range.end) out_of_bounds(address, static_cast<unsigned>(bytes), way, pc);
    if (range.kind == SIMULATOR_INPUT) {
        if (!is_store(way)) return;
        (void)begin_access(finding_kind::writes_input, address, static_cast<unsigned>(bytes), way, pc);
        fail_with_finding();
    }
    if (range.cells == nullptr) return; /* no memory for a shadow: bounds alone are checked */
    const bool must_be_written = !may_be_unwritten && (range.kind == SIMULATOR_OUTPUT || range.kind == SIMULATOR_WORKSPACE);
    const finding_kind kind = range.kind == SIMULATOR_OUTPUT ? finding_kind::uninitialised_output
                                                             : finding_kind::uninitialised_workspace;
    if ((way == ACCESS_STORE || way == ACCESS_VOLATILE_STORE) && simulator_grid_dim.x > 1)
        buffer_words(address, bytes, range);
    const uint32_t epoch = range.epoch;
    for_words(range.cells, range.begin, address, bytes, way, pc, order_first_block, [=](const touch &t) {
        if (must_be_written && (!is_store(t.way) || t.way == ACCESS_UPDATE)) check_written(t, epoch, kind);
        if (is_store(t.way)) touch_store(t, epoch);
        else touch_load(t);
    });
}

void access_memory(uintptr_t address, size_t bytes, uint8_t way, bool may_be_unwritten, uintptr_t pc)
{
    if (memory_range *const range = memory_at(address)) {
        access_range(*range, address, bytes, way, may_be_unwritten, pc);
        return;
    }
    if (fibers_own(address)) return;
    if (address >= where->begin && address + bytes <= where->end) return; /* constants */
    out_of_bounds(address, static_cast<unsigned>(bytes), way, pc);
}

void access_any(uintptr_t address, size_t bytes, uint8_t way, bool may_be_unwritten, uintptr_t pc)
{
    if (bytes == 0) return;
    if (address - lds_begin < lds_bytes) access_lds(address, bytes, way, may_be_unwritten, pc);
    else access_memory(address, bytes, way, may_be_unwritten, pc);
}

/* ---- launches and blocks ------------------------------------------------------------------------------------------ */

std::vector<uint32_t> block_indices; /* blockIdx.x by running number, from the launch's first block on */

uint32_t block_index_of(uint32_t running_number)
{
    const uint32_t i = running_number - order_first_block;
    return i < block_indices.size() ? block_indices[i] : 0;
}

/* Every byte of the arena: 0 between objects, else 1 to 255, different for neighbours. */
void mark_objects(const module &m)
{
    lds_legal.assign(m.lds_bytes + 16, 0);
    uint8_t mark = 0;
    for (const module_object &object : m.shared) {
        mark = mark == 255 ? 1 : static_cast<uint8_t>(mark + 1);
        std::memset(&lds_legal[object.begin - lds_begin], mark, object.bytes);
    }
}

void enter_module(const module &m)
{
    lds_begin = reinterpret_cast<uintptr_t>(m.lds);
    lds_bytes = m.lds_bytes;
    static_end = m.dynamic_lds;
    if (lds_cells != nullptr && lds_cell_bytes < (m.lds_bytes / 4 + 2) * sizeof(shadow_cell)) lds_cells = nullptr;
    if (lds_cells == nullptr) lds_cells = memory_map_cells(m.lds_bytes, &lds_cell_bytes);
    mark_objects(m);
    for (const module_object &variable : m.variables)
        (void)memory_add(variable.begin, variable.bytes, SIMULATOR_MEMORY, variable.name.c_str());
    where = &m;
}

/* Whether what the running block has stored into the word stays its own. */
bool is_unreleased(const shadow_cell &cell)
{
    const auto own = [](const seen_access &a) { return a.block == order_block && a.mask != 0; };
    for (unsigned i = 0; i < cell.n_parts; i++)
        if (own(cell.parts[i]) && !order_is_released(cell.parts[i])) return true;
    const seen_access &last = own(cell.store) ? cell.store : cell.sync;
    return own(last) && (last.way == ACCESS_STORE || last.way == ACCESS_VOLATILE_STORE) && !order_is_released(last);
}

/* Stores that no fence has released go out of sight of the blocks that follow. */
void hide_unreleased()
{
    for (size_t i = stored.size(); i-- > 0;) {
        buffered_word            &word = stored[i];
        const memory_range *const range = memory_at(word.address);
        if (range == nullptr || range->cells == nullptr) continue;
        shadow_cell       &cell = range->cells[(word.address - (range->begin & ~uintptr_t{3})) / 4];
        if (!is_unreleased(cell)) continue;
        /* Newest first, so that the value before the first store comes back in the end. */
        std::memcpy(&word.after, reinterpret_cast<const void *>(word.address), sizeof word.after);
        std::memcpy(reinterpret_cast<void *>(word.address), &word.before, sizeof word.before);
        word.is_hidden = true;
    }
    for (const buffered_word &word : stored)
        if (word.is_hidden) delayed.push_back(word);
    stored.clear();
}

} // namespace

void monitor_begin_launch(const module *module_of_kernel, const simulator_launch &launch)
{
    was_on = monitor_is_on = module_of_kernel != nullptr;
    simulator_lds_arena = nullptr;
    pending.is_on = false;
    held.is_on = false;
    stored.clear();
    delayed.clear();
    block_indices.clear();
    if (!monitor_is_on) return;
    if (where != module_of_kernel) enter_module(*module_of_kernel);
    simulator_lds_arena = where->lds;
    dynamic_end = where->dynamic_lds + launch.dynamic_lds;
    order_begin_launch();
}

void monitor_end_launch()
{
    for (const buffered_word &word : delayed)
        std::memcpy(reinterpret_cast<void *>(word.address), &word.after, sizeof word.after);
    delayed.clear();
    stored.clear();
    monitor_is_on = false;
}

void monitor_begin_block()
{
    if (!monitor_is_on) return;
    order_begin_block();
    block_indices.push_back(simulator_block_index.x);
}

void monitor_end_block()
{
    if (!monitor_is_on) return;
    if (simulator_grid_dim.x > 1) hide_unreleased();
}

void monitor_barrier()
{
    if (!monitor_is_on) return;
    settle();
    settle_held();
    order_barrier();
}

void monitor_wave(unsigned wave, uint64_t group)
{
    if (!monitor_is_on) return;
    settle();
    order_wave(wave, group);
}

void monitor_thread_ended(bool is_last)
{
    if (!monitor_is_on) return;
    settle();
    if (is_last) settle_held();
}

void monitor_choose_finding()
{
    const bool is_cause = held.what.kind == finding_kind::race && the_finding.kind == finding_kind::diverged_barrier;
    if (held.is_on && !is_cause) the_finding = held.what;
    held.is_on = false;
}

bool monitor_is_lds(uintptr_t address) { return address - lds_begin < lds_bytes; }

uint64_t monitor_atomic_order() { return was_on ? order_digest() : 0; }

/* ---- for the call-outs --------------------------------------------------------------------------------------------- */

void note_access(uintptr_t address, size_t bytes, uint8_t way, bool may_be_unwritten, uintptr_t pc)
{
    if (__builtin_expect(!monitor_is_on, 0)) return; /* host code of a module */
    settle();
    access_any(address, bytes, way, may_be_unwritten, pc);
    if (way == ACCESS_VOLATILE_LOAD) keep_look(address, bytes);
}

void note_sync(uintptr_t address, size_t bytes, uint8_t way, bool may_be_unwritten, uintptr_t pc)
{
    if (!monitor_is_on) return;
    settle();
    access_any(address, bytes, way, may_be_unwritten, pc);
    order_atomic(address, address - lds_begin < lds_bytes);
}

void note_fence(bool device)
{
    if (!monitor_is_on) return;
    settle();
    order_fence(device);
}

} // namespace simulator
