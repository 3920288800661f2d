// SPDX-License-Identifier: Apache-2.0
#include "omp/team/part_history.h"

#include "base/compiler.h"

#include <algorithm>
#include <new>

namespace sennit::omp {
namespace {

// Threads are placed anew only if the worker that has most has so much more than it need have, in
// parts of it. Each time that threads are placed, they lose what they have in caches.
constexpr std::uint64_t kWorthIt = 32;

} // namespace

std::size_t PartHistory::size_for(int workers, int threads) {
    static_assert(sizeof(PartHistory) % alignof(std::uint64_t) == 0);
    const std::size_t ends = index(workers) + 1;
    return sizeof(PartHistory) + index(threads) * sizeof(std::uint64_t) +
           index(workers) * sizeof(balance::Progress) + kPlaces * sizeof(Entry) +
           (index(threads) + ends + (kPlaces + 1) * ends) * sizeof(int);
}

PartHistory *PartHistory::make(void *memory, std::span<const int> own, int threads) {
    auto *made = new (memory) PartHistory;
    const auto workers = static_cast<int>(own.size());
    made->workers_ = workers;
    made->threads_ = threads;
    made->loads_ = reinterpret_cast<std::uint64_t *>(made + 1);
    std::fill_n(made->loads_, threads, 0);
    made->progress_ = reinterpret_cast<balance::Progress *>(made->loads_ + threads);
    made->entries_ = reinterpret_cast<Entry *>(made->progress_ + workers);
    std::fill_n(made->entries_, kPlaces, Entry{});
    made->own_ = reinterpret_cast<int *>(made->entries_ + kPlaces);
    std::copy(own.begin(), own.end(), made->own_);
    made->others_ = made->own_ + workers;
    made->equal_ = made->others_ + (threads - workers);
    made->ends_of_ = made->equal_ + workers + 1;
    int *other = made->others_;
    for (int worker = 0; worker < workers; ++worker) {
        made->equal_[worker] = static_cast<int>(other - made->others_);
        const int end = worker + 1 < workers ? own[index(worker) + 1] : threads;
        for (int thread = own[index(worker)] + 1; thread < end; ++thread)
            *other++ = thread;
    }
    made->equal_[workers] = threads - workers;
    made->ends_ = made->equal_;
    return made;
}

void PartHistory::begin(const void *function) {
    current_ = nullptr;
    measures_ = false;
    ends_ = equal_;
    if (!function || workers_ == 1)
        return;
    bool is_new = false;
    const std::size_t place = places_.find(function, &is_new);
    current_ = entries_ + place;
    if (SENNIT_UNLIKELY(is_new))
        *current_ = {};
    else if (current_->is_placed)
        ends_ = ends_of(place);
    measures_ = current_->measures;
}

balance::PieceLoads PartHistory::pieces() const {
    return {{loads_, index(threads_)}, {own_, index(workers_)}, others()};
}

// Cuts by what was measured. False: what was before is as good. With few large threads it may be:
// if they come last in a range, nobody can take the last one over.
bool PartHistory::place() {
    const std::size_t count = index(workers_) + 1;
    const std::span found(ends_of(kPlaces), count);
    const std::uint64_t most = balance::most_loaded(pieces(), {ends_, count});
    balance::cut_by_loads(pieces(), found);
    if (most - most / kWorthIt <= balance::most_loaded(pieces(), found))
        return false;
    const std::span progress(progress_, index(workers_));
    const std::uint64_t before = balance::end_with_thieves(pieces(), {ends_, count}, progress);
    if (before + before / kWorthIt < balance::end_with_thieves(pieces(), found, progress))
        return false;
    std::copy(found.begin(), found.end(), ends_of(static_cast<std::size_t>(current_ - entries_)));
    current_->is_placed = true;
    return true;
}

void PartHistory::end(bool any_taken, bool any_waited) {
    if (!current_ || (!any_taken && !measures_))
        return;
    Entry &entry = *current_;
    if (measures_) {
        const bool changed = !any_waited && place();
        entry.pause =
            changed ? 0 : static_cast<std::uint8_t>(std::min(2 * entry.pause + 1, +kLongestPause));
        entry.left = entry.pause;
        entry.measures = false;
    } else if (entry.left > 0) {
        --entry.left;
    } else {
        entry.measures = true;
    }
}

} // namespace sennit::omp
