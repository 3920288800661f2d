// SPDX-License-Identifier: Apache-2.0
// What the calls of one MPI library share, whichever room they end up in.
//
// State                  what                                        written by
//   gate, request_gate,    which way a call goes (call_path.h)         who has something to attend
//   attention, teams                                                   to, with `lock`
//   obstacles              reasons not to try a blocking call in a     queued sends, chaos
//                          task (engine/attempt.h)
//   test_rest              what a thread does after a test in vain,    crowd/
//                          where ranks outnumber cores (runtime.h)
//   tell_senders           the same of one that has called MPI, where  crowd/
//                          ranks outnumber cores (call_path.h)
//   runtime                the task runtime's functions                the first who asks
//   serve, describer       what it calls of ours                       wrap/library.cpp, first
//   allowed, aware         may tasks call from any thread: by MPI, by  MPI_Init, TAMPI_Init
//                          the program; `multiple`: both
//   always_suspends        does every task's call suspend it           MPI_Init, before any task
#pragma once

#include "base/spin.h"
#include "mpi/call/runtime_functions.h"
#include "sennit.h"

#include <atomic>
#include <cstdint>

namespace sennit::mpi {

struct Operation;

struct Calls {
    static constexpr std::int32_t kShut = 1; // what a gate points to that never opens

    // Where zero stands while calls need no attention but the mark: the count of teams with tasks,
    // or, where there is no runtime or something else to attend to, kShut.
    std::atomic<const std::int32_t *> gate{&kShut};
    // The same for the calls that make a request: theirs may need attention where others do not.
    std::atomic<const std::int32_t *> request_gate{&kShut};
    std::atomic<unsigned char> attention{0}; // enum Attention
    std::atomic<bool> multiple{false};
    std::atomic<bool> allowed{false};
    std::atomic<bool> aware{true};
    bool always_suspends = false;
    std::atomic<int> obstacles{0};
    std::atomic<void (*)()> test_rest{nullptr};                         // null: nothing
    std::atomic<void (*)(const Operation *over)> tell_senders{nullptr}; // likewise

    SpinLock lock;
    const std::int32_t *teams SENNIT_GUARDED_BY(lock) = &kShut;
    int (*serve)(void *) = nullptr;
    const sennit_describer *describer = nullptr;
    RuntimeFunctions runtime;
};

// One for each MPI library in the process. Hidden, it is reached without a table of addresses.
#pragma GCC visibility push(hidden)
extern constinit Calls g_calls;
#pragma GCC visibility pop

} // namespace sennit::mpi
