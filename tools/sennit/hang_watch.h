// SPDX-License-Identifier: Apache-2.0
// The launcher's end of the ranks' reports that they stand still. Ranks on other machines do not
// reach it; then the job is never judged, for a rank that is not heard of may be at work.
#pragma once

#include "hang_judge.h"
#include "job.h"

#include <string>

namespace sennit::tool {

class HangWatch : public JobListener {
  public:
    // `name`: of the abstract Unix socket, SENNIT_HANG_LINK of the ranks.
    HangWatch(const std::string &name, int ranks);
    ~HangWatch();
    HangWatch(const HangWatch &) = delete;
    HangWatch &operator=(const HangWatch &) = delete;

    int descriptor() const override { return socket_; }
    void ready() override;
    bool has_ended_ranks() const override { return has_ended_ranks_; }

  private:
    int socket_;
    HangJudge judge_;
    bool has_ended_ranks_ = false;
};

} // namespace sennit::tool
