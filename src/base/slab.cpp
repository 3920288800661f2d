// SPDX-License-Identifier: Apache-2.0
#include "base/slab.h"

#include "base/message.h"

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
    // First what other workers gave back; acquire pairs with the release in return_chain.
    if (Block *block = returned_.exchange(nullptr, std::memory_order_acquire)) {
        while (block) {
            Block *next = block->next;
            const int c = head_of(block)->size_class;
            block->next = free_[c];
            free_[c] = block;
            block = next;
        }
        if (Block *mine = free_[size_class]) {
            free_[size_class] = mine->next;
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

void Heap::return_chain(Heap *owner, Block *first, Block *last) {
    Block *top = owner->returned_.load(std::memory_order_relaxed);
    do
        last->next = top;
    while (!owner->returned_.compare_exchange_weak(top, first, std::memory_order_release,
                                                   std::memory_order_relaxed));
}

void Heap::release_remote(ChunkHead *head, Block *block) {
    if (head->size_class == kLarge) {
        munmap(head, head->mapped);
        return;
    }
    if (batch_owner_ != head->owner)
        flush();
    batch_owner_ = head->owner;
    block->next = batch_first_;
    batch_first_ = block;
    if (!batch_last_)
        batch_last_ = block;
    if (++batch_size_ == kBatch)
        flush();
}

void Heap::flush() {
    if (!batch_first_)
        return;
    return_chain(batch_owner_, batch_first_, batch_last_);
    batch_first_ = batch_last_ = nullptr;
    batch_size_ = 0;
}

void Heap::release_foreign(void *pointer) {
    ChunkHead *head = head_of(pointer);
    auto *block = static_cast<Block *>(pointer);
    if (head->size_class == kLarge)
        munmap(head, head->mapped);
    else
        return_chain(head->owner, block, block);
}

} // namespace sennit
