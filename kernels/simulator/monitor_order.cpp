/* SPDX-License-Identifier: Apache-2.0 */
/* Happens-before for blocks, waves and atomics; see monitor_order.h. Start reading at order_is_before(). */
#include "kernels/simulator/monitor_order.h"

#include "kernels/simulator/block.h"

#include <algorithm>
#include <cstring>
#include <unordered_map>
#include <vector>

namespace simulator {

uint32_t order_block;
uint32_t order_first_block;

namespace {

constexpr uint32_t clock_limit = 0xf0000000u;
constexpr size_t   most_events = size_t{1} << 21; /* 48 MiB; beyond it, atomics order everything */

uint32_t now;          /* synchronising events so far */
uint32_t block_begun;  /* the clock at which the running block began */
uint32_t last_barrier; /* of the running block; its begin counts */
uint32_t thread_clock[max_threads];
uint32_t whole_wave[max_threads / 32]; /* when all lanes of the wave met last */
uint32_t met_lane[max_threads][64];    /* when the thread met this lane of its wave in a smaller group */

/* An atomic: who, where, when. */
struct atomic_event {
    uintptr_t address;
    uint32_t  block;
    uint32_t  clock;
    uint16_t  thread;
    bool      is_lds;
};

struct fence_event {
    uint32_t block;
    uint32_t clock;
    uint16_t thread;
};

std::vector<atomic_event> atomics; /* of the launch */
size_t                    atomics_of_block; /* where the running block's begin */
size_t                    atomics_of_phase; /* since the last barrier */
bool                      too_many;
std::vector<fence_event>  fences;
std::vector<uint32_t>     barriers; /* clocks, of the launch; block begins among them */
uint64_t                  digest;

bool barrier_between(uint32_t earlier, uint32_t later)
{
    size_t low = 0;
    size_t high = barriers.size();
    while (low < high) {
        const size_t middle = (low + high) / 2;
        if (barriers[middle] > earlier) high = middle;
        else low = middle + 1;
    }
    return low < barriers.size() && barriers[low] <= later;
}

/* Whether a chain of atomics leads from the access to the running thread: backwards from now, an atomic of a thread
 * that is known opens its place, and an atomic at an open place makes its thread known. Waves count as one, since their
 * lanes meet more often than they are asked about. */
bool atomics_lead_from(const seen_access &earlier)
{
    if (too_many) return true;
    const unsigned self = the_block.current->number;
    const unsigned own_wave = wave_number(self);
    uint32_t       waves = 0;                                           /* known ones, the own one left out */
    uint64_t       lanes = uint64_t{1} << lane_number(self);            /* known ones of the own wave */
    std::unordered_map<uintptr_t, bool> open;
    for (size_t i = atomics.size(); i-- > atomics_of_phase;) {
        const atomic_event &e = atomics[i];
        const unsigned      wave = wave_number(e.thread);
        const uint64_t      lane = uint64_t{1} << lane_number(e.thread);
        const bool          own = wave == own_wave;
        if (e.clock <= earlier.clock) break;
        bool known = own ? (lanes & lane) != 0 : (waves >> wave & 1) != 0;
        if (!known && open.count(e.address) != 0) {
            known = true;
            if (own) lanes |= lane;
            else waves |= uint32_t{1} << wave;
        }
        if (!known) continue;
        if (own ? e.thread == earlier.thread : wave == wave_number(earlier.thread)) return true;
        open[e.address] = true;
    }
    return false;
}

/* Whether the store was released by the time of an atomic of its own block. */
bool fence_covers(const seen_access &store, const atomic_event *by)
{
    for (const fence_event &f : fences) {
        if (f.block != store.block || f.clock <= store.clock) continue;
        const bool store_before = f.thread == store.thread || barrier_between(store.clock, f.clock) ||
                                  wave_number(f.thread) == wave_number(store.thread);
        if (!store_before) continue;
        if (by == nullptr) return true;
        if (f.clock <= by->clock && (f.thread == by->thread || barrier_between(f.clock, by->clock) ||
                                     wave_number(f.thread) == wave_number(by->thread)))
            return true;
    }
    return false;
}

bool known_to_running_thread(const atomic_event &e)
{
    const unsigned self = the_block.current->number;
    return e.thread == self || e.clock < last_barrier || wave_number(e.thread) == wave_number(self);
}

/* An atomic of the other block, after a fence that covers the access, and a later one of this block at the same place. */
bool blocks_are_ordered(const seen_access &earlier)
{
    if (too_many) return true;
    std::unordered_map<uintptr_t, bool> released;
    for (size_t i = 0; i < atomics.size(); i++) {
        const atomic_event &e = atomics[i];
        if (e.is_lds) continue;
        if (e.block == earlier.block && e.clock > earlier.clock && released.count(e.address) == 0 &&
            fence_covers(earlier, &e))
            released[e.address] = true;
        else if (e.block == order_block && released.count(e.address) != 0 && known_to_running_thread(e))
            return true;
    }
    return false;
}

/* Orders between blocks that were found, so that a last block reads many partial results cheaply. */
std::unordered_map<uint64_t, uint32_t> ordered_blocks;

bool other_block_is_before(const seen_access &earlier)
{
    const uint64_t key = uint64_t{earlier.block} << 16 | earlier.thread;
    const auto     found = ordered_blocks.find(key);
    if (found != ordered_blocks.end() && earlier.clock <= found->second) return true;
    if (!blocks_are_ordered(earlier)) return false;
    /* Holds for the whole block only after a barrier; kept for those who ask next is right for this thread only, so it
     * is dropped at the next switch of block and never kept before the first barrier. */
    if (last_barrier != block_begun) ordered_blocks[key] = earlier.clock;
    return true;
}

} // namespace

void order_begin_launch()
{
    if (now > clock_limit) {
        now = 0;
        std::memset(thread_clock, 0, sizeof thread_clock);
        std::memset(whole_wave, 0, sizeof whole_wave);
        std::memset(met_lane, 0, sizeof met_lane);
    }
    order_first_block = order_block + 1;
    atomics.clear();
    atomics_of_block = atomics_of_phase = 0;
    fences.clear();
    barriers.clear();
    too_many = false;
    digest = 0x9e3779b97f4a7c15u;
}

void order_begin_block()
{
    if (++order_block == 0) order_block = 1;
    block_begun = last_barrier = ++now;
    barriers.push_back(now);
    /* LDS is gone with its block. */
    const auto lds = [](const atomic_event &e) { return e.is_lds; };
    atomics.erase(std::remove_if(atomics.begin() + static_cast<ptrdiff_t>(atomics_of_block), atomics.end(), lds),
                  atomics.end());
    atomics_of_block = atomics_of_phase = atomics.size();
    ordered_blocks.clear();
}

void order_barrier()
{
    last_barrier = ++now;
    barriers.push_back(now);
    atomics_of_phase = atomics.size();
}

void order_wave(unsigned wave, uint64_t group)
{
    const unsigned first = wave * the_block.wave_size;
    const unsigned left = the_block.n_threads - first < the_block.wave_size ? the_block.n_threads - first
                                                                            : the_block.wave_size;
    const uint64_t all = left == 64 ? ~uint64_t{0} : (uint64_t{1} << left) - 1;
    now++;
    if (group == all) {
        whole_wave[wave] = now;
        return;
    }
    uint32_t joined[64] = {0};
    for (uint64_t lanes = group; lanes != 0; lanes &= lanes - 1) {
        const unsigned lane = static_cast<unsigned>(__builtin_ctzll(lanes));
        for (unsigned i = 0; i < 64; i++)
            if (met_lane[first + lane][i] > joined[i]) joined[i] = met_lane[first + lane][i];
    }
    for (uint64_t lanes = group; lanes != 0; lanes &= lanes - 1)
        joined[static_cast<unsigned>(__builtin_ctzll(lanes))] = now;
    for (uint64_t lanes = group; lanes != 0; lanes &= lanes - 1) {
        const unsigned lane = static_cast<unsigned>(__builtin_ctzll(lanes));
        std::memcpy(met_lane[first + lane], joined, sizeof joined);
        thread_clock[first + lane] = now;
    }
}

void order_atomic(uintptr_t address, bool is_lds)
{
    const unsigned thread = the_block.current->number;
    thread_clock[thread] = ++now;
    digest = (digest ^ (address & 0xfffffu) ^ (uint64_t{thread} << 40) ^ (uint64_t{simulator_block_index.x} << 52)) *
             0x9ddfea08eb382d69u;
    digest ^= digest >> 29;
    if (atomics.size() < most_events)
        atomics.push_back({address, order_block, now, static_cast<uint16_t>(thread), is_lds});
    else
        too_many = true;
}

void order_fence(bool device)
{
    const unsigned thread = the_block.current->number;
    thread_clock[thread] = ++now;
    if (device) fences.push_back({order_block, now, static_cast<uint16_t>(thread)});
}

uint32_t order_clock()
{
    const unsigned thread = the_block.current->number;
    uint32_t       clock = thread_clock[thread];
    const uint32_t wave = whole_wave[wave_number(thread)];
    if (wave > clock) clock = wave;
    return last_barrier > clock ? last_barrier : clock;
}

bool order_is_before(const seen_access &earlier)
{
    const unsigned self = the_block.current->number;
    if (earlier.block != order_block) return earlier.block < order_first_block || other_block_is_before(earlier);
    if (earlier.thread == self || earlier.clock < last_barrier) return true;
    if (wave_number(earlier.thread) == wave_number(self)) {
        if (earlier.clock < whole_wave[wave_number(self)]) return true;
        if (earlier.clock < met_lane[self][lane_number(earlier.thread)]) return true;
    }
    return atomics_lead_from(earlier);
}

bool order_is_released(const seen_access &store) { return fence_covers(store, nullptr); }

uint64_t order_digest() { return digest; }

} // namespace simulator
