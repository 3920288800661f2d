// SPDX-License-Identifier: Apache-2.0
// Tells the trace which worker has a part in which region.
#pragma once

#include "omp/team/team.h"
#include "trace/trace.h"

#include <cstdint>
#include <cstring>

namespace sennit::omp {

// The region's function (see Body). Null: it is not known.
inline const void *function_of(const Team &team) {
    const void *function = nullptr;
    if (team.data)
        std::memcpy(&function, team.data, sizeof function);
    return function;
}

inline void begin_traced_part(const Team &team) {
    if (trace::on() && team.traced != 0)
        trace::part_begin(team.traced, reinterpret_cast<std::uint64_t>(function_of(team)),
                          team.workers);
}
// Of its threads that had not begun, the worker has offered so many, and others took so many.
inline void trace_offer(const Team &team, int offered, int taken) {
    if (trace::on() && team.traced != 0)
        trace::offer(team.traced, offered, taken);
}
inline void end_traced_part(const Team &team) {
    if (trace::on() && team.traced != 0)
        trace::part_end(team.traced);
}

} // namespace sennit::omp
