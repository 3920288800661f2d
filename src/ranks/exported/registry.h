// SPDX-License-Identifier: Apache-2.0
// The ranges that the ranks of one address space export (include/sennit_export.h). It lies in the
// memory of their host; each rank has its own copy of this code, and finds the registry by the
// auxiliary vector.
//
// A rank may be stopped or killed at any instruction, and nobody is to wait for it. So there is no
// lock. A range is added in four steps:
//
//   1. an entry is reserved: its word names the process
//   2. it is filled in and proposed: its word is the id that it will have
//   3. `latest_`, the id of the range that was added last, becomes its id, by a CAS from the id
//      that it had before the names were looked at: this adds the range, and shows that no other
//      was added since. So there is one of a name
//   4. it is there: its word is its id. Each reader of latest_ does this first (settle)
//
// What a rank has reserved or proposed when it ends, the host frees, with its ranges (end_of). Ids
// are never used again, so no CAS takes one for another.
//
// A waiter sleeps on changes_. A wake-up cannot be lost: a waiter adds itself to waiting_, then
// reads changes_, then looks; a rank that changes something changes changes_, then looks at
// waiting_ (all seq_cst). If a rank is killed in between, the host wakes all when it has ended.
#pragma once

#include "base/clock.h"
#include "base/futex.h"
#include "base/spin.h"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <sys/types.h>

namespace sennit::exported {

struct ExportState {
    std::uint64_t address = 0;
    std::uint64_t bytes = 0;
    std::uint64_t version = 0;
    pid_t owner = 0;
};

enum class Outcome { done, exists, full, not_own, ended };

class Registry {
  public:
    static constexpr std::uint64_t kVersion = 0x32747078456e6e53; // "SnnExpt2"
#if SENNIT_SCHEDULES                                              // there are looks at all of them
    static constexpr std::size_t kMost = 3;
#else
    static constexpr std::size_t kMost = 1024;
#endif
    static constexpr std::size_t kLongestName = 63;

    Registry() = default;
    Registry(const Registry &) = delete;
    Registry &operator=(const Registry &) = delete;

    // Rank and host are of one version of Sennit.
    bool is_understood() const { return version_ == kVersion; }

    // `self`: the process number of the calling rank. Names are at most kLongestName long.
    Outcome add(pid_t self, const char *name, const ExportState &state, std::uint64_t &id);
    Outcome publish(pid_t self, std::uint64_t id);
    Outcome remove(pid_t self, std::uint64_t id);
    // 0: there is none.
    std::uint64_t find(const char *name);
    // False: it has ended; `state` is as it was.
    bool get(std::uint64_t id, ExportState &state) const;

    // The host's: that process has ended, none of its threads runs any more.
    void end_of(pid_t process);

    // Sleeps until is_over() says so, or until wait_ns are over (negative: never). False: they are.
    template <typename Condition>
    bool wait(std::int64_t wait_ns, Condition is_over);

  private:
    static constexpr std::size_t kNameWords = (kLongestName + 1) / sizeof(std::uint64_t);
    struct Name {
        std::uint64_t words[kNameWords] = {};
        explicit Name(const char *text);
    };
    // What an entry's word says: 0: it is free; kReserved and a process number; kProposed and an
    // id; an id.
    static constexpr std::uint64_t kReserved = std::uint64_t{1} << 63;
    static constexpr std::uint64_t kProposed = std::uint64_t{1} << 62;
    static bool is_id(std::uint64_t word) {
        return word != 0 && (word & (kReserved | kProposed)) == 0;
    }
    struct Entry {
        Atomic<std::uint64_t> word{0};
        std::atomic<std::uint64_t> version{0}; // its low bits; above them some of the id's
        std::atomic<std::uint64_t> address{0};
        std::atomic<std::uint64_t> bytes{0};
        Atomic<pid_t> owner{0};
        std::atomic<std::uint64_t> name[kNameWords] = {};
    };

    const Entry *entry_of(std::uint64_t id) const {
        return is_id(id) ? &entries_[id % kMost] : nullptr;
    }
    Entry *entry_of(std::uint64_t id) { return is_id(id) ? &entries_[id % kMost] : nullptr; }
    Entry *reserve(pid_t self);
    std::uint64_t propose(Entry &entry, pid_t self, const Name &name, const ExportState &state);
    void settle(std::uint64_t latest);
    std::uint64_t look_for(const Name &name) const;
    Outcome own(const Entry *entry, std::uint64_t id, pid_t self) const;
    void tell();

    std::uint64_t version_ = kVersion;
    Atomic<std::uint64_t> latest_{0}; // 0: none was added yet
    Atomic<std::uint64_t> tickets_{0};
    FutexWord changes_{0};
    Atomic<std::uint32_t> waiting_{0}; // or was, and was killed: then a wake-up too many
    Entry entries_[kMost];
};

template <typename Condition>
bool Registry::wait(std::int64_t wait_ns, Condition is_over) {
    const std::int64_t begin = monotonic_ns();
    const std::int64_t end = wait_ns > INT64_MAX - begin ? INT64_MAX : begin + wait_ns;
    waiting_.fetch_add(1);
    bool over = false;
    for (;;) {
        const std::uint32_t seen = changes_.load();
        over = is_over();
        const std::int64_t left = wait_ns > 0 ? end - monotonic_ns() : wait_ns;
        if (over || left == 0 || (wait_ns > 0 && left < 0))
            break;
        futex_wait(changes_, seen, left);
    }
    waiting_.fetch_sub(1);
    return over;
}

} // namespace sennit::exported
