// SPDX-License-Identifier: Apache-2.0
// Has the program data of its own for each kernel thread?
#pragma once

#include <cstddef>

namespace sennit::program {

// Then true, and `whose` is the file. Looks at the program and its libraries, but not at those of
// the system and of MPI: what they keep for a thread does not outlast a call to them. Threadprivate
// variables are none where the compiler asks OpenMP's runtime for each thread's copy.
bool has_thread_local_data(char *whose, std::size_t size);

} // namespace sennit::program
