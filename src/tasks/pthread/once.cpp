// SPDX-License-Identifier: Apache-2.0
// pthread_once and std::call_once, whose initializer may suspend its task.
//
// A worker that is about to initialize claims the control, so that another task of the same thread
// finds out before it enters libc, which would block the thread. The claim ends with the call, also
// when an exception ends it (this file is compiled with exceptions): then the next one tries.
#include "tasks/pthread/bare.h"
#include "tasks/pthread/condition.h"
#include "tasks/pthread/mutex.h"

#include <cerrno>
#include <dlfcn.h>

namespace sennit::pthread {
namespace {

SpinLock g_lock;

class Claim;
Claim *g_claims SENNIT_GUARDED_BY(g_lock) = nullptr; // linked by next_, under the same lock

// Lives in the frame of the task that initializes.
class Claim {
  public:
    Claim(const pthread_once_t *control, const sched::Worker &worker)
        : control_(control), worker_(&worker) {}
    Claim(const Claim &) = delete;
    Claim &operator=(const Claim &) = delete;
    ~Claim() {
        if (!listed_)
            return;
        withdraw();
        wake(control_);
    }

    // Null: it is ours. Else the worker of the task that has it.
    const sched::Worker *take() {
        const Guard guard(g_lock);
        if (const Claim *const other = find(control_))
            return other->worker_;
        next_ = g_claims;
        g_claims = this;
        listed_ = true;
        return nullptr;
    }

    static bool taken(const pthread_once_t *control) {
        const Guard guard(g_lock);
        return find(control) != nullptr;
    }

    // Threads that are gone initialize nothing.
    static void keep_own() {
        const Guard guard(g_lock);
        for (Claim **at = &g_claims; *at;)
            if ((*at)->worker_ == sched::Worker::self())
                at = &(*at)->next_;
            else
                *at = (*at)->next_;
    }

  private:
    void withdraw() {
        const Guard guard(g_lock);
        Claim **at = &g_claims;
        while (*at != this)
            at = &(*at)->next_;
        *at = next_;
    }
    static const Claim *find(const pthread_once_t *control) SENNIT_REQUIRES(g_lock) {
        const Claim *at = g_claims;
        while (at && at->control_ != control)
            at = at->next_;
        return at;
    }

    const pthread_once_t *const control_;
    const sched::Worker *const worker_;
    Claim *next_ = nullptr;
    bool listed_ = false;
};

// What std::call_once has left in thread-local variables for its initializer: other tasks overwrite
// it while we wait.
class CallOnce {
  public:
    CallOnce() {
        for (int i = 0; i < kWords; ++i) {
            words_[i] = static_cast<void **>(dlsym(RTLD_DEFAULT, kNames[i]));
            saved_[i] = words_[i] ? *words_[i] : nullptr;
        }
    }
    void restore() {
        for (int i = 0; i < kWords; ++i)
            if (words_[i])
                *words_[i] = saved_[i];
    }

  private:
    static constexpr int kWords = 2;
    static constexpr const char *kNames[kWords] = {"_ZSt15__once_callable", "_ZSt11__once_call"};
    void **words_[kWords];
    void *saved_[kWords];
};

bool is_done(const pthread_once_t *control) {
    constexpr int kDone = 2;
    return __atomic_load_n(control, __ATOMIC_ACQUIRE) & kDone;
}

// Until nobody has claimed the control.
SENNIT_NOINLINE void wait_for_claim(sched::Worker &worker, const pthread_once_t *control) {
    CallOnce call_once;
    while (Claim::taken(control)) {
        Parking parking("one-time initialization", control);
        parking.enter();
        if (Claim::taken(control))
            parking.wait(worker, Deadline());
        else
            parking.leave();
    }
    call_once.restore();
}

} // namespace

int once(pthread_once_t *control, void (*initialize)(), const void *caller) {
    sched::Worker *const worker = sched::Worker::self();
    if (!worker || is_done(control))
        return bare.pthread_once(control, initialize);
    for (;;) {
        Claim claim(control, *worker);
        const sched::Worker *const holder = claim.take();
        // A task of our own thread goes on only after we have.
        const bool waits = holder && worker->has_parked() && may_suspend(*worker) &&
                           (holder == worker || is_program_code(caller));
        if (!waits)
            return bare.pthread_once(control, initialize);
        wait_for_claim(*worker, control);
    }
}

void once_after_fork_in_child() {
    g_lock.after_fork_in_child();
    Claim::keep_own();
}

} // namespace sennit::pthread
