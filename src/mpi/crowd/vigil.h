// SPDX-License-Identifier: Apache-2.0
// One wait of a thread that has nothing else to do, for ranks that outnumber cores. Between two
// tests the thread leaves its core to others.
//
// First it tests a few times. A rank fiber then sleeps. Others yield. Among ranks that all wait, a
// yield takes a microsecond or two, less than a wake-up. After a millisecond, or when a yield has
// taken a time slice, it sleeps on this rank's bell (node/bell.h). A rank that sends to this one
// rings the bell. Nobody rings for other nodes, one-sided calls, and ranks without a bell. A timer
// finds those; its naps double.
#pragma once

#include "mpi/call/call_path.h"
#include "mpi/call/operation.h"
#include "mpi/call/runtime.h"

#include <cstdint>

namespace sennit::mpi {

class Vigil {
  public:
    // The thread waits for `operation`, which must live as long as the vigil.
    explicit Vigil(const Operation &operation) : operation_(operation) {}
    ~Vigil() {
        if (lent_)
            reclaim_core();
        if (begin_ns_ != 0)
            go_on();
        if (stage_ == Stage::sleeping)
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
    enum class Stage : unsigned char { testing, yielding, sleeping };
    bool goes_on_testing();
    void yield();
    void fall_asleep();
    void arm();
    void sleep();
    void look_beyond();
    static void go_on(); // with its work: the wait is over
    static void ask_nobody();
    static void found_before();

    const Operation &operation_;
    Stage stage_ = Stage::testing;
    bool lent_ = false; // it has lent its core
    bool armed_ = false;
    bool rung_ = true;
    bool found_ = false; // MPI has found something since it rang last
    int tests_ = 0;
    int answers_ = 0; // how often it has rung back
    int asks_ = 0;    // how often it has asked others to ring, since its last nap
    std::uint32_t seen_ = 0;
    std::int64_t begin_ns_ = 0;
    std::int64_t nap_ns_ = 0;
    std::int64_t looked_ns_ = 0;
};

} // namespace sennit::mpi
