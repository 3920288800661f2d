// SPDX-License-Identifier: Apache-2.0
// What a worker remembers of the regions that it had a part in: how much of what it offered to
// others they took (balance/exposure.h; paper openmp-in-charm, 4.3.2). Regions are told apart by
// their function; the number of threads is that of the team that keeps this.
//
// Not shared: each worker has its own. Two functions may have the same place: then the later one
// begins with nothing remembered.
#pragma once

#include "balance/exposure.h"
#include "omp/team/region_place.h"

#include <array>
#include <cstddef>

namespace sennit::omp {

class RegionHistory {
  public:
    balance::Exposure &of(const void *function) {
        Entry &entry = entries_[region_place(function, kPlaces)];
        if (entry.function != function)
            entry = {function, {}};
        return entry.exposure;
    }

  private:
    static constexpr std::size_t kPlaces = 64;
    struct Entry {
        const void *function = nullptr;
        balance::Exposure exposure;
    };

    std::array<Entry, kPlaces> entries_{};
};

} // namespace sennit::omp
