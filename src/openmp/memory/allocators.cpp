// SPDX-License-Identifier: Apache-2.0
#include "openmp/memory/allocators.h"

#include "base/message.h"

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <new>
#include <sys/mman.h>

namespace sennit::omp {
namespace {

// omp_alloctrait_key_t
enum Key {
    kSyncHint = 1,
    kAlignment,
    kAccess,
    kPoolSize,
    kFallback,
    kFallbackData,
    kPinned,
    kPartition
};
// omp_alloctrait_value_t
enum Value : std::uintptr_t {
    kFalse = 0,
    kTrue = 1,
    kContended = 3,
    kUncontended,
    kSerialized,
    kPrivate,
    kAll,
    kThread,
    kPteam,
    kCgroup,
    kDefaultMemoryFallback,
    kNullFallback,
    kAbortFallback,
    kAllocatorFallback,
    kEnvironment,
    kNearest,
    kBlocked,
    kInterleaved,
    kDefault = ~std::uintptr_t{0},
};

struct Word {
    const char *text;
    std::uintptr_t value;
};

const Word kAllocators[] = {
    {"omp_default_mem_alloc", 1}, {"omp_large_cap_mem_alloc", 2}, {"omp_const_mem_alloc", 3},
    {"omp_high_bw_mem_alloc", 4}, {"omp_low_lat_mem_alloc", 5},   {"omp_cgroup_mem_alloc", 6},
    {"omp_pteam_mem_alloc", 7},   {"omp_thread_mem_alloc", 8},
};
enum Space : std::uintptr_t {
    kDefaultSpace,
    kLargeSpace,
    kConstSpace,
    kHighBandwidth,
    kLowLatency
};
const Word kSpaces[] = {
    {"omp_default_mem_space", kDefaultSpace}, {"omp_large_cap_mem_space", kLargeSpace},
    {"omp_const_mem_space", kConstSpace},     {"omp_high_bw_mem_space", kHighBandwidth},
    {"omp_low_lat_mem_space", kLowLatency},
};

// What a trait may say: a word, `default` among them, or a number, or an allocator.
constexpr int kMostWords = 4;
struct TraitRule {
    const char *name;
    Key key;
    enum Kind { kWords, kSize, kPowerOfTwo, kAllocator } kind;
    std::uintptr_t usual; // what `default` means
    Word words[kMostWords];
};
const TraitRule kRules[] = {
    {"sync_hint",
     kSyncHint,
     TraitRule::kWords,
     kContended,
     {{"contended", kContended},
      {"uncontended", kUncontended},
      {"serialized", kSerialized},
      {"private", kPrivate}}},
    {"alignment", kAlignment, TraitRule::kPowerOfTwo, 1, {}},
    {"access",
     kAccess,
     TraitRule::kWords,
     kAll,
     {{"all", kAll}, {"cgroup", kCgroup}, {"pteam", kPteam}, {"thread", kThread}}},
    {"pool_size", kPoolSize, TraitRule::kSize, kDefault, {}},
    {"fallback",
     kFallback,
     TraitRule::kWords,
     kDefaultMemoryFallback,
     {{"default_mem_fb", kDefaultMemoryFallback},
      {"null_fb", kNullFallback},
      {"abort_fb", kAbortFallback},
      {"allocator_fb", kAllocatorFallback}}},
    {"fb_data", kFallbackData, TraitRule::kAllocator, kNullAllocator, {}},
    {"pinned", kPinned, TraitRule::kWords, kFalse, {{"false", kFalse}, {"true", kTrue}}},
    {"partition",
     kPartition,
     TraitRule::kWords,
     kEnvironment,
     {{"environment", kEnvironment},
      {"nearest", kNearest},
      {"blocked", kBlocked},
      {"interleaved", kInterleaved}}},
};

const TraitRule *rule_for(int key) {
    for (const TraitRule &rule : kRules)
        if (rule.key == key)
            return &rule;
    return nullptr;
}

bool is_allowed(const TraitRule &rule, std::uintptr_t value) {
    switch (rule.kind) {
    case TraitRule::kPowerOfTwo:
        return value != 0 && (value & (value - 1)) == 0;
    case TraitRule::kWords:
        for (const Word &word : rule.words)
            if (word.text && word.value == value)
                return true;
        return false;
    default:
        return true;
    }
}

struct Allocator {
    std::size_t alignment = 1;
    std::size_t pool = ~std::size_t{0};
    std::uintptr_t fallback = kDefaultMemoryFallback;
    AllocatorHandle fallback_data = kNullAllocator;
    bool pinned = false;
    std::atomic<std::size_t> used{0};

