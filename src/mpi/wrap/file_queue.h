// SPDX-License-Identifier: Apache-2.0
// The non-blocking collective operations on a file, one after the other.
//
// MPICH's (ROMIO's) consist of collective operations on the file's communicator, and the program's
// tests and waits start these. So operations that are under way on a file at once get mixed up in
// two cases: ranks test them in different order; or one rank tests the first before it starts the
// second, and another does not. Then they hang, or write wrong data.
//
// Here an operation is started when the one before is complete. The program has a generalized
// request of ours. A test of or wait for any of them works for the oldest of each file, also if
// nobody waits for that one yet. Any thread may call these.
#pragma once

#include "mpi/call/call_path.h"

#include <atomic>
#include <mpi.h>

namespace sennit::mpi {

#ifdef MPICH_NUMVERSION

extern constinit std::atomic<int> g_file_accesses;

void work_on_files();

// For the call that asks for a request and, in MPICH, does nothing for it.
inline void visit_files() {
    if (g_file_accesses.load(std::memory_order_relaxed) > 0 && !inside_mpi()) [[unlikely]]
        work_on_files();
}

#else

inline void visit_files() {}

#endif

} // namespace sennit::mpi
