// SPDX-License-Identifier: Apache-2.0
#include "tasks/libc/elsewhere.h"

#include "base/guard.h"
#include "base/helper_thread.h"
#include "base/list.h"
#include "base/message.h"
#include "base/spin.h"
#include "tasks/pthread/parking.h"

#include <climits>
#include <csignal>
#include <cstring>
#include <pthread.h>
#include <sched.h>
#include <utility>

namespace sennit::libc {
namespace {

// An errand's state. It is `pending` until the helper's last touch makes it `made` (release; the
// task's look is acquire), or `refused`, where there is no helper: then the task makes the call. A
// task that cannot be suspended any more makes it `slept_on`, and its thread sleeps on the word.
enum : std::uint32_t { kPending, kSleptOn, kMade, kRefused };

bool is_over(const Errand &errand) {
    return errand.state.load(std::memory_order_acquire) >= kMade;
}

void end(Errand &errand, std::uint32_t how) {
    const std::uint32_t before = errand.state.exchange(how, std::memory_order_acq_rel);
    // From here on only its address is used.
    if (before == kSleptOn)
        futex_wake(errand.state);
    pthread::wake(&errand);
}

// Some signals come to the very thread whose call causes them: a file becomes too long, a pipe has
// no reader, a terminal is another job's. A helper blocks those that its errand's thread blocks.
// What came then must not be left for the next errand: it is lost, where that thread would have
// kept it pending.
class SignalMask {
  public:
    SignalMask() { sigfillset(&blocked_); } // when the thread begins

    void take(const Errand &errand) {
        sigset_t wanted = errand.blocked;
        sigset_t left;
        sigemptyset(&left);
        if (errand.signals == Signals::of_the_call)
            sigfillset(&wanted);
        for (const int signal : {SIGXFSZ, SIGPIPE, SIGTTIN, SIGTTOU}) {
            if (sigismember(&errand.blocked, signal) == 1)
                continue;
            sigdelset(&wanted, signal);
            if (sigismember(&blocked_, signal) == 1)
                sigaddset(&left, signal);
        }
        if (std::memcmp(&wanted, &blocked_, _NSIG / CHAR_BIT) == 0)
            return;
        const timespec at_once = {0, 0};
        while (sigtimedwait(&left, nullptr, &at_once) > 0) {
        }
        set(wanted);
    }
    // A helper without errand leaves the program's signals to its threads.
    void give_back(const Errand &errand) {
        if (errand.signals == Signals::of_the_call)
            return;
        sigset_t all;
        sigfillset(&all);
        set(all);
    }

  private:
    void set(const sigset_t &wanted) {
        pthread_sigmask(SIG_SETMASK, &wanted, nullptr);
        blocked_ = wanted;
    }

    sigset_t blocked_;
};

// Threads that make calls, and stay for the next ones. They are made when they are needed, and
// sleep on a word of their own while there is nothing to do. An errand is given to the one that
// went to sleep last. While none sleeps, errands wait in a queue, which each helper looks at before
// it sleeps: both under one lock, so none is forgotten. Those that were made for errands that
// others end leave when these are over.
class FileHelpers {
  public:
    // False: nobody will make it.
    bool hand_out(Errand &errand);
    bool has(const Errand &errand) const { return errand.forks == forks_; }
    void note_processors() {
        knows_processors_ = sched_getaffinity(0, sizeof processors_, &processors_) == 0;
    }
    void after_fork_in_child();

  private:
    struct Sleeper {
        FutexWord given{0};
        Errand *errand = nullptr;
        Sleeper *next = nullptr;
    };
    // As many as a disk, or a server of files, can well have under way at once. Those that have an
    // errand that others end do not count.
    static constexpr int kMost = 16;

    static void *main(void *helpers);
    void work();
    Errand *next_errand(); // null: the thread is one too many
    bool add_thread();
    bool take_back(Errand &errand);

