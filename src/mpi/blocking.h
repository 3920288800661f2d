// SPDX-License-Identifier: Apache-2.0
// Calls that block their thread, because no task is to be suspended: marked while they last, so
// that a report of a hang knows where the thread is.
#pragma once

#include "mpi/engine.h"

namespace sennit::mpi {

// The calling thread's mark, found at its first call; null without the runtime.
extern constinit thread_local sennit_blocked *t_blocked __attribute__((tls_model("initial-exec")));
sennit_blocked *find_blocked();

// A few stores: what stands between two bare messages. Marks do not nest.
class Blocking {
  public:
    explicit Blocking(const sennit_wait *wait) : mark_(t_blocked) {
        if (!mark_) [[unlikely]]
            mark_ = find_blocked();
        __atomic_store_n(&mark_->calls, mark_->calls + 1, __ATOMIC_RELAXED);
        __atomic_store_n(&mark_->wait, wait, __ATOMIC_RELEASE);
    }
    ~Blocking() {
        __atomic_store_n(&mark_->wait, static_cast<const sennit_wait *>(nullptr), __ATOMIC_RELEASE);
    }
    Blocking(const Blocking &) = delete;
    Blocking &operator=(const Blocking &) = delete;

  private:
    sennit_blocked *mark_;
};

// outside_task for a call that may block.
template <class Call>
int outside_task(const sennit_wait &wait, Call call) {
    if (t_depth > 0) [[unlikely]] // the MPI library calls itself
        return call();
    const Blocking mark(&wait);
    return outside_task(call);
}

// What reports say of an operation.
sennit_wait wait_of(const Operation &operation);

inline std::uint64_t group_of(Object object) {
    return object.kind == Object::Kind::communicator ? object.handle : 0;
}

// Answers the runtime's questions about waits and tickets.
extern const sennit_describer g_describer;

} // namespace sennit::mpi
