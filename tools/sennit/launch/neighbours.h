// SPDX-License-Identifier: Apache-2.0
// What `sennit run` does for its job, where another launcher starts the ranks: its neighbours on
// the node, each `sennit exec`, do it together. The ranks of one job find each other by the process
// that has made them all and by what the launcher calls the job: these name a folder that only this
// user may enter.
//
// Each `sennit exec` stays as the parent of its program and says how that ends. Whoever comes first
// makes a process of its own, the judge: it hears ranks and watchers (hang/hang_watch.h), tells of
// a hang, names the rank whose end was a failure, and ends with the last watcher. If somebody kills
// the judge, the first watcher that sees it makes another. That one knows nothing of ranks that
// have ended before, so it judges no job that has some.
//
// Invariant: nobody waits for a neighbour. A rank that is not under Sennit, or on another node, is
// one that the judge does not hear: then it does not judge the job. Where no folder can be made,
// and where a judge does not answer in time, a rank goes on without one.
#pragma once

#include "job/rank_report.h"
#include "launch/job_folder.h"

#include <optional>
#include <string>
#include <sys/types.h>

namespace sennit::tool {

// As all ranks of the job on this node see it.
struct NodeJob {
    pid_t launcher;        // that has made its ranks here
    std::string name;      // what it calls the job
    int ranks;             // of the whole job
    bool ends_early_ranks; // it ends the job itself if a rank ends before MPI_Init
    std::string board;     // where the ranks share cores
};

class Neighbours : public Hearer {
  public:
    explicit Neighbours(NodeJob job);
    ~Neighbours();
    Neighbours(const Neighbours &) = delete;
    Neighbours &operator=(const Neighbours &) = delete;

    // False: there is no judge, and none can be made.
    bool join();
    // Why, and what to do.
    const char *reason() const { return reason_; }
    // Where the judge hears ranks and their watchers.
    std::string socket() const { return folder_ ? folder_->ranks() : ""; }

    int descriptor() const override { return link_; }
    void replace() override;
    void wait_until_heard() override;

  private:
    bool begin(const SharedFolder &folder, int lock);

    const NodeJob job_;
    const std::string name_; // of the folder
    std::optional<SharedFolder> folder_;
    int link_ = -1; // to the judge
    const char *reason_ = "";
    int replaced_ = 0;
};

} // namespace sennit::tool
