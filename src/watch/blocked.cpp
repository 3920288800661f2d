// SPDX-License-Identifier: Apache-2.0
// Threads that block in calls of other libraries. Records are reused, never freed: who looks
// through the list needs no lock.
#include "base/compiler.h"
#include "base/spin.h"
#include "watch/watch.h"

#include <cstdlib>
#include <new>
#include <pthread.h>
#include <unistd.h>

namespace sennit::watch {
namespace {

SpinLock g_lock; // of changes
std::atomic<Blocked *> g_threads{nullptr};
SENNIT_TLS Blocked *t_mine;

pthread_key_t exit_key() {
    static const pthread_key_t key = [] {
        pthread_key_t made;
        pthread_key_create(&made, [](void *record) {
            t_mine = nullptr;
            g_lock.lock();
            static_cast<Blocked *>(record)->in_use = false;
            g_lock.unlock();
        });
        return made;
    }();
    return key;
}

Blocked *take_record() {
    g_lock.lock();
    Blocked *record = g_threads.load(std::memory_order_relaxed);
    while (record && record->in_use)
        record = record->next;
    if (!record) {
        record = static_cast<Blocked *>(std::calloc(1, sizeof(Blocked)));
        if (record) {
            record->next = g_threads.load(std::memory_order_relaxed);
            g_threads.store(record, std::memory_order_release);
        }
    }
    if (record) {
        record->in_use = true;
        record->thread_id = gettid();
    }
    g_lock.unlock();
    return record;
}

} // namespace

void each_blocked(void (*visit)(void *, const Blocked &), void *arg) {
    for (Blocked *thread = g_threads.load(std::memory_order_acquire); thread; thread = thread->next)
        if (__atomic_load_n(&thread->wait.call, __ATOMIC_ACQUIRE))
            visit(arg, *thread);
}

void forget_threads_after_fork() {
    // The child's only thread has its own record, if any, and no other's is in a call any more.
    for (Blocked *thread = g_threads.load(std::memory_order_relaxed); thread; thread = thread->next)
        if (thread != t_mine) {
            thread->wait.call = nullptr;
            thread->in_use = false;
        }
    if (t_mine)
        t_mine->thread_id = gettid();
}

} // namespace sennit::watch

extern "C" SENNIT_EXPORT sennit_blocked *sennit_thread_blocked(void) {
    using namespace sennit::watch;
    if (!t_mine && (t_mine = take_record()))
        pthread_setspecific(exit_key(), t_mine);
    return t_mine;
}
