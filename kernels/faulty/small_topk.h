/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The small correct kernel that every planted kernel fault spoils in one place, and the provider around it.
 *
 * One block per row, or rows in a persistent loop when the grid is smaller than the batch. A row longer than topk goes
 * through a radix selection of 8 bits a pass over full keys, from the second pass on over a bounded buffer of
 * candidates if they fit; then tile after tile of the row is compacted by block scans: ascending indices, ties to the
 * lowest.
 *
 * A fault is one file that defines one SMALL_TOPK_* hook in its own, wrong way, includes this header and ends with
 * SMALL_TOPK_FAULT. A kernel source (faulty/sources/) defines SMALL_TOPK_AS_SOURCE and ends with the include: it becomes
 * `topk_kernel`, one block a row. With no hook defined the kernel is correct and canonical; a test instantiates that, too.
 * Compiled for the simulator only (-x c++ -Ikernels/simulator/include), with the root of the repository on the path.
 */
#ifndef TOPKCTS_SMALL_TOPK_H
#define TOPKCTS_SMALL_TOPK_H

#include "kernels/port.h"

#ifndef SMALL_TOPK_AS_SOURCE
#include "kernels/builtin.h"
#include "kernels/simulator/simulator.h"
#endif

#define SMALL_TOPK_BLOCK 256
#define SMALL_TOPK_DIGITS 256

/* Hooks: the correct text of each place that a fault may replace. */

#ifndef SMALL_TOPK_CANDIDATES /* keys in LDS */
#define SMALL_TOPK_CANDIDATES 1024
#endif
#ifndef SMALL_TOPK_DYNAMIC_LDS /* bytes that the launch asks for */
#define SMALL_TOPK_DYNAMIC_LDS 0
#endif
#ifndef SMALL_TOPK_GRID /* blocks that serve the rows, each block one row after the other */
#define SMALL_TOPK_GRID(batch) (static_cast<uint32_t>(batch))
#endif
#ifndef SMALL_TOPK_COUNT /* one more key with this digit */
#define SMALL_TOPK_COUNT(digit) ((void)atomicAdd(&digit_count[digit], 1u))
#endif
#ifndef SMALL_TOPK_KEY /* the key of a score */
#define SMALL_TOPK_KEY(row, i) small_topk_key(row, i)
#endif
#ifndef SMALL_TOPK_BARRIER_AFTER_CLEAR /* before digits are counted */
#define SMALL_TOPK_BARRIER_AFTER_CLEAR() block_barrier()
#endif
#ifndef SMALL_TOPK_BARRIER_AFTER_CHOOSE /* before the choice is read, and counts cleared */
#define SMALL_TOPK_BARRIER_AFTER_CHOOSE() block_barrier()
#endif
#ifndef SMALL_TOPK_BARRIER_AFTER_BUFFER /* before n_candidates is reset */
#define SMALL_TOPK_BARRIER_AFTER_BUFFER() block_barrier()
#endif
#ifndef SMALL_TOPK_SLOT_IS_FREE /* whether a candidate's slot is in the buffer */
#define SMALL_TOPK_SLOT_IS_FREE(slot) ((slot) < SMALL_TOPK_CANDIDATES)
#endif
#ifndef SMALL_TOPK_AT_END /* what a block does when its row is written */
#define SMALL_TOPK_AT_END(row, places) ((void)0)
#endif
#ifndef SMALL_TOPK_BARRIER_AFTER_COUNT
#define SMALL_TOPK_BARRIER_AFTER_COUNT() block_barrier()
#endif
#ifndef SMALL_TOPK_BARRIER_AFTER_SCAN /* before wave_sum may be written again */
#define SMALL_TOPK_BARRIER_AFTER_SCAN() block_barrier()
#endif
#ifndef SMALL_TOPK_USE_BUFFER /* whether `count` keys are refined in LDS */
#define SMALL_TOPK_USE_BUFFER(count) ((count) <= SMALL_TOPK_CANDIDATES)
#endif
#ifndef SMALL_TOPK_LANES /* lanes that scan together */
#define SMALL_TOPK_LANES() (static_cast<unsigned>(wave_size()))
#endif
#ifndef SMALL_TOPK_CLEAR_PER_ROW /* LDS that one thread clears before each row */
#define SMALL_TOPK_CLEAR_PER_ROW() (ties_before = 0)
#endif
#ifndef SMALL_TOPK_TIE_RANK /* how many keys equal to the cut's come before this one */
#define SMALL_TOPK_TIE_RANK(scanned) (scanned)
#endif
#ifndef SMALL_TOPK_PLACE /* the output slot of a selected index */
#define SMALL_TOPK_PLACE(scanned) (scanned)
#endif
#ifndef SMALL_TOPK_TILE_GUARD /* whether this thread takes part in the tile that begins at `first` */
#define SMALL_TOPK_TILE_GUARD(first, n) true
#endif

