// SPDX-License-Identifier: Apache-2.0
// The marks of the threads are thread-local in the libraries that they block in, so they are read
// under a lock, which an ending thread takes to withdraw its own.
#include "watch/blocked.h"

#include "base/compiler.h"
#include "base/spin.h"

#include <mutex>
#include <new>
#include <pthread.h>
#include <unistd.h>

namespace sennit::watch {
namespace {

struct Thread {
    sennit_blocked *mark; // null: it has ended, and the record is for another one
    int thread_id;
    std::uint64_t calls;
    Thread *next;
};

SpinLock g_lock; // of the list and all that is in it
Thread *g_threads = nullptr;

pthread_key_t exit_key() {
    static const pthread_key_t key = [] {
        pthread_key_t made;
        pthread_key_create(&made, [](void *record) {
            const std::lock_guard guard(g_lock);
            static_cast<Thread *>(record)->mark = nullptr;
        });
        return made;
    }();
    return key;
}

Thread *add(sennit_blocked *mark) {
    const std::lock_guard guard(g_lock);
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

// The call that the thread is in, after noting whether it is another one than before.
const sennit_call *look_at(Thread &thread) {
    const sennit_call *call = __atomic_load_n(&thread.mark->call, __ATOMIC_ACQUIRE);
    for (;;) {
        const auto bits = reinterpret_cast<std::uintptr_t>(call);
        const auto *plain = reinterpret_cast<const sennit_call *>(bits & ~std::uintptr_t{1});
        if (!plain || !plain->name || bits & 1)
            return plain;
        // The thread itself only stores: then what it stored stays, and is looked at again.
        const auto *seen = reinterpret_cast<const sennit_call *>(bits | 1);
        if (__atomic_compare_exchange_n(&thread.mark->call, &call, seen, false, __ATOMIC_ACQUIRE,
                                        __ATOMIC_ACQUIRE)) {
            ++thread.calls;
            return plain;
        }
    }
}

bool copy(Thread &thread, Blocked &blocked) {
    const sennit_call *call = thread.mark ? look_at(thread) : nullptr;
    if (!call || !call->name)
        return false;
    const auto read = [](const auto &member) { return __atomic_load_n(&member, __ATOMIC_RELAXED); };
    const std::int32_t peer = read(thread.mark->peer);
    const std::uint64_t group = read(thread.mark->group);
    const bool of_requests = call->of_requests != 0;
    blocked = {thread.thread_id, thread.calls,
               sennit_wait{.call = call->name,
                           .direction = call->direction,
                           .peer = of_requests ? -1 : peer,
                           .tag = read(thread.mark->tag),
                           .requests = of_requests ? peer : 0,
                           .count = -1,
                           .group = of_requests ? 0 : group,
                           .handles = of_requests ? reinterpret_cast<const void *>(group) : nullptr,
                           .send_peer = read(thread.mark->send_peer),
                           .send_tag = read(thread.mark->send_tag)},
               read(thread.mark->frame)};
    return true;
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
    new (&g_lock) SpinLock;
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
