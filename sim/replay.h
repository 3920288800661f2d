// SPDX-License-Identifier: Apache-2.0
// A recorded run as a workload: the tasks of a trace (tools/trace) in the order of their
// creation, with their dependences, their times between calls of MPI, and their messages. What the
// trace says about who ran when is not used: that is what a simulation finds out anew.
//
// A task that calls MPI is replayed in pieces: up to a call, the call, what follows. What it begins
// without waiting (MPI_Isend) and the wait are pieces of their own. Not replayed: collective calls,
// calls outside of tasks, messages of which one end is in the trace (what they ran themselves
// counts as work, they wait for nobody), probes (the receive that follows waits); a task of a task
// is created where its parent was. notes() tells how many there were.
#pragma once

#include "workload.h"

#include <filesystem>
#include <string>
#include <vector>

namespace sennit::trace {
struct Job;
}

namespace sennit::sim {

// As the quickest quarter of those messages saw it that a receive already waited for. 0: there are
// too few to tell.
struct RecordedNetwork {
    bool one_machine = false; // all ranks were on it
    double latency = 0;       // ns, of up to 4 KiB
    double bandwidth = 0;     // GB/s, of 64 KiB and more
};

class Replay final : public Workload {
  public:
    // Throws trace::TraceError: file, place, reason.
    explicit Replay(const std::filesystem::path &folder);
    explicit Replay(const trace::Job &job);

    // The same run of a program that was changed (replay_changes.cpp). Each says how many calls,
    // waits or ranks are changed; of none it is the same run.

    // Where a task of that function ends with sends or with receives, no thread waits for them any
    // more, but its successors do: TAMPI_Iwait, or what the compiler plug-in makes of it.
    std::uint64_t bind_last_calls(const std::string &function);
    // A receive into memory that other tasks still read waits for those of the receive before it,
    // for there are two buffers. Which receives of a function use one buffer, the trace tells: such
    // a one waits for tasks that only compute, and these for the receive before it.
    std::uint64_t add_second_buffers();
    // Each rank has the mean of all ranks' work, of the whole run: each of its tasks takes longer
    // or shorter by the same share.
    std::uint64_t make_ranks_equal();
    // Up to so many tasks of a function that only compute, and are created one after the other, are
    // one, if the creating thread has not waited for its tasks in between. Says how many fewer
    // there are. Where a message leads from the one to the other, the new task waits for itself:
    // then nothing can go on.
    std::uint64_t merge_tasks(std::size_t most);

    int ranks() const { return static_cast<int>(ranks_.size()); }
    int threads() const { return threads_; }
    // From the creation of the first task to the end of the last.
    double recorded_seconds() const { return recorded_; }
    const std::string &policy() const { return policy_; }       // that it ran under, of rank 0
    const RecordedNetwork &network() const { return network_; } // as its messages saw it
    std::uint64_t tasks() const { return tasks_; } // of the program; task_count() counts pieces
    std::uint64_t messages() const { return messages_; }
    const std::vector<std::string> &notes() const { return notes_; }

    std::vector<std::string> functions() const override { return functions_; }
    std::uint32_t data_of(int rank) const override {
        return ranks_[static_cast<std::size_t>(rank)].data;
    }
    Tasks tasks_of(int rank, Marks marks) const override;
    std::uint64_t task_count() const override { return count_; }
    std::uint32_t number_of(int rank, std::uint32_t place) const override {
        return ranks_[static_cast<std::size_t>(rank)].pieces[place].datum;
    }

  private:
    class Reader;
    class SecondBuffers;
    class LargerTasks;
    struct Piece {
        TaskSpec task; // without accesses
        std::uint32_t datum = 0;
        std::uint32_t first_edge = 0, edges = 0;

        // Only the first piece of a task waits for others.
        void wait_for_none() {
            edges = 0;
            task.before = 0;
            task.after_all = false;
        }
    };
    struct Rank {
        std::vector<Piece> pieces;
        std::vector<std::uint32_t> edges; // data of the predecessors
        std::uint32_t data = 0;
    };

    std::vector<Rank> ranks_;
    std::vector<std::string> functions_;
    std::vector<std::string> notes_;
    std::uint64_t count_ = 0, tasks_ = 0, messages_ = 0;
    int threads_ = 1;
    double recorded_ = 0;
    std::string policy_;
    RecordedNetwork network_;
};

} // namespace sennit::sim
