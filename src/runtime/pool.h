// SPDX-License-Identifier: Apache-2.0
// A program without MPI in a pool of programs that share cores (SENNIT_POOL).
#pragma once

namespace sennit::runtime {

void join_pool(); // when the library is loaded
void leave_pool_in_child();

} // namespace sennit::runtime
