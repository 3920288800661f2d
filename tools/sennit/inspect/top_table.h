// SPDX-License-Identifier: Apache-2.0
// What `sennit top` shows: a table of several looks at a board. Pure.
#pragma once

#include "pool/snapshot.h"

#include "base/spent.h"

#include <string>
#include <vector>

namespace sennit::tool {

// What happened between the first and the last of some snapshots.
struct Rates {
    double borrowed = 0; // part of its time on cores that was on others'
    double lent = 0;     // part of its own cores' time that others used
    double cores = 0;    // in use, on average
    double moves = 0;    // a second
    double speed = 0;    // progress a second
    Spent spent;         // by its threads, if it counts that
};

// How well a job uses its threads (docs/user/see.md).
struct JobEfficiency {
    Spent spent;
    MpiFactors mpi;
};
class Period {
  public:
    void add(Snapshot snapshot);
    // Begin anew with the last one.
    void restart();
    const Snapshot &last() const { return last_; }
    Rates rates(const MemberNow &member) const;
    // Of the members that count their time, in the period or since they began to.
    JobEfficiency efficiency(int job, bool since_begin) const;

  private:
    struct Sums {
        node::Identity identity = 0;
        int looks = 0;
        double owned = 0, lent = 0;
    };
    Snapshot first_, last_;
    std::vector<Sums> sums_; // by slot
    bool empty_ = true;
};

struct BoardFacts {
    std::string title; // "pool night: cores 0-3, policy lend"
    std::string pool, policy;
};

// Lines without line feeds, at most `width` characters where it is not 0.
std::vector<std::string> top_lines(const BoardFacts &facts, const Period &period, int width);
std::string top_json(const BoardFacts &facts, const Period &period);
// For the live page: the same, `at` seconds after the first look. `over`: the last process has
// gone.
std::string live_json(const BoardFacts &facts, const Period &period, double at, bool over);

} // namespace sennit::tool
