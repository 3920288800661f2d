// SPDX-License-Identifier: Apache-2.0
// What observes the program's calls. The trace (SENNIT_TRACE) is told which ranks are in a
// communicator, how the clocks of hosts differ, which operations were posted and who waits for
// them. Where the runtime counts how time is spent (SENNIT_TALP), it is told of the calls alone.
// And messages of accounts are counted while somebody watches these (traffic.h). Spans of calls:
// traced.h.
//
// State         what                                         touched by
//   on_         does anybody want to know?                   any thread reads
//   traces_, tells_    constant from MPI_Init to MPI_Finalize   any thread reads
//   key_, latest_  what is known of communicators: an        any thread, with mutex_
//               attribute, which goes with its communicator as a handle does not
//   clock_comm_, has_clocks_                                 MPI_Init, MPI_Finalize
//
// Capacity: any number of communicators.
#pragma once

#include "base/compiler.h"
#include "base/guard.h"
#include "mpi/call/call_path.h"
#include "mpi/call/operation.h"
#include "mpi/record/gathering.h"
#include "mpi/record/traffic.h"
#include "sennit.h"

#include <cstdint>
#include <mpi.h>

namespace sennit::mpi {

struct CallFacts {
    const char *name = nullptr;
    int direction = 0; // enum sennit_notice, or 0
    int peer = -1;
    int tag = -1;
    Object object = {};
    int requests = 0; // in `handles`
    const MPI_Request *handles = nullptr;
};

std::uint64_t message_bytes(std::int64_t count, MPI_Datatype type);

// A communicator, as the trace names it, and its members (of an inter-communicator the other
// side's).
struct KnownGroup {
    std::uint64_t id;
    bool is_left_out; // its messages are not counted
    int size;
    int *in_world; // each member's rank; -1: it is of another job

    int world_rank(int member) const {
        return member >= 0 && member < size ? in_world[member] : -1;
    }
};

// What is told of an operation. Nothing is initialized, for this is part of Traced.
struct Described {
    sennit_trace_call call;  // for the trace
    CountedMessage mail;     // for who counts messages
    const KnownGroup *group; // as long as the communicator lives; null: not known
};

class Timeline {
  public:
    constexpr Timeline() = default;
    Timeline(const Timeline &) = delete;
    Timeline &operator=(const Timeline &) = delete;

    // Does anybody want to know of calls? One comparison in memory and one branch if not: compilers
    // make two instructions of an atomic load and its test.
    bool on() const {
#if SENNIT_TSAN
        return __builtin_expect(__atomic_load_n(&on_, __ATOMIC_RELAXED), false);
#else
        return __builtin_expect(on_, false);
#endif
    }
    // Is it the trace, which also wants to see who waits for what?
    bool traces() const { return __builtin_expect(traces_, false); }
    // Does the runtime want to know of calls: for the trace, or to count time?
    bool tells() const { return __builtin_expect(tells_, false); }

    // See sennit_gather().
    int gather(bool node, const void *mine, int bytes, void *all, int room) {
        return gathering_.gather(node, mine, bytes, all, room);
    }

    // After MPI_Init, and before MPI_Finalize: who we are, and the clocks.
    void start();
    void finish();

    // See sennit.h: enum sennit_error.
    int watch(std::uint32_t account, bool on);
    int take(std::uint32_t account, void (*visit)(void *arg, const sennit_traffic *), void *arg);
    int leave_out(MPI_Comm comm);

    Described describe(const CallFacts &facts, std::uint64_t bytes);
    // A non-blocking operation was started.
    void post(Described described, const MPI_Request *request);
    template <class Bytes>
    void post(const CallFacts &facts, const MPI_Request *request, Bytes bytes) {
        if (on())
            post(facts, bytes(), request);
    }
    // The calling task's completion waits for it.
    void bound(const MPI_Request *requests, int count) const;
    // They are called back for: what that completes is the task whose event `event` is, or, where
    // that is 0, the calling one if it has events.
    void completes(const MPI_Request *requests, int count, std::uint64_t event) const;

    // The call of the calling task begins; it waits for an operation; it ends, with what was
    // received.
    void begin(const Described &described) const;
    void waits_for(MPI_Request request) const;
    void end(const Described &described, int source, int tag, std::uint64_t bytes);

  private:
    void post(const CallFacts &facts, std::uint64_t bytes, const MPI_Request *request);
    KnownGroup *known(MPI_Comm comm);
    KnownGroup *known(Object object);
    void choose() SENNIT_REQUIRES(mutex_);

    bool on_ = false; // written atomically, see on()
    bool traces_ = false;
    bool tells_ = false; // of calls: for the trace, or where time is counted
    Gathering gathering_;
    Traffic traffic_;
    bool has_clocks_ = false;
    Mutex mutex_ SENNIT_BEFORE(g_calls.lock); // attend_to()
    bool has_key_ SENNIT_GUARDED_BY(mutex_) = false;
    int key_ SENNIT_GUARDED_BY(mutex_) = 0;
    std::uintptr_t latest_ SENNIT_GUARDED_BY(mutex_) = 0;
    MPI_Comm clock_comm_{}; // valid while has_clocks_
};

} // namespace sennit::mpi
