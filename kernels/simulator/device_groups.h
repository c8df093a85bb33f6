/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Cooperative groups: the block, tiles of it that lie within a wave, and the lanes that are active together. Groups of
 * several blocks are left out: blocks run one after the other here, and a grid barrier would never end.
 */
#ifndef TOPKCTS_SIMULATOR_DEVICE_GROUPS_H
#define TOPKCTS_SIMULATOR_DEVICE_GROUPS_H

#include "device.h"

namespace cooperative_groups {

#define SIMULATOR_HERE const char *file = __builtin_FILE(), int line = __builtin_LINE()

class thread_block {
  public:
    SIMULATOR_INLINE void     sync(SIMULATOR_HERE) const { __syncthreads(file, line); }
    SIMULATOR_INLINE unsigned thread_rank() const
    {
        return threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
    }
    SIMULATOR_INLINE unsigned size() const { return blockDim.x * blockDim.y * blockDim.z; }
    SIMULATOR_INLINE unsigned num_threads() const { return size(); }
    SIMULATOR_INLINE dim3     group_index() const { return dim3(blockIdx.x, blockIdx.y, blockIdx.z); }
    SIMULATOR_INLINE dim3     thread_index() const { return dim3(threadIdx.x, threadIdx.y, threadIdx.z); }
    SIMULATOR_INLINE dim3     dim_threads() const { return dim3(blockDim.x, blockDim.y, blockDim.z); }
};
SIMULATOR_INLINE thread_block this_thread_block() { return {}; }

/* Lanes of one wave; ranks count the lanes of the group. */
class lanes {
  public:
    SIMULATOR_INLINE explicit lanes(unsigned long long mask) : mask_(mask) {}
    SIMULATOR_INLINE void     sync(SIMULATOR_HERE) const { __syncwarp(mask_, file, line); }
    SIMULATOR_INLINE unsigned size() const { return static_cast<unsigned>(__popcll(mask_)); }
    SIMULATOR_INLINE unsigned num_threads() const { return size(); }
    SIMULATOR_INLINE unsigned thread_rank() const { return static_cast<unsigned>(__popcll(mask_ & __lanemask_lt())); }
    SIMULATOR_INLINE unsigned long long ballot(int p, SIMULATOR_HERE) const
    {
        return packed(__ballot_sync(mask_, p, file, line));
    }
    SIMULATOR_INLINE int any(int p, SIMULATOR_HERE) const { return __any_sync(mask_, p, file, line); }
    SIMULATOR_INLINE int all(int p, SIMULATOR_HERE) const { return __all_sync(mask_, p, file, line); }
    template <typename T> SIMULATOR_INLINE unsigned long long match_any(T value, SIMULATOR_HERE) const
    {
        return packed(__match_any_sync(mask_, value, file, line));
    }
    template <typename T> SIMULATOR_INLINE T shfl(T value, unsigned rank, SIMULATOR_HERE) const
    {
        return simulator_shuffle(mask_, value, lane_of(rank % size()), file, line);
    }
    template <typename T> SIMULATOR_INLINE T shfl_up(T value, unsigned delta, SIMULATOR_HERE) const
    {
        const unsigned rank = thread_rank();
        return simulator_shuffle(mask_, value, lane_of(rank >= delta ? rank - delta : rank), file, line);
    }
    template <typename T> SIMULATOR_INLINE T shfl_down(T value, unsigned delta, SIMULATOR_HERE) const
    {
        const unsigned rank = thread_rank();
        return simulator_shuffle(mask_, value, lane_of(rank + delta < size() ? rank + delta : rank), file, line);
    }
    template <typename T> SIMULATOR_INLINE T shfl_xor(T value, unsigned bits, SIMULATOR_HERE) const
    {
        const unsigned rank = thread_rank() ^ bits;
        return simulator_shuffle(mask_, value, lane_of(rank < size() ? rank : thread_rank()), file, line);
    }
    SIMULATOR_INLINE unsigned long long mask() const { return mask_; }

  private:
    SIMULATOR_INLINE int lane_of(unsigned rank) const
    {
        unsigned long long rest = mask_;
        for (; rank > 0; rank--) rest &= rest - 1;
        return __builtin_ctzll(rest);
    }
    /* Bits of lanes as bits of ranks. */
    SIMULATOR_INLINE unsigned long long packed(unsigned long long bits) const
    {
        unsigned long long result = 0;
        unsigned           rank = 0;
        for (unsigned long long rest = mask_; rest != 0; rest &= rest - 1, rank++)
            result |= (bits >> __builtin_ctzll(rest) & 1ull) << rank;
        return result;
    }
    unsigned long long mask_;
};

template <unsigned tile_size, typename Parent = thread_block> class thread_block_tile : public lanes {
  public:
    static_assert(tile_size >= 1 && tile_size <= 64 && (tile_size & (tile_size - 1)) == 0,
                  "a tile has a power of two of lanes and lies within a wave");
    SIMULATOR_INLINE thread_block_tile() : lanes(mask_of_tile()) {}
    SIMULATOR_INLINE unsigned meta_group_rank() const { return this_thread_block().thread_rank() / tile_size; }
    SIMULATOR_INLINE unsigned meta_group_size() const
    {
        return (this_thread_block().size() + tile_size - 1) / tile_size;
    }
    SIMULATOR_INLINE unsigned thread_rank() const { return this_thread_block().thread_rank() % tile_size; }

  private:
    SIMULATOR_INLINE static unsigned long long mask_of_tile()
    {
        const unsigned long long ones = tile_size == 64 ? ~0ull : (1ull << (tile_size % 64)) - 1;
        return ones << (static_cast<unsigned>(simulator_lane()) & ~(tile_size - 1));
    }
};

template <unsigned tile_size, typename Parent>
SIMULATOR_INLINE thread_block_tile<tile_size, Parent> tiled_partition(const Parent &)
{
    return {};
}

class coalesced_group : public lanes {
  public:
    using lanes::lanes;
};
SIMULATOR_INLINE coalesced_group coalesced_threads(SIMULATOR_HERE) { return coalesced_group(__activemask(file, line)); }

template <typename Group> SIMULATOR_INLINE void sync(const Group &group, SIMULATOR_HERE) { group.sync(file, line); }

template <typename T> struct plus { SIMULATOR_INLINE T operator()(T a, T b) const { return a + b; } };
template <typename T> struct less { SIMULATOR_INLINE T operator()(T a, T b) const { return b < a ? b : a; } };
template <typename T> struct greater { SIMULATOR_INLINE T operator()(T a, T b) const { return a < b ? b : a; } };
template <typename T> struct bit_and { SIMULATOR_INLINE T operator()(T a, T b) const { return a & b; } };
template <typename T> struct bit_or { SIMULATOR_INLINE T operator()(T a, T b) const { return a | b; } };
template <typename T> struct bit_xor { SIMULATOR_INLINE T operator()(T a, T b) const { return a ^ b; } };

template <typename Group, typename T, typename Join>
SIMULATOR_INLINE T reduce(const Group &group, T value, Join join, SIMULATOR_HERE)
{
    return simulator_reduce(group.mask(), value, join, file, line);
}

#undef SIMULATOR_HERE

} // namespace cooperative_groups

#endif
