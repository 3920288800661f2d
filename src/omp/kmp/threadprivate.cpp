// SPDX-License-Identifier: Apache-2.0
// threadprivate variables of compilers that do not use thread-local storage for them (flang, and
// clang with -fnoopenmp-use-tls): one copy for each thread, found by its number in a table per
// variable.
#include "omp/kmp/threadprivate.h"

#include "omp/kmp/kmp.h"

#include "base/message.h"

#include <cstdlib>
#include <cstring>
#include <new>

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

constexpr std::size_t kMostThreads = 1 << 16; // as sched/threads.cpp

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
    void **copies = nullptr; // by thread number; pages come when touched
    Variable *next = nullptr;
};

void *checked(void *memory, std::size_t size) {
    if (!memory)
        fatal("no memory for threadprivate variables (%zu bytes)", size);
    return memory;
}

// All of the process. One that is in the list stays there.
class Variables {
  public:
    void lock() { lock_.lock(); }
    void unlock() { lock_.unlock(); }

    // Under the lock.
    Variable &find(void *original) {
        for (Variable *variable = first_; variable; variable = variable->next)
            if (variable->original == original)
                return *variable;
        auto *made =
            new (checked(std::malloc(sizeof(Variable)), sizeof(Variable))) Variable{original};
        made->next = first_;
        first_ = made;
        return *made;
    }

    // Without the lock from the first one on: others come in front of it.
    template <class Visitor>
    void each(Visitor visit) {
        lock();
        Variable *variable = first_;
        unlock();
        for (; variable; variable = variable->next)
            visit(*variable);
    }

  private:
    SpinLock lock_;
    Variable *first_ = nullptr;
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

// A thread of the program's has ended: the next one with its number gets fresh copies.
void drop_copies(sched::Worker &worker) {
    g_variables.each([thread = static_cast<std::size_t>(worker.id())](const Variable &variable) {
        void *copy = variable.copies ? variable.copies[thread] : nullptr;
        if (!copy)
            return;
        variable.copies[thread] = nullptr;
        if (copy == variable.original)
            return;
        if (variable.destroy)
            variable.destroy(copy);
        else if (variable.destroy_many)
            variable.destroy_many(copy, variable.elements);
        std::free(copy);
    });
}

} // namespace

void kmp::threadprivate_before_fork() {
    g_variables.lock();
}
void kmp::threadprivate_after_fork() {
    g_variables.unlock();
}

KMP_API void *__kmpc_threadprivate_cached(Ident *, Gtid, void *data, std::size_t size,
                                          void ***cache) {
    const auto thread = static_cast<std::size_t>(omp::here().id());
    void **copies = std::atomic_ref<void **>(*cache).load(std::memory_order_acquire);
    if (copies && copies[thread])
        return copies[thread];
    g_variables.lock();
    Variable &variable = g_variables.find(data);
    if (!variable.copies) {
        variable.size = size;
        variable.initial = checked(std::malloc(size), size);
        std::memcpy(variable.initial, data, size);
        sched::at_thread_end(drop_copies);
        variable.copies = static_cast<void **>(
            checked(std::calloc(kMostThreads, sizeof(void *)), kMostThreads * sizeof(void *)));
    }
    copies = variable.copies;
    std::atomic_ref<void **>(*cache).store(copies, std::memory_order_release);
    g_variables.unlock();
    // The initial thread's copy is the variable itself.
    if (!copies[thread])
        copies[thread] = omp::is_initial_thread() ? data : make_copy(variable);
    return copies[thread];
}

KMP_API void *__kmpc_threadprivate(Ident *location, Gtid gtid, void *data, std::size_t size) {
    void **none = nullptr; // no cache of the caller's: the variable is looked up each time
    return __kmpc_threadprivate_cached(location, gtid, data, size, &none);
}

// Copies of threads of ours and of the initial thread live as long as the program: nobody destroys
// them.
KMP_API void __kmpc_threadprivate_register(Ident *, void *data, Construct construct, Copy copy,
                                           Destroy destroy) {
    g_variables.lock();
    Variable &variable = g_variables.find(data);
    variable.construct = construct;
    variable.copy = copy;
    variable.destroy = destroy;
    g_variables.unlock();
}
KMP_API void __kmpc_threadprivate_register_vec(Ident *, void *data, ConstructMany construct,
                                               CopyMany copy, DestroyMany destroy,
                                               std::size_t elements) {
    g_variables.lock();
    Variable &variable = g_variables.find(data);
    variable.elements = elements;
    variable.construct_many = construct;
    variable.copy_many = copy;
    variable.destroy_many = destroy;
    g_variables.unlock();
}
