// SPDX-License-Identifier: Apache-2.0
// Changing the ICVs of a task (OpenMP 5.2, 2.2).
#pragma once

#include "openmp/env/icv.h"
#include "tasks/sched/worker.h"

namespace sennit {

// A copy of the current task's ICVs. Changes of the copy take effect when it is destroyed.
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
