/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where threads wait for each other: barriers, wave operations, the end of the block. Owns every reason for a switch
 * but atomics' bursts; leaves the choice of the next thread to schedule.cpp.
 *
 * A wave operation with a mask ends when all living lanes of the mask wait in it. One without a mask ends when all
 * living lanes of the wave wait at the same source line; when nothing in the block can run any more, the lanes of a
 * diverged wave that wait together go on as the active lanes. That is how hardware runs a branch that only some lanes
 * take and a loop that lanes leave one after the other. Hardware knows where branches meet again; here lanes that
 * are still in a loop go first, then the earlier source line.
 */
#include "kernels/simulator/fiber.h"
#include "kernels/simulator/monitor.h"
#include "kernels/simulator/schedule.h"

#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace simulator {

block the_block;

namespace {

/* What a shuffle reads from a lane that does not take part. */
constexpr uint64_t absent_lane = 0xa5c3a5c3a5c3a5c3u;

const char *const kind_names[] = {"wave barrier", "ballot", "shuffle", "match"};

/* Without its folders, as other places of findings are told. */
const char *file_name(const char *path)
{
    const char *const slash = std::strrchr(path, '/');
    return slash == nullptr ? path : slash + 1;
}

bool same_site(const site &a, const site &b)
{
    return a.line == b.line && (a.file == b.file || std::strcmp(a.file, b.file) == 0);
}

thread *lane_thread(const wave &w, unsigned lane)
{
    return &the_block.threads[static_cast<size_t>(&w - the_block.waves) * the_block.wave_size + lane];
}

template <typename Action> void for_lanes(const wave &w, uint64_t lanes, Action action)
{
    for (; lanes != 0; lanes &= lanes - 1) {
        const unsigned lane = static_cast<unsigned>(__builtin_ctzll(lanes));
        action(*lane_thread(w, lane), lane);
    }
}

uint64_t lanes_of_mask(const wave &w, const thread &t) { return t.mask == 0 ? w.alive : t.mask & w.alive; }

/* Whether two waiting lanes are in one operation. */
bool same_operation(const thread &a, const thread &b)
{
    return a.kind == b.kind && a.mask == b.mask && (a.mask != 0 || same_site(a.at, b.at));
}

uint64_t waiting_with(const wave &w, const thread &t)
{
    uint64_t group = 0;
    for_lanes(w, w.arrived, [&](const thread &other, unsigned lane) {
        if (same_operation(other, t)) group |= uint64_t{1} << lane;
    });
    return group;
}

void compute_results(const wave &w, uint64_t group, simulator_wave_kind kind)
{
    uint64_t ballot = 0;
    switch (kind) {
    case SIMULATOR_WAVE_SYNC:
        for_lanes(w, group, [&](thread &t, unsigned) { t.result = group; });
        break;
    case SIMULATOR_WAVE_BALLOT:
        for_lanes(w, group, [&](const thread &t, unsigned lane) { ballot |= uint64_t{t.value != 0} << lane; });
        for_lanes(w, group, [&](thread &t, unsigned) { t.result = ballot; });
        break;
    case SIMULATOR_WAVE_SHUFFLE:
        for_lanes(w, group, [&](thread &t, unsigned) {
            const unsigned source = static_cast<unsigned>(t.source) & (the_block.wave_size - 1);
            t.result = (group >> source & 1) != 0 ? lane_thread(w, source)->value : absent_lane;
        });
        break;
    case SIMULATOR_WAVE_MATCH:
        for_lanes(w, group, [&](thread &t, unsigned) {
            t.result = 0;
            for_lanes(w, group, [&](const thread &other, unsigned lane) {
                t.result |= uint64_t{other.value == t.value} << lane;
            });
        });
        break;
    }
}

/* Ends the operation of the lanes in `group`, which all wait in it. */
void release_group(wave &w, uint64_t group)
{
    const thread  &first = *lane_thread(w, static_cast<unsigned>(__builtin_ctzll(group)));
    const unsigned first_number = first.number - lane_of(first);
    compute_results(w, group, first.kind);
    monitor_wave(static_cast<unsigned>(&w - the_block.waves), group);
    the_block.runnable[first_number / word_bits] |= group << (first_number % word_bits);
    w.arrived &= ~group;
    w.uniform = w.arrived != 0 &&
                waiting_with(w, *lane_thread(w, static_cast<unsigned>(__builtin_ctzll(w.arrived)))) == w.arrived;
}

/* Ends the operation that `t` waits in if nobody is missing. */
void release_if_complete(wave &w, const thread &t)
{
    const uint64_t wanted = lanes_of_mask(w, t);
    if ((w.arrived & wanted) != wanted) return;
    if ((w.uniform ? w.arrived : waiting_with(w, t)) == wanted) release_group(w, wanted);
}

/* Whether the lane did an operation of this line a moment ago: then it is in a loop that others have left. */
bool in_loop(const thread &t)
{
    for (const int line : t.recent)
        if (line == t.at.line) return true;
    return false;
}

bool goes_before(const thread &a, const thread &b)
{
    if (in_loop(a) != in_loop(b)) return in_loop(a);
    return a.at.line < b.at.line;
}

/* Nothing can run: lets one diverged group of every wave go on. False when there is none. */
bool release_diverged()
{
    bool           released = false;
    const unsigned n_waves = (the_block.n_threads + the_block.wave_size - 1) / the_block.wave_size;
    for (unsigned i = 0; i < n_waves; i++) {
        wave         &w = the_block.waves[i];
        const thread *earliest = nullptr;
        for_lanes(w, w.arrived, [&](const thread &t, unsigned) {
            if (t.mask == 0 && (earliest == nullptr || goes_before(t, *earliest))) earliest = &t;
        });
        if (earliest == nullptr) continue;
        release_group(w, waiting_with(w, *earliest));
        released = true;
    }
    return released;
}

/* "waits at the barrier at F:L", for messages. */
void describe(const thread &t, char *text, size_t size)
{
    switch (t.waits) {
    case waiting_for::ended: (void)std::snprintf(text, size, "has ended"); break;
    case waiting_for::barrier:
        (void)std::snprintf(text, size, "waits at the barrier at %s:%d", file_name(t.at.file), t.at.line);
        break;
    case waiting_for::wave:
        (void)std::snprintf(text, size, "waits in the %s at %s:%d, mask 0x%llx", kind_names[t.kind],
                            file_name(t.at.file),
                            t.at.line, static_cast<unsigned long long>(t.mask));
        break;
    case waiting_for::nothing: (void)std::snprintf(text, size, "runs"); break;
    }
}

/* Names a thread that waits and one that it waits for in vain. Wave operations first: they are the nearer cause. */
[[noreturn]] void fail_deadlock()
{
    const thread *waits = nullptr;
    const thread *missing = nullptr;
    for (unsigned i = 0; i < the_block.n_threads && missing == nullptr; i++) {
        const thread &t = the_block.threads[i];
        if (t.waits != waiting_for::wave) continue;
        const wave &w = wave_of(t);
        waits = &t;
        const uint64_t absent = lanes_of_mask(w, t) & ~waiting_with(w, t);
        if (absent != 0) missing = lane_thread(w, static_cast<unsigned>(__builtin_ctzll(absent)));
    }
    for (unsigned i = 0; i < the_block.n_threads && missing == nullptr; i++) {
        const thread &t = the_block.threads[i];
        if (t.waits == waiting_for::barrier && waits == nullptr) waits = &t;
        if (t.waits == waiting_for::ended) missing = &t;
    }
    /* One waits in a wave operation, the other at a barrier: whoever is further down the source has skipped what the
     * other is in. */
    const auto is_at_barrier = [](const thread *t) { return t != nullptr && t->waits == waiting_for::barrier; };
    const bool skipped_wave = waits != nullptr && waits->waits == waiting_for::wave && is_at_barrier(missing) &&
                              std::strcmp(waits->at.file, missing->at.file) == 0 && waits->at.line < missing->at.line;
    const bool at_barrier = !skipped_wave && (is_at_barrier(waits) || is_at_barrier(missing));
    const auto   kind = at_barrier ? finding_kind::diverged_barrier : finding_kind::diverged_wave;
    char what[200] = "does not run";
    char why[200] = "never comes";
    if (waits != nullptr) describe(*waits, what, sizeof what);
    if (missing != nullptr) describe(*missing, why, sizeof why);
    fail_block(kind, "thread %u %s, but thread %u %s; all participants must get there", waits == nullptr ? 0 : waits->number, what, missing == nullptr ? 0 : missing->number, why);
}

/* The running thread waits, or has been released: passes control on. `after` as in schedule_next. */
void run_next(const thread *after)
{
    block &b = the_block;
    thread *next = schedule_next(after);
    if (next == nullptr && b.n_ended == b.n_threads) next = &b.launcher;
    if (next == nullptr && release_diverged()) next = schedule_next(after);
    if (next == nullptr) fail_deadlock();
    simulator_atomics_left = schedule_burst();
    if (next != b.current) fiber_switch(next);
}

} // namespace

