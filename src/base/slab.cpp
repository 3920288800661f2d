// SPDX-License-Identifier: Apache-2.0
#include "base/slab.h"

#include "base/message.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <sys/mman.h>

namespace sennit {
namespace {

constexpr std::size_t kArena = 1024 * 1024;

// `size` bytes aligned to `align`; size and align are multiples of the page size.
std::byte *map_aligned(std::size_t size, std::size_t align) {
    const std::size_t span = size + align;
    void *raw = mmap(nullptr, span, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (raw == MAP_FAILED)
        fatal(
            "no memory for tasks (mmap of %zu bytes: %s); raise the limit (ulimit -v) or lower the "
            "number of unfinished tasks",
            span, std::strerror(errno));
    const auto base = reinterpret_cast<std::uintptr_t>(raw);
    const std::uintptr_t start = (base + align - 1) & ~(align - 1);
    if (start > base)
        munmap(raw, start - base);
    const std::uintptr_t end = start + size;
    if (base + span > end)
        munmap(reinterpret_cast<void *>(end), base + span - end);
    return reinterpret_cast<std::byte *>(start);
}

} // namespace

void *Heap::allocate_slow(int size_class) {
    // First take what other workers gave back. Acquire pairs with the release in send().
    if (Parcel *parcel = returned_.exchange(nullptr, std::memory_order_acquire)) {
        while (parcel) {
            Parcel *next = parcel->next;
            for (std::size_t i = 0; i < parcel->count; ++i)
                take_back(parcel->blocks()[i]);
            take_back(reinterpret_cast<Block *>(parcel));
            parcel = next;
        }
        if (Block *mine = free_[size_class]) {
            free_[size_class] = mine->next;
            show(mine, size_class);
            return mine;
        }
    }
    if (arena_ == arena_end_) {
        arena_ = map_aligned(kArena, kChunk);
        arena_end_ = arena_ + kArena;
    }
    std::byte *chunk = arena_;
    arena_ += kChunk;
    auto *head = reinterpret_cast<ChunkHead *>(chunk);
    head->owner = this;
    head->size_class = size_class;
    head->mapped = 0;
    const std::size_t size = size_of(size_class);
    std::byte *first = chunk + sizeof(ChunkHead);
    const std::size_t count = (kChunk - sizeof(ChunkHead)) / size;
    for (std::size_t i = count; i-- > 1;) {
        auto *block = reinterpret_cast<Block *>(first + i * size);
        block->next = free_[size_class];
        free_[size_class] = block;
        hide(block, size_class);
    }
    return first;
}

void *Heap::allocate_large(std::size_t size) {
    const std::size_t mapped = (size + sizeof(ChunkHead) + 4095) & ~std::size_t{4095};
    std::byte *chunk = map_aligned(mapped, kChunk);
    auto *head = reinterpret_cast<ChunkHead *>(chunk);
    head->owner = nullptr;
    head->size_class = kLarge;
    head->mapped = mapped;
    return chunk + sizeof(ChunkHead);
}

void Heap::take_back(Block *block) {
    const int c = head_of(block)->size_class;
    block->next = free_[c];
    free_[c] = block;
    hide(block, c);
}

// How many other blocks can `parcel` list?
std::size_t Heap::room_in(const Block *parcel) {
    const std::size_t size = size_of(head_of(const_cast<Block *>(parcel))->size_class);
    return (size - sizeof(Parcel)) / sizeof(Block *);
}

void Heap::send(Parcel *parcel) {
    std::atomic<Parcel *> &returned = head_of(parcel)->owner->returned_;
    Parcel *top = returned.load(std::memory_order_relaxed);
    do
        parcel->next = top;
    while (!returned.compare_exchange_weak(top, parcel, std::memory_order_release,
                                           std::memory_order_relaxed));
}

void Heap::release_remote(ChunkHead *head, Block *block) {
    if (head->size_class == kLarge) {
        munmap(head, head->mapped);
        return;
    }
    if (batch_owner_ != head->owner || batch_size_ == kBatch)
        flush();
    batch_owner_ = head->owner;
    batch_[batch_size_++] = block;
    hide(block, head->size_class);
}

void Heap::flush() {
    while (batch_size_ > 0) {
        Block *block = batch_[--batch_size_];
        const std::size_t count = std::min(room_in(block), static_cast<std::size_t>(batch_size_));
        show(block, head_of(block)->size_class);
        auto *parcel = reinterpret_cast<Parcel *>(block);
        parcel->count = count;
        batch_size_ -= static_cast<int>(count);
        std::memcpy(parcel->blocks(), batch_ + batch_size_, count * sizeof(Block *));
        send(parcel);
    }
}

void Heap::release_foreign(void *pointer) {
    ChunkHead *head = head_of(pointer);
    if (head->size_class == kLarge) {
        munmap(head, head->mapped);
        return;
    }
    auto *parcel = static_cast<Parcel *>(pointer);
    parcel->count = 0;
    send(parcel);
}

} // namespace sennit
