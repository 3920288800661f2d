// SPDX-License-Identifier: Apache-2.0
// ordered(n): the compiler passes the nest's bounds and vectors of loop variables.
#include "omp/loops/doacross.h"
#include "omp/kmp/kmp.h"

#include <alloca.h>

using namespace sennit;
using kmp::Gtid;
using kmp::Ident;

namespace {

struct Dimension { // kmp_dim
    std::int64_t lower;
    std::int64_t upper; // inclusive
    std::int64_t step;
};

std::uint64_t count_of(const Dimension &loop) {
    const bool up = loop.step > 0;
    if (up ? loop.lower > loop.upper : loop.lower < loop.upper)
        return 0;
    const auto low = static_cast<std::uint64_t>(up ? loop.lower : loop.upper);
    const auto high = static_cast<std::uint64_t>(up ? loop.upper : loop.lower);
    const auto step = static_cast<std::uint64_t>(loop.step);
    return (high - low) / (up ? step : std::uint64_t{0} - step) + 1;
}

} // namespace

KMP_API void __kmpc_doacross_init(Ident *, Gtid, std::int32_t loops, const Dimension *given) {
    auto *nest = static_cast<omp::DoacrossLoop *>(
        alloca(static_cast<std::size_t>(loops) * sizeof(omp::DoacrossLoop)));
    for (int i = 0; i < loops; ++i)
        nest[i] = {given[i].lower, given[i].step, count_of(given[i])};
    omp::doacross_begin(omp::here(), loops, nest);
}
KMP_API void __kmpc_doacross_wait(Ident *, Gtid, const std::int64_t *vector) {
    omp::doacross_wait(omp::here(), vector);
}
KMP_API void __kmpc_doacross_post(Ident *, Gtid, const std::int64_t *vector) {
    omp::doacross_post(omp::here(), vector);
}
KMP_API void __kmpc_doacross_fini(Ident *, Gtid) {
    omp::doacross_end(omp::here());
}
