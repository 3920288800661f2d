// SPDX-License-Identifier: Apache-2.0
// RefineLB (Charm++). It changes little if work is nearly in balance. As long as a PE has too much,
// its largest object that fits elsewhere moves to the least loaded PE.
#pragma once

#include "balance/strategy.h"

namespace sennit::balance {

class Refine final : public Strategy {
  public:
    Assignment assign(const Problem &problem) const override;
};

} // namespace sennit::balance
