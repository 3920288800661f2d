// SPDX-License-Identifier: Apache-2.0
// What traces are told of a set of objects, if Sennit's runtime records one: loads, moves, and what
// a call did. Nothing here is collective.
#include "objects/runtime.h"
#include "objects/set.h"

namespace sennit::objects {

void Set::record(std::span<const Row> rows) const {
    const Runtime &runtime = Runtime::get();
    if (!runtime.traces())
        return;
    for (const Row &row : rows) {
        const int object = static_cast<int>(row.object);
        const sennit_trace_stay stay = {
            number_,   calls_,          object,
            rank_,     rank_of(object), static_cast<std::uint64_t>(row.load_s * 1e9),
            row.bytes, speed_};
        runtime.trace_object(&stay);
    }
}

void Set::record(const sennit_balance_info &info) const {
    const Runtime &runtime = Runtime::get();
    if (!runtime.traces())
        return;
    const sennit_trace_balancing call = {
        number_,
        // NOLINTNEXTLINE(bugprone-suspicious-stringview-data-usage)
        balance::name_of(*strategy_).data(), // a literal
        ranks_, static_cast<std::int32_t>(info.moved), static_cast<std::int32_t>(info.failed),
        info.declined, info.imbalance, info.node_imbalance, info.promised,
        static_cast<std::uint64_t>(info.bytes), static_cast<std::uint64_t>(info.seconds * 1e9)};
    runtime.trace_balance(&call);
}

} // namespace sennit::objects
