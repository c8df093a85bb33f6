/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Scheduling decisions over the bitmap of runnable threads. The deterministic orders keep to one wave until all its
 * threads wait: that is as legal an order as any, and the wave's stacks stay in the cache.
 */
#include "kernels/simulator/schedule.h"

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
int64_t  change_points[4];      /* atomics until the next fall, of the launch */
unsigned n_change_points;
int64_t  atomics_done;
unsigned victim; /* the wave or thread that is held back */

void shuffle_priorities()
{
    for (unsigned i = 0; i < max_threads; i++) priority[i] = static_cast<uint16_t>(i);
    for (unsigned i = max_threads - 1; i > 0; i--) {
        const unsigned j = static_cast<unsigned>(random_bits() % (i + 1));
        const uint16_t kept = priority[i];
        priority[i] = priority[j];
        priority[j] = kept;
    }
    lowest_priority = max_threads;
    n_change_points = static_cast<unsigned>(random_bits() % 4);
    for (unsigned i = 0; i < n_change_points; i++)
        change_points[i] = static_cast<int64_t>(random_bits() % (uint64_t{1} << (4 + random_bits() % 12)));
}

thread *next_by_priority()
{
    thread  *best = nullptr;
    unsigned least = ~0u;
    for (unsigned w = 0; w < n_words(); w++)
        for (uint64_t bits = the_block.runnable[w]; bits != 0; bits &= bits - 1) {
            thread *const t = thread_at(w, lowest(bits));
            if (priority[t->number] < least) {
                least = priority[t->number];
                best = t;
            }
        }
    return best;
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

/* Bursts of atomics for whoever has the highest priority, cut at the change points; there it falls behind. */
int64_t burst_by_priority()
{
    int64_t next = INT64_MAX;
    for (unsigned i = 0; i < n_change_points; i++) {
        if (change_points[i] == atomics_done && the_block.current->number < max_threads && lowest_priority < UINT16_MAX)
            priority[the_block.current->number] = lowest_priority++;
        if (change_points[i] > atomics_done && change_points[i] - atomics_done < next)
            next = change_points[i] - atomics_done;
    }
    if (next == INT64_MAX) return next;
    atomics_done += next;
    return next;
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
    atomics_done = 0;
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
