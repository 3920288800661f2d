// SPDX-License-Identifier: Apache-2.0
#include "openmp/team/thread_values.h"

#include "base/message.h"

#include <algorithm>
#include <cstdlib>

namespace sennit::omp {
namespace {

// The new places are empty.
template <class T>
T *grown(T *array, std::size_t size, std::size_t wanted) {
    auto *const larger = static_cast<T *>(std::realloc(array, wanted * sizeof(T)));
    if (!larger)
        fatal("no memory for what threads keep (%zu bytes): lower SENNIT_SPLIT",
              wanted * sizeof(T));
    std::fill(larger + size, larger + wanted, T{});
    return larger;
}

} // namespace

void ThreadValues::set(std::size_t key, void *value) {
    if (key >= size_) {
        const std::size_t wanted = std::max(key + 1, 2 * size_);
        values_ = grown(values_, size_, wanted);
        size_ = wanted;
    }
    values_[key] = value;
}

ValueSet &ValueSets::take(std::atomic<ValueSet *> &of_region, int threads) {
    const Guard guard(lock_);
    ValueSet *set = of_region.load(std::memory_order_relaxed);
    if (!set) { // no other thread of the region has been faster
        ValueSet **at = &first_;
        while (*at && (*at)->in_use)
            at = &(*at)->next;
        if (!*at)
            *at = grown<ValueSet>(nullptr, 0, 1);
        set = *at;
        if (threads > set->size) {
            set->threads = grown(set->threads, static_cast<std::size_t>(set->size),
                                 static_cast<std::size_t>(threads));
            set->size = threads;
        }
        set->in_use = true;
        of_region.store(set, std::memory_order_release);
    }
    return *set;
}

void ValueSets::give_back(std::atomic<ValueSet *> &of_region) {
    {
        const Guard guard(lock_);
        of_region.load(std::memory_order_relaxed)->in_use = false;
    }
    of_region.store(nullptr, std::memory_order_relaxed);
}

} // namespace sennit::omp