void thread_ended()
{
    thread &t = *the_block.current;
    wave   &w = wave_of(t);
    monitor_thread_ended(the_block.n_ended + 1 == the_block.n_threads);
    t.waits = waiting_for::ended;
    the_block.n_ended++;
    clear_runnable(t.number);
    w.alive &= ~(uint64_t{1} << lane_of(t));
    /* Those who wait for this lane may have nobody else to wait for. */
    const uint64_t waiting = w.arrived;
    for_lanes(w, waiting, [&](const thread &other, unsigned lane) {
        if ((w.arrived >> lane & 1) != 0) release_if_complete(w, other);
    });
    run_next(&t);
}

void fail_with_finding()
{
    monitor_choose_finding();
    the_block.failed = true;
    fiber_switch(&the_block.launcher);
    std::abort(); /* an abandoned fiber is never resumed */
}

void fail_block(finding_kind kind, const char *format, ...)
{
    finding &f = finding_begin(kind);
    va_list  arguments;
    va_start(arguments, format);
    (void)std::vsnprintf(f.text, sizeof f.text, format, arguments);
    va_end(arguments);
    fail_with_finding();
}

} // namespace simulator

using namespace simulator;

int64_t simulator_atomics_left = INT64_MAX;

void simulator_switch_at_atomic(void) { run_next(the_block.current); }

