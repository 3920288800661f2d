// SPDX-License-Identifier: Apache-2.0
#include "node/share.h"

#include "base/assert.h"
#include "base/clock.h"
#include "base/rank.h"
#include "node/identity.h"
#include "node/look.h"
#include "wait/ladder.h"

#include <algorithm>
#include <sched.h>
#include <unistd.h>
#include <utility>

namespace sennit::node {
namespace {

// Before it sleeps: what it waits for may be a moment away, and a wake-up takes tens of
// microseconds.
static_assert(wait::kCore.naps.longest_ns == kKeptNs);
constexpr std::int64_t kSweepNs = 100'000'000;

// One that had asked has come.
void answer(CoreUse &use) {
    std::int32_t asked = use.asked.load(std::memory_order_relaxed);
    while (asked > 0 &&
           !use.asked.compare_exchange_weak(asked, asked - 1, std::memory_order_relaxed)) {
    }
}

} // namespace

void Share::begin(Board &board, BoardSlot &slot) {
    board_ = &board;
    slot_ = &slot;
    number_ = board.number_of(slot);
    policy_ = &policy_on(board);
    patience_ns_.store(longest_ns_, std::memory_order_relaxed);
    tells_threads_ = !hides_threads_ && !is_rank_fiber(); // which changes them
    const PoolSettings &pool = board.pool();
    const bool pools_cores =
        pool.named.load(std::memory_order_acquire) != 0 && pool.cores.count() != 0;
    widen(board.core_table(), pools_cores ? pool.cores : slot.member.cores);
    slot.cores.counts.store(1, std::memory_order_release);
    board.core_table().note_change();
    divide_cores(board);
    on_.store(true, std::memory_order_release);
}

void Share::end() {
    on_.store(false, std::memory_order_seq_cst);
    while (inside_.load(std::memory_order_acquire) != 0) {
        slot_->cores.bell.ring();
        sched_yield();
    }
}

void Share::abandon() {
    on_.store(false, std::memory_order_relaxed);
    inside_.store(0, std::memory_order_relaxed);
    Look::after_fork_in_child();
}

// A core on which a thread of the process rests comes last: the thread waits awake there, and goes
// on sooner than one that has to be woken.
Hold Share::try_take(int near) {
    CoreTable &table = board_->core_table();
    if (const Hold own = table.take_own(number_, slot_->member.cores, near))
        return own;
    if (const Hold lent = borrow())
        return lent;
    return table.take_rested(number_, near);
}

Hold Share::borrow() {
    CoreTable &table = board_->core_table();
    const Cores &allowed = slot_->member.cores;
    if (table.find_free(allowed) == kNobody)
        return {};
    const Look look(*board_);
    const int me = look->find(number_);
    if (me == kNobody)
        return {};
    const int core = best_free(*policy_, look->view(me), me);
    return core != kNobody ? table.take(core, number_) : Hold{};
}

Hold Share::take(int near) {
    const Inside inside(*this);
    return inside ? take_inside(near) : Hold{};
}

void Share::give(Hold hold) {
    const Inside inside(*this);
    if (!inside)
        return;
    note_end(hold);
    // The process itself waits. So its threads that are awake wait for other processes.
    if (give_inside(hold))
        give_what_rests(0);
}

Hold Share::go_on(Hold rested, int near) {
    const Inside inside(*this);
    if (!inside)
        return {};
    answer(slot_->cores);
    Hold hold;
    if (still_rests(rested))
        hold = board_->core_table().take(rested.core, number_);
    if (!hold)
        hold = try_take(near);
    // A thread that went to sleep meanwhile may have kept a core for this thread, which has another
    // one now. So the last thread that stops being awake gives all cores that rest.
    if (awake_.fetch_sub(1, std::memory_order_acq_rel) == 1)
        give_what_rests(0);
    return begin_use(hold, near);
}

Hold Share::take_inside(int near) {
    answer(slot_->cores);
    return begin_use(try_take(near), near);
}

Hold Share::begin_use(Hold hold, int near) {
    if (!hold && running_.load(std::memory_order_relaxed) > 0)
        hold = wait_for_core(near, nullptr).value_or(Hold{});
    return note_begin(hold);
}

std::optional<Hold> Share::take_while(const Atomic<std::int32_t> &needed, int near) {
    const Inside inside(*this);
    if (!inside)
        return Hold{};
    std::optional<Hold> hold = try_take(near);
    if (!*hold && running_.load(std::memory_order_relaxed) > 0)
        hold = wait_for_core(near, &needed);
    return hold ? std::optional(note_begin(*hold)) : std::nullopt;
}

Hold Share::take_spare(const Atomic<std::int32_t> &needed, int near) {
    const Inside inside(*this);
    if (!inside)
        return {};
    Hold hold = try_take(near);
    if (!hold)
        hold = wait_for_core(near, &needed, Beyond::never).value_or(Hold{});
    return hold ? note_begin(hold) : Hold{};
}

bool Share::could_have_more() const {
    const CoreTable &table = board_->core_table();
    for (int core = 0, last = table.end(); core < last; ++core) {
        const CoreState now = table.state(core);
        if (slot_->member.cores.has(core) &&
            (now.is_open_to(number_) || (now.owner == number_ && now.user != number_)))
            return true;
    }
    return false;
}

Hold Share::note_begin(Hold hold) {
    running_.fetch_add(1, std::memory_order_relaxed);
    if (hold) {
        board_->core_table().note_use(hold, monotonic_ns(), tells_threads_ ? gettid() : 0);
    } else {
        slot_->cores.without.fetch_add(1, std::memory_order_relaxed);
        recall();
    }
    return hold;
}

void Share::note_end(Hold hold) {
    CoreUse &use = slot_->cores;
    const CoreTable &table = board_->core_table();
    if (!hold) {
        [[maybe_unused]] const std::int32_t before =
            use.without.fetch_sub(1, std::memory_order_relaxed);
        SENNIT_ASSERT(before > 0);
        return;
    }
    if (table.has_lost(hold)) // who has taken it has counted what was used until then
        return;
    const std::int64_t now = monotonic_ns();
    const std::int64_t used = now - table.since_ns(hold.core);
    if (const std::int64_t since = table.recalled_since(hold); since != 0 && now - since > kKeptNs)
        use.kept.fetch_add(1, std::memory_order_relaxed);
    use.used_ns.fetch_add(used, std::memory_order_relaxed);
    if (table.state(hold.core).owner != number_) {
        use.borrowed_ns.fetch_add(used, std::memory_order_relaxed);
        use.borrowed.fetch_add(1, std::memory_order_relaxed);
    }
}

// A thread that waits for a core waits no more when nobody runs, and then looks once more: so the
// core is given before that (release; the acquire is in wait_for_core).
bool Share::stop() {
    const int before = running_.fetch_sub(1, std::memory_order_release);
    SENNIT_ASSERT(before > 0);
    return before == 1;
}

bool Share::give_inside(Hold hold) {
    CoreUse &use = slot_->cores;
    CoreTable &table = board_->core_table();
    const bool given = hold && table.give(hold, number_);
    const bool was_last = stop();
    if (!table.anybody_wants())
        return was_last;
    if (given)
        pass_on(hold.core);
    // Somebody of this process always runs.
    if (was_last && table.wants(number_) > 0)
        use.bell.ring();
    return was_last;
}

void Share::rest(Hold hold) {
    const Inside inside(*this);
    if (!inside)
        return;
    CoreUse &use = slot_->cores;
    CoreTable &table = board_->core_table();
    note_end(hold);
    awake_.fetch_add(1, std::memory_order_relaxed);
    if (!hold || !table.rest(hold, number_)) {
        give_inside(hold);
        return;
    }
    stop();
    if (table.anybody_wants() && table.wants(number_) > 0)
        use.bell.ring();
}

void Share::sleep(Hold rested) {
    const Inside inside(*this);
    if (inside)
        give_what_rests(awake_.fetch_sub(1, std::memory_order_acq_rel) - 1, rested);
}

// `first` first: the others go on soonest on their own.
void Share::give_what_rests(int keep, Hold first) {
    CoreTable &table = board_->core_table();
    const auto resting = [&](int core, const auto &use) {
        const CoreState now = table.state(core);
        if (now.user == number_ && now.rests)
            use(Hold{core, now.use});
    };
    int over = -keep;
    for (int core = 0, last = table.end(); core < last; ++core)
        resting(core, [&](Hold) { ++over; });
    const auto give = [&](Hold hold) {
        if (over <= 0 || !table.give(hold, number_))
            return;
        --over;
        if (table.anybody_wants())
            pass_on(hold.core);
    };
    if (still_rests(first))
        give(first);
    for (int core = 0, last = table.end(); core < last && over > 0; ++core)
        resting(core, give);
}

void Share::pass_on(int core) {
    tell_of_free_core(*board_, *policy_, core);
}

void Share::recall() {
    const Look look(*board_);
    const int me = look->find(number_);
    if (me == kNobody)
        return;
    const int core = policy_->recalls(look->view(me), me, look->are_recalled());
    if (core != kNobody)
        board_->core_table().recall(core, number_);
}

// Adapts to what the threads do: where a thread without a core is what the others wait for, and
// they reach no scheduling point, a short patience costs least.
void Share::be_patient(bool more) {
    constexpr const wait::Naps &row = wait::kPatienceForCore;
    const std::int64_t now = patience_ns_.load(std::memory_order_relaxed);
    const std::int64_t next =
        more ? std::min(now + now / row.part, longest_ns_) : std::max(now / 2, row.shortest_ns);
    if (next != now)
        patience_ns_.store(next, std::memory_order_relaxed);
}

void Share::sweep(std::int64_t now) {
    std::int64_t due = next_sweep_ns_.load(std::memory_order_relaxed);
    if (now < due ||
        !next_sweep_ns_.compare_exchange_strong(due, now + kSweepNs, std::memory_order_relaxed))
        return;
    if (board_->sweep() > 0 || !board_->core_table().is_divided())
        divide_cores(*board_);
}

// The sleeper whose core this process should have: one of its own, or what the policy would give it
// if all of them were free. Threads that run without a core, or sleep without one, do not keep it
// for their process: they would not get it from the sleeper.
const Sleepers::One *Share::choose(const Sleepers &sleepers) {
    const Look look(*board_);
    const int me = look->find(number_);
    if (me == kNobody)
        return nullptr;
    for (const Sleepers::One &one : sleepers.all()) {
        Core &core = look->cores[one.hold.core];
        const int user = std::exchange(core.user, kNobody);
        if (user == me && !look->recalled[one.hold.core])
            return &one;
        if (user == kNobody)
            continue;
        --look->claimants[user].uses;
        look->claimants[user].wants = board_->core_table().wants(one.user);
    }
    const int core = best_free(*policy_, look->view(me), me);
    for (const Sleepers::One &one : sleepers.all())
        if (one.hold.core == core)
            return &one;
    return nullptr;
}

// One thread of the process looks, every kKeptNs at most: short waits that come again and again add
// up, too.
Hold Share::take_from_sleeper(std::int64_t now) {
    std::int64_t due = next_look_ns_.load(std::memory_order_relaxed);
    if (now < due ||
        !next_look_ns_.compare_exchange_strong(due, now + kKeptNs, std::memory_order_relaxed))
        return {};
    const Sleepers sleepers(*board_, slot_->member.cores, now, look_from_);
    const Sleepers::One *const one = sleepers.all().empty() ? nullptr : choose(sleepers);
    const Hold hold = one ? board_->core_table().take_over(one->hold, number_) : Hold{};
    if (!hold)
        return {};
    CoreUse &robbed = board_->slot(one->user).cores;
    robbed.slept.fetch_add(1, std::memory_order_relaxed);
    robbed.used_ns.fetch_add(one->used_ns, std::memory_order_relaxed);
    if (sleepers.all().size() > 1) // another thread need not wait
        next_look_ns_.store(now, std::memory_order_relaxed);
    return hold;
}

// A core, or none: the thread is to run without one. Nothing: it is needed no more, or has waited
// for as long as it may and is not to run beyond the cores.
std::optional<Hold> Share::wait_for_core(int near, const Atomic<std::int32_t> *needed,
                                         Beyond beyond) {
    CoreUse &use = slot_->cores;
    CoreTable &table = board_->core_table();
    const std::int64_t begin = monotonic_ns();
    const std::int64_t patience = patience_ns_.load(std::memory_order_relaxed);
    const wait::LadderRow &row = needed ? wait::kNeededCore : wait::kCore;
    wait::Ladder ladder;
    table.want(number_);
    Hold hold = try_take(near);
    if (!hold)
        recall();
    std::int64_t now = begin;
    bool is_needed = true;
    while (!hold && on() && running_.load(std::memory_order_relaxed) > 0 &&
           now - begin < patience) {
        is_needed = !needed || needed->load(std::memory_order_relaxed) != 0;
        if (!is_needed)
            break;
        if (ladder.next(row) == wait::Rung::yields) {
            sched_yield();
            hold = try_take(near);
        } else {
            const std::uint32_t seen = use.bell.arm();
            hold = try_take(near);
            if (!hold && running_.load(std::memory_order_relaxed) > 0) {
                ladder.next(row); // the test was in vain: it sleeps
                const std::int64_t nap = std::min(ladder.nap_ns(row), patience - (now - begin));
                ladder.slept(row, use.bell.sleep(seen, nap));
                hold = try_take(near);
            }
        }
        now = monotonic_ns();
        if (!hold && now - begin >= row.yield_ns) // before it sleeps, too
            hold = take_from_sleeper(now);
        if (!hold)
            sweep(now);
        if (!hold && needed) // it may wait for long: what it may recall changes meanwhile
            recall();
    }
    const bool somebody_runs = running_.load(std::memory_order_acquire) > 0; // pairs with stop()
    if (!hold)
        hold = try_take(near);
    table.want_no_more(number_);
    const bool may_run = is_needed && beyond == Beyond::late;
    const bool runs_late = !hold && may_run && somebody_runs;
    if (runs_late)
        use.late.fetch_add(1, std::memory_order_relaxed);
    be_patient(!runs_late);
    // It may have been rung for another core than the one that it has got; and who gave one just
    // now may not have seen who else wants one (wanters.h).
    if (table.anybody_wants())
        if (const int free = table.find_free(slot_->member.cores); free != kNobody)
            pass_on(free);
    return hold || may_run ? std::optional(hold) : std::nullopt;
}

int Share::owner_process(int core) const {
    const int owner = core == kNobody ? kNobody : board_->core_table().state(core).owner;
    return owner == kNobody ? 0
                            : pid_of(board_->slot(owner).holder.load(std::memory_order_relaxed));
}

// It runs without a core: is there one now?
bool Share::is_late() const {
    return board_->core_table().find_open(number_, slot_->member.cores) != kNobody;
}

void Share::count_recalled(Hold hold) {
    if (hold && !board_->core_table().has_lost(hold))
        slot_->cores.recalled.fetch_add(1, std::memory_order_relaxed);
}

void Share::give_recalled(Hold hold) {
    count_recalled(hold);
    give(hold);
}

Hold Share::leave(Hold hold) {
    count_recalled(hold);
    const Inside inside(*this);
    if (!inside)
        return {};
    if (hold) {
        note_end(hold);
        give_inside(hold);
        return take_inside(kNobody);
    }
    // Until it has a core it counts as one without: or another process could take a free core of
    // this one before it does.
    const Hold found = try_take(kNobody);
    if (found) {
        note_begin(found);
        note_end(hold);
        stop();
    } else {
        recall();
    }
    return found;
}

int Share::ask(int most) {
    const Inside inside(*this);
    if (!inside)
        return 0;
    CoreUse &use = slot_->cores;
    use.asked_until_ns.store(monotonic_ns() + kAskedNs, std::memory_order_relaxed);
    use.asked.store(most, std::memory_order_relaxed);
    const Look look(*board_);
    const int me = look->find(number_);
    if (me == kNobody || most <= 0)
        return 0;
    int found = 0;
    const CoreTable &table = board_->core_table();
    for (int core = 0; core < table.end() && found < most; ++core) {
        const CoreState now = table.state(core);
        found += now.rests && now.user == number_ ? 1 : 0;
    }
    const auto next_free = [&] { return best_free(*policy_, look->view(me), me); };
    for (int core; found < most && (core = next_free()) != kNobody; ++found) {
        look->cores[core].user = me;
        ++look->claimants[me].uses;
        --look->claimants[me].wants;
    }
    const auto next_used = [&] {
        return policy_->recalls(look->view(me), me, look->are_recalled());
    };
    for (int core; found < most && (core = next_used()) != kNobody; ++found) {
        look->recalled[core] = true;
        board_->core_table().recall(core, number_);
    }
    return found;
}

void Share::tell(sennit_pool_state &state) {
    const Inside inside(*this);
    if (!inside)
        return;
    const auto job_of = [&](int slot) {
        return slot == kNobody ? 0 : board_->slot(slot).job.load(std::memory_order_relaxed);
    };
    const std::uint64_t job = job_of(number_);
    const auto count = [](sennit_pool_part &part, bool owns, bool uses, bool in_use) {
        part.owned += owns ? 1 : 0;
        part.used += uses ? 1 : 0;
        part.lent += owns && !uses && in_use ? 1 : 0;
        part.borrowed += uses && !owns ? 1 : 0;
    };
    const CoreTable &table = board_->core_table();
    for (int core = 0; core < table.end(); ++core) {
        CoreState now = table.state(core);
        // What rests with the process is free for it.
        if (now.rests && now.user == number_)
            now.free();
        const bool in_use = now.user != kNobody, may_use = slot_->member.cores.has(core);
        state.cores += may_use ? 1 : 0;
        state.free += may_use && !in_use ? 1 : 0;
        count(state.process, now.owner == number_, now.user == number_, in_use);
        count(state.program, job_of(now.owner) == job, job_of(now.user) == job, in_use);
    }
    board_->each([&](int number, BoardSlot &slot) {
        if (slot.job.load(std::memory_order_relaxed) != job)
            return;
        const int wants = table.wants(number),
                  without = slot.cores.without.load(std::memory_order_relaxed);
        state.program.wanted += wants;
        state.program.without += without;
        if (number == number_) {
            state.process.wanted = wants;
            state.process.without = without;
        }
    });
}

void Share::note_progress(std::uint64_t units) {
    slot_->cores.progress.fetch_add(units, std::memory_order_relaxed);
}

Sleepers::Sleepers(Board &board, const Cores &cores, std::int64_t now, std::atomic<int> &from) {
    // Noted longer ago than that, it was another clock's time.
    constexpr std::int64_t longest_ns = 3'600'000'000'000;
    const CoreTable &table = board.core_table();
    const int last = table.end(), first = from.load(std::memory_order_relaxed);
    for (int i = 0, looks = 0; i < last && looks < kLooks; ++i) {
        const int core = (first + i) % last;
        const CoreState state = table.state(core);
        const Hold hold{core, state.use};
        const int thread = table.thread_of(hold);
        if (state.user == kNobody || state.rests || thread == 0 || !cores.has(core))
            continue;
        const std::int64_t used_ns = now - table.since_ns(core);
        if (used_ns >= 0 && used_ns < kKeptNs)
            continue;
        ++looks;
        from.store(core + 1, std::memory_order_relaxed);
        const Identity holder = board.slot(state.user).holder.load(std::memory_order_relaxed);
        if (is_asleep(pid_of(holder), thread))
            found_[count_++] = {hold, state.user,
                                used_ns >= 0 && used_ns < longest_ns ? used_ns : 0};
    }
}

} // namespace sennit::node
