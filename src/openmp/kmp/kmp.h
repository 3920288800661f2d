// SPDX-License-Identifier: Apache-2.0
// The LLVM front door: libomp's ABI as clang and flang 19 use it, translated into calls of openmp/
// and tasks/task/. Nothing here decides anything; what both doors need lives in openmp/. Arguments
// named `gtid` are hints that compilers cache: the calling thread is asked anew.
#pragma once

#include "base/compiler.h"
#include "openmp/events/events.h"
#include "openmp/team/team.h"

#include <cstdint>

#define KMP_API extern "C" SENNIT_EXPORT

namespace sennit::kmp {

// Where the construct is; `source` is ";file;function;line;column;;".
struct Ident {
    std::int32_t reserved1;
    std::int32_t flags;
    std::int32_t reserved2;
    std::int32_t reserved3;
    const char *source;
};
// Bits of Ident::flags.
inline constexpr std::int32_t kAtomicReduce = 0x10; // the compiler has an atomic variant
inline constexpr std::int32_t kBarrierExplicit = 0x20;
inline constexpr std::int32_t kBarrierImplicit = 0x40;
inline constexpr std::int32_t kWorkSections = 0x400;
inline constexpr std::int32_t kWorkDistribute = 0x800;

// What a tool is told of a construct, looked at when one is there.
struct BarrierKind {
    const Ident *location;
    operator ompt::SyncKind() const {
        const std::int32_t flags = location ? location->flags : 0;
        return (flags & kBarrierExplicit)   ? ompt::kBarrierExplicit
               : (flags & kBarrierImplicit) ? ompt::kBarrierWorkshare
                                            : ompt::kBarrierImplementation;
    }
};
struct LoopKind {
    const Ident *location;
    ompt::WorkKind loop = ompt::kWorkLoop; // a worksharing loop
    operator ompt::WorkKind() const {
        const std::int32_t flags = location ? location->flags : 0;
        return (flags & kWorkSections)     ? ompt::kWorkSections
               : (flags & kWorkDistribute) ? ompt::kWorkDistribute
                                           : loop;
    }
};

using Gtid = std::int32_t;
using Microtask = void (*)(Gtid *gtid, Gtid *thread, ...);

// Values of a schedule argument, without its modifier bits.
enum Schedule : std::int32_t {
    kStaticChunked = 33,
    kStatic = 34,
    kDynamicChunked = 35,
    kGuidedChunked = 36,
    kRuntime = 37,
    kAuto = 38,
    kTrapezoidal = 39,
    kGuidedIterative = 42,
    kGuidedAnalytical = 43,
    kStaticSteal = 44,
    kStaticBalancedChunked = 45,
    kGuidedSimd = 46,
    kRuntimeSimd = 47,
    kOrderedOffset = 32, // ordered kinds 65 .. 71 are 33 .. 39 and this
    kOrderedLower = 64,
    kOrderedUpper = 72,
    kDistributeChunked = 91,
    kDistribute = 92,
    kNoMergeOffset = 128, // kinds 161 .. : without merging of iterations
    kNoMergeLower = 160,
    kMonotonic = 1 << 29,
    kNonmonotonic = 1 << 30,
};

// Around fork(): nobody is in the middle of the list of threadprivate variables.
void threadprivate_before_fork();
void threadprivate_after_fork(); // in the child, too

} // namespace sennit::kmp
