// SPDX-License-Identifier: Apache-2.0
#include "mpi/call/call_path.h"

#include "base/compiler.h"

namespace sennit::mpi {

constinit Calls g_calls;

namespace {

void attend_to(unsigned char all) SENNIT_REQUIRES(g_calls.lock) {
    constexpr const std::int32_t *shut = &Calls::kShut;
    g_calls.attention.store(all, std::memory_order_release);
    g_calls.gate.store((all & ~kRequestTable) == kTasks ? g_calls.teams : shut,
                       std::memory_order_release);
    g_calls.request_gate.store(all == kTasks ? g_calls.teams : shut, std::memory_order_release);
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

} // namespace sennit::mpi
