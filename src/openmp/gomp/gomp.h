// SPDX-License-Identifier: Apache-2.0
// The GCC front door: libgomp's ABI (GOMP_1.0 .. GOMP_5.1), translated into calls of openmp/ and
// tasks/task/. Nothing here decides anything; what both doors need lives in openmp/.
#pragma once

#include "base/compiler.h"
#include "openmp/loops/worksharing.h"
#include "openmp/team/placement.h"
#include "openmp/team/team.h"

#include <cstdint>

#define GOMP_API extern "C" SENNIT_EXPORT

namespace sennit::gomp {

using Function = void (*)(void *);

// Bits of the `flags` argument of GOMP_task and GOMP_taskloop.
enum GompTaskFlag : unsigned {
    kUntied = 1u << 0,
    kFinal = 1u << 1,
    kMergeable = 1u << 2,
    kDepend = 1u << 3,
    kPriority = 1u << 4,
    kUp = 1u << 8,
    kGrainsize = 1u << 9,
    kIf = 1u << 10,
    kNogroup = 1u << 11,
    kReduction = 1u << 12,
    kDetach = 1u << 13,
    kStrict = 1u << 14,
};

// The `flags` argument of parallel constructs: the low bits are the proc_bind clause.
inline void announce_proc_bind(unsigned flags) {
    omp::announce_proc_bind(static_cast<int>(flags & 7u));
}

// The number of threads of a region; `num_threads` of 1 also stands for if(false).
inline int region_size(sched::Worker &worker, unsigned num_threads, Function function) {
    return omp::region_size(worker, static_cast<int>(num_threads), num_threads != 1,
                            reinterpret_cast<const void *>(function));
}

// Reductions over a worksharing construct: every thread opens a taskgroup over copies that the
// first one allocates; see reductions.cpp.
void workshare_reductions_begin(sched::Worker &worker, std::uintptr_t *reductions);

// Memory of `*mem` bytes, zeroed, that the threads of the current worksharing construct share.
void workshare_memory(sched::Worker &worker, void **mem);

} // namespace sennit::gomp
