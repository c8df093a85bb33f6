/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Scheduling decisions over the bitmap of runnable threads. The deterministic orders keep to one wave until all its
 * threads wait: that is as legal an order as any, and the wave's stacks stay in the cache.
 */
#include "kernels/simulator/schedule.h"

#include <cstring>

namespace simulator {

namespace {

struct simulator_schedule in_force = {32, SIMULATOR_ROUND_ROBIN, 0};

uint64_t random_state;
uint32_t blocks;
uint32_t block_multiplier; /* block i of a random launch is (i * multiplier + offset) mod blocks */
uint32_t block_offset;

/* splitmix64 (Steele, Lea, Flood 2014). */
uint64_t random_bits()
{
    uint64_t z = random_state += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

uint32_t greatest_common_divisor(uint32_t a, uint32_t b)
{
    while (b != 0) {
        const uint32_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* A runnable thread's bit within its word: the bits of the wave that thread `number` belongs to. */
uint64_t wave_bits(unsigned number)
{
    if (the_block.wave_size == 64) return ~uint64_t{0};
    return number % word_bits < 32 ? uint64_t{0xffffffff} : uint64_t{0xffffffff} << 32;
}

unsigned lowest(uint64_t bits) { return static_cast<unsigned>(__builtin_ctzll(bits)); }
unsigned highest(uint64_t bits) { return 63 - static_cast<unsigned>(__builtin_clzll(bits)); }

unsigned n_words() { return (the_block.n_threads + word_bits - 1) / word_bits; }

thread *thread_at(unsigned word, unsigned bit) { return &the_block.threads[word * word_bits + bit]; }

/* The next thread of the wave, cyclic. */
thread *own_ascending(unsigned after)
{
    const unsigned word = after / word_bits;
    const uint64_t own = the_block.runnable[word] & wave_bits(after);
    const uint64_t above = own & ~((uint64_t{2} << (after % word_bits)) - 1);
    if (above != 0) return thread_at(word, lowest(above));
    return own != 0 ? thread_at(word, lowest(own)) : nullptr;
}

thread *own_descending(unsigned after)
{
    const unsigned word = after / word_bits;
    const uint64_t own = the_block.runnable[word] & wave_bits(after);
    const uint64_t below = own & ((uint64_t{1} << (after % word_bits)) - 1);
    if (below != 0) return thread_at(word, highest(below));
    return own != 0 ? thread_at(word, highest(own)) : nullptr;
}

/* Ascending and cyclic: the wave of `last`, then the waves behind it; from thread 0 when there is no last. */
thread *next_ascending(const thread *last)
{
    if (last == nullptr) last = &the_block.threads[the_block.n_threads - 1];
    else if (thread *const own_wave = own_ascending(last->number)) return own_wave;
    const unsigned after = last->number;
    const unsigned word = after / word_bits;
    const uint64_t later_waves = the_block.runnable[word] & ~((uint64_t{2} << highest(wave_bits(after))) - 1);
    if (later_waves != 0) return thread_at(word, lowest(later_waves));
    const unsigned n = n_words();
    for (unsigned i = 1; i <= n; i++) {
        const unsigned w = (word + i) % n;
        if (the_block.runnable[w] != 0) return thread_at(w, lowest(the_block.runnable[w]));
    }
    return nullptr;
}

/* The mirror image. */
thread *next_descending(const thread *last)
{
    if (last == nullptr) last = &the_block.threads[0];
    else if (thread *const own_wave = own_descending(last->number)) return own_wave;
    const unsigned after = last->number;
    const unsigned word = after / word_bits;
    const uint64_t earlier_waves = the_block.runnable[word] & ((uint64_t{1} << lowest(wave_bits(after))) - 1);
    if (earlier_waves != 0) return thread_at(word, highest(earlier_waves));
    const unsigned n = n_words();
    for (unsigned i = 1; i <= n; i++) {
        const unsigned w = (word + n - i % n) % n;
        if (the_block.runnable[w] != 0) return thread_at(w, highest(the_block.runnable[w]));
    }
    return nullptr;
}

thread *next_random(const thread *after)
{
    const uint64_t random = random_bits();
    const unsigned rotation = (random >> 8) % word_bits;
    const auto     pick = [rotation](unsigned word, uint64_t bits) {
        const uint64_t rotated = rotation == 0 ? bits : (bits >> rotation) | (bits << (word_bits - rotation));
        return thread_at(word, (lowest(rotated) + rotation) % word_bits);
    };
    /* Three of four times the same wave goes on: waves that lag and waves that run ahead both occur. */
    if (after != nullptr && (random & 3) != 0) {
        const unsigned word = after->number / word_bits;
        const uint64_t own = the_block.runnable[word] & wave_bits(after->number);
        if (own != 0) return pick(word, own);
    }
    const unsigned n = n_words();
    const unsigned first = (random >> 32) % n;
    for (unsigned i = 0; i < n; i++) {
        const unsigned w = (first + i) % n;
        if (the_block.runnable[w] != 0) return pick(w, the_block.runnable[w]);
    }
    return nullptr;
}

/* ---- priorities, delays ----------------------------------------------------------------------------------------- */

uint16_t priority[max_threads]; /* the smallest runs first */
uint16_t lowest_priority;       /* given to who falls behind */
int64_t  change_points[4];      /* of the launch, in atomics and switches; INT64_MAX: it has been */

/* The runnable threads by priority: bit p of `ranked` is the thread of priority p. Brought up to date from `known`, the
 * runnable threads when it was last. */
constexpr unsigned n_ranks = max_threads + word_bits; /* a launch has fewer falls than a word has bits */
uint64_t           ranked[n_ranks / word_bits];
uint64_t           known[max_threads / word_bits];
uint16_t           thread_of_rank[n_ranks];
unsigned n_change_points;
int64_t  steps_done;            /* atomics and switches */
int64_t  granted;               /* the burst in force */
unsigned victim; /* the wave or thread that is held back */

unsigned in_turn; /* the thread that ran last because another one waited in a loop */

void shuffle_priorities()
{
    for (unsigned i = 0; i < max_threads; i++) priority[i] = static_cast<uint16_t>(i);
    for (unsigned i = max_threads - 1; i > 0; i--) {
        const unsigned j = static_cast<unsigned>(random_bits() % (i + 1));
        const uint16_t kept = priority[i];
        priority[i] = priority[j];
        priority[j] = kept;
    }
    for (unsigned i = 0; i < max_threads; i++) thread_of_rank[priority[i]] = static_cast<uint16_t>(i);
    std::memset(ranked, 0, sizeof ranked);
    std::memset(known, 0, sizeof known);
    lowest_priority = max_threads;
    n_change_points = static_cast<unsigned>(random_bits() % 4);
    for (unsigned i = 0; i < n_change_points; i++)
        change_points[i] = static_cast<int64_t>(random_bits() % (uint64_t{1} << (4 + random_bits() % 12)));
}

void fall_behind(unsigned number)
{
    if (lowest_priority == n_ranks) return;
    const unsigned from = priority[number];
    const uint64_t bit = ranked[from / word_bits] >> (from % word_bits) & 1;
    ranked[from / word_bits] &= ~(uint64_t{1} << (from % word_bits));
    ranked[lowest_priority / word_bits] |= bit << (lowest_priority % word_bits);
    thread_of_rank[lowest_priority] = static_cast<uint16_t>(number);
    priority[number] = lowest_priority++;
}

/* At a change point whoever ran falls behind all others. */
void pass_change_points()
{
    steps_done += granted - (simulator_atomics_left > 0 ? simulator_atomics_left : 0) + 1;
    granted = 0;
    for (unsigned i = 0; i < n_change_points; i++) {
        if (change_points[i] > steps_done) continue;
        change_points[i] = INT64_MAX;
        if (the_block.current != &the_block.launcher) fall_behind(the_block.current->number);
    }
}

thread *next_by_priority()
{
    pass_change_points();
    for (unsigned w = 0; w < n_words(); w++) {
        for (uint64_t changed = the_block.runnable[w] ^ known[w]; changed != 0; changed &= changed - 1) {
            const unsigned rank = priority[w * word_bits + lowest(changed)];
            ranked[rank / word_bits] ^= uint64_t{1} << (rank % word_bits);
        }
        known[w] = the_block.runnable[w];
    }
    for (unsigned w = 0; w < n_ranks / word_bits; w++)
        if (ranked[w] != 0) return &the_block.threads[thread_of_rank[w * word_bits + lowest(ranked[w])]];
    return nullptr;
}

/* At random, but the victims only when nobody else can run. */
thread *next_but_victims(const thread *after)
{
    uint64_t held[max_threads / word_bits];
    bool     others = false;
    for (unsigned w = 0; w < n_words(); w++) {
        held[w] = 0;
        if (in_force.order == SIMULATOR_STARVED_THREAD && victim / word_bits == w)
            held[w] = the_block.runnable[w] & uint64_t{1} << (victim % word_bits);
        if (in_force.order == SIMULATOR_DELAYED_WAVE && victim / word_bits == w)
            held[w] = the_block.runnable[w] & wave_bits(victim);
        others |= (the_block.runnable[w] & ~held[w]) != 0;
    }
    if (!others) return next_random(after);
    for (unsigned w = 0; w < n_words(); w++) the_block.runnable[w] &= ~held[w];
    thread *const next = next_random(after);
    for (unsigned w = 0; w < n_words(); w++) the_block.runnable[w] |= held[w];
    return next;
}

/* Whoever has the highest priority goes on up to the next change point. */
int64_t burst_by_priority()
{
    int64_t next = INT64_MAX;
    for (unsigned i = 0; i < n_change_points; i++)
        if (change_points[i] != INT64_MAX && change_points[i] - steps_done < next) next = change_points[i] - steps_done;
    return granted = next == INT64_MAX ? next / 2 : next;
}

bool is_deterministic() { return in_force.order == SIMULATOR_ROUND_ROBIN || in_force.order == SIMULATOR_REVERSED; }

} // namespace

void schedule_begin_launch(uint32_t n_blocks, unsigned n_threads)
{
    random_state = in_force.seed * 0xd1342543de82ef95u + 0x2545f4914f6cdd1du;
    the_block.wave_size = static_cast<unsigned>(in_force.wave_size);
    blocks = n_blocks;
    block_multiplier = 1;
    block_offset = 0;
    steps_done = 0;
    granted = simulator_atomics_left = 0;
    in_turn = 0;
    if (in_force.order == SIMULATOR_PRIORITIES) shuffle_priorities();
    if (in_force.order == SIMULATOR_DELAYED_WAVE || in_force.order == SIMULATOR_STARVED_THREAD)
        victim = static_cast<unsigned>(random_bits() % n_threads);
    if (!is_deterministic() && n_blocks > 1) {
        do {
            block_multiplier = static_cast<uint32_t>(random_bits() % n_blocks);
        } while (greatest_common_divisor(block_multiplier, n_blocks) != 1);
        block_offset = static_cast<uint32_t>(random_bits() % n_blocks);
    }
}

uint32_t schedule_block(uint32_t i)
{
    if (in_force.order == SIMULATOR_REVERSED) return blocks - 1 - i;
    return static_cast<uint32_t>((uint64_t{i} * block_multiplier + block_offset) % blocks);
}

uint32_t schedule_poison()
{
    return !is_deterministic() ? static_cast<uint32_t>(random_bits()) | 1u : 0xa5a5a5a5u;
}

thread *schedule_next(const thread *after)
{
    switch (in_force.order) {
    case SIMULATOR_REVERSED: return next_descending(after);
    case SIMULATOR_RANDOM: return next_random(after);
    case SIMULATOR_PRIORITIES: return next_by_priority();
    case SIMULATOR_DELAYED_WAVE:
    case SIMULATOR_STARVED_THREAD: return next_but_victims(after);
    case SIMULATOR_ROUND_ROBIN: break;
    }
    return next_ascending(after);
}

thread *schedule_next_in_turn()
{
    for (unsigned i = 0; i < the_block.n_threads; i++) {
        in_turn = (in_turn + 1) % the_block.n_threads;
        if ((the_block.runnable[in_turn / word_bits] >> (in_turn % word_bits) & 1) != 0) return &the_block.threads[in_turn];
    }
    return the_block.current;
}

int64_t schedule_burst()
{
    if (is_deterministic()) return INT64_MAX;
    if (in_force.order == SIMULATOR_PRIORITIES) return burst_by_priority();
    const uint64_t random = random_bits();
    const unsigned longest_log2[4] = {0, 2, 4, 7};
    return static_cast<int64_t>((random >> 2) & ((1u << longest_log2[random & 3]) - 1));
}

} // namespace simulator

void simulator_set_schedule(const struct simulator_schedule *schedule)
{
    simulator::in_force = *schedule;
    simulator::in_force.wave_size = schedule->wave_size == 64 ? 64 : 32;
}

struct simulator_schedule simulator_schedule_number(int wave_size, uint64_t number)
{
    static const enum simulator_order turns[] = {SIMULATOR_RANDOM, SIMULATOR_PRIORITIES, SIMULATOR_DELAYED_WAVE,
                                                 SIMULATOR_RANDOM, SIMULATOR_STARVED_THREAD, SIMULATOR_PRIORITIES};
    struct simulator_schedule         schedule = {wave_size, SIMULATOR_ROUND_ROBIN, number - 1};
    if (number == 2) schedule.order = SIMULATOR_REVERSED;
    if (number > 2) schedule.order = turns[(number - 3) % (sizeof turns / sizeof turns[0])];
    return schedule;
}

const char *simulator_order_name(enum simulator_order order)
{
    static const char *const names[] = {"round-robin", "reversed", "random", "priorities", "delayed wave",
                                        "starved thread"};
    return names[order];
}

const struct simulator_schedule *simulator_schedule(void) { return &simulator::in_force; }
