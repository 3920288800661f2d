// SPDX-License-Identifier: Apache-2.0
#include "node/core_table.h"

namespace sennit::node {

CoreState CoreTable::unpack(std::uint64_t word) {
    CoreState state;
    state.owner = static_cast<int>(word & 0xffff) - 1;
    state.user = static_cast<int>(word >> 16 & 0xffff) - 1;
    state.recalled = (word & kRecalled) != 0;
    return state;
}

template <class Change>
bool CoreTable::update(int core, Change change) {
    std::atomic<std::uint64_t> &word = cells_[core].word;
    std::uint64_t before = word.load(std::memory_order_relaxed);
    for (;;) {
        CoreState state = unpack(before);
        if (!change(state))
            return false;
        const std::uint64_t after =
            ((before & ~(kChange - 1)) + kChange) | static_cast<std::uint64_t>(state.owner + 1) |
            static_cast<std::uint64_t>(state.user + 1) << 16 | (state.recalled ? kRecalled : 0);
        // What the user before has written to the table is seen by the next one.
        if (word.compare_exchange_weak(before, after, std::memory_order_acq_rel,
                                       std::memory_order_relaxed))
            return true;
    }
}

void CoreTable::widen(const Cores &cores) {
    raise_to(end_, cores.end());
}

CoreState CoreTable::state(int core) const {
    return unpack(cells_[core].word.load(std::memory_order_acquire));
}

bool CoreTable::take(int core, int slot) {
    return update(core, [&](CoreState &state) {
        if (state.user != kNobody)
            return false;
        state.user = slot;
        state.recalled = false;
        return true;
    });
}

int CoreTable::take_own(int slot, const Cores &allowed, int near) {
    const auto is_own = [&](int core) {
        const CoreState now = state(core);
        return now.owner == slot && now.user == kNobody && allowed.has(core);
    };
    const int last = end();
    if (near >= 0 && near < last && is_own(near) && take(near, slot))
        return near;
    for (int core = 0; core < last; ++core)
        if (is_own(core) && take(core, slot))
            return core;
    return kNobody;
}

int CoreTable::find_free(const Cores &allowed) const {
    for (int core = 0, last = end(); core < last; ++core)
        if (allowed.has(core) && state(core).user == kNobody)
            return core;
    return kNobody;
}

bool CoreTable::give(int core, int slot) {
    return update(core, [&](CoreState &state) {
        if (state.user != slot)
            return false;
        state.user = kNobody;
        state.recalled = false;
        return true;
    });
}

bool CoreTable::recall(int core, int by) {
    return update(core, [&](CoreState &state) {
        if (state.user == kNobody || state.user == by || state.recalled)
            return false;
        state.recalled = true;
        return true;
    });
}

void CoreTable::set_owner(int core, int owner) {
    update(core, [&](CoreState &state) {
        const bool other = state.owner != owner;
        state.owner = owner;
        return other;
    });
}

int CoreTable::release(int slot) {
    int freed = 0;
    for (int core = 0, last = end(); core < last; ++core) {
        freed += give(core, slot) ? 1 : 0;
        update(core, [&](CoreState &state) {
            const bool owned = state.owner == slot;
            state.owner = owned ? kNobody : state.owner;
            return owned;
        });
    }
    return freed;
}

} // namespace sennit::node
