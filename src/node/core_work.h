// SPDX-License-Identifier: Apache-2.0
// By core, how long the threads computed there that have waited in MPI since. So a thread that has
// yielded can tell whether it made way for another rank of its node, whose work it waits for, or
// for a program that has nothing to do with it.
#pragma once

#include "node/core_table.h"

#include <atomic>
#include <cstdint>

namespace sennit::node {

// Zeroed memory. Any thread; all relaxed: these are hints for those who decide how to wait.
class CoreWork {
  public:
    // On this core, which may be any number: those that are too large are left out.
    void add(int core, std::int64_t ns) {
        if (has(core))
            cells_[core].ns.fetch_add(ns, std::memory_order_relaxed);
    }
    std::int64_t of(int core) const {
        return has(core) ? cells_[core].ns.load(std::memory_order_relaxed) : 0;
    }

  private:
    static bool has(int core) { return core >= 0 && core < kMostCores; }
    struct alignas(64) Cell {
        std::atomic<std::int64_t> ns;
    };
    Cell cells_[kMostCores];
};

} // namespace sennit::node
