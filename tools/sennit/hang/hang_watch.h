// SPDX-License-Identifier: Apache-2.0
// The launcher's end of what ranks and their watchers say: that a rank stands still (hang_judge.h),
// how it begins and ends (rank_ends.h). Ranks on other machines do not reach it; then the job is
// never judged, for a rank that is not heard of may be at work.
//
// Invariant: nobody is heard but processes of this user that belong to this job, as the kernel says
// who has sent a message; and no signal goes to a number that a message tells (rank_members.h).
#pragma once

#include "hang/hang_judge.h"
#include "job/job.h"
#include "job/rank_ends.h"
#include "job/rank_members.h"

#include "node/board.h"

#include <memory>
#include <string>
#include <unistd.h>
#include <vector>

namespace sennit::tool {

class HangWatch : public JobListener {
  public:
    // `socket`: where it is made; SENNIT_HANG_LINK of the ranks. `board`: the file in which they
    // share cores, if they do. `mpiexec_sees`: it ends a job whose rank has ended before MPI_Init
    // by itself, as Open MPI's does. It would die of a second hand in it, but at times it does not
    // see it. `root`: the process from which the ranks come.
    HangWatch(const std::string &socket, int ranks, std::string board, bool mpiexec_sees,
              pid_t root = getpid());
    ~HangWatch();
    HangWatch(const HangWatch &) = delete;
    HangWatch &operator=(const HangWatch &) = delete;

    int descriptor() const override { return socket_; }
    void ready() override;
    bool has_ended_ranks() const override { return has_ended_ranks_; }
    bool has_failed_early() const override;
    void end_waiting_ranks() override;

    // Of the whole job, when it has ended; before, what has been said so far.
    const RankEnds &ends();
    // Is the process one of the job's?
    bool admit(pid_t process) { return members_.admit(process); }

  private:
    CoreWaits look_at_cores(const RankProcesses &processes, std::uint64_t least_ns);
    bool take_message();
    void hear(std::string_view message, int sender);
    void tell(const std::string &text, const std::vector<int> &processes, int signal);

    int socket_;
    std::string board_file_;
    bool mpiexec_sees_;
    std::vector<int> waiting_;           // processes that are left to mpiexec
    std::unique_ptr<node::Board> board_; // open from the first look on
    std::vector<char> buffer_;
    RankMembers members_;
    RankEnds ends_;
    HangJudge judge_;
    bool has_ended_ranks_ = false;
};

} // namespace sennit::tool
