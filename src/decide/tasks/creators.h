// SPDX-License-Identifier: Apache-2.0
// Control dependences: what tasks do with the tasks that they create (the paper, section 5, leaves
// this to the future). A message may wait not only for the tasks on a path of dependences, but also
// for the children of such a task, if the task waits for them; and for the task that creates all of
// these.
//
// - A task hands its priority on to its children, unless tasks of its function have been seen to
//   end before their children: these do not wait for them.
// - A task of a function whose tasks have created send-tasks comes right after the send-tasks. It
//   hands this on to nobody: those of its children that matter have a priority of their own.
//
// Functions are told apart by the task's entry function alone, for sa has no profiles. A table
// keeps what was seen of as many as it has places; of two that share a place, the later one.
//
// Thread-safety: any thread may call anything. All is relaxed: these are guesses about the future.
#pragma once

#include "base/hash.h"
#include "decide/tasks/rules.h"

#include <atomic>
#include <cstdint>

namespace sennit::policy {

class Creators {
  public:
    enum Trait : std::uintptr_t {
        kLeaves = 1, // ends before its children
        kLeads = 2,  // creates send-tasks, or tasks that lead to some
    };

    bool has(const void *entry, Trait trait) const {
        const std::uintptr_t word = place_of(entry).load(std::memory_order_relaxed);
        return (word & trait) != 0 && word >> kTraits == word_of(entry) >> kTraits;
    }
    bool any_leads() const { return any_leads_.load(std::memory_order_relaxed); }
    void note(const void *entry, Trait trait) {
        if (!entry || has(entry, trait))
            return;
        if (trait == kLeads)
            any_leads_.store(true, std::memory_order_relaxed);
        std::atomic<std::uintptr_t> &place = place_of(entry);
        const std::uintptr_t word = place.load(std::memory_order_relaxed);
        const bool known = word >> kTraits == word_of(entry) >> kTraits;
        place.store((known ? word : word_of(entry)) | trait, std::memory_order_relaxed);
    }

  private:
    static constexpr unsigned kTraits = 2; // bits; no address has that many
    static constexpr unsigned kBits = 10;

    static std::uintptr_t word_of(const void *entry) {
        return reinterpret_cast<std::uintptr_t>(entry) << kTraits;
    }
    std::atomic<std::uintptr_t> &place_of(const void *entry) {
        return words_[hash_place(entry, kBits)];
    }
    const std::atomic<std::uintptr_t> &place_of(const void *entry) const {
        return words_[hash_place(entry, kBits)];
    }

    std::atomic<bool> any_leads_{false};
    std::atomic<std::uintptr_t> words_[std::size_t{1} << kBits] = {};
};

// Of a task that leads to send-tasks, because it creates them.
inline constexpr int kLeadsPriority = kMostPriority - 1;

// What a child gets from a creator of this priority, at least.
inline int handed_on(const Creators &creators, const void *entry, int priority) {
    if (priority == 0 || creators.has(entry, Creators::kLeaves))
        return 0;
    // A task that sends itself has more than one that only creates such tasks.
    if (priority < kMostPriority && creators.has(entry, Creators::kLeads))
        return 0;
    return priority;
}

} // namespace sennit::policy
