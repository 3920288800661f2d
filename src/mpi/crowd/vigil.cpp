// SPDX-License-Identifier: Apache-2.0
#include "mpi/crowd/vigil.h"

#include "base/clock.h"
#include "base/compiler.h"
#include "mpi/crowd/crowd.h"
#include "mpi/crowd/spins.h"
#include "mpi/interpose/mpi_names.h"

#include <algorithm>
#include <sched.h>
#include <utility>

namespace sennit::mpi {
namespace {

constexpr int kAnswersANap = 32; // some 0.2 ms, if they are in vain
constexpr int kAsksANap = 4;     // who is asked may call MPI often, for others

// While every rank that may answer has its bell on this node, and where some have not.
const wait::LadderRow &row_of(bool fiber) {
    if (g_crowd.neighbours.all_have_bells())
        return fiber ? wait::kRankFiber : wait::kRank;
    return fiber ? wait::kRankFiberByTimer : wait::kRankByTimer;
}

} // namespace

SENNIT_HOT void Vigil::rest() {
    if (!crowded()) {
        sched_yield();
        return;
    }
    t_spins.rests();
    // MPI goes on with what it has found in its next looks, and may send only then.
    if (ladder_.rung() != wait::Rung::yields && t_spins.take_found()) {
        found_ = true;
        ladder_.test_again();
        return;
    }
    const bool fiber = g_crowd.hops.here();
    const wait::LadderRow &row = row_of(fiber);
    switch (climb(row, fiber)) {
    case wait::Rung::tests:
        return;
    case wait::Rung::yields:
        return yield();
    case wait::Rung::arms:
        return arm();
    case wait::Rung::sleeps:
        return sleep(row);
    }
}

// For a fiber to sleep costs little. It tests on only while no other one could go on.
SENNIT_HOT wait::Rung Vigil::climb(const wait::LadderRow &row, bool fiber) {
    const bool tested = ladder_.rung() == wait::Rung::tests;
    const wait::Rung next = ladder_.next(
        row, [] { return !g_crowd.hops.keeps_others(); },
        [this](std::int64_t now) {
            yields_ns_ = now;
            return g_crowd.neighbours.yields_reach_them() && g_crowd.yields.pay(now);
        });
    if (tested && next != wait::Rung::tests)
        leave_core(fiber);
    return next;
}

SENNIT_HOT void Vigil::leave_core(bool fiber) {
    if (g_crowd.neighbours.share_cores()) {
        lend_core();
        lent_ = true;
    }
    if (fiber)
        return;
    stopped_ = true;
    g_crowd.yields.stops_work(ladder_.began_ns());
}

SENNIT_HOT void Vigil::yield() const {
    g_crowd.yields.look();
    sched_yield();
    g_crowd.yields.note(yields_ns_, monotonic_ns());
}

// The next test decides whether it sleeps.
SENNIT_HOT void Vigil::arm() {
    g_crowd.neighbours.answer();
    // First the bell: if both ends of a long message ring for each other at once, at least one of
    // them is heard. The one that is heard tests, and rings back. If nobody is heard, both sleep
    // until their timers end, in the midst of the message.
    seen_ = g_crowd.neighbours.arm();
    if (asks_ < kAsksANap) {
        ++asks_;
        g_crowd.neighbours.ask_for(operation_);
    } else {
        ask_nobody();
    }
    // What MPI has found it may have answered: this ends with the messages.
    const bool found = t_spins.take_found() || found_;
    found_ = false;
    // A rank that rang may wait for an answer that this thread's tests have given since. But two
    // ranks that wait for a third one would answer each other for ever: answers are counted, and
    // the third one rings. A rank that waits for the next piece of a long message may need an
    // answer although it did not ring: its ring does not count while this thread tests.
    const bool answers = (rung_ || g_crowd.neighbours.may_go_in_pieces(operation_)) &&
                         answers_ < g_crowd.neighbours.answers(operation_);
    if (answers && !found)
        ++answers_;
    if (answers || found)
        g_crowd.neighbours.ring_for(operation_, found);
}

// Of a call that MPI makes: others may show that they will not come to it.
void Vigil::look_beyond() {
    constexpr std::int64_t second = 1'000'000'000;
    const std::int64_t now = monotonic_ns();
    if (looked_ns_ != 0 && now - looked_ns_ < second)
        return;
    if (std::exchange(looked_ns_, now) == 0 || operation_.turn.kind != Object::Kind::communicator ||
        operation_.assembled)
        return;
    if (const Assembled *const assembled =
            g_crowd.assembled_of(handle_from<MPI_Comm>(operation_.turn.handle)))
        assembled->look_beyond();
}

SENNIT_HOT void Vigil::ask_nobody() {
    g_crowd.neighbours.ask_nobody();
}

// This thread rings for what it has found since it rang last (has_called_mpi()).
void Vigil::found_before() {
    t_spins.note_found();
}

SENNIT_HOT void Vigil::go_on() {
    g_crowd.yields.begins_work(monotonic_ns());
}

SENNIT_HOT void Vigil::sleep(const wait::LadderRow &row) {
    look_beyond();
    rung_ = g_crowd.neighbours.sleep(seen_, ladder_.nap_ns(row));
    ladder_.slept(row, rung_);
    if (rung_)
        return;
    asks_ = 0;
    // All answers may have been given while a rank was late. The pieces that come now need some
    // more.
    if (g_crowd.neighbours.may_go_in_pieces(operation_))
        answers_ =
            std::min(answers_, std::max(g_crowd.neighbours.answers(operation_) - kAnswersANap, 0));
}

} // namespace sennit::mpi
