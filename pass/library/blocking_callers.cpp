// SPDX-License-Identifier: Apache-2.0
// Part of libsennit-pass.a. A file that is compiled with -sennit-collectives calls no blocking
// collective, so the object it is linked into imports none on its account. One that imports some
// has other files, too, and all calls stay as they are. Nothing has to be linked in a special way
// for that, and Fortran's and other compilers' files are seen as well.
//
// It is decided when this object is loaded: with the same files loaded, all ranks decide alike.
// What is opened later can only be told of.
#include "collectives.h"
#include "mpi_objects.h"

#include <algorithm>
#include <atomic>
#include <string_view>

namespace {

using namespace sennit::pass;
using sennit::DynamicSection;
using sennit::LoadedObject;

// Those that collectives.c knows, by their names in all bindings.
bool is_blocking_collective(const char *symbol) {
    constexpr std::string_view kNames[] = {"barrier",   "bcast",      "reduce",   "allreduce",
                                           "gather",    "gatherv",    "scatter",  "scatterv",
                                           "allgather", "allgatherv", "alltoall", "alltoallv"};
    if (*symbol == 'p' || *symbol == 'P')
        ++symbol;
    if (!starts_with(symbol, "MPI_"))
        return false;
    symbol += std::strlen("MPI_");
    return std::any_of(std::begin(kNames), std::end(kNames), [&](std::string_view name) {
        if (strncasecmp(symbol, name.data(), name.size()) != 0)
            return false;
        // What bindings add: C's large counts, Fortran's, and those with descriptors.
        const std::string_view rest(symbol + name.size());
        return rest.empty() || rest == "_c" || rest == "_" || rest == "__" || rest == "_f08_" ||
               rest == "_f08ts_" || rest == "_c_f08_" || rest == "_c_f08ts_";
    });
}

// Null: none.
const char *blocking_caller() {
    const char *found = nullptr;
    sennit::each_object([&](const LoadedObject &object) {
        if (!is_mpi(object) && DynamicSection(object).imports(is_blocking_collective))
            found = object.path();
        return found != nullptr;
    });
    return found;
}

bool g_moves = false;
std::atomic<bool> g_told{false};
std::atomic<unsigned long long> g_loads_seen{0};

__attribute__((constructor)) void decide() {
    g_moves = blocking_caller() == nullptr;
}

} // namespace

__attribute__((visibility("hidden"))) int sennit_pass_moves_collectives() {
    return g_moves;
}

__attribute__((visibility("hidden"))) const char *sennit_pass_new_blocking_caller() {
    if (g_told.load(std::memory_order_relaxed))
        return nullptr;
    const unsigned long long loads = count_loads();
    if (g_loads_seen.exchange(loads, std::memory_order_relaxed) == loads)
        return nullptr;
    const char *caller = blocking_caller();
    return caller && !g_told.exchange(true, std::memory_order_relaxed) ? caller : nullptr;
}
