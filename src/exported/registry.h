// SPDX-License-Identifier: Apache-2.0
// The ranges that the ranks of one address space export (include/sennit_export.h). It lies in the
// memory of their host; each rank has its own copy of this code, and finds the registry by the
// auxiliary vector.
//
// A rank may be killed at any instruction. So an entry is there from one store on, to its `id`, and
// gone by another; and the lock holds the number of the rank that has it: when that has ended, the
// host frees the lock and the rank's entries (end_of). The host itself never takes the lock, which
// a stopped rank may hold.
//
// Who waits sleeps on changes_. A wake-up cannot be lost: who waits adds itself to waiting_, then
// reads changes_, then looks; who changes something changes changes_, then looks at waiting_ (all
// seq_cst). If a rank is killed in between, the host wakes all when it has ended.
#pragma once

#include "base/clock.h"
#include "base/futex.h"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <sys/types.h>

namespace sennit::exported {

struct State {
    std::uint64_t address = 0;
    std::uint64_t bytes = 0;
    std::uint64_t version = 0;
    pid_t owner = 0;
};

enum class Outcome { done, exists, full, not_own, ended };

class Registry {
  public:
    static constexpr std::uint64_t kVersion = 0x31747078456e6e53; // "SnnExpt1"
    static constexpr std::size_t kMost = 1024;
    static constexpr std::size_t kLongestName = 63;

    Registry() = default;
    Registry(const Registry &) = delete;
    Registry &operator=(const Registry &) = delete;

    // Rank and host are of one version of Sennit.
    bool is_understood() const { return version_ == kVersion; }

    // `self`: the process number of the calling rank. Names are at most kLongestName long.
    Outcome add(pid_t self, const char *name, const State &state, std::uint64_t &id);
    Outcome publish(pid_t self, std::uint64_t id);
    Outcome remove(pid_t self, std::uint64_t id);
    // 0: there is none.
    std::uint64_t find(pid_t self, const char *name);
    // False: it has ended.
    bool get(std::uint64_t id, State &state) const;

    // The host's: that process has ended, none of its threads runs any more.
    void end_of(pid_t process);

    // Sleeps until is_over() says so, or until wait_ns are over (negative: never). False: they are.
    template <typename Condition>
    bool wait(std::int64_t wait_ns, Condition is_over);

  private:
    struct Entry {
        std::atomic<std::uint64_t> id{0}; // 0: it is free
        std::atomic<std::uint64_t> version{0};
        std::atomic<std::uint64_t> address{0};
        std::atomic<std::uint64_t> bytes{0};
        std::atomic<pid_t> owner{0};
        char name[kLongestName + 1] = {}; // under the lock
    };

    class Lock {
      public:
        Lock(Registry &registry, pid_t self);
        ~Lock() { registry_.holder_.store(0, std::memory_order_release); }
        Lock(const Lock &) = delete;
        Lock &operator=(const Lock &) = delete;

      private:
        Registry &registry_;
    };

    Entry *entry_of(std::uint64_t id);
    void tell();

    std::uint64_t version_ = kVersion;
    std::atomic<pid_t> holder_{0};
    FutexWord changes_{0};
    std::atomic<std::uint32_t> waiting_{0}; // or was, and was killed: then a wake-up too many
    std::uint64_t last_ = 0;                // ids that were given, under the lock
    Entry entries_[kMost];
};

template <typename Condition>
bool Registry::wait(std::int64_t wait_ns, Condition is_over) {
    const std::int64_t end = wait_ns > 0 ? monotonic_ns() + wait_ns : 0;
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
