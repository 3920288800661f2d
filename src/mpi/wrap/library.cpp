// SPDX-License-Identifier: Apache-2.0
// Where the library is put together: what a room needs from above is plugged in here, before any
// call comes. The state of each room is one object of it (g_calls, g_crowd, g_chaos,
// g_engine, g_record, g_extensions, g_wrap), of which a process with several ranks would have
// several.
#include "base/environment.h"
#include "mpi/call/callback_state.h"
#include "mpi/call/runtime.h"
#include "mpi/chaos/chaos.h"
#include "mpi/engine/engine.h"
#include "mpi/extensions/extensions.h"
#include "mpi/options.h"
#include "mpi/record/record.h"
#include "mpi/wrap/describer.h"

namespace sennit::mpi {
namespace {

// The polling service. Its thread is the program's, unless it has never run a task. It polls
// because something that it ran waits, maybe a callback.
int serve(void *) {
    const bool application = !g_extensions.continuations.any() || is_workers_thread();
    int done = 0;
    InCallback::while_blocked([&] { done = g_engine.progress(application, true); });
    return done;
}

[[gnu::constructor(101)]] void plug() { // before those without a number
    g_engine.plug([](bool application) { return g_extensions.continuations.run(application); });
    answer_runtime(serve, kDescriber);
    g_chaos.configure(trusted_environment(options::chaos.variable));
}

} // namespace
} // namespace sennit::mpi