    // Take `more` of the pool and give back `less`; all or nothing.
    bool charge(std::size_t more, std::size_t less) {
        std::size_t before = used.load(std::memory_order_relaxed);
        std::size_t after = 0;
        do {
            if (__builtin_add_overflow(before - less, more, &after) || after > pool)
                return false;
        } while (!used.compare_exchange_weak(before, after, std::memory_order_relaxed));
        return true;
    }
    void give_back(std::size_t less) { used.fetch_sub(less, std::memory_order_relaxed); }
};

Allocator *user_allocator(AllocatorHandle handle) {
    return handle < kPredefinedAllocators
               ? nullptr
               : reinterpret_cast<Allocator *>(handle); // NOLINT(performance-no-int-to-ptr)
}

// In front of every block: what release and reallocate need.
struct alignas(16) Head {
    void *raw;
    std::size_t size;
    std::size_t whole; // with what stands around the block
    AllocatorHandle allocator;
};
static_assert(sizeof(Head) % alignof(Head) == 0);

Head &head_of(void *block) {
    return *(static_cast<Head *>(block) - 1);
}

// Pinned memory stays in storage for its lifetime: pages of its own, since mlock does not count.
void *raw_memory(std::size_t size, bool pinned) {
    if (!pinned)
        return std::malloc(size);
    void *pages = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages == MAP_FAILED)
        return nullptr;
    if (mlock(pages, size) == 0)
        return pages;
    munmap(pages, size);
    return nullptr;
}

void free_raw(const Head &head) {
    const Allocator *allocator = user_allocator(head.allocator);
    if (allocator && allocator->pinned)
        munmap(head.raw, head.whole);
    else
        std::free(head.raw);
}

// What a block that is about to be replaced holds of a pool; 0 once the new one has taken it over.
struct Credit {
    AllocatorHandle allocator = kNullAllocator;
    std::size_t bytes = 0;
};

// `usual`: instead of a null handle.
void *allocate_from(std::size_t alignment, std::size_t size, AllocatorHandle handle,
                    AllocatorHandle usual, Credit &credit) {
    if (handle == kNullAllocator)
        handle = usual;
    Allocator *allocator = user_allocator(handle);
    std::size_t align = alignment > alignof(Head) ? alignment : alignof(Head);
    if (allocator && allocator->alignment > align)
        align = allocator->alignment;
    std::size_t whole = 0;
    const std::size_t around = sizeof(Head) + (align - alignof(Head));
    if (__builtin_add_overflow(size, around, &whole))
        return nullptr;

    const std::size_t less = credit.allocator == handle ? credit.bytes : 0;
    if (!allocator || allocator->charge(whole, less)) {
        const bool pinned = allocator && allocator->pinned;
        if (char *raw = static_cast<char *>(raw_memory(whole, pinned))) {
            if (less > 0)
                credit.bytes = 0;
            const auto base = reinterpret_cast<std::uintptr_t>(raw) + sizeof(Head);
            auto *block = raw + sizeof(Head) + (((base + align - 1) & ~(align - 1)) - base);
            *(reinterpret_cast<Head *>(block) - 1) = {raw, size, whole, handle};
            return block;
        }
        if (!allocator)
            return nullptr;
        allocator->give_back(whole - less); // modulo 2^64
    }
    switch (allocator->fallback) {
    case kNullFallback:
        return nullptr;
    case kAbortFallback:
        fatal("omp_alloc: %zu bytes are not to be had from an allocator whose fallback is abort_fb",
              size);
    case kAllocatorFallback:
        return allocate_from(alignment, size, allocator->fallback_data, usual, credit);
    default:
        return allocate_from(alignment, size, kDefaultAllocator, usual, credit);
    }
}

} // namespace

