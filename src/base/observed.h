// SPDX-License-Identifier: Apache-2.0
// What observes tasks: the recorder, a tool, and the like. All of them share one byte.
// Every task's path tests that byte once. While nothing is attached it is zero, and the branch is
// never taken.
#pragma once

#include "base/compiler.h"

#include <cstdint>

namespace sennit::observed {

enum Who : std::uint8_t {
    kTrace = 1,        // the event recorder, trace/
    kTool = 2,         // a tool in openmp/ompt/, or nobody has looked for one yet
    kCancellation = 4, // cancel-var is true: tasks may have to be discarded
    kFreeAgents = 8,   // who may run tasks of any team, task::let_others_run
    kWorkTime = 16,    // sennit_work_time(): each stack's processor time is counted
    kAccounts = 32,    // sennit_work_for(): tasks work for accounts, tasks/task/accounts.h
    kLocks = 64,       // stacks may be refused: OpenMP's locks are counted, sched::Fiber::locks
    kRoaming = 128,    // suspended untied tasks may go on elsewhere, tasks/task/roaming.h
};

// Written before there are threads, when a tool declines or leaves, and when it turns out that
// stacks may be refused. A thread that reads the old value calls a hook, which finds that nobody
// listens. So an ordinary variable will do, which the processor tests in memory. ThreadSanitizer
// would call that a race.
[[gnu::visibility("hidden")]] inline constinit std::uint8_t g_who = 0;

inline bool by(std::uint8_t who) {
#if SENNIT_TSAN
    return SENNIT_UNLIKELY((__atomic_load_n(&g_who, __ATOMIC_RELAXED) & who) != 0);
#else
    return SENNIT_UNLIKELY((g_who & who) != 0);
#endif
}
inline void set(std::uint8_t who) {
    __atomic_fetch_or(&g_who, who, __ATOMIC_RELAXED);
}
inline void clear(std::uint8_t who) {
    __atomic_fetch_and(&g_who, static_cast<std::uint8_t>(~who), __ATOMIC_RELAXED);
}
// Does anybody want to know of each task?
inline bool by_lookers_on() {
    return by(kTrace | kTool | kFreeAgents);
}
// Or what tasks do?
inline bool by_anybody() {
    return by(kTrace | kTool | kFreeAgents | kAccounts);
}

} // namespace sennit::observed
