// SPDX-License-Identifier: Apache-2.0
#include "tasks/libc/waits.h"
#include "tasks/libc/elsewhere.h"
#include "tasks/libc/files.h"

#include "base/config.h"
#include "base/helper_thread.h"
#include "base/loaded_object.h"
#include "base/own_file.h"
#include "tasks/pthread/bare.h"
#include "tasks/pthread/mutex.h"
#include "tasks/task/task.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <pthread.h>
#include <sys/epoll.h>
#include <unistd.h>
#include <unwind.h>

namespace sennit::libc {

using pthread::bare;

// ---- may the caller be suspended, and does it pay? ---------------------------------------------

namespace {

// A call at the end of a task returns to us: ours go to libc at once.
bool is_end_of_task(const void *caller) {
    return object_of(static_cast<const char *>(caller) - 1) ==
           object_of(reinterpret_cast<const void *>(is_end_of_task));
}

} // namespace

bool detail::lets_others_run(const sched::Worker &worker, const void *caller) {
    if (!worker.task || !worker.task->is_explicit() || config().libc == LibcCalls::off)
        return false;
    return !task::may_block(worker) && pthread::may_suspend(worker) &&
           (pthread::is_program_code(caller) || is_end_of_task(caller));
}

namespace {

bool in_signal_handler() {
    bool found = false;
    _Unwind_Backtrace(
        [](_Unwind_Context *frame, void *result) {
            int was_interrupted = 0; // there, between two instructions
            _Unwind_GetIPInfo(frame, &was_interrupted);
            *static_cast<bool *>(result) = was_interrupted != 0;
            return was_interrupted ? _URC_END_OF_STACK : _URC_NO_REASON;
        },
        &found);
    return found;
}

// Not a child of vfork(), which has its parent's memory, and no signal handler, whose task may be
// in the middle of anything. The kernel blocks the handled signal, so that without blocked ones
// there is nothing to look for; SA_NODEFER is documented.
bool may_wait(const sched::Worker &worker) {
    if (gettid() != worker.thread.id())
        return false;
    sigset_t blocked;
    pthread_sigmask(SIG_SETMASK, nullptr, &blocked);
    return sigisemptyset(&blocked) || !in_signal_handler();
}

// A wait in the lot at a key.
class Suspension : sched::Interruptible {
  public:
    Suspension(sched::Worker &worker, const char *what, const void *key)
        : Interruptible{interrupted}, worker_(worker), key_(key), parking_(what, key) {}

    // arm(): the wake-up will come; false: it will not.
    template <class Arm>
    End wait(const Deadline &until, Arm arm) {
        if (!may_wait(worker_))
            return End::refused;
        task::note_may_suspend();
        parking_.enter();
        if (!arm()) {
            parking_.leave();
            return End::refused;
        }
        next = worker_.interruptible;
        worker_.interruptible = this;
        const bool woken = parking_.wait(worker_, until);
        sched::Interruptible **at = &worker_.interruptible;
        while (*at != this)
            at = &(*at)->next;
        *at = next;
        return interrupted_ ? End::interrupted : !woken && until.over() ? End::late : End::over;
    }

    static void look_again(Interruptible &wait) {
        pthread::wake(static_cast<Suspension &>(wait).key_);
    }

  private:
    static void interrupted(Interruptible &wait) {
        auto &self = static_cast<Suspension &>(wait);
        self.interrupted_ = true;
        pthread::wake(self.key_);
    }

    sched::Worker &worker_;
    const void *const key_;
    bool interrupted_ = false;
    pthread::Parking parking_;
};

// ---- the watcher -------------------------------------------------------------------------------

std::uint64_t number_of(int file, Direction direction) {
    return static_cast<std::uint64_t>(file) * 2 + static_cast<std::uint64_t>(direction);
}

// The key of a file's waits in the lot: no object has such an address.
const void *key_of(std::uint64_t number) {
    return reinterpret_cast<const void *>(~static_cast<std::uintptr_t>(number));
}

// One for the process. Its thread begins with the first wait, and sleeps while no file is ready.
//
// A waiter enters the lot, then arms its file in the set of its direction: once, for one event. A
// file that is ready already is told of at once. So no wake-up is lost. What several tasks wait for
// wakes all of them, and those who find nothing arm it again. Nothing is taken out of a set: the
// kernel forgets a file that is closed, and one event too many does no harm.
class Watcher {
  public:
    bool arm(int file, Direction direction);
    void after_fork_in_child();

  private:
    static constexpr int kSets = 2; // by direction
    enum class State : std::uint8_t { none, works, refused };

    bool works();
    State begin() SENNIT_REQUIRES(lock_);
    static void *main(void *watcher);
    bool tell();
    static bool tell(int set);
    void lose();