AllocatorHandle make_allocator(std::uintptr_t space, int count, const AllocatorTrait *traits) {
    // No machine says which of its memory has a high bandwidth: as libgomp and libomp without
    // memkind.
    if (space > kLowLatency || space == kHighBandwidth)
        return kNullAllocator;
    Allocator wanted;
    for (int i = 0; i < count; ++i) {
        const TraitRule *rule = rule_for(traits[i].key);
        if (!rule)
            return kNullAllocator;
        const std::uintptr_t value = traits[i].value == kDefault ? rule->usual : traits[i].value;
        if (!is_allowed(*rule, value))
            return kNullAllocator;
        switch (rule->key) {
        case kAlignment:
            wanted.alignment = value;
            break;
        case kPoolSize:
            wanted.pool = value;
            break;
        case kFallback:
            wanted.fallback = value;
            break;
        case kFallbackData:
            wanted.fallback_data = value;
            break;
        case kPinned:
            wanted.pinned = value == kTrue;
            break;
        default:
            break; // sync_hint, access, partition: all memory serves them equally
        }
    }
    void *memory = std::malloc(sizeof(Allocator));
    if (!memory)
        return kNullAllocator;
    auto *made = new (memory) Allocator;
    made->alignment = wanted.alignment;
    made->pool = wanted.pool;
    made->fallback = wanted.fallback;
    made->fallback_data = wanted.fallback_data;
    made->pinned = wanted.pinned;
    return reinterpret_cast<AllocatorHandle>(made);
}

void drop_allocator(AllocatorHandle handle) {
    std::free(user_allocator(handle));
}

void *allocate(std::size_t alignment, std::size_t size, AllocatorHandle handle,
               AllocatorHandle usual) {
    Credit none;
    return size ? allocate_from(alignment, size, handle, usual, none) : nullptr;
}

void release(void *block) {
    if (!block)
        return;
    const Head &head = head_of(block);
    if (Allocator *allocator = user_allocator(head.allocator))
        allocator->give_back(head.whole);
    free_raw(head);
}

void *reallocate(void *block, std::size_t size, AllocatorHandle handle, AllocatorHandle usual) {
    if (!block)
        return allocate(1, size, handle, usual);
    if (size == 0) {
        release(block);
        return nullptr;
    }
    const Head &head = head_of(block);
    Credit credit{head.allocator, head.whole};
    void *fresh =
        allocate_from(1, size, handle != kNullAllocator ? handle : head.allocator, usual, credit);
    if (!fresh)
        return nullptr;
    std::memcpy(fresh, block, head.size < size ? head.size : size);
    if (credit.bytes > 0)
        release(block);
    else
        free_raw(head);
    return fresh;
}

// ---- OMP_ALLOCATOR ----------------------------------------------------------------------------

namespace {

// One word of a list, without the blanks around it.
struct Token {
    const char *text;
    std::size_t length;

    static Token read(const char **at, const char *stops) {
        const char *begin = *at + std::strspn(*at, " \t");
        const char *end = begin + std::strcspn(begin, stops);
        *at = end;
        while (end > begin && (end[-1] == ' ' || end[-1] == '\t'))
            --end;
        return {begin, static_cast<std::size_t>(end - begin)};
    }
    bool is(const char *word) const {
        return std::strlen(word) == length && strncasecmp(text, word, length) == 0;
    }
    template <std::size_t N>
    bool find(const Word (&words)[N], std::uintptr_t *value) const {
        for (const Word &word : words)
            if (word.text && is(word.text)) {
                *value = word.value;
                return true;
            }
        return false;
    }
    bool number(std::uintptr_t *value) const {
        char *end = nullptr;
        *value = std::strtoull(text, &end, 0);
        return length > 0 && end == text + length;
    }
};

bool parse_trait(const char **at, AllocatorTrait *trait) {
    const Token name = Token::read(at, "=,");
    if (*(*at)++ != '=')
        return false;
    const Token value = Token::read(at, ",");
    for (const TraitRule &rule : kRules) {
        if (!name.is(rule.name))
            continue;
        trait->key = rule.key;
        trait->value = rule.usual;
        if (value.is("default"))
            return true;
        if (rule.kind == TraitRule::kWords)
            return value.find(rule.words, &trait->value);
        if (rule.kind == TraitRule::kAllocator)
            return value.find(kAllocators, &trait->value);
        return value.number(&trait->value);
    }
    return false;
}

} // namespace

AllocatorHandle parse_allocator(const char *text) {
    constexpr int kMostTraits = 8;
    const char *at = text;
    const Token name = Token::read(&at, ":");
    std::uintptr_t value = 0;
    if (*at == '\0' && name.find(kAllocators, &value))
        return value;
    if (!name.find(kSpaces, &value))
        return kNullAllocator;
    AllocatorTrait traits[kMostTraits];
    int count = 0;
    while (*at != '\0') { // at a colon, then at commas
        ++at;
        if (count == kMostTraits || !parse_trait(&at, &traits[count]))
            return kNullAllocator;
        ++count;
    }
    return make_allocator(value, count, traits);
}

} // namespace sennit::omp
