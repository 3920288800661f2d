// SPDX-License-Identifier: Apache-2.0
// Whose code waits?
#pragma once

namespace sennit::pthread {

// Is the call that returns to `return_address` one of the program's own code: of the program, or of
// a library that needs an OpenMP runtime, for tasks are in these? Code of the C++ library waits for
// who called it. All else may keep things per kernel thread that do not stand another task in
// between: an MPI library, its transports, drivers, allocators.
bool is_program_code(const void *return_address);

} // namespace sennit::pthread