static __shared__ unsigned digit_count[SMALL_TOPK_DIGITS];
static __shared__ unsigned candidates[SMALL_TOPK_CANDIDATES];
static __shared__ unsigned wave_sum[SMALL_TOPK_BLOCK / 32];
static __shared__ unsigned n_candidates;
static __shared__ unsigned chosen_digit;
static __shared__ unsigned chosen_places;
static __shared__ unsigned chosen_count;
static __shared__ unsigned ties_before;   /* keys equal to the cut's in the tiles before */
static __shared__ unsigned places_before; /* selected in the tiles before */

struct small_topk_row {
    const float *scores;
    int          n;
    int          topk;
    int         *page_indices;
    int         *raw_indices;
    const int   *page_table;
    int          page_size;
};

/* Larger is better; zeros are one key; NaN ranks by bits. */
PORT_INLINE unsigned small_topk_key(const small_topk_row &row, int i)
{
    unsigned bits = float_bits(row.scores + i);
    if ((bits << 1) == 0) bits = 0;
    return bits ^ ((bits >> 31) != 0 ? 0xffffffffu : 0x80000000u);
}

PORT_INLINE void small_topk_write(const small_topk_row &row, int slot, int index)
{
    if (row.raw_indices != nullptr) row.raw_indices[slot] = index;
    if (row.page_indices == nullptr) return;
    row.page_indices[slot] =
        index < 0 ? -1 : row.page_table[index / row.page_size] * row.page_size + index % row.page_size;
}

/* The sum of `value` over the threads below this one; *total: over all of the block. */
PORT_INLINE unsigned small_topk_scan(unsigned value, unsigned *total)
{
    const unsigned lane = thread_number() % SMALL_TOPK_LANES();
    const unsigned wave = thread_number() / SMALL_TOPK_LANES();
    unsigned       through = value;
    for (unsigned distance = 1; distance < SMALL_TOPK_LANES(); distance *= 2) {
        const unsigned below = wave_shift_up(through, static_cast<int>(distance));
        if (lane >= distance) through += below;
    }
    if (lane == SMALL_TOPK_LANES() - 1) wave_sum[wave] = through;
    block_barrier();
    unsigned before = 0;
    *total = 0;
    for (unsigned i = 0; i < SMALL_TOPK_BLOCK / SMALL_TOPK_LANES(); i++) {
        if (i < wave) before += wave_sum[i];
        *total += wave_sum[i];
    }
    SMALL_TOPK_BARRIER_AFTER_SCAN();
    return before + through - value;
}

/* One thread: the digit that place number `places` falls into. A digit is always chosen, even if counts are off. */
PORT_INLINE void small_topk_choose(unsigned places)
{
    chosen_digit = 0;
    chosen_places = places;
    chosen_count = digit_count[0];
    for (unsigned digit = SMALL_TOPK_DIGITS; digit-- > 0;) {
        if (places <= digit_count[digit]) {
            chosen_digit = digit;
            chosen_places = places;
            chosen_count = digit_count[digit];
            return;
        }
        places -= digit_count[digit];
    }
}

