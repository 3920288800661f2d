// SPDX-License-Identifier: Apache-2.0
// threadprivate variables of compilers that do not use thread-local storage for them (flang, and
// clang with -fnoopenmp-use-tls): one copy for each thread.
//
// A thread is known by the number of its worker. For each variable there is a table of copies by
// these numbers. Callers keep it, in the cache that the compiler has given them. Where threads are
// split, a worker may run several. What they have is kept by openmp/team/thread_values.h, and
// caches have a table without copies: so each call looks who the caller is. As threads count on
// finding their copies, regions have as many threads as before when splitting ends.
#include "openmp/kmp/kmp.h"

#include "base/message.h"
#include "openmp/env/split.h"
#include "openmp/team/team.h"
#include "tasks/sched/threads.h"

#include <cstdlib>
#include <cstring>
#include <new>
#include <utility>

using namespace sennit;
using kmp::Gtid;
using kmp::Ident;

namespace {

using Construct = void *(*)(void *);
using Copy = void *(*)(void *, void *);
using Destroy = void (*)(void *);
// The same of arrays: the last argument is the number of elements.
using ConstructMany = void *(*)(void *, std::size_t);
using CopyMany = void *(*)(void *, void *, std::size_t);
using DestroyMany = void *(*)(void *, std::size_t);

constexpr std::size_t kMostThreads = 1 << 16; // as tasks/sched/threads.cpp

struct Variable {
    void *original;
    std::size_t size = 0;
    Construct construct = nullptr;
    Copy copy = nullptr;
    std::size_t elements = 0; // of an array of objects
    ConstructMany construct_many = nullptr;
    CopyMany copy_many = nullptr;
    Destroy destroy = nullptr;
    DestroyMany destroy_many = nullptr;
    void *initial = nullptr; // the value at the first use
    // Tables by the number of a worker. Before its first entry, a table has its variable.
    void **copies = nullptr;
    void **cached = nullptr; // what caches have: `copies`, or where threads are split, an empty one
    std::size_t number = 0;  // among variables: the key of a virtual thread's copy
    Variable *next = nullptr;

    bool is_split() const { return cached != copies; }
};

void *checked(void *memory, std::size_t size) {
    if (!memory)
        fatal("no memory for threadprivate variables (%zu bytes)", size);
    return memory;
}

// All of the process. One that is in the list stays there.
class Variables {
  public:
    SpinLock &lock() SENNIT_RETURNS_LOCK(lock_) { return lock_; }

    Variable &find(void *original) SENNIT_REQUIRES(lock_) {
        for (Variable *variable = first_; variable; variable = variable->next)
            if (variable->original == original)
                return *variable;
        auto *made =
            new (checked(std::malloc(sizeof(Variable)), sizeof(Variable))) Variable{original};
        made->number = first_ ? first_->number + 1 : 0;
        made->next = first_;
        first_ = made;
        return *made;
    }

    // Without the lock from the first one on: others come in front of it.
    template <class Visitor>
    void each(Visitor visit) {
        for (Variable *variable = first(); variable; variable = variable->next)
            visit(*variable);
    }

  private:
    Variable *first() {
        const Guard guard(lock_);
        return first_;
    }

