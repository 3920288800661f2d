// SPDX-License-Identifier: Apache-2.0
// How many ranks fit into one address space. The kernel counts its mappings (vm.max_map_count); who
// maps one too many gets "out of memory" from then on, with all ranks beside it. So each rank says
// before it starts how many it will need, and a host takes no more ranks than that. What an ended
// rank has mapped stays (rank.h), so it stays counted.
#pragma once

#include <cstdint>

namespace sennit::loader {

class AddressSpace {
  public:
    // `limit`: vm.max_map_count.
    explicit AddressSpace(std::uint64_t limit) : left_(limit - limit / 20) {}

    // False: it has to be another one. One rank there may always be.
    bool take(std::uint64_t mappings) {
        if (taken_ && mappings > left_)
            return false;
        left_ -= mappings < left_ ? mappings : left_;
        taken_ = true;
        return true;
    }

  private:
    std::uint64_t left_;
    bool taken_ = false;
};

} // namespace sennit::loader
