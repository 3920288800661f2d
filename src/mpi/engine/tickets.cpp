// SPDX-License-Identifier: Apache-2.0
#include "mpi/engine/tickets.h"

#include "base/clock.h"
#include "mpi/call/bare.h"
#include "mpi/call/errors.h"
#include "mpi/chaos/chaos.h"

#include <sched.h>

namespace sennit::mpi {
namespace {

// Single-completion calls leave MPI_ERROR alone; Testsome does not.
void copy_status(MPI_Status *into, const MPI_Status &from) {
    if (into == MPI_STATUS_IGNORE)
        return;
    const int error = into->MPI_ERROR;
    *into = from;
    into->MPI_ERROR = error;
}

std::uint64_t bytes_of(const MPI_Status &status) {
    static constexpr auto get_count = SENNIT_BARE(Get_count);
    int bytes = 0;
    return get_count(&status, MPI_BYTE, &bytes) == MPI_SUCCESS && bytes > 0
               ? static_cast<std::uint64_t>(bytes)
               : 0;
}

} // namespace

bool Tickets::hold_token() {
    constexpr int attempts = 10'000;
    for (int i = 0; !take_token(); ++i) {
        if (i == attempts)
            return false;
        sched_yield();
    }
    return true;
}

// ---- how a ticket ends --------------------------------------------------------------------------

// Nothing touches a ticket after this. It lives in the frame of the task. Callbacks have to wait
// until this thread tests no more.
void Tickets::finish_now(Ticket &ticket) {
    leave_order(ticket);
    SENNIT_ASSERT(ticket.state.step(TicketState::over));
    if (ticket.fulfils && ticket.error == MPI_SUCCESS) // else its error handler is called
        return to_fulfil_.push(&ticket);
    if (ticket.finished) {
        const Guard guard(to_call_lock_);
        to_call_.push(&ticket);
        to_call_count_.store(to_call_count() + 1, std::memory_order_relaxed);
        return;
    }
    end_pending();
    resume(ticket.task);
}

void Tickets::finish(Ticket &ticket, std::uint64_t bytes) {
    if (!g_chaos.on() || !g_chaos.delays()) [[likely]]
        return finish_now(ticket);
    SENNIT_ASSERT(ticket.state.step(TicketState::late));
    add_pending(late_, {&ticket, g_chaos.arrival(bytes)});
}

int Tickets::finish_late() {
    const auto now = static_cast<std::uint64_t>(monotonic_ns());
    int done = 0;
    for (std::size_t i = late_.size(); i-- > 0;) {
        if (late_[i].due > now)
            continue;
        Ticket &ticket = *late_[i].ticket;
        late_[i] = late_.back();
        late_.pop();
        finish_now(ticket);
        ++done;
    }
    return done;
}

Ticket *Tickets::pop_to_call(Which which) {
    const Guard guard(to_call_lock_);
    Ticket *const first =
        to_call_.take_if([=](const Ticket &t) { return which == Which::any || t.fulfils; });
    if (first)
        to_call_count_.store(to_call_count() - 1, std::memory_order_relaxed);
    SENNIT_ASSERT(!first || first->state.step(TicketState::called));
    return first;
}

// ---- what a look tests --------------------------------------------------------------------------

// SENNIT_CHAOS=order: any order of tests.
void Tickets::shuffle() {
    g_chaos.shuffle(requests_, waiting_);
    g_chaos.shuffle(special_);
}

void Tickets::add(Ticket &ticket) {
    SENNIT_ASSERT(ticket.state.step(TicketState::tested));
    add_pending(requests_, ticket.request);
    add_pending(waiting_, &ticket);
    order_.added();
}

void Tickets::take_new() {
    if (!inbox_.any()) // often
        return;
    Ticket *oldest = inbox_.take_all().oldest;
    while (oldest) {
        Ticket *next = oldest->next;
        if (oldest->test) {
            SENNIT_ASSERT(oldest->state.step(TicketState::tested));
            add_pending(special_, oldest);
            special_order_.added();
        } else {
            add(*oldest);
        }
        oldest = next;
    }
}

// The request at `at` is complete.
void Tickets::complete(int at, const MPI_Status &status, int error, bool unraised) {
    Ticket &ticket = *waiting_[at];
    ticket.error = error;
    ticket.unraised = unraised;
    copy_status(ticket.status, status);
    if (ticket.handle)
        *ticket.handle = requests_[at]; // null, or an inactive persistent request
    waiting_[at] = nullptr;
    ticket.next = nullptr;
    const bool received = g_chaos.on() && ticket.operation.notice == Notice::receive;
    finish(ticket, received ? bytes_of(status) : 0);
}

int Tickets::test_one(int at) {
    static constexpr auto test = SENNIT_BARE(Test);
    int flag = 0;
    MPI_Status status;
    const int error = test(&requests_[at], &flag, &status);
    if (error == MPI_SUCCESS && !flag)
        return 0;
    complete(at, status, error, QuietTests::kept_back());
    return 1;
}

// Testsome says that it failed, but not for which request. So ask them one by one.
int Tickets::find_failure(Rotation::Slice slice) {
    for (int i = slice.begin; i < slice.begin + slice.count; ++i)
        if (test_one(i))
            return 1;
    return 0;
}

// One Testsome over the slice. Returns how many are complete; these are null afterwards. For a
// single request, MPI_Test tells the same for four fifths of MPICH's instructions.
int Tickets::test_requests(Rotation::Slice slice) {
    static constexpr auto testsome = SENNIT_BARE(Testsome);
    if (slice.count == 1)
        return test_one(slice.begin);
    int indices[Rotation::kBatch];
    MPI_Status statuses[Rotation::kBatch];
    int done = 0;
    const int error =
        testsome(slice.count, requests_.data() + slice.begin, &done, indices, statuses);
    if (done == MPI_UNDEFINED)
        done = 0;
    bool unraised = QuietTests::kept_back();
    if (error != MPI_SUCCESS && error != MPI_ERR_IN_STATUS)
        return find_failure(slice);
    for (int i = 0; i < done; ++i) {
        const int own = error == MPI_SUCCESS ? MPI_SUCCESS : statuses[i].MPI_ERROR;
        complete(slice.begin + indices[i], statuses[i], own, unraised);
        // The handler was called for the first request that failed.
        unraised = unraised || own != MPI_SUCCESS;
    }
    return done;
}

int Tickets::test_special(Rotation::Slice slice) {
    int done = 0;
    for (int i = slice.begin; i < slice.begin + slice.count; ++i) {
        Ticket &ticket = *special_[i];
        if (!ticket.test(ticket))
            continue;
        ticket.unraised = QuietTests::kept_back();
        special_[i] = nullptr;
        finish(ticket);
        ++done;
    }
    return done;
}

bool Tickets::tested_are_sound() const {
    if (requests_.size() != waiting_.size() || !order_.is_sound(waiting_.size()) ||
        !special_order_.is_sound(special_.size()))
        return false;
    for (std::size_t i = 0; i < waiting_.size(); ++i)
        if (!waiting_[i] || !waiting_[i]->state.is(TicketState::tested) ||
            waiting_[i]->request != requests_[i])
            return false;
    for (const Ticket *ticket : special_)
        if (!ticket || !ticket->test || !ticket->state.is(TicketState::tested))
            return false;
    return true;
}

bool Tickets::is_sound() {
    const auto is_over = [](const Ticket &ticket) { return ticket.state.is(TicketState::over); };
    for (const Late &late : late_)
        if (!late.ticket || !late.ticket->state.is(TicketState::late))
            return false;
    if (to_fulfil_.count_sound(is_over) < 0 || !tested_are_sound())
        return false;
    const Guard guard(to_call_lock_);
    return to_call_.count_sound(is_over) == to_call_count();
}

int Tickets::test() {
    take_new();
    SENNIT_ASSERT(!checks_.due(waiting_.size() + special_.size()) || is_sound());
    if (g_chaos.on() && g_chaos.shuffles())
        shuffle();
    const int done = special_order_.look(
        [this](Rotation::Slice slice) { return test_special(slice); },
        [this](int at) { return special_[at] == nullptr; },
        [this](int from, int to) { special_[to] = special_[from]; }, [this] { special_.pop(); });
    return done + order_.look([this](Rotation::Slice slice) { return test_requests(slice); },
                              [this](int at) { return waiting_[at] == nullptr; },
                              [this](int from, int to) {
                                  requests_[to] = requests_[from];
                                  waiting_[to] = waiting_[from];
                              },
                              [this] {
                                  requests_.pop();
                                  waiting_.pop();
                              });
}

} // namespace sennit::mpi
