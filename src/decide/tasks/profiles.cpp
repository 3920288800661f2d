// SPDX-License-Identifier: Apache-2.0
#include "decide/tasks/profiles.h"

#include "base/hash.h"

#include <cstdlib>
#include <new>

namespace sennit::policy {
namespace {

std::uint32_t hash(const ProfileKey &key) {
    std::uint64_t mixed = reinterpret_cast<std::uintptr_t>(key.entry);
    const std::uint64_t parts[] = {reinterpret_cast<std::uintptr_t>(key.parent_entry),
                                   std::uint64_t{key.size} << 32 | key.properties, key.dependences};
    for (const std::uint64_t part : parts)
        mixed = hash_after(mixed, part);
    return static_cast<std::uint32_t>(mixed >> 40);
}

// How many bits are set. The compiler's own way is a call, if the processor may have no instruction
// for it.
int ones(unsigned bits) {
    bits -= bits >> 1 & 0x5555;
    bits = (bits & 0x3333) + (bits >> 2 & 0x3333);
    bits = (bits + (bits >> 4)) & 0x0f0f;
    return static_cast<int>((bits + (bits >> 8)) & 0x1f);
}

} // namespace

Profile::State Profile::next(State before, bool sent) {
    State after = before;
    after.outcomes = static_cast<std::uint16_t>(before.outcomes << 1 | (sent ? 1 : 0));
    if (before.runs < kRemembered)
        ++after.runs;
    // The bounds lie apart. So a function that sends every other time does not change its verdict
    // for ever.
    const int sends = ones(after.outcomes);
    if (sends * 2 >= after.runs)
        after.verdict = Verdict::sends;
    else if (before.verdict != Verdict::sends || sends * 4 <= after.runs)
        after.verdict = Verdict::computes;
    return after;
}

// If another thread's outcome overwrites this one, this one is only forgotten. So a store is
// enough, which takes a tenth of an exchange's time. A new verdict is to be told once. If an older
// outcome overwrites the new one, the next look finds the verdict again, and tells it again.
bool Profile::record_change(std::uint32_t word, bool sent) {
    for (;;) {
        const State before = unpack(word);
        const State after = next(before, sent);
        const auto changed = __builtin_bit_cast(std::uint32_t, after);
        if (changed == word) // nothing new, and no cache line is taken
            return false;
        if (after.verdict == before.verdict) {
            state_.store(changed, std::memory_order_relaxed);
            return false;
        }
        if (state_.compare_exchange_weak(word, changed, std::memory_order_relaxed))
            return true;
    }
}

Profiles::~Profiles() {
    for (auto &slot : slots_) {
        Profile *profile = slot.load(std::memory_order_relaxed);
        if (profile)
            profile->~Profile();
        std::free(profile);
    }
}

Profile *Profiles::find(const ProfileKey &key, Known known) {
    Profile *fresh = nullptr;
    for (std::uint32_t at = hash(key) % kCapacity;; at = (at + 1) % kCapacity) {
        // acquire pairs with the release below: the profile's key is visible.
        Profile *there = slots_[at].load(std::memory_order_acquire);
        if (!there) {
            if (used_.load(std::memory_order_relaxed) >= kCapacity * 3 / 4)
                break;
            if (!fresh) {
                void *memory = std::malloc(sizeof(Profile));
                if (!memory)
                    break;
                fresh = new (memory) Profile(key, known ? known(key.entry) : std::nullopt);
            }
            if (slots_[at].compare_exchange_strong(there, fresh, std::memory_order_acq_rel,
                                                   std::memory_order_acquire)) {
                used_.fetch_add(1, std::memory_order_relaxed);
                return fresh;
            }
        }
        if (there->key == key) {
            std::free(fresh);
            return there;
        }
    }
    std::free(fresh);
    return nullptr;
}

} // namespace sennit::policy
