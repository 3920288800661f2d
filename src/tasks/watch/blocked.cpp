// SPDX-License-Identifier: Apache-2.0
// The marks of the threads are thread-local in the libraries that they block in, so they are read
// under a lock, which an ending thread takes to withdraw its own.
#include "tasks/watch/blocked.h"

#include "base/clock.h"
#include "base/compiler.h"
#include "base/small_file.h"
#include "base/spin.h"
#include "tasks/sched/worker.h"

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dirent.h>
#include <linux/futex.h>
#include <new>
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace sennit::watch {
namespace {

SpinLock g_lock;

struct Thread {
    // Null: it has ended, and the record is for another one.
    sennit_blocked *mark SENNIT_GUARDED_BY(g_lock);
    int thread_id SENNIT_GUARDED_BY(g_lock);
    std::uint64_t calls SENNIT_GUARDED_BY(g_lock);
    Thread *next; // never changes once it is in the list
};

Thread *g_threads SENNIT_GUARDED_BY(g_lock) = nullptr;

pthread_key_t exit_key() {
    static const pthread_key_t key = [] {
        pthread_key_t made;
        pthread_key_create(&made, [](void *record) {
            const Guard guard(g_lock);
            static_cast<Thread *>(record)->mark = nullptr;
        });
        return made;
    }();
    return key;
}

Thread *add(sennit_blocked *mark) {
    const Guard guard(g_lock);
    Thread *thread = g_threads;
    while (thread && thread->mark)
        thread = thread->next;
    if (!thread) {
        thread = new (std::nothrow) Thread{};
        if (!thread)
            return nullptr;
        thread->next = g_threads;
        g_threads = thread;
    }
    thread->mark = mark;
    thread->thread_id = gettid();
    return thread;
}

// The members of a mark, and of a call that is not a constant, may be of the thread's next call.
template <class Member>
Member read(const Member &member) {
    return __atomic_load_n(&member, __ATOMIC_RELAXED);
}

// A mark's `call` after a look. The lowest bit of its address is set.
const sennit_call *looked_at(const sennit_call *call) {
    return reinterpret_cast<const sennit_call *>(reinterpret_cast<std::uintptr_t>(call) | 1);
}

// The call that the thread is in, after noting whether it is another one than before.
const sennit_call *look_at(Thread &thread) SENNIT_REQUIRES(g_lock) {
    const sennit_call *call = __atomic_load_n(&thread.mark->call, __ATOMIC_ACQUIRE);
    for (;;) {
        const auto bits = reinterpret_cast<std::uintptr_t>(call);
        const auto *plain = reinterpret_cast<const sennit_call *>(bits & ~std::uintptr_t{1});
        if (!plain || !read(plain->name) || bits & 1)
            return plain;
        // The thread itself only stores: then what it stored stays, and is looked at again.
        if (__atomic_compare_exchange_n(&thread.mark->call, &call, looked_at(plain), false,
                                        __ATOMIC_ACQUIRE, __ATOMIC_ACQUIRE)) {
            ++thread.calls;
            return plain;
        }
    }
}

bool copy(Thread &thread, Blocked &blocked) SENNIT_REQUIRES(g_lock) {
    const sennit_call *call = thread.mark ? look_at(thread) : nullptr;
    const char *name = call ? read(call->name) : nullptr;
    if (!name)
        return false;
    const std::int32_t peer = read(thread.mark->peer);
    const std::uint64_t group = read(thread.mark->group);
    const bool of_requests = read(call->of_requests) != 0;
    blocked = {thread.thread_id, thread.calls,
               sennit_wait{.call = name,
                           .direction = read(call->direction),
                           .peer = of_requests ? -1 : peer,
                           .tag = read(thread.mark->tag),
                           .requests = of_requests ? peer : 0,
                           .count = -1,
                           .group = of_requests ? 0 : group,
                           .handles = of_requests ? reinterpret_cast<const void *>(group) : nullptr,
                           .send_peer = read(thread.mark->send_peer),
                           .send_tag = read(thread.mark->send_tag)},
               read(thread.mark->frame)};
    // If any of this was of a later call, the mark shows that this one is over. Pairs with the
    // release fence between the end of a call and what the next one sets (sennit_blocked).
    std::atomic_thread_fence(std::memory_order_acquire);
    return read(thread.mark->call) == looked_at(call);
}

} // namespace

// Records are never freed, and only put in front: who has one may leave the lock to go on from it.
void each_blocked(void (*visit)(void *, const Blocked &), void *arg) {
    g_lock.lock();
    for (Thread *thread = g_threads; thread; thread = thread->next) {
        Blocked blocked;
        if (!copy(*thread, blocked))
            continue;
        g_lock.unlock();
        visit(arg, blocked);
        g_lock.lock();
    }
    g_lock.unlock();
}

bool is_blocked(int thread_id) {
    struct Search {
        int thread_id;
        bool found;
    } search{thread_id, false};
    each_blocked(
        [](void *arg, const Blocked &thread) {
            auto &wanted = *static_cast<Search *>(arg);
            wanted.found |= thread.thread_id == wanted.thread_id;
        },
        &search);
    return search.found;
}

// The child has only one thread; and another one may have held the lock.
void forget_threads_after_fork() {
    g_lock.after_fork_in_child();
    const Guard guard(g_lock);
    const auto *mine = static_cast<Thread *>(pthread_getspecific(exit_key()));
    for (Thread *thread = g_threads; thread; thread = thread->next)
        if (thread == mine)
            thread->thread_id = gettid();
        else
            thread->mark = nullptr;
}

} // namespace sennit::watch