    SpinLock lock_;
    List<Errand> queue_ SENNIT_GUARDED_BY(lock_);
    Sleeper *asleep_ SENNIT_GUARDED_BY(lock_) = nullptr;
    int threads_ SENNIT_GUARDED_BY(lock_) = 0;
    int long_ SENNIT_GUARDED_BY(lock_) = 0; // errands that others end, and that are not over
    unsigned forks_ = 0;                    // changed while there is one thread
    bool knows_processors_ = false;
    cpu_set_t processors_{};
};
constinit FileHelpers g_helpers;

void *FileHelpers::main(void *helpers) {
    pthread_setname_np(pthread_self(), "sennit-file-io");
    auto &self = *static_cast<FileHelpers *>(helpers);
    // Its creator may be bound to one processor, on which others are to compute meanwhile.
    if (self.knows_processors_)
        sched_setaffinity(0, sizeof self.processors_, &self.processors_);
    self.work();
    return nullptr;
}

void FileHelpers::work() {
    SignalMask mask;
    while (Errand *const errand = next_errand()) {
        mask.take(*errand);
        const bool was_long = errand->ends == CallEnds::by_another;
        errand->make(*errand);
        mask.give_back(*errand);
        end(*errand, kMade);
        if (was_long) {
            const Guard guard(lock_);
            --long_;
        }
    }
}

Errand *FileHelpers::next_errand() {
    Sleeper self;
    {
        const Guard guard(lock_);
        if (Errand *const errand = queue_.pop())
            return errand;
        if (threads_ > kMost + long_) {
            --threads_;
            return nullptr;
        }
        self.next = std::exchange(asleep_, &self);
    }
    while (self.given.load(std::memory_order_acquire) == 0) // pairs with the release in hand_out
        futex_wait(self.given, 0);
    return self.errand;
}

// The new thread has no signals, as its creator while it begins.
bool FileHelpers::add_thread() {
    const pthread::NoSignals none;
    const int error = create_helper_thread(main, this);
    static std::atomic<bool> said{false};
    if (error != 0 && !said.exchange(true, std::memory_order_relaxed))
        warn("no thread for a call on a file in a task (%s): the call blocks its worker; allow "
             "more threads (ulimit -u) or memory (ulimit -v)",
             std::strerror(error));
    return error == 0;
}

bool FileHelpers::hand_out(Errand &errand) {
    const bool is_long = errand.ends == CallEnds::by_another;
    Sleeper *sleeper = nullptr;
    bool starts = false;
    {
        const Guard guard(lock_);
        errand.forks = forks_;
        long_ += is_long ? 1 : 0;
        sleeper = asleep_;
        if (sleeper) {
            asleep_ = sleeper->next;
            sleeper->errand = &errand;
        } else {
            queue_.push(&errand);
            starts = threads_ < kMost + long_;
            threads_ += starts ? 1 : 0;
        }
    }
    if (sleeper) {
        sleeper->given.store(1, std::memory_order_release);
        futex_wake(sleeper->given); // it may be asleep again already: then for nothing
        return true;
    }
    return !starts || add_thread() || !take_back(errand);
}

// No thread could be made for the errand. False: another helper has it.
//
// Others may have queued theirs in trust in this thread. Helpers that are there serve them, if not
// all of these may be in errands that others end. Threads that are being made count as helpers: if
// they fail, too, the last of them comes here and counts without them. So where too few are left,
// all that is queued is refused, and each task makes its call. Errands that come later see the
// count under the lock, and try to make a thread.
bool FileHelpers::take_back(Errand &errand) {
    Errand *refused = nullptr;
    bool had_it = false;
    {
        const Guard guard(lock_);
        --threads_;
        if (queue_.take_if([&](const Errand &queued) { return &queued == &errand; })) {
            had_it = true;
            long_ -= errand.ends == CallEnds::by_another ? 1 : 0;
        }
        if (threads_ <= long_) {
            refused = queue_.pop_all();
            for (const Errand *at = refused; at; at = at->next)
                long_ -= at->ends == CallEnds::by_another ? 1 : 0;
        }
    }
    while (refused) {
        Errand &first = *refused;
        refused = first.next; // before its end: then its task may be gone
        end(first, kRefused);
    }
    return had_it;
}

void FileHelpers::after_fork_in_child() {
    lock_.after_fork_in_child();
    const Guard guard(lock_);
    queue_.pop_all();
    asleep_ = nullptr;
    threads_ = long_ = 0;
    ++forks_;
}

// The task has been suspended for the errand once, and now may not be. Nothing known leads here.
void sleep_on(Errand &errand) {
    std::uint32_t state = kPending;
    errand.state.compare_exchange_strong(state, kSleptOn, std::memory_order_acq_rel);
    while (!is_over(errand))
        futex_wait(errand.state, kSleptOn);
}

} // namespace

bool run_elsewhere(sched::Worker &worker, Errand &errand) {
    const auto hand_out = [](void *arg) { return g_helpers.hand_out(*static_cast<Errand *>(arg)); };
    const auto look = [](void *arg) { return !is_over(*static_cast<Errand *>(arg)); };
    pthread_sigmask(SIG_SETMASK, nullptr, &errand.blocked);
    if (wait_for_wake(worker, &errand, hand_out, &errand) == End::refused)
        return false;
    while (!is_over(errand)) {
        if (!g_helpers.has(errand))
            return false;
        if (wait_for_wake(worker, &errand, look, &errand) == End::refused && !is_over(errand))
            sleep_on(errand);
    }
    return errand.state.load(std::memory_order_relaxed) == kMade;
}

void note_processors() {
    g_helpers.note_processors();
}

void elsewhere_after_fork_in_child() {
    g_helpers.after_fork_in_child();
}

} // namespace sennit::libc