/* The key at the cut; *places: how many keys equal to it are selected. */
PORT_INLINE unsigned small_topk_cut(const small_topk_row &row, unsigned *places)
{
    const int tid = static_cast<int>(thread_number());
    unsigned  prefix = 0;
    unsigned  n_buffered = 0;
    bool      buffered = false;
    *places = static_cast<unsigned>(row.topk);
    for (int shift = 24; shift >= 0; shift -= 8) {
        const unsigned above_digit = shift == 24 ? 0 : 0xffffffffu << (shift + 8);
        digit_count[tid] = 0;
        if (tid == 0) n_candidates = 0;
        SMALL_TOPK_BARRIER_AFTER_CLEAR();
        const int n = buffered ? static_cast<int>(n_buffered) : row.n;
        for (int i = tid; i < n; i += SMALL_TOPK_BLOCK) {
            const unsigned key = buffered ? candidates[i] : SMALL_TOPK_KEY(row, i);
            if ((key & above_digit) == prefix) SMALL_TOPK_COUNT((key >> shift) & 0xffu);
        }
        SMALL_TOPK_BARRIER_AFTER_COUNT();
        if (tid == 0) small_topk_choose(*places);
        SMALL_TOPK_BARRIER_AFTER_CHOOSE();
        prefix |= chosen_digit << shift;
        *places = chosen_places;
        const unsigned count = chosen_count;
        if (buffered || shift == 0 || !SMALL_TOPK_USE_BUFFER(count)) continue;
        for (int i = tid; i < row.n; i += SMALL_TOPK_BLOCK) {
            const unsigned key = SMALL_TOPK_KEY(row, i);
            if ((key & (0xffffffffu << shift)) != prefix) continue;
            const unsigned slot = atomicAdd(&n_candidates, 1u);
            if (SMALL_TOPK_SLOT_IS_FREE(slot)) candidates[slot] = key;
        }
        block_barrier();
        n_buffered = n_candidates < SMALL_TOPK_CANDIDATES ? n_candidates : SMALL_TOPK_CANDIDATES;
        buffered = true;
        SMALL_TOPK_BARRIER_AFTER_BUFFER();
    }
    return prefix;
}

/* Selects and places the indices of one tile. */
PORT_INLINE void small_topk_tile(const small_topk_row &row, int first, unsigned cut, unsigned places)
{
    const int      i = first + static_cast<int>(thread_number());
    const unsigned key = i < row.n ? SMALL_TOPK_KEY(row, i) : 0;
    const bool     is_tie = i < row.n && key == cut;
    unsigned       n_ties = 0;
    unsigned       n_selected = 0;
    const unsigned scanned_ties = ties_before + small_topk_scan(is_tie ? 1 : 0, &n_ties);
    const bool     selected = i < row.n && (key > cut || (is_tie && SMALL_TOPK_TIE_RANK(scanned_ties) < places));
    const unsigned scanned = places_before + small_topk_scan(selected ? 1 : 0, &n_selected);
    if (selected) {
        const unsigned place = SMALL_TOPK_PLACE(scanned);
        if (place < static_cast<unsigned>(row.topk)) small_topk_write(row, static_cast<int>(place), i);
    }
    block_barrier();
    if (thread_number() == 0) {
        ties_before += n_ties;
        places_before += n_selected;
    }
    block_barrier();
}

PORT_INLINE void small_topk_select(const small_topk_row &row)
{
    const int tid = static_cast<int>(thread_number());
    if (row.n <= row.topk) {
        for (int slot = tid; slot < row.topk; slot += SMALL_TOPK_BLOCK)
            small_topk_write(row, slot, slot < row.n ? slot : -1);
        return;
    }
    if (tid == 0) {
        SMALL_TOPK_CLEAR_PER_ROW();
        places_before = 0;
    }
    unsigned       places = 0;
    const unsigned cut = small_topk_cut(row, &places);
    block_barrier();
    for (int first = 0; first < row.n; first += SMALL_TOPK_BLOCK) {
        if (SMALL_TOPK_TILE_GUARD(first, row.n)) small_topk_tile(row, first, cut, places);
    }
    block_barrier();
}

#ifdef SMALL_TOPK_AS_SOURCE

extern "C" __global__ void topk_kernel(const float *scores, const int32_t *seq_lens, const int32_t *page_table,
                                       int32_t *page_indices, int32_t *raw_indices, int64_t score_stride,
                                       int64_t page_table_stride, int32_t topk, int32_t page_size, void *)
{
    const unsigned blocks = SMALL_TOPK_GRID(gridDim.x);
    if (block_number() >= blocks) return;
    if (thread_number() == 0) ties_before = 0;
    block_barrier();
    for (int64_t b = block_number(); b < gridDim.x; b += blocks) {
        small_topk_row row;
        row.scores = scores + b * score_stride;
        row.n = seq_lens[b] < 0 ? 0 : seq_lens[b];
        row.topk = topk;
        row.page_indices = page_indices + b * topk;
        row.raw_indices = raw_indices == nullptr ? nullptr : raw_indices + b * topk;
        row.page_table = page_table + b * page_table_stride;
        row.page_size = page_size;
        small_topk_select(row);
        SMALL_TOPK_AT_END(row, static_cast<unsigned>(row.n));
    }
}

