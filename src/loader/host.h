// SPDX-License-Identifier: Apache-2.0
// The process whose address space the ranks share. It starts them when their stubs ask for it,
// hands signals on and tells each stub how its rank fares. It ends with the last of them.
//
// A rank whose stub is gone is killed; a host that is killed takes its ranks along (entrance.cpp).
#pragma once

#include "loader/descriptor.h"

#include <string>

namespace sennit::loader {

// Address space number `space` of the job that meets in `folder`. Returns the exit code.
int run_host(const std::string &folder, int space, Descriptor listener);

} // namespace sennit::loader
