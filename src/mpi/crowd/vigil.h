// SPDX-License-Identifier: Apache-2.0
// One wait of a thread that has nothing else to do, for ranks that outnumber cores. Between two
// tests the thread leaves its core to others.
//
// It climbs the ladder (wait/rows.h): a few tests, then yields, and a rank fiber none. After a
// millisecond, or when a yield has taken a time slice, it sleeps on this rank's bell (wait/bell.h).
// A rank that sends to this one rings the bell. Nobody rings for other nodes, one-sided calls, and
// ranks without a bell. A timer finds those; its naps double.
#pragma once

#include "mpi/call/call_path.h"
#include "mpi/call/operation.h"
#include "mpi/call/runtime.h"
#include "wait/ladder.h"

#include <cstdint>

namespace sennit::mpi {

class Vigil {
  public:
    // The thread waits for `operation`, which must live as long as the vigil.
    explicit Vigil(const Operation &operation) : operation_(operation) {}
    ~Vigil() {
        if (lent_)
            reclaim_core();
        if (stopped_)
            go_on();
        if (ladder_.rung() > wait::Rung::yields)
            ask_nobody();
        if (found_)
            found_before();
    }
    Vigil(const Vigil &) = delete;
    Vigil &operator=(const Vigil &) = delete;

    // A test was in vain: rest until the next one is worth it. If ranks do not outnumber cores, it
    // yields.
    void rest();

  private:
    wait::Rung climb(const wait::LadderRow &row, bool fiber);
    void leave_core(bool fiber);
    void yield() const;
    void arm();
    void sleep(const wait::LadderRow &row);
    void look_beyond();
    static void go_on(); // with its work: the wait is over
    static void ask_nobody();
    static void found_before();

    const Operation &operation_;
    wait::Ladder ladder_;
    bool lent_ = false;    // it has lent its core
    bool stopped_ = false; // it has written down its work
    bool rung_ = true;
    bool found_ = false; // MPI has found something since it rang last
    int answers_ = 0;    // how often it has rung back
    int asks_ = 0;       // how often it has asked others to ring, since its last nap
    std::uint32_t seen_ = 0;
    std::int64_t yields_ns_ = 0; // when it is about to
    std::int64_t looked_ns_ = 0;
};

} // namespace sennit::mpi
