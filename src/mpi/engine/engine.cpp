// SPDX-License-Identifier: Apache-2.0
#include "mpi/engine/engine.h"

#include "base/assert.h"
#include "base/clock.h"
#include "base/compiler.h"
#include "base/guard.h"
#include "mpi/call/errors.h"
#include "mpi/call/runtime.h"
#include "mpi/call/thread_state.h"
#include "mpi/chaos/chaos.h"
#include "mpi/crowd/crowd.h"
#include "mpi/crowd/spins.h"
#include "mpi/quirks/requests.h"
#include "wait/ladder.h"

#include <atomic>
#include <cstdio>
#include <optional>

namespace sennit::mpi {

constinit Engine g_engine;

namespace {

// A task that waits has its worker's processor for itself. Where ranks outnumber cores, somebody
// else wants it; and under the policy global senders do not know yet that somebody waits.
bool may_test_on() {
    return !crowded() && !g_engine.urgency.on() && !worker_wanted();
}

// MPICH 4.0 has 262,144 requests, and ends the program where one more is wanted. Each operation of
// a suspended task has one, and the program may have others.
void warn_of_many([[maybe_unused]] std::int64_t pending) {
#ifdef MPICH_NUMVERSION
    constexpr std::int64_t many = 250'000;
    static std::atomic<bool> told{false};
    if (pending < many || told.exchange(true)) [[likely]]
        return;
    std::fprintf(stderr,
                 "sennit: %d operations of tasks wait in MPI at once; MPICH has some 262,000 "
                 "requests, and ends the program if it needs more: let fewer tasks wait at once\n",
                 static_cast<int>(many));
#endif
}

constexpr std::int64_t kFewPending = Rotation::kYoung;

} // namespace

SENNIT_HOT Tested test_request(MPI_Request *request, MPI_Status *status) {
    static constexpr auto test = SENNIT_BARE(Test);
    if (status == MPI_STATUS_IGNORE && is_over_untested(request))
        return {true, false, MPI_SUCCESS};
    const QuietTests quiet;
    const Inside inside;
    int flag = 0;
    const int error = test(request, &flag, status);
    return {flag != 0 || error != MPI_SUCCESS, QuietTests::kept_back(), error};
}

SENNIT_HOT bool test_once(Ticket &ticket) {
    if (!ticket.test) {
        const Tested tested =
            test_request(ticket.handle ? ticket.handle : &ticket.request, ticket.status);
        ticket.error = tested.error;
        ticket.unraised = tested.unraised;
        return tested.over;
    }
    const QuietTests quiet;
    const Inside inside;
    const bool over = ticket.test(ticket);
    ticket.unraised = QuietTests::kept_back();
    return over;
}

static bool test_quickly(Ticket &ticket) {
    const QuickTests quick;
    return test_once(ticket);
}

int settle(const Operation &operation, const Tested &tested, MPI_Status *status) {
    if (tested.error != MPI_SUCCESS && tested.unraised)
        raise(operation.object, tested.error);
    if (g_chaos.on() && tested.error == MPI_SUCCESS)
        g_chaos.shorten(operation, status);
    return tested.error;
}

// ---- waiting ------------------------------------------------------------------------------------

SENNIT_HOT int Engine::wait_for(Ticket &ticket, bool tested) {
    const Path path = ticket.operation.path;
    SENNIT_ASSERT(!is_as_written(path));
    // If other operations are pending, the time is better spent on tasks that can go on. Where
    // ranks outnumber cores, the vigil tests, and knows how often.
    wait::Ladder ladder;
    const auto lasts = [&] {
        return tickets.pending() == 0 && (path != Path::polls || !crowded()) &&
               ladder.tests(wait::kTask, may_test_on);
    };
    for (bool tests = !tested || lasts(); tests; tests = lasts())
        if (test_quickly(ticket)) {
            has_called_mpi(&ticket.operation);
            tickets.leave_order(ticket);
            if (!g_chaos.on() || !g_chaos.delays() || ticket.error != MPI_SUCCESS)
                return settle(ticket);
            ticket.test = [](Ticket &) { return true; }; // it will be late
            break;
        }
    const Operation &operation = ticket.operation;
    if (path == Path::polls) {
        poll_until(operation, [&] { return test_quickly(ticket); });
        has_called_mpi(&operation);
        return settle(ticket);
    }
    if (ticket.handle)
        ticket.request = *ticket.handle;
    ticket.task = current_task();
    if (urgency.on())
        urgency.tell(operation, task_urgency());
    tickets.begin_pending();
    warn_of_many(tickets.pending());
    tickets.file(ticket);
    suspend(ticket.task, operation);
    SENNIT_ASSERT(ticket.state.is(TicketState::over));
    return settle(ticket);
}

int Engine::wait_in_queue(const Operation &operation, Ticket &ticket) {
    ticket.operation = operation;
    ticket.task = current_task();
    tickets.begin_pending();
    sends.push(ticket);
    suspend(ticket.task, operation);
    SENNIT_ASSERT(ticket.state.is(TicketState::over));
    return settle(ticket);
}

SENNIT_HOT void Engine::poll(Vigil &vigil) {
    InCallback::while_blocked([this] { progress(); });
    vigil.rest();
}

// ---- starting -----------------------------------------------------------------------------------

void Engine::begin_send(int peer, int tag, Object object) {
    note_send();
    if (!sends.empty() && !inside_mpi())
        sends.let_pass(peer, tag, object);
}

int Engine::start_in_turn(const Operation &operation,
                          int (*start)(void *closure, MPI_Request *request), void *closure,
                          MPI_Request *request) {
    std::optional<Turn> turn;
    if (turns.taken() && in_task())
        turn.emplace(turns, operation.turn);
    return outside_task([&] { return start(closure, request); });
}

// ---- progress -----------------------------------------------------------------------------------

int Engine::test_tickets(Ticket *&to_fulfil) {
    if (!tickets.take_token())
        return 0;
    const QuietTests quiet;
    const QuickTests quick;
    const Inside inside;
    int done = tickets.test();
    // A worker that has nothing else to do would be back at once.
    wait::Ladder ladder;
    const auto few = [this] { return tickets.pending() <= kFewPending && !worker_wanted(); };
    while (done == 0 && ladder.tests(wait::kFewTickets, few))
        done = tickets.test();
    done += sends.start();
    if (g_chaos.on())
        done += tickets.finish_late();
    to_fulfil = tickets.take_to_fulfil();
    tickets.release_token();
    if (done > 0)
        has_called_mpi();
    return done;
}

int Engine::progress_beside() {
    return g_engine.progress(false);
}

int Engine::progress(bool application, bool returns) {
    if (tickets.pending() == 0)
        return 0;
    Ticket *to_fulfil = nullptr;
    const int done = test_tickets(to_fulfil);
    // This comes before what calls the program, for that may take its time.
    while (to_fulfil) {
        Ticket &ticket = *to_fulfil;
        to_fulfil = ticket.next;
        ticket.last = returns && !to_fulfil && !tickets.any_to_call() && !has_continuations();
        SENNIT_ASSERT(ticket.state.step(TicketState::called));
        ticket.finished(ticket);
        tickets.end_pending();
    }
    // The progress thread calls no function of the program's, where it is there for descriptors
    // only (include/mpix_detach.h).
    const bool calls = application || runtime_present() || ProgressThread::wanted();
    const auto which = calls ? Tickets::Which::any : Tickets::Which::ours;
    while (Ticket *ticket = tickets.take_to_call(which)) {
        ticket->finished(*ticket);
        tickets.end_pending();
    }
    return go_on_ && calls ? done + go_on_(application) : done;
}

void Engine::visit_pending(void (*visit)(void *, const Ticket &), void *arg) {
    if (!tickets.hold_token())
        return;
    const auto each = [&](const Ticket &ticket) { visit(arg, ticket); };
    tickets.visit(each);
    sends.visit(each);
    tickets.release_token();
}

SENNIT_HOT int test_in_crowd(Notice notice, MPI_Request *request, int *flag, MPI_Status *status) {
    const QuickTests quick;
    const int error = quick_test(request, flag, status);
    if (notice == Notice::receive)
        has_called_mpi();
    return error;
}

SENNIT_HOT int go_on(const Attempt &attempt, const Operation &operation, MPI_Status *status) {
    Ticket ticket;
    ticket.operation = operation;
    ticket.request = attempt.request;
    ticket.status = status;
    ticket.error = attempt.error;
    ticket.unraised = attempt.unraised;
    if (attempt.error != MPI_SUCCESS)
        return settle(ticket);
    note_length(ticket.operation);
    return g_engine.wait_for(ticket, true);
}

// Null: nobody has had it.
Turn *Turn::take_or_find_holder() {
    for (Turn *holder = turns_.holders_; holder; holder = holder->next_)
        if (holder->object_ == object_)
            return holder;
    turns_.count_.fetch_add(1, std::memory_order_relaxed);
    next_ = turns_.holders_;
    turns_.holders_ = this;
    return nullptr;
}

Turn::Turn(Turns &turns, Object object, IfFree) : turns_(turns), object_(object) {
    const Guard guard(turns_.mutex_);
    if (take_or_find_holder())
        object_ = {};
}

Turn::Turn(Turns &turns, Object object) : turns_(turns), object_(object) {
    if (object_.kind == Object::Kind::none)
        return;
    {
        const Guard guard(turns_.mutex_);
        Turn *const holder = take_or_find_holder();
        if (!holder)
            return;
        turns_.count_.fetch_add(1, std::memory_order_relaxed);
        waiter_ = current_task();
        (holder->first_waiter_ ? holder->last_waiter_->next_ : holder->first_waiter_) = this;
        holder->last_waiter_ = this;
    }
    suspend(waiter_, {.name = "MPI, the turn of a collective call"});
}

Turn::~Turn() {
    if (object_.kind == Object::Kind::none)
        return;
    sennit_task *successor = nullptr;
    {
        const Guard guard(turns_.mutex_);
        SENNIT_ASSERT(turns_.taken());
        turns_.count_.fetch_sub(1, std::memory_order_relaxed);
        Turn **at = &turns_.holders_;
        while (*at != this) {
            SENNIT_ASSERT(*at); // it has had its turn
            at = &(*at)->next_;
        }
        if (Turn *heir = first_waiter_) {
            heir->first_waiter_ = heir->next_;
            heir->last_waiter_ = heir->first_waiter_ ? last_waiter_ : nullptr;
            heir->next_ = next_;
            *at = heir;
            successor = heir->waiter_;
        } else {
            *at = next_;
        }
    }
    if (successor)
        resume(successor);
}

namespace {

SENNIT_TLS Linger t_linger;

// If other operations are pending, the time is better spent on tasks that can go on. Under the
// policy global senders are told who waits for them, and they do not know yet.
bool may_wait() {
    return g_engine.tickets.pending() == 0 && !crowded() && !g_engine.urgency.on() &&
           !InCallback::polls() && in_task();
}

} // namespace

Tested test_a_while(MPI_Request *request, MPI_Status *status) {
    const QuickTests quick;
    Tested tested = test_request(request, status);
    if (tested.over || !t_linger.pays() || !may_wait())
        return tested;
    wait::Ladder ladder;
    while (!tested.over && ladder.tests(wait::kBoundRequest, [] { return !worker_wanted(); }))
        tested = test_request(request, status);
    t_linger.note(tested.over);
    return tested;
}

} // namespace sennit::mpi
