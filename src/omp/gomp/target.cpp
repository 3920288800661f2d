// SPDX-License-Identifier: Apache-2.0
// target constructs where there is no device: the region runs on the host, mapped data is the
// program's own (OpenMP 5.2, 1.3). Only firstprivate items need care: the region gets copies.
#include "omp/gomp/gomp.h"

#include "task/task.h"

#include <alloca.h>
#include <cstddef>
#include <cstring>

using namespace sennit;
using gomp::Function;

extern "C" void GOMP_taskwait_depend(void **depend);

namespace {

// Low byte of a kind: how an item is mapped; high byte: log2 of its alignment.
constexpr unsigned kFirstprivate = 12;

} // namespace

GOMP_API void GOMP_target_ext(int, Function function, std::size_t count, void **items,
                              std::size_t *sizes, unsigned short *kinds, unsigned, void **depend,
                              void **) {
    if (depend)
        GOMP_taskwait_depend(depend);
    auto **own = static_cast<void **>(alloca((count + 1) * sizeof(void *)));
    for (std::size_t i = 0; i < count; ++i) {
        own[i] = items[i];
        if ((kinds[i] & 0xffu) != kFirstprivate)
            continue;
        const std::size_t align = std::size_t{1} << (kinds[i] >> 8);
        auto raw = reinterpret_cast<std::uintptr_t>(alloca(sizes[i] + align));
        own[i] = reinterpret_cast<void *>((raw + align - 1) & ~(align - 1));
        std::memcpy(own[i], items[i], sizes[i]);
    }
    function(own);
}

GOMP_API void GOMP_target_data_ext(int, std::size_t, void **, std::size_t *, unsigned short *) {}
GOMP_API void GOMP_target_end_data(void) {}

GOMP_API void GOMP_target_update_ext(int, std::size_t, void **, std::size_t *, unsigned short *,
                                     unsigned, void **depend) {
    if (depend)
        GOMP_taskwait_depend(depend);
}
GOMP_API void GOMP_target_enter_exit_data(int, std::size_t, void **, std::size_t *,
                                          unsigned short *, unsigned, void **depend) {
    if (depend)
        GOMP_taskwait_depend(depend);
}

// teams in a target region: called before each round of a loop over the league's teams.
GOMP_API bool GOMP_teams4(unsigned, unsigned teams, unsigned thread_limit, bool first) {
    sched::Worker &worker = omp::here();
    omp::League &league = omp::member_of(worker).team->league;
    if (first) {
        if (thread_limit > 0)
            icvs_for_update(worker).thread_limit = static_cast<int>(thread_limit);
        league = {teams > 0 ? static_cast<int>(teams) : 1, 0};
        return true;
    }
    if (++league.rank < league.size)
        return true;
    league = {};
    return false;
}
