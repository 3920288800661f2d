// SPDX-License-Identifier: Apache-2.0
// Where the library is put together: what a room needs from above is plugged in here, before any
// call comes.
#include "mpi/call/runtime.h"
#include "mpi/engine/engine.h"
#include "mpi/extensions/continuation.h"
#include "mpi/wrap/describer.h"

namespace sennit::mpi {
namespace {

// The polling service. Its thread is the program's unless it has never run a task.
int serve(void *) {
    return g_engine.progress(!continuations() || is_workers_thread());
}

[[gnu::constructor(101)]] void plug() { // before those without a number
    g_engine.plug(run_continuations);
    answer_runtime(serve, g_describer);
}

} // namespace
} // namespace sennit::mpi
