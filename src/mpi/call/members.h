// SPDX-License-Identifier: Apache-2.0
// Communicators: which ranks of the job the program's have, how ranks meet in a collective
// operation of ours, and a communicator of our own.
#pragma once

#include "mpi/call/bare.h"
#include "mpi/call/call_path.h"
#include "wait/ladder.h"

#include <cstdint>
#include <ctime>
#include <mpi.h>
#include <sched.h>

namespace sennit::mpi {

// Which ranks of the whole job a communicator's processes are. Local calls; the caller is inside
// MPI, and the communicator is in use, so it lives.
class Members {
  public:
    // Of an inter-communicator: those whom messages go to, or those of its own side.
    enum class Side { peers, own };
    explicit Members(MPI_Comm comm, Side side = Side::peers);
    ~Members();
    Members(const Members &) = delete;
    Members &operator=(const Members &) = delete;

    bool known() const { return of_comm_ != MPI_GROUP_NULL; }
    bool of_inter() const { return inter_; }
    int size() const { return size_; } // 0: not known
    int own_rank() const;              // of this process, or -1
    // -1: it is in another job, or the program has got it wrong.
    int in_world(int member) const;
    // The same number where the same ranks are in the same order; 0: not all are of the job.
    std::uint64_t fingerprint() const;

  private:
    MPI_Group of_comm_ = MPI_GROUP_NULL;
    MPI_Group world_ = MPI_GROUP_NULL;
    int size_ = 0;
    bool inter_ = false;
};

// The rank of a window's target in the whole job, or -1, as in_world().
int target_in_world(MPI_Win win, int target);

// A collective operation of our own, outside of tasks and of the engine. Ranks may be late: between
// two tests the thread rests, and how is the caller's choice.

// How to rest while ranks are late: the core is left to those which are not there yet. Yields may
// not reach them, so the thread soon sleeps, and longer and longer.
class LateRanks {
  public:
    void operator()() {
        if (ladder_.next(wait::kLateRanks) == wait::Rung::tests) {
            sched_yield();
            return;
        }
        const timespec nap = {0, static_cast<long>(ladder_.nap_ns(wait::kLateRanks))};
        clock_nanosleep(CLOCK_MONOTONIC, 0, &nap, nullptr);
        ladder_.slept(wait::kLateRanks, false);
    }

  private:
    wait::Ladder ladder_;
};

// start(&request), then rest() until it is over. False: MPI returned an error.
template <class Start, class Rest>
bool meet(Start start, Rest rest) {
    static constexpr auto test = SENNIT_BARE(Test);
    MPI_Request request = MPI_REQUEST_NULL;
    int over = 0;
    int error = outside_task([&] { return start(&request); });
    while (error == MPI_SUCCESS) {
        error = outside_task([&] { return test(&request, &over, MPI_STATUS_IGNORE); });
        if (over || error != MPI_SUCCESS)
            break;
        rest();
    }
    return error == MPI_SUCCESS;
}

// A communicator of our own, made by all ranks in MPI_Init.

// Duplicates MPI_COMM_WORLD. Where some ranks do not take part, because `setting` is not theirs,
// the job ends with one line after `patience_s` seconds and does not hang. Ranks leave the bare
// MPI_Init about together, unless they outnumber cores.
bool make_private_comm(MPI_Comm *copy, const char *setting, int patience_s = 10);

} // namespace sennit::mpi
