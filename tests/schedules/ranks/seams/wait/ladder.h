// SPDX-License-Identifier: Apache-2.0
// Stands before src/wait/ladder.h: a carrier that finds nothing looks once, and then goes to sleep.
// More looks would only make more states.
#pragma once

#include "schedules.h"
#include "wait/rows.h"

namespace sennit::wait {

// What a carrier does from either point on depends on nothing that it has read before.
class Ladder {
  public:
    Ladder() { schedules::begin_anew(kBegins); }
    static bool counts(const LadderRow & /*row*/) {
        schedules::begin_anew(kHasLooked);
        return false;
    }

  private:
    enum : std::uint64_t { kBegins = 1 << 20, kHasLooked };
};

} // namespace sennit::wait