    SpinLock lock_;
    std::atomic<State> state_{State::none}; // acquire, release: the sets are there
    std::atomic<int> sets_[kSets] = {-1, -1};
    std::atomic<std::uint64_t> numbers_{0}; // all that were armed are below
};
constinit Watcher g_watcher;

bool Watcher::works() {
    State state = state_.load(std::memory_order_acquire);
    if (SENNIT_UNLIKELY(state == State::none)) {
        const pthread::NoSignals none;
        const Guard guard(lock_);
        state = state_.load(std::memory_order_relaxed);
        if (state == State::none)
            state_.store(state = begin(), std::memory_order_release);
    }
    return state == State::works;
}

Watcher::State Watcher::begin() {
    bool works = true;
    for (std::atomic<int> &set : sets_) {
        set.store(above_standard(epoll_create1(EPOLL_CLOEXEC)), std::memory_order_relaxed);
        works &= set.load(std::memory_order_relaxed) >= 0;
    }
    // Without signals, as its creator is now.
    works = works && create_helper_thread(main, this) == 0;
    if (works)
        return State::works;
    for (const std::atomic<int> &set : sets_)
        close(set.load(std::memory_order_relaxed));
    return State::refused;
}

bool Watcher::arm(int file, Direction direction) {
    if (!works())
        return false;
    const auto number = number_of(file, direction);
    std::uint64_t numbers = numbers_.load(std::memory_order_relaxed);
    while (numbers <= number && !numbers_.compare_exchange_weak(numbers, number + 1)) {
    }
    const int set = sets_[static_cast<int>(direction)].load(std::memory_order_relaxed);
    epoll_event event{};
    event.events = (direction == Direction::in ? EPOLLIN : EPOLLOUT) | EPOLLONESHOT;
    event.data.u64 = number;
    const auto control = [&](int operation) {
        return epoll_ctl(set, operation, file, &event) == 0;
    };
    return control(EPOLL_CTL_MOD) ||
           (errno == ENOENT && (control(EPOLL_CTL_ADD) ||
                                (errno == EEXIST && control(EPOLL_CTL_MOD)))); // another task's
}

void *Watcher::main(void *watcher) {
    pthread_setname_np(pthread_self(), "sennit-files");
    poll::g_file_watcher.store(gettid(), std::memory_order_relaxed);
    auto &self = *static_cast<Watcher *>(watcher);
    while (self.tell()) {
    }
    self.lose();
    return nullptr;
}

// False: a set is none any more, for the program has closed it.
bool Watcher::tell() {
    pollfd ready[kSets];
    for (int i = 0; i < kSets; ++i)
        ready[i] = {sets_[i].load(std::memory_order_relaxed), POLLIN, 0};
    bare.poll(ready, kSets, -1);
    return std::all_of(ready, ready + kSets,
                       [](const pollfd &set) { return set.revents == 0 || tell(set.fd); });
}

bool Watcher::tell(int set) {
    epoll_event events[64];
    const int count = epoll_wait(set, events, std::size(events), 0);
    for (int i = 0; i < count; ++i)
        pthread::wake(key_of(events[i].data.u64));
    return count >= 0;
}

// The next wait begins anew, and all that wait look again.
void Watcher::lose() {
    {
        const Guard guard(lock_);
        state_.store(State::none, std::memory_order_relaxed);
    }
    for (std::uint64_t number = 0; number < numbers_.load(std::memory_order_seq_cst); ++number)
        pthread::wake(key_of(number));
}

void Watcher::after_fork_in_child() {
    lock_.after_fork_in_child();
    if (state_.exchange(State::none, std::memory_order_relaxed) == State::works)
        for (const std::atomic<int> &set : sets_)
            close(set.load(std::memory_order_relaxed)); // the parent's, too
}

} // namespace

// A moment in the kernel first, where the thread has nothing else to run just now: if another
// thread answers soon, the task need not be suspended and resumed, which takes some wake-ups more.
static bool comes_soon(const sched::Worker &worker, int file, Direction direction,
                       const Deadline &until) {
    if (worker.has_parked() || worker.anything_to_do() || worker.thread.own_flow())
        return false;
    const std::int64_t ns = std::min(wait::kLock.naps.shortest_ns, until.left_ns());
    const timespec moment = {0, std::max<std::int64_t>(ns, 0)};
    pollfd one = {file, static_cast<short>(direction == Direction::in ? POLLIN : POLLOUT), 0};
    return bare.ppoll(&one, 1, &moment, nullptr) > 0;
}

End wait_for_file(sched::Worker &worker, int file, Direction direction, const Deadline &until) {
    if (comes_soon(worker, file, direction, until))
        return End::over;
    return Suspension(worker, sched::kInputOutput, key_of(number_of(file, direction)))
        .wait(until, [=] { return g_watcher.arm(file, direction); });
}

End wait_for_wake(sched::Worker &worker, const void *key, bool (*arm)(void *arg), void *arg) {
    return Suspension(worker, sched::kInputOutput, key).wait(Deadline(), [=] { return arm(arg); });
}

End wait_for_time(sched::Worker &worker, const Deadline &until) {
    for (;;) {
        const End end =
            Suspension(worker, "end of a sleep", &until).wait(until, [] { return true; });
        if (end != End::over)
            return end;
    }
}

End Retries::nap(const Deadline &until) {
    const auto waited = static_cast<std::int64_t>(poll::now_ns() - begin_ns_);
    timespec storage;
    const Deadline soon = Deadline::in_ns(
        std::min(wait::kOtherProcess.naps.of(waited), std::max<std::int64_t>(until.left_ns(), 0)),
        storage);
    const End end = wait_for_time(worker_, soon);
    return end != End::late ? end : until.over() ? End::late : End::over;
}

void after_fork_in_child() {
    g_watcher.after_fork_in_child();
    files_after_fork_in_child();
    elsewhere_after_fork_in_child();
    if (const sched::Worker *const worker = sched::Worker::self())
        for (sched::Interruptible *at = worker->interruptible; at; at = at->next)
            Suspension::look_again(*at);
}

} // namespace sennit::libc
