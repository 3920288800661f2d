// SPDX-License-Identifier: Apache-2.0
#include "mpi/call/call_path.h"

#include "base/compiler.h"
#include "base/environment.h"
#include "base/loaded_object.h"
#include "mpi/call/bare.h"
#include "mpi/call/thread_state.h"
#include "mpi/options.h"

namespace sennit::mpi {

constinit Calls g_calls;
constinit thread_local bool t_taskaware __attribute__((tls_model("initial-exec"))) = true;

namespace {

void attend_to(unsigned char all) SENNIT_REQUIRES(g_calls.lock) {
    constexpr const std::int32_t *shut = &Calls::kShut;
    g_calls.attention.store(all, std::memory_order_release);
    g_calls.gate.store((all & ~kRequestTable) == kTasks ? g_calls.teams : shut,
                       std::memory_order_release);
    g_calls.request_gate.store(all == kTasks ? g_calls.teams : shut, std::memory_order_release);
}

// `sennit run` has seen no OpenMP in the program, but a library that needs it may have come since.
bool is_only_watched() {
    const char *const said = trusted_environment(options::only_watched.variable);
    return said && *said == '1' && each_object([](const LoadedObject &object) {
                                       return DynamicSection(object).needs(is_openmp_library) ? 1
                                                                                              : 0;
                                   }) == 0;
}

// MPI allows it only after the runtime's functions were looked up.
void settle_multiple() {
    g_calls.multiple.store(is_aware() && any_thread_may_call() && !g_calls.runtime.only_watches,
                           std::memory_order_release);
}

} // namespace

const sennit_call g_inside{nullptr, 0, 0};
const sennit_call g_unknown{nullptr, 0, 0};
constinit thread_local Mark t_mark __attribute__((tls_model("initial-exec"))) = {
    {&g_unknown, nullptr, 0, -1, -1, -1, -1}, false, {nullptr, 0, 0}};

SENNIT_HOT void tell_senders(const Operation *over) {
    if (const auto tell = g_calls.tell_senders.load(std::memory_order_relaxed))
        tell(over);
}

void attend_to(Attention what) {
    const Guard guard(g_calls.lock);
    attend_to(static_cast<unsigned char>(g_calls.attention.load(std::memory_order_relaxed) | what));
}

void attend_no_more_to(Attention what) {
    const Guard guard(g_calls.lock);
    attend_to(
        static_cast<unsigned char>(g_calls.attention.load(std::memory_order_relaxed) & ~what));
}

void attend_to_tasks(const std::int32_t *teams) {
    {
        const Guard guard(g_calls.lock);
        g_calls.teams = teams;
    }
    attend_to(kTasks);
}

void RuntimeFunctions::find() {
    const Guard guard(lock_);
    if (found_.load(std::memory_order_relaxed))
        return;
    complete = true;
#define SENNIT_FIND(name)                                                                          \
    name = reinterpret_cast<decltype(&::name)>(find_in_runtime(#name));                            \
    complete = complete && name != nullptr;
    SENNIT_RUNTIME_FUNCTIONS(SENNIT_FIND)
#undef SENNIT_FIND
    only_watches = is_only_watched();
    if (complete) {
        sennit_poll_register("mpi", g_calls.serve, nullptr, &service);
        sennit_poll_describe(service, g_calls.describer);
    }
    found_.store(true, std::memory_order_release);
}

// ---- the path of a call -------------------------------------------------------------------------

void set_multiple(bool multiple) {
    g_calls.allowed.store(multiple, std::memory_order_relaxed);
    settle_multiple();
}

void set_aware(bool aware) {
    g_calls.aware.store(aware, std::memory_order_relaxed);
    settle_multiple();
}

bool is_aware() {
    return g_calls.aware.load(std::memory_order_relaxed);
}

bool any_thread_may_call() {
    return g_calls.allowed.load(std::memory_order_relaxed);
}

bool multiple() {
    return g_calls.multiple.load(std::memory_order_relaxed);
}

SENNIT_HOT bool in_task() {
    return !inside_mpi() && multiple() && t_taskaware &&
           g_calls.runtime.get().sennit_should_suspend();
}

// Of a thread whose task need not be suspended: it runs none, or nothing else could run meanwhile.
SENNIT_NOINLINE static Path path_in_crowd() {
    return path_of_wait();
}

SENNIT_HOT Path path_of_call(Notice notice) {
    InCallback::note_call();
    if (inside_mpi())
        return Path::bare;
    if (InCallback::polls())
        return path_of_wait();
    if (!multiple() || !t_taskaware)
        return path_outside();
    // It is asked first, so it hears of sends.
    const bool suspends = g_calls.always_suspends
                              ? g_calls.runtime.get().sennit_should_suspend()
                              : g_calls.runtime.get().sennit_call_begins(static_cast<int>(notice));
    if (suspends)
        return Path::suspends;
    if (crowded()) [[unlikely]]
        return path_in_crowd();
    return Path::blocks;
}

void always_suspend() {
    g_calls.always_suspends = true;
}

} // namespace sennit::mpi
