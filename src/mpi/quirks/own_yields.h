// SPDX-License-Identifier: Apache-2.0
// Open MPI can yield by itself, each time that it looks for messages and finds none. Its launcher
// turns that on where it knows of more ranks than cores.
#pragma once

namespace sennit::mpi {

// Turn it on, also for the calls that only spin, or off, for all threads of the process. Does the
// MPI yield now in each test that is in vain? Another yield would then be one too many.
bool make_tests_yield(bool yields);

} // namespace sennit::mpi
