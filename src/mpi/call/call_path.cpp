// SPDX-License-Identifier: Apache-2.0
#include "mpi/call/call_path.h"

#include "base/spin.h"

#include <mutex>

namespace sennit::mpi {
namespace {

constexpr std::int32_t kShut = 1;

SpinLock g_lock; // of changes
const std::int32_t *g_teams = &kShut;

void attend_to(unsigned char all) {
    g_attention.store(all, std::memory_order_release);
    g_gate.store((all & ~kRequestTable) == kTasks ? g_teams : &kShut, std::memory_order_release);
    g_request_gate.store(all == kTasks ? g_teams : &kShut, std::memory_order_release);
}

} // namespace

const sennit_call g_inside{nullptr, 0, 0};
const sennit_call g_unknown{nullptr, 0, 0};
constinit thread_local Mark t_mark __attribute__((tls_model("initial-exec"))) = {
    {&g_unknown, nullptr, 0, -1, -1, -1, -1}, false, {nullptr, 0, 0}};
constinit std::atomic<unsigned char> g_attention{0};
constinit std::atomic<const std::int32_t *> g_gate{&kShut};
constinit std::atomic<const std::int32_t *> g_request_gate{&kShut};

void attend_to(Attention what) {
    const std::lock_guard guard(g_lock);
    attend_to(static_cast<unsigned char>(g_attention.load(std::memory_order_relaxed) | what));
}

void attend_no_more_to(Attention what) {
    const std::lock_guard guard(g_lock);
    attend_to(static_cast<unsigned char>(g_attention.load(std::memory_order_relaxed) & ~what));
}

void attend_to_tasks(const std::int32_t *teams) {
    {
        const std::lock_guard guard(g_lock);
        g_teams = teams;
    }
    attend_to(kTasks);
}

} // namespace sennit::mpi
