// SPDX-License-Identifier: Apache-2.0
// Regions inside of regions, as potential threads (SENNIT_SPLIT=inner and auto; paper
// openmp-in-charm, 4.1 to 4.3). Without this such a region has one thread, or, with
// OMP_MAX_ACTIVE_LEVELS, kernel threads of its own beside those of the outer region.
//
// - When a thread or a task of a region encounters a region, it is decided whether the inner one is
//   cut into several threads (InnerHistory in virtual_team.h): if workers of the outermost region
//   are idle (4.3.3), or if others have taken threads of it lately (4.3.2). If not, it has one
//   thread, as without this.
// - An inner region that is cut is a virtual team on one worker, which encountered it
//   (virtual_team.h). This worker runs the threads in order, from the low end.
// - Meanwhile the region's range is in the list of the outermost region (InnerRegions). An idle
//   worker of that takes one thread after the other from the high end. It is a helper: it is a
//   member of the inner team for that time only.
//
// Invariant: a region in the list has not ended. The maker takes it out before the region ends. So
// who looks at the list under its lock finds nothing that is gone. A helper has taken a thread
// under this lock. So the region cannot end before the helper has arrived at its join. The team is
// not used for another region before the helpers have left it (Group::visitors).
#pragma once

#include "base/spin.h"
#include "openmp/team/stealable_range.h"

#include <atomic>
#include <cstdint>

namespace sennit::omp {

class VirtualTeam;

// A region whose threads others may begin.
struct OfferedRegion {
    OfferedRegion(VirtualTeam &of, StealableRange &unbegun) : threads(of), range(unbegun) {}
    VirtualTeam &threads;
    StealableRange &range; // of those that have not begun
    OfferedRegion *next = nullptr;
    // Written under the list's lock. Its release and acquire pair: who sees that it is not listed
    // any more may end the region.
    Atomic<bool> listed{false};
};

// The inner regions of an outermost one that have threads to begin.
class InnerRegions {
  public:
    bool any() const { return first_.load(std::memory_order_relaxed) != nullptr; }

    // The maker of the region calls both. remove(): also if it is not there any more.
    void add(OfferedRegion &region) {
        const Guard guard(lock_);
        region.next = first_.load(std::memory_order_relaxed);
        region.listed.store(true, std::memory_order_relaxed);
        first_.store(&region, std::memory_order_relaxed);
    }
    void remove(OfferedRegion &region) {
        if (!region.listed.load(std::memory_order_acquire))
            return;
        const Guard guard(lock_);
        unlink(region);
    }

    // A thread of one of them, if may() says so. It is asked under the lock: what happened before
    // the region came into the list has happened by then. Null: there is none. Regions of which
    // nothing is left go out of the list.
    template <class May>
    OfferedRegion *take(May may, std::uint64_t *place) {
        const Guard guard(lock_);
        if (!may())
            return nullptr;
        while (OfferedRegion *const region = first_.load(std::memory_order_relaxed)) {
            std::uint64_t last = 0;
            while (region->range.left() != 0)
                if (region->range.steal(place, &last, 0, 1))
                    return region;
            unlink(*region);
        }
        return nullptr;
    }

    // Those that would help have stayed in the parent.
    void after_fork_in_child() {
        lock_.after_fork_in_child();
        const Guard guard(lock_);
        while (OfferedRegion *const region = first_.load(std::memory_order_relaxed))
            unlink(*region);
    }

  private:
    void unlink(OfferedRegion &region) SENNIT_REQUIRES(lock_) {
        if (!region.listed.load(std::memory_order_relaxed))
            return;
        OfferedRegion *at = first_.load(std::memory_order_relaxed);
        if (at == &region) {
            first_.store(region.next, std::memory_order_relaxed);
        } else {
            while (at->next != &region)
                at = at->next;
            at->next = region.next;
        }
        region.listed.store(false, std::memory_order_release); // last: the region may end
    }

    SpinLock lock_;
    Atomic<OfferedRegion *> first_{nullptr}; // written under lock_
};

} // namespace sennit::omp
