// SPDX-License-Identifier: Apache-2.0
// Part of libsennit-pass.a. A receive that is posted before the last one is complete may be
// noticed:
//
//   - by who writes or reads the buffer of the next until the last message is sent: through a
//     window, or memory that processes share;
//   - by who sends it synchronously: that send says that the receive has been posted, so that the
//     last one was complete;
//   - by another thread of the process, which has sent the last message after it had the buffer, or
//     after it had posted a receive for the same messages. That takes MPI_THREAD_MULTIPLE; or
//     tasks that Sennit suspends in MPI.
//
// Then each receive is waited for where it was called. The first two are told by what the loaded
// objects import: the functions of windows, synchronous sends. It is taken for what all ranks do.
#include "batch.h"

#include "mpi_objects.h"

#include <atomic>
#include <dlfcn.h>

extern "C" {
#define WEAK __attribute__((weak, visibility("default")))
WEAK int MPI_Initialized(int *);
WEAK int MPI_Query_thread(int *);
}

namespace {

using namespace sennit::pass;
using sennit::DynamicSection;
using sennit::LoadedObject;

bool is_noticing(const char *symbol) {
    for (const char *start : {"MPI_Win_", "MPI_Ssend", "MPI_Issend", "shm_open", "shmat"})
        if (starts_with(symbol, start))
            return true;
    return false;
}

// Of the objects that are loaded; 0: nobody has looked yet.
std::atomic<unsigned long long> g_loads_seen{0};
std::atomic<bool> g_found{true};

// Is there one that notices? In a program with its MPI inside it cannot be told.
bool any_object_notices() {
    const auto here = reinterpret_cast<std::uintptr_t>(&g_found);
    bool found = false, imports_mpi = false;
    sennit::each_object([&](const LoadedObject &object) {
        if (is_mpi(object))
            return 0;
        const DynamicSection dynamic(object);
        const bool uses_mpi =
            dynamic.imports([](const char *symbol) { return starts_with(symbol, "MPI_"); });
        found |= uses_mpi && dynamic.imports(is_noticing);
        imports_mpi |= uses_mpi && object.contains(PT_LOAD, here);
        return 0;
    });
    return found || !imports_mpi;
}

bool objects_notice() {
    const unsigned long long loads = count_loads();
    if (g_loads_seen.load(std::memory_order_acquire) != loads) {
        g_found.store(any_object_notices(), std::memory_order_relaxed);
        g_loads_seen.store(loads, std::memory_order_release);
    }
    return g_found.load(std::memory_order_relaxed);
}

bool threads_notice() {
    // MPI_THREAD_SERIALIZED and below, of MPICH, Open MPI and the standard's ABI.
    const auto is_below_multiple = [](int level) {
        return (level >= 0 && level <= 2) || level == 1024 || level == 2048;
    };
    // Sennit itself initializes MPI with MPI_THREAD_MULTIPLE.
    static auto *const asked =
        reinterpret_cast<int (*)()>(dlsym(RTLD_DEFAULT, "sennit_mpi_asked_level"));
    int level = -1, initialized = 0;
    if (asked)
        return !is_below_multiple(asked());
    return MPI_Initialized(&initialized) != 0 || !initialized || MPI_Query_thread(&level) != 0 ||
           !is_below_multiple(level);
}

} // namespace

__attribute__((visibility("hidden"))) int sennit_pass_is_watched() {
    return objects_notice() || threads_notice();
}
