// SPDX-License-Identifier: Apache-2.0
#include "openmp/team/thread_values.h"

#include "base/message.h"

#include <algorithm>
#include <cstdlib>
#include <new>

namespace sennit::omp {
namespace {

[[noreturn]] void no_memory(std::size_t bytes) {
    fatal("no memory for what threads keep (%zu bytes): lower SENNIT_SPLIT", bytes);
}

// The new places are empty.
template <class T>
void extend(Array<T> &array, std::size_t size) {
    if (!array.extend(size))
        no_memory(size * sizeof(T));
}

ValueSet *new_set() {
    void *const memory = std::malloc(sizeof(ValueSet));
    if (!memory)
        no_memory(sizeof(ValueSet));
    return new (memory) ValueSet;
}

} // namespace

void ThreadValues::set(std::size_t key, void *value) {
    if (key >= values_.size())
        extend(values_, std::max(key + 1, 2 * values_.size()));
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
            *at = new_set();
        set = *at;
        extend(set->threads, static_cast<std::size_t>(threads));
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
