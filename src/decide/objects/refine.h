// SPDX-License-Identifier: Apache-2.0
// RefineLB (Charm++). It changes little if work is nearly in balance. As long as a PE has too much,
// its largest object that fits elsewhere moves to the least loaded PE.
#pragma once

#include "decide/objects/strategies.h"

namespace sennit::balance {

// A PE whose time is more than this share above the mean has too much.
inline constexpr double kRefineTolerance = 0.02;

class Refine final : public Strategy {
  public:
    Assignment assign(const Problem &problem) const override;
};

// The same with links. The time of a PE is that of its objects and of their links to other PEs. An
// object moves to the least loaded PE, to the least loaded one of its node, or to a PE that it
// talks to. Of the moves that relieve the PE by at least half of what the best one does, that one
// is made which saves the most time of links.
class RefineComm final : public Strategy {
  public:
    Assignment assign(const Problem &problem) const override;
    bool looks_at_links() const override { return true; }
};

} // namespace sennit::balance