#else

extern "C" {
static __global__ void small_topk_kernel(const topk_problem *p)
{
    if (thread_number() == 0) ties_before = 0;
    block_barrier();
    for (int b = static_cast<int>(block_number()); b < p->batch; b += static_cast<int>(gridDim.x)) {
        const int      n = p->seq_lens[b] < 0 ? 0 : p->seq_lens[b];
        small_topk_row row;
        row.scores = p->scores + b * p->score_stride;
        row.n = n < p->max_seq_len ? n : p->max_seq_len;
        row.topk = p->topk;
        row.page_indices = p->page_indices == nullptr ? nullptr : p->page_indices + static_cast<int64_t>(b) * p->topk;
        row.raw_indices = p->raw_indices == nullptr ? nullptr : p->raw_indices + static_cast<int64_t>(b) * p->topk;
        row.page_table = p->page_table + b * p->page_table_stride;
        row.page_size = p->page_size;
        small_topk_select(row);
    }
}
}

static void small_topk_enter(const void *arguments) { small_topk_kernel(static_cast<const topk_problem *>(arguments)); }

static int small_topk_open(int, void **self, char *, size_t)
{
    *self = nullptr;
    return 0;
}

static void small_topk_close(void *) {}

static int small_topk_launch_named(const char *name, const topk_problem *problem, char *err, size_t err_size)
{
    simulator_launch launch = {};
    launch.kernel_name = name;
    launch.entry = small_topk_enter;
    launch.arguments = problem;
    launch.grid = SMALL_TOPK_GRID(problem->batch);
    launch.block = SMALL_TOPK_BLOCK;
    launch.dynamic_lds = SMALL_TOPK_DYNAMIC_LDS;
    launch.static_lds = simulator_static_lds(&launch.static_lds_bytes);
    return simulator_run(&launch, err, err_size);
}

static constexpr topk_claims small_topk_claims = {
    TOPK_LEVEL_CANONICAL,  TOPK_TIE_LOWEST,        TOPK_ZERO_EQUAL,            TOPK_NAN_BITS,
    TOPK_NEG_INF_SCORE,    TOPK_PADDING_MINUS_ONE, TOPK_NEGATIVE_LENGTH_EMPTY, TOPK_OVERLONG_CLAMPED,
    TOPK_OUTPUTS_ALL,      TOPK_CAPTURE_NONE,      1024,
};

static const topk_limit small_topk_limits[] = {{"candidates", SMALL_TOPK_CANDIDATES}, {nullptr, 0}};

/* The text that identifies the build: this header, then the file that spoils it. */
extern "C" const char small_topk_text[] __asm__("small_topk_text") __attribute__((visibility("hidden")));
#define SMALL_TOPK_EMBED()                                                                                             \
    __asm__(".pushsection .rodata\n"                                                                                   \
            "small_topk_text:\n"                                                                                       \
            ".ascii \"compiler " __VERSION__ "\\n\"\n"                                                                 \
            ".incbin \"kernels/port.h\"\n"                                                                             \
            ".incbin \"kernels/faulty/small_topk.h\"\n"                                                                \
            ".incbin \"" __FILE__ "\"\n"                                                                               \
            ".byte 0\n"                                                                                                \
            ".popsection\n")

/* Defines the provider `provider_name` and the object `builtin_faulty_<symbol>`. */
#define SMALL_TOPK_FAULT(symbol, provider_name, fault_kind, what_is_wrong)                                             \
    SMALL_TOPK_EMBED();                                                                                                \
    static int small_topk_launch(void *, const topk_problem *problem, char *err, size_t err_size)                      \
    {                                                                                                                  \
        return small_topk_launch_named(provider_name, problem, err, err_size);                                         \
    }                                                                                                                  \
    static const topk_provider small_topk_provider = {                                                                 \
        TOPK_PROVIDER_ABI, provider_name,   "1",     TOPK_MEMORY_HOST,  small_topk_claims, small_topk_limits,          \
        small_topk_open,   nullptr,         nullptr, small_topk_launch, nullptr,           small_topk_close,           \
    };                                                                                                                 \
    extern "C" const struct builtin_provider builtin_faulty_##symbol;                                                  \
    const struct builtin_provider            builtin_faulty_##symbol = {                                               \
        &small_topk_provider, BUILTIN_SIMULATOR, fault_kind, what_is_wrong, small_topk_text, nullptr}

#endif
#endif
