// SPDX-License-Identifier: Apache-2.0
// Sennit learns that MPI has looked for messages, and whether it has found any. It stands in front
// of the function that MPI calls for this: in Open MPI its own, in MPICH one of its network, UCX.
//
// Open MPI's function does not say what it has found. Its parts register functions of theirs there,
// which say so. Where it matters most, in rank fibers, Sennit registers others in their place,
// which count. Everywhere else nothing is known to be found.
#include "base/compiler.h"
#include "mpi/crowd/crowd.h"
#include "mpi/crowd/spins.h"
#include "mpi/interpose/bare.h"

#include <array>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <utility>

namespace sennit::mpi {
namespace {

void *find_behind(const char *name) {
    if (void *const found = interpose::find_next(name))
        return found;
    if (void *const found = interpose::find_in_any_library(name))
        return found;
    std::fprintf(stderr, "sennit: %s was called, and is nowhere\n", name);
    std::abort();
}

} // namespace

#ifdef OPEN_MPI

namespace {

using OpenMpiPart = int (*)(); // returns how many events there were

constexpr std::size_t kMostParts = 16; // more are not counted
constinit std::atomic<OpenMpiPart> g_parts[kMostParts] = {};
constinit thread_local bool t_found __attribute__((tls_model("initial-exec"))) = false;

template <std::size_t number>
int counted() {
    const OpenMpiPart part = g_parts[number].load(std::memory_order_acquire);
    const int events = part ? part() : 0; // null: another thread has just taken it away
    t_found = t_found || events > 0;
    return events;
}

template <std::size_t... numbers>
constexpr std::array<OpenMpiPart, kMostParts> counted_parts(std::index_sequence<numbers...>) {
    return {counted<numbers>...};
}
constexpr std::array<OpenMpiPart, kMostParts> kCounted =
    counted_parts(std::make_index_sequence<kMostParts>());

// The one that stands for the part; the part itself if there is none.
OpenMpiPart stands_for(OpenMpiPart part) {
    for (std::size_t i = 0; i < kMostParts; ++i)
        if (g_parts[i].load(std::memory_order_acquire) == part)
            return kCounted[i];
    return part;
}
OpenMpiPart make_counted(OpenMpiPart part) {
    if (const OpenMpiPart made = stands_for(part); made != part || !Hops::wanted())
        return made;
    for (std::size_t i = 0; i < kMostParts; ++i)
        if (OpenMpiPart none = nullptr; g_parts[i].compare_exchange_strong(none, part))
            return kCounted[i];
    return part;
}

} // namespace

extern "C" {

SENNIT_EXPORT int opal_progress_register(OpenMpiPart part) {
    static constexpr interpose::Bare<find_behind, "opal_progress_register", int(OpenMpiPart)> bare;
    return bare(make_counted(part));
}
SENNIT_EXPORT int opal_progress_register_lp(OpenMpiPart part) {
    static constexpr interpose::Bare<find_behind, "opal_progress_register_lp", int(OpenMpiPart)>
        bare;
    return bare(make_counted(part));
}
SENNIT_EXPORT int opal_progress_unregister(OpenMpiPart part) {
    static constexpr interpose::Bare<find_behind, "opal_progress_unregister", int(OpenMpiPart)>
        bare;
    const int error = bare(stands_for(part));
    for (std::atomic<OpenMpiPart> &one : g_parts)
        if (one.load(std::memory_order_relaxed) == part)
            one.store(nullptr, std::memory_order_release);
    return error;
}
SENNIT_EXPORT SENNIT_HOT void opal_progress() {
    static constexpr interpose::Bare<find_behind, "opal_progress", void()> bare;
    bare();
    if (!crowded()) [[likely]]
        return;
    if (std::exchange(t_found, false))
        t_spins.note_found();
    t_spins.looked(false); // to look often costs more here than a nap of a fiber
}
}

#else

extern "C" SENNIT_EXPORT SENNIT_HOT unsigned ucp_worker_progress(void *worker) {
    static constexpr interpose::Bare<find_behind, "ucp_worker_progress", unsigned(void *)> bare;
    if (!crowded()) [[likely]]
        return bare(worker);
    const unsigned found = bare(worker);
    t_spins.looked(found != 0);
    return found;
}

#endif

} // namespace sennit::mpi
