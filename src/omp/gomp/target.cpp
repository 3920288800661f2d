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

// The loop over a league: one team, once.
GOMP_API bool GOMP_teams4(unsigned, unsigned, unsigned, bool first) {
    return first;
}
