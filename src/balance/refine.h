// SPDX-License-Identifier: Apache-2.0
// RefineLB (Charm++): what is nearly in balance stays as it is. While a PE has too much, its
// largest object that fits elsewhere leaves for the least loaded PE.
#pragma once

#include "balance/strategy.h"

namespace sennit::balance {

class Refine final : public Strategy {
  public:
    Assignment assign(const Problem &problem) const override;
};

} // namespace sennit::balance
