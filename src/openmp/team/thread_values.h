// SPDX-License-Identifier: Apache-2.0
// What threads keep from region to region, as their copies of threadprivate variables (OpenMP 5.2,
// 5.2). Usually each has a worker of its own, so it is kept by the worker's number. Where threads
// are split, a worker runs several (virtual_team.h). Then it is kept by the thread's number in its
// region: thread i finds what thread i of the last region has left, whether or not the two regions
// are split, and whether or not their teams are the same.
//
// A region's threads have a set of values, which the maker of the region keeps. Thread 0 is the
// encountering thread, which has its own. There are several sets only if several regions of one
// maker run at the same time: a target region in a region begins anew, so regions in it are split,
// too. Inner regions that are cut (inner_regions.h) have sets apart. Other nested regions have
// none: their threads have a worker each.
//
// Invariant: a set belongs to one region that runs, or to none. What a number has is touched only
// by the worker that runs this thread; fork and join order regions. So only taking a set needs a
// lock.
#pragma once

#include "base/array.h"
#include "base/spin.h"

#include <atomic>
#include <cstddef>

namespace sennit::omp {

// Of one thread: pointers by key. Keys are small numbers.
class ThreadValues {
  public:
    void *get(std::size_t key) const { return key < values_.size() ? values_[key] : nullptr; }
    void set(std::size_t key, void *value);

  private:
    Array<void *> values_;
};

// Of the threads of a region.
struct ValueSet {
    ValueSet *next = nullptr;
    bool in_use = false;
    Array<ThreadValues> threads; // by number
};

// Of the regions that one thread makes.
class ValueSets {
  public:
    // A region of so many threads takes the first set that is not in use, when one of its threads
    // first asks. Release: the others find it complete. give_back(): the region has ended.
    ValueSet &take(std::atomic<ValueSet *> &of_region, int threads);
    void give_back(std::atomic<ValueSet *> &of_region);

    // visit(values) for each thread that no region has now. The maker calls it.
    template <class Visitor>
    void each_unused(Visitor visit) {
        for (ValueSet *set = first_; set; set = set->next)
            for (ThreadValues &thread : set->threads)
                if (!set->in_use)
                    visit(thread);
    }

    // Sets in use stay so: their regions never end.
    void after_fork_in_child() { lock_.after_fork_in_child(); }

  private:
    SpinLock lock_;
    ValueSet *first_ = nullptr;
};

} // namespace sennit::omp
