// SPDX-License-Identifier: Apache-2.0
// What a worker remembers of the regions in which it had a part: of the threads that it offered,
// how many others took (balance/exposure.h; paper openmp-in-charm, 4.3.2). Regions are told apart
// by their function (region_place.h). The number of threads is that of the team that keeps this.
//
// It is not shared: each worker has its own.
#pragma once

#include "balance/exposure.h"
#include "omp/team/region_place.h"

#include <array>
#include <cstddef>

namespace sennit::omp {

class RegionHistory {
  public:
    balance::Exposure &of(const void *function) {
        bool is_new = false;
        balance::Exposure &exposure = exposures_[places_.find(function, &is_new)];
        if (is_new)
            exposure = {};
        return exposure;
    }

  private:
    static constexpr std::size_t kPlaces = 64;
    RegionPlaces<kPlaces> places_;
    std::array<balance::Exposure, kPlaces> exposures_{};
};

} // namespace sennit::omp
