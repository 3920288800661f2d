// SPDX-License-Identifier: Apache-2.0
// The launcher's end of the ranks' reports that they stand still. Ranks on other machines do not
// reach it; then the job is never judged, for a rank that is not heard of may be at work.
#pragma once

#include "hang_judge.h"
#include "job.h"

#include "node/board.h"

#include <memory>
#include <string>

namespace sennit::tool {

class HangWatch : public JobListener {
  public:
    // `name`: of the abstract Unix socket, SENNIT_HANG_LINK of the ranks. `board`: the file in
    // which they share cores, if they do.
    HangWatch(const std::string &name, int ranks, std::string board);
    ~HangWatch();
    HangWatch(const HangWatch &) = delete;
    HangWatch &operator=(const HangWatch &) = delete;

    int descriptor() const override { return socket_; }
    void ready() override;
    bool has_ended_ranks() const override { return has_ended_ranks_; }

  private:
    CoreWaits look_at_cores(const RankProcesses &processes, std::uint64_t least_ns);

    int socket_;
    std::string board_file_;
    std::unique_ptr<node::Board> board_; // open from the first look on
    HangJudge judge_;
    bool has_ended_ranks_ = false;
};

} // namespace sennit::tool