    SpinLock lock_;
    Variable *first_ SENNIT_GUARDED_BY(lock_) = nullptr;
};
constinit Variables g_variables;

void *make_copy(const Variable &variable) {
    void *fresh = checked(std::aligned_alloc(kCacheLine, (variable.size + 63) & ~std::size_t{63}),
                          variable.size);
    if (variable.construct)
        return variable.construct(fresh);
    if (variable.copy)
        return variable.copy(fresh, variable.original);
    if (variable.construct_many)
        return variable.construct_many(fresh, variable.elements);
    if (variable.copy_many)
        return variable.copy_many(fresh, variable.original, variable.elements);
    std::memcpy(fresh, variable.initial, variable.size);
    return fresh;
}

void drop_copy(const Variable &variable, void *copy) {
    if (!copy || copy == variable.original)
        return;
    if (variable.destroy)
        variable.destroy(copy);
    else if (variable.destroy_many)
        variable.destroy_many(copy, variable.elements);
    std::free(copy);
}

// Where threads are split: what the threads of the worker's regions have.
void drop_values(sched::Worker &worker) {
    g_variables.each([&worker](const Variable &variable) {
        if (!variable.is_split())
            return;
        const auto drop = [&variable](omp::ThreadValues &thread) {
            if (void *const copy = thread.get(variable.number)) {
                thread.set(variable.number, nullptr);
                drop_copy(variable, copy);
            }
        };
        omp::home_of(worker).values.each_unused(drop);
        omp::home_of(worker).inner_values.each_unused(drop);
    });
}

// A thread has ended: the next one with its number gets fresh copies.
void drop_copies(sched::Worker &worker) {
    g_variables.each([&worker](const Variable &variable) {
        if (variable.copies)
            drop_copy(variable, std::exchange(variable.copies[worker.id()], nullptr));
    });
    drop_values(worker);
}

// The thread that has ended the others keeps its own (OpenMP 5.2, 18.6.1).
void drop_retired(sched::Worker &worker) {
    if (&worker == sched::Worker::self())
        drop_values(worker);
    else
        drop_copies(worker);
}

void **make_table(Variable &variable) {
    constexpr std::size_t kPlaces = 1 + kMostThreads; // pages come when touched
    auto **const table = static_cast<void **>(
        checked(std::calloc(kPlaces, sizeof(void *)), kPlaces * sizeof(void *)));
    table[0] = &variable;
    return table + 1;
}

// The variable is used, for the first time with this cache.
Variable &first_use(void *data, std::size_t size, void ***cache) {
    const Guard guard(g_variables.lock());
    Variable &variable = g_variables.find(data);
    if (!variable.copies) {
        variable.size = size;
        variable.initial = checked(std::malloc(size), size);
        std::memcpy(variable.initial, data, size);
        sched::at_thread_end(drop_copies);
        sched::at_retirement(drop_retired);
        variable.copies = make_table(variable);
        variable.cached = variable.copies;
        if (omp::splits_threads()) {
            variable.cached = make_table(variable);
            omp::keep_split_size();
        }
    }
    std::atomic_ref<void **>(*cache).store(variable.cached, std::memory_order_release);
    return variable;
}

SENNIT_NOINLINE void *find_copy(sched::Worker &worker, void *data, std::size_t size,
                                void ***cache) {
    void **const cached = std::atomic_ref<void **>(*cache).load(std::memory_order_acquire);
    const Variable &variable =
        cached ? *static_cast<Variable *>(cached[-1]) : first_use(data, size, cache);
    if (omp::ThreadValues *mine = variable.is_split() ? omp::values_here(worker) : nullptr) {
        void *copy = mine->get(variable.number);
        if (!copy) {
            copy = make_copy(variable);
            mine->set(variable.number, copy);
        }
        return copy;
    }
    // The initial thread's copy is the variable itself.
    void *&copy = variable.copies[worker.id()];
    if (!copy)
        copy = omp::is_initial_thread() ? data : make_copy(variable);
    return copy;
}

} // namespace

void kmp::threadprivate_before_fork() SENNIT_ACROSS_FORK {
    g_variables.lock().lock();
}
void kmp::threadprivate_after_fork() SENNIT_ACROSS_FORK {
    g_variables.lock().unlock();
}

KMP_API void *__kmpc_threadprivate_cached(Ident *, Gtid, void *data, std::size_t size,
                                          void ***cache) {
    sched::Worker &worker = omp::here();
    void **const copies = std::atomic_ref<void **>(*cache).load(std::memory_order_acquire);
    if (copies && copies[worker.id()])
        return copies[worker.id()];
    return find_copy(worker, data, size, cache);
}

KMP_API void *__kmpc_threadprivate(Ident *location, Gtid gtid, void *data, std::size_t size) {
    void **none = nullptr; // no cache of the caller's: the variable is looked up each time
    return __kmpc_threadprivate_cached(location, gtid, data, size, &none);
}

// Copies of the initial thread live as long as the program, and those of threads of ours until they
// are paused: nobody else destroys them.
KMP_API void __kmpc_threadprivate_register(Ident *, void *data, Construct construct, Copy copy,
                                           Destroy destroy) {
    const Guard guard(g_variables.lock());
    Variable &variable = g_variables.find(data);
    variable.construct = construct;
    variable.copy = copy;
    variable.destroy = destroy;
}
KMP_API void __kmpc_threadprivate_register_vec(Ident *, void *data, ConstructMany construct,
                                               CopyMany copy, DestroyMany destroy,
                                               std::size_t elements) {
    const Guard guard(g_variables.lock());
    Variable &variable = g_variables.find(data);
    variable.elements = elements;
    variable.construct_many = construct;
    variable.copy_many = copy;
    variable.destroy_many = destroy;
}
