// SPDX-License-Identifier: Apache-2.0
// Changing the ICVs of a task (OpenMP 5.2, 2.2).
#pragma once

#include "omp/env/icv.h"
#include "sched/worker.h"

namespace sennit {

// A copy of the current task's ICVs; what is written to it holds from the end of its life on.
class IcvUpdate {
  public:
    explicit IcvUpdate(sched::Worker &worker);
    ~IcvUpdate();
    IcvUpdate(const IcvUpdate &) = delete;
    IcvUpdate &operator=(const IcvUpdate &) = delete;
    Icvs *operator->() { return &changed_; }
    Icvs &operator*() { return changed_; }

  private:
    sched::Worker &worker_;
    Icvs changed_;
};
inline IcvUpdate icvs_for_update(sched::Worker &worker) {
    return IcvUpdate(worker);
}

} // namespace sennit
