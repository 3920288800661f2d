// SPDX-License-Identifier: Apache-2.0
// A program without MPI: in a pool of programs that share cores (SENNIT_POOL), and as a rank fiber
// (src/ranks/fibers).
#pragma once

namespace sennit::runtime {

// When the library is loaded, in this order. With MPI, MPI_Init does the same.
void let_flows_leave_home();
void join_pool();
void leave_pool_in_child();

} // namespace sennit::runtime
