// SPDX-License-Identifier: Apache-2.0
// The process's card, and its messages until they arrive. A send hands its message to a thread,
// which makes the true send at the time of arrival. Messages of one process arrive in the order of
// their sends, or with `eager` those of one tag do, so MPI's order of matching is kept.
//
// State: options, lists of messages and times, with a mutex. Any thread.
#pragma once

#include "base/clock.h"
#include "base/guard.h"
#include "network/pairing.h"

#include <atomic>
#include <cstdint>
#include <mpi.h>
#include <pthread.h>
#include <time.h>

namespace sennit::network {

// What SENNIT_NETWORK asks for; options.def has its row.

struct WireOptions {
    bool on = false;
    std::uint64_t latency_ns = 0;
    std::uint64_t bandwidth = 0;      // MB/s; 0: no limit
    std::uint64_t eager = UINT64_MAX; // bytes; longer messages wait for their receives
    // A message that has waited so long for its receive is taken to have one that cannot be told.
    std::uint64_t patience_ns = 60'000'000'000;
    std::uint64_t payload = UINT64_MAX; // bytes carried in truth
};

// What the environment says. If that cannot be understood, there is one line on stderr, and no
// network.
WireOptions read_options();

constexpr long kNapNs = 50'000; // of calls that wait

inline void nap() {
    const timespec time{0, kNapNs};
    nanosleep(&time, nullptr);
}

inline std::uint64_t now_ns() {
    return static_cast<std::uint64_t>(monotonic_ns());
}

using Start = decltype(&MPI_Isend);

struct DelayedSend {
    Start start;
    const void *data;
    int count;
    MPI_Datatype type;
    int peer, tag;
    MPI_Comm comm;
    std::uint64_t bytes;
    std::uint64_t carried = 0; // of them, in truth
    std::uint64_t sent = 0;
    std::uint64_t allowed = 0; // when the receiver's answer is here
    std::uint64_t leaves = 0;
    std::uint64_t arrives = 0;
    MPI_Request request = MPI_REQUEST_NULL; // the program's, or null: it waits for `left`
    std::atomic<bool> *left = nullptr;
    void *copy = nullptr;
    MPI_Request bare = MPI_REQUEST_NULL; // the true send's
    DelayedSend *next = nullptr;
};

class Wire {
  public:
    Wire() : options_(read_options()) {}
    Wire(const Wire &) = delete;
    Wire &operator=(const Wire &) = delete;

    bool on() const { return options_.on; }
    bool asks() const { return options_.on && options_.eager != UINT64_MAX; }

    // From now on long messages on MPI_COMM_WORLD wait for their receives. This process is `rank`
    // there.
    void expect_receives(int rank);
    // The peer has called a receive, at that time.
    void receive_called(int peer, int tag, std::uint64_t called);

    // `made`: a message with what the caller knows. It is on its way when this returns. False: it
    // is not, for there is no network any more.
    bool hand_over(const DelayedSend &made);
    // Waits until MPI has all messages that were not waiting for their receives.
    void wait_for_arrivals();
    // No more messages will come. Returns when all have left.
    void stop();

  private:
    struct List {
        DelayedSend *first = nullptr;
        DelayedSend *last = nullptr;
        void push(DelayedSend *message);
        DelayedSend *pop();
    };

    void run();
    bool move_one(std::uint64_t now) SENNIT_REQUIRES(mutex_);
    void collect();

    bool start_thread() SENNIT_REQUIRES(mutex_);
    void put_on_card(DelayedSend *message, std::uint64_t now) SENNIT_REQUIRES(mutex_);
    void allow(DelayedSend *message, std::uint64_t called, std::uint64_t now)
        SENNIT_REQUIRES(mutex_);
    void ask(DelayedSend *message, std::uint64_t now) SENNIT_REQUIRES(mutex_);
    void lose_patience(std::uint64_t now) SENNIT_REQUIRES(mutex_);
    std::uint64_t next_time() const SENNIT_REQUIRES(mutex_);
    void wait_until(std::uint64_t time) SENNIT_REQUIRES(mutex_);

    WireOptions options_; // written with mutex_
    Mutex mutex_;
    TimedCondition changed_;
    int rank_ SENNIT_GUARDED_BY(mutex_) = -1;               // -1: nobody tells of receives
    Pairing<DelayedSend> asking_ SENNIT_GUARDED_BY(mutex_); // their receives are still to be called
    std::uint64_t asking_since_ SENNIT_GUARDED_BY(mutex_) = 0; // or since one of them last went
    // In the order of their times:
    // Their receives have been called, the answer is on its way.
    DelayedSend *allowed_ SENNIT_GUARDED_BY(mutex_) = nullptr;
    List leaving_ SENNIT_GUARDED_BY(mutex_);
    List flying_ SENNIT_GUARDED_BY(mutex_);
    List arriving_; // handed to MPI, not yet complete there; the thread's alone
    // Messages that MPI has not got yet; not those that ask.
    std::uint64_t under_way_ SENNIT_GUARDED_BY(mutex_) = 0;
    std::uint64_t card_free_ SENNIT_GUARDED_BY(mutex_) = 0;
    bool running_ SENNIT_GUARDED_BY(mutex_) = false;
    bool stopping_ SENNIT_GUARDED_BY(mutex_) = false;
    pthread_t thread_{};
};

extern Wire g_wire;

} // namespace sennit::network
