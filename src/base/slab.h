// SPDX-License-Identifier: Apache-2.0
// Memory for tasks and their satellites: size-class slabs, one Heap a worker.
//
// Invariants:
// - A block lies in a 64 KiB chunk, which is aligned to its size. The chunk's head names the heap
//   and the size class.
// - Only the owning worker touches the heap's free lists.
// - Other workers give blocks back through `returned_`, a stack. They only push; the owner takes
//   it whole, so there is no ABA. They push parcels: a parcel is a block that is given back and
//   whose memory lists others. None of these blocks is in the owner's cache. So a parcel costs the
//   owner one cache miss, where a list of blocks would cost one for each.
// - Memory is kept for reuse and never given back to the system.
//
// Thread-safety: allocate() only by the owner. release() by any worker with its own heap, or, from
// a foreign thread, release_foreign().
#pragma once

#include "base/compiler.h"

#include <atomic>
#include <cstddef>
#include <cstdint>

#if SENNIT_ASAN
#include <sanitizer/asan_interface.h>
#endif

namespace sennit {

class Heap {
  public:
    Heap() = default;
    Heap(const Heap &) = delete;
    Heap &operator=(const Heap &) = delete;

    // At least `size` bytes, aligned to 64. Ends the program with a clear line when there is no
    // memory: the callers are compiler-generated and could not go on.
    void *allocate(std::size_t size) {
        const int c = class_of(size);
        if (SENNIT_UNLIKELY(c < 0))
            return allocate_large(size);
        if (Block *block = free_[c]) {
            free_[c] = block->next;
            show(block, c);
            return block;
        }
        return allocate_slow(c);
    }

    // Give back a block of any heap.
    void release(void *pointer) {
        ChunkHead *head = head_of(pointer);
        if (SENNIT_LIKELY(head->owner == this)) {
            auto *block = static_cast<Block *>(pointer);
            block->next = free_[head->size_class];
            free_[head->size_class] = block;
            hide(block, head->size_class);
        } else {
            release_remote(head, static_cast<Block *>(pointer));
        }
    }
    static void release_foreign(void *pointer);

    // Hand blocks that other heaps own back to them; called before the worker sleeps.
    void flush();

  private:
    static constexpr std::size_t kChunk = 64 * 1024;
    static constexpr std::size_t kUnit = 64;
    static constexpr int kClasses = 20; // see size_of(); the largest is 16 KiB
    static constexpr std::size_t kSmall = 1024;
    static constexpr int kBatch = 32;
    static constexpr int kLarge = -1;

    struct Block {
        Block *next;
    };
    struct Parcel {
        Parcel *next;
        std::size_t count;
        Block **blocks() { return reinterpret_cast<Block **>(this + 1); } // see room_in
    };
    struct alignas(kCacheLine) ChunkHead {
        Heap *owner;
        int size_class; // kLarge: an allocation of its own
        std::size_t mapped;
    };

    static ChunkHead *head_of(void *pointer) {
        return reinterpret_cast<ChunkHead *>(reinterpret_cast<std::uintptr_t>(pointer) &
                                             ~(kChunk - 1));
    }
    // Multiples of 64 up to 1 KiB are classes 0..15, then 2, 4, 8, 16 KiB.
    static int class_of(std::size_t size) {
        if (SENNIT_LIKELY(size <= kSmall))
            return size == 0 ? 0 : static_cast<int>((size - 1) / kUnit);
        if (size > (kSmall << (kClasses - 16)))
            return kLarge;
        return 16 + (63 - __builtin_clzll((size - 1) / kSmall));
    }
    static std::size_t size_of(int size_class) {
        return size_class < 16 ? static_cast<std::size_t>(size_class + 1) * kUnit
                               : kSmall << (size_class - 15);
    }

    // To AddressSanitizer a free block is no memory, but for its link.
    static void hide([[maybe_unused]] Block *block, [[maybe_unused]] int size_class) {
#if SENNIT_ASAN
        __asan_poison_memory_region(block + 1, size_of(size_class) - sizeof(Block));
#endif
    }
    static void show([[maybe_unused]] Block *block, [[maybe_unused]] int size_class) {
#if SENNIT_ASAN
        __asan_unpoison_memory_region(block, size_of(size_class));
#endif
    }

    void *allocate_slow(int size_class);
    void *allocate_large(std::size_t size);
    void release_remote(ChunkHead *head, Block *block);
    void take_back(Block *block);
    static std::size_t room_in(const Block *parcel);
    static void send(Parcel *parcel);

    Block *free_[kClasses] = {};
    std::byte *arena_ = nullptr; // unused rest of the last mapping
    std::byte *arena_end_ = nullptr;
    // Blocks of one other heap, collected to be returned together.
    Heap *batch_owner_ = nullptr;
    Block *batch_[kBatch];
    int batch_size_ = 0;
    alignas(kCacheLine) std::atomic<Parcel *> returned_{nullptr};
};

} // namespace sennit
