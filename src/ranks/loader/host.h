// SPDX-License-Identifier: Apache-2.0
// The process whose address space the ranks share. It starts ranks when their stubs ask for it,
// hands signals on, and tells each stub what becomes of its rank. It ends with the last rank.
//
// If a stub is gone, its rank is killed. If the host is killed, all its ranks are killed
// (entrance.cpp).
#pragma once

#include "ranks/loader/rank_request.h"

#include <cstdint>
#include <string>

namespace sennit::loader {

// Run the host of address space number `space`, for the job that meets in `folder`. Returns the
// exit code.
int run_host(const std::string &folder, int space, Descriptor listener);

// How many ranks fit into one address space. The kernel limits the number of mappings
// (vm.max_map_count). A process that maps one too many gets "out of memory" from then on, and so do
// all ranks beside it. So a rank says before it starts how many mappings it will need, and a host
// takes no more ranks than fit. An ended rank's mappings stay (rank.h), so they stay counted.
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

// All ranks of an address space share one program break (brk). But each libc takes what it gets for
// its own, and a library may give back memory that it never got (UCX tries that). So the break is
// fixed: it can neither grow nor shrink. Then libc's allocators use mmap.

// Fix the break of this process, before any rank starts. Returns why that fails, or nothing.
std::string fix_program_break();

} // namespace sennit::loader