extern "C" SENNIT_EXPORT int sennit_thread_blocks(sennit_blocked *where) {
    using namespace sennit::watch;
    Thread *thread = add(where);
    if (!thread)
        return SENNIT_ERR_OUT_OF_MEMORY;
    pthread_setspecific(exit_key(), thread);
    return SENNIT_SUCCESS;
}

namespace sennit::watch {
namespace {

using Path = char[64];

const char *file_of(Path &path, int thread_id, const char *name) {
    std::snprintf(path, sizeof path, "/proc/self/task/%d/%s", thread_id, name);
    return path;
}

bool has_no_limit(long number, const unsigned long long (&arguments)[6]) {
    switch (number) {
#if defined(SYS_poll)
    case SYS_poll:
        return static_cast<int>(arguments[2]) < 0;
    case SYS_select:
        return arguments[4] == 0;
    case SYS_epoll_wait:
#endif
    case SYS_epoll_pwait:
        return static_cast<int>(arguments[3]) < 0;
    case SYS_ppoll:
        return arguments[2] == 0;
    case SYS_pselect6:
        return arguments[4] == 0;
#if defined(SYS_epoll_pwait2)
    case SYS_epoll_pwait2:
        return arguments[3] == 0;
#endif
    default:
        return false;
    }
}

bool is_futex_wait(unsigned long long operation) {
    switch (operation & FUTEX_CMD_MASK) {
    case FUTEX_WAIT:
    case FUTEX_WAIT_BITSET:
    case FUTEX_LOCK_PI:
    case FUTEX_WAIT_REQUEUE_PI:
        return true;
    default:
        return false;
    }
}

} // namespace

ThreadState state_of(int thread_id) {
    ThreadState state;
    Path path;
    char text[512];
    if (read_small_file(file_of(path, thread_id, "stat"), text, sizeof text) == 0)
        return state;
    // "id (name) state ...": the name may hold anything; utime and stime are fields 14 and 15.
    const char *at = std::strrchr(text, ')');
    state.runs = at && std::strncmp(at, ") R", 3) == 0;
    for (int field = 2; at && field < 14; ++field)
        if ((at = std::strchr(at, ' ')))
            ++at;
    if (!at)
        return state;
    char *next = nullptr;
    const std::uint64_t user = std::strtoull(at, &next, 10);
    state.used = user + std::strtoull(next, nullptr, 10);
    return state;
}

std::uint64_t used_by(int thread_id) {
    const std::int64_t ns = work_ns_of(thread_id);
    return static_cast<std::uint64_t>(ns != 0 ? ns : monotonic_ns());
}

Sleep sleep_of(int thread_id) {
    Sleep sleep;
    Path path;
    char text[256];
    if (read_small_file(file_of(path, thread_id, "syscall"), text, sizeof text) == 0)
        return sleep;
    // "number argument... stack instruction", or "-1 stack instruction", or "running".
    char *at = nullptr;
    const long number = std::strtol(text, &at, 10);
    if (at == text || number < 0)
        return sleep;
    unsigned long long arguments[6];
    for (unsigned long long &argument : arguments)
        argument = std::strtoull(at, &at, 16);
    sleep.stack = reinterpret_cast<const void *>(std::strtoull(at, &at, 16));
    // The time limit is the fourth argument of all that sleep.
    if (number == SYS_futex && is_futex_wait(arguments[1]) && arguments[3] == 0) {
        sleep.in = Sleep::In::futex;
        sleep.futex = reinterpret_cast<const void *>(arguments[0]);
        sleep.expected = arguments[2];
    } else {
        sleep.in = has_no_limit(number, arguments) ? Sleep::In::events : Sleep::In::call;
    }
    return sleep;
}

std::uint64_t sleeps_of(int thread_id) {
    Path path;
    char text[4096];
    if (read_small_file(file_of(path, thread_id, "status"), text, sizeof text) == 0)
        return 0;
    constexpr const char *kName = "\nvoluntary_ctxt_switches:";
    const char *const found = std::strstr(text, kName);
    return found ? std::strtoull(found + std::strlen(kName), nullptr, 10) : 0;
}

bool is_thread(int thread_id) {
    Path path;
    return thread_id > 0 && access(file_of(path, thread_id, "stat"), F_OK) == 0;
}

namespace {

bool is_known(int thread_id) {
    if (thread_id == gettid() || // the ticker, which asks
        thread_id == poll::g_file_watcher.load(std::memory_order_relaxed))
        return true;
    for (const sched::Worker &worker : sched::Worker::all())
        if (worker.thread.id() == thread_id)
            return true;
    return is_blocked(thread_id);
}

} // namespace

bool Foreign::at_work(std::uint64_t now_ns, std::uint64_t last_ns) {
    DIR *folder = opendir("/proc/self/task");
    if (!folder)
        return false;
    std::uint64_t used = 0;
    bool runs = false;
    bool naps = false;
    int threads = 0;
    while (const dirent *entry = readdir(folder)) {
        if (entry->d_name[0] == '.' || is_known(std::atoi(entry->d_name)))
            continue;
        const int thread_id = std::atoi(entry->d_name);
        const ThreadState state = state_of(thread_id);
        used += state.used;
        runs |= state.runs;
        naps |= sleep_of(thread_id).in == Sleep::In::call;
        ++threads;
    }
    closedir(folder);
    const std::uint64_t more = used > used_ ? used - used_ : 0;
    used_ = used;
    asleep_ = threads;
    naps_ = naps;
    static const auto ticks_a_second = static_cast<std::uint64_t>(sysconf(_SC_CLK_TCK));
    // A tenth; what wakes now and then to look for something is not at work.
    return runs || more * 1'000'000'000 / ticks_a_second > (now_ns - last_ns) / 10;
}

const char *Foreign::note() {
    note_[0] = '\0';
    if (asleep_ > 0)
        std::snprintf(note_, sizeof note_,
                      "sennit:   (%d other thread%s of the process sleep%s, unknown to Sennit)\n",
                      asleep_, asleep_ == 1 ? "" : "s", asleep_ == 1 ? "s" : "");
    return note_;
}

void Starved::begin_look() {
    before_.swap(now_);
    now_.clear();
    next_ = 0;
}

const Starved::Use *Starved::before(int thread_id) {
    for (std::size_t i = 0; i < before_.size(); ++i) {
        if (next_ == before_.size())
            next_ = 0;
        if (const Use &use = before_[next_++]; use.thread_id == thread_id)
            return &use;
    }
    return nullptr;
}

} // namespace sennit::watch
