// SPDX-License-Identifier: Apache-2.0
// The process whose address space the ranks share. It starts ranks when their stubs ask for it,
// hands signals on, and tells each stub what becomes of its rank. It ends with the last rank.
//
// If a stub is gone, its rank is killed. If the host is killed, all its ranks are killed
// (entrance.cpp).
#pragma once

#include "ranks/loader/rank_request.h"

#include <string>

namespace sennit::loader {

// Run the host of address space number `space`, for the job that meets in `folder`. Returns the
// exit code.
int run_host(const std::string &folder, int space, Descriptor listener);

} // namespace sennit::loader
