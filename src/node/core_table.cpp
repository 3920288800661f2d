// SPDX-License-Identifier: Apache-2.0
#include "node/core_table.h"

#include "base/assert.h"
#include "base/clock.h"

namespace sennit::node {

CoreState CoreTable::unpack(std::uint64_t word) {
    CoreState state;
    state.owner = static_cast<int>(word & 0xffff) - 1;
    state.user = static_cast<int>(word >> 16 & 0xffff) - 1;
    state.recalled = (word & kRecalled) != 0;
    state.rests = (word & kRests) != 0;
    state.use = static_cast<std::uint32_t>(word / kUse);
    return state;
}

std::uint64_t CoreTable::pack(const CoreState &state) {
    return static_cast<std::uint64_t>(state.owner + 1) |
           static_cast<std::uint64_t>(state.user + 1) << 16 | (state.recalled ? kRecalled : 0) |
           (state.rests ? kRests : 0) | std::uint64_t{state.use} * kUse;
}

template <class Change>
bool CoreTable::update(int core, Change change) {
    Atomic<std::uint64_t> &word = cells_[core].word;
    std::uint64_t before = word.load(std::memory_order_relaxed);
    for (;;) {
        CoreState state = unpack(before);
        SENNIT_ASSERT(state.is_sound());
        if (!change(state))
            return false;
        SENNIT_ASSERT(state.is_sound());
        // What the user before has written to the table is seen by the next one.
        if (word.compare_exchange_weak(before, pack(state), std::memory_order_acq_rel,
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

Hold CoreTable::take(int core, int slot) {
    std::uint32_t use = 0;
    const bool taken = update(core, [&](CoreState &state) {
        if (!state.is_open_to(slot))
            return false;
        use = state.begin_use(slot);
        return true;
    });
    return taken ? begun(core, use) : Hold{};
}

Hold CoreTable::begun(int core, std::uint32_t use) {
    cells_[core].recalled_ns.store(0, std::memory_order_relaxed);
    return {core, use};
}

// `near`, then in their order.
template <class Accept>
Hold CoreTable::take_first(int slot, int near, Accept accept) {
    const int last = end();
    if (near >= 0 && near < last && accept(near, state(near)))
        if (const Hold hold = take(near, slot))
            return hold;
    for (int core = 0; core < last; ++core)
        if (accept(core, state(core)))
            if (const Hold hold = take(core, slot))
                return hold;
    return {};
}

Hold CoreTable::take_own(int slot, const Cores &allowed, int near) {
    return take_first(slot, near, [&](int core, const CoreState &now) {
        return now.owner == slot && now.user != slot && now.is_open_to(slot) && allowed.has(core);
    });
}

Hold CoreTable::take_rested(int slot, int near) {
    return take_first(slot, near,
                      [&](int, const CoreState &now) { return now.user == slot && now.rests; });
}

int CoreTable::find_free(const Cores &allowed) const {
    for (int core = 0, last = end(); core < last; ++core)
        if (allowed.has(core) && state(core).user == kNobody)
            return core;
    return kNobody;
}

int CoreTable::find_open(int slot, const Cores &allowed) const {
    for (int core = 0, last = end(); core < last; ++core)
        if (allowed.has(core) && state(core).is_open_to(slot))
            return core;
    return kNobody;
}

bool CoreTable::give(Hold hold, int slot) {
    return update(hold.core, [&](CoreState &state) {
        if (state.user != slot || state.use != hold.use)
            return false;
        state.free();
        return true;
    });
}

Hold CoreTable::take_over(Hold from, int slot) {
    std::uint32_t use = 0;
    const bool taken = update(from.core, [&](CoreState &state) {
        if (state.use != from.use || state.user == kNobody || state.rests)
            return false;
        use = state.begin_use(slot);
        return true;
    });
    return taken ? begun(from.core, use) : Hold{};
}

bool CoreTable::rest(Hold hold, int slot) {
    return update(hold.core, [&](CoreState &state) {
        if (state.user != slot || state.use != hold.use || state.recalled)
            return false;
        state.rests = true;
        return true;
    });
}

bool CoreTable::recall(int core, int by) {
    bool marked = false;
    const bool changed = update(core, [&](CoreState &state) {
        if (state.user == kNobody || state.user == by || state.recalled)
            return false;
        marked = !state.rests;
        if (state.rests)
            state.free();
        else
            state.recalled = true;
        return true;
    });
    if (changed && marked)
        cells_[core].recalled_ns.store(monotonic_ns(), std::memory_order_relaxed);
    return changed;
}

std::int64_t CoreTable::recalled_since(Hold hold) const {
    const CoreState now = state(hold.core);
    return now.recalled && now.use == hold.use
               ? cells_[hold.core].recalled_ns.load(std::memory_order_relaxed)
               : 0;
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
        bool used = false;
        update(core, [&](CoreState &state) {
            used = state.user == slot;
            const bool owned = state.owner == slot;
            if (used)
                state.free();
            if (owned)
                state.owner = kNobody;
            return used || owned;
        });
        freed += used ? 1 : 0;
    }
    wanters_.reset(slot);
    return freed;
}

} // namespace sennit::node
