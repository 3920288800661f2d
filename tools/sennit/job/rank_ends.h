// SPDX-License-Identifier: Apache-2.0
// How the ranks of a job begin and end, by what they and their watchers say (rank_report.h):
//   begin <rank> <size>      it is in MPI_Init now; size: of its MPI_COMM_WORLD, -1: not known. An
//                            mpiexec in a rank starts another world, whose ranks are none of ours
//   begun <rank> <size>      no more
//   watch <rank> [...]      its watcher has begun; hang_judge.h
//   end <rank> <now> <process> <signal> <code> <explained>      of its program; said by its watcher
// The first end that is a failure is the cause of the job's end: the others are ranks that the
// launcher has ended after it.
//
// A rank that ends without having called MPI_Init leaves the others in theirs for ever. Open MPI's
// mpiexec sees that. MPICH's ends the job only if a signal has ended the rank. So this tells, as
// soon as some rank is in MPI_Init.
#pragma once

#include "job/rank_report.h"

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace sennit::tool {

class RankEnds {
  public:
    explicit RankEnds(int ranks) : size_(ranks) {}

    // `sender`: the process that has said it, as the kernel tells. False: no such message.
    bool hear(std::string_view message, int sender);

    struct Verdict {
        std::string text;
        std::vector<int> processes; // to be ended: they are in MPI_Init
    };
    // That the job cannot go on: told once.
    std::optional<Verdict> verdict();

    // The cause of the job's end.
    const std::optional<RankReport> &failure() const { return failure_; }
    // Has any rank begun to initialize MPI?
    bool uses_mpi() const { return !began_.empty(); }
    bool has_begun(int rank) const { return began_.contains(rank); }
    bool has_told() const { return told_; }
    // Is none on another node, or started without a watcher?
    bool hears_all() const { return static_cast<int>(watched_.size()) == size_; }

  private:
    void end(const RankReport &report);
    bool is_rank(int number) const { return number >= 0 && number < size_; }

    int size_;
    std::set<int> watched_;             // ranks
    std::map<int, int> began_;          // ranks, and which process; 0: no longer in MPI_Init
    std::map<int, RankReport> without_; // ended, and had not begun
    std::optional<RankReport> failure_;
    bool told_ = false;
};

} // namespace sennit::tool
