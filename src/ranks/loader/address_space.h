// SPDX-License-Identifier: Apache-2.0
// How many ranks fit into one address space. The kernel limits the number of mappings
// (vm.max_map_count). A process that maps one too many gets "out of memory" from then on, and so do
// all ranks beside it. So a rank says before it starts how many mappings it will need, and a host
// takes no more ranks than fit. An ended rank's mappings stay (rank.h), so they stay counted.
#pragma once

#include <cstdint>

namespace sennit::loader {

class AddressSpace {
  public:
    // `limit`: vm.max_map_count.
    explicit AddressSpace(std::uint64_t limit) : left_(limit - limit / 20) {}

    // Take a rank with so many mappings. False: the rank has to go to another address space. The
    // first rank is always taken.
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