void simulator_switch_in_turn(void)
{
    thread *const next = schedule_next_in_turn();
    simulator_atomics_left = schedule_burst();
    if (next != the_block.current) fiber_switch(next);
}

unsigned simulator_barrier(bool predicate, const char *file, int line)
{
    block  &b = the_block;
    thread &t = *b.current;
    t.at = {file, line};
    if (b.n_at_barrier == 0) {
        b.barrier_first = t.number;
        b.barrier_at = t.at;
    } else if (!same_site(b.barrier_at, t.at)) {
        fail_block(finding_kind::diverged_barrier, "thread %u waits at %s:%d, thread %u at %s:%d; all threads of a block must meet "
                   "at one barrier",
                   b.barrier_first, file_name(b.barrier_at.file), b.barrier_at.line, t.number, file_name(file), line);
    }
    b.barrier_votes += predicate ? 1 : 0;
    b.n_at_barrier++;
    if (b.n_at_barrier < b.n_threads) {
        t.waits = waiting_for::barrier;
        clear_runnable(t.number);
        run_next(&t);
        t.waits = waiting_for::nothing;
    } else {
        b.barrier_count = b.barrier_votes;
        b.barrier_votes = 0;
        b.n_at_barrier = 0;
        monitor_barrier();
        all_runnable();
        run_next(nullptr);
    }
    return b.barrier_count;
}

uint64_t simulator_wave_operation(enum simulator_wave_kind kind, uint64_t mask, uint64_t value, int source,
                                  const char *file, int line)
{
    thread        &t = *the_block.current;
    wave          &w = wave_of(t);
    const uint64_t own = uint64_t{1} << lane_of(t);
    t.kind = kind;
    t.source = source;
    t.value = value;
    t.at = {file, line};
    /* Lanes that the block does not have may be named. */
    t.mask = mask == 0 || the_block.wave_size == 64 ? mask : mask & 0xffffffffu;
    if (t.mask != 0 && (t.mask & own) == 0)
        fail_block(finding_kind::diverged_wave,
                   "thread %u: %s at %s:%d with mask 0x%llx, which lacks its own lane %u", t.number, kind_names[kind],
                   file_name(file), line, static_cast<unsigned long long>(mask), lane_of(t));
    t.waits = waiting_for::wave;
    clear_runnable(t.number);
    const thread *const other =
        w.arrived == 0 ? nullptr : lane_thread(w, static_cast<unsigned>(__builtin_ctzll(w.arrived)));
    w.uniform = other == nullptr || (w.uniform && same_operation(*other, t));
    w.arrived |= own;
    release_if_complete(w, t);
    run_next(&t);
    t.waits = waiting_for::nothing;
    t.recent[t.n_done++ % 4] = line;
    return t.result;
}
