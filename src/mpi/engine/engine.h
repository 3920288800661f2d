// SPDX-License-Identifier: Apache-2.0
// The engine behind every wrapper. It starts the non-blocking form of a call and tests it once. If
// the call is not over then, the engine files a ticket and suspends the task. A polling service
// tests the tickets (task-aware MPI paper, section 6).
#pragma once

#include "mpi/call/bare.h"
#include "mpi/call/call_path.h"
#include "mpi/call/errors.h"
#include "mpi/call/operation.h"
#include "mpi/call/runtime.h"
#include "mpi/call/thread_state.h"
#include "mpi/crowd/rings.h"
#include "mpi/crowd/vigil.h"
#include "mpi/engine/helpers.h"
#include "mpi/engine/progress_thread.h"
#include "mpi/engine/quick_flushes.h"
#include "mpi/engine/send_queue.h"
#include "mpi/engine/tickets.h"
#include "mpi/engine/urgency.h"
#include "mpi/quirks/requests.h"
#include "sennit.h"

#include <atomic>
#include <cstdint>
#include <mpi.h>
#include <pthread.h>

namespace sennit::mpi {

// Calls of tasks on one communicator, window or file must keep their order, even while a helper is
// still busy with the first. So each takes its turn, and so do calls that have to be over before
// the next one starts. While there are such, any collective that is started takes its turn, too.
//
// State: the turn that holds each object, in a list. Turns that wait hang behind the holder, in
// order. One mutex guards all of it, the links too. Capacity: any number; a turn lives in the frame
// of its call.
class Turn;

class Turns {
  public:
    // Does any task have its turn or wait for it?
    bool taken() const { return count_.load(std::memory_order_relaxed) > 0; }

  private:
    friend class Turn;
    Mutex mutex_;
    Turn *holders_ SENNIT_GUARDED_BY(mutex_) = nullptr;
    std::atomic<int> count_{0};
};

// The calling task has its turn on `object` from the construction to the destruction. The
// constructor suspends the task until the tasks that came before are through.
class Turn {
  public:
    Turn(Turns &turns, Object object);
    // Does not wait: takes the turn only if nobody has it.
    struct IfFree {};
    Turn(Turns &turns, Object object, IfFree);
    bool taken() const { return object_.kind != Object::Kind::none; }
    ~Turn();
    Turn(const Turn &) = delete;
    Turn &operator=(const Turn &) = delete;

  private:
    Turn *take_or_find_holder() SENNIT_REQUIRES(turns_.mutex_);

    Turns &turns_;
    Object object_;
    sennit_task *waiter_ = nullptr;
    Turn *next_ = nullptr;        // of a holder: another object's; of a waiter: the one behind
    Turn *last_waiter_ = nullptr; // of a holder
    Turn *first_waiter_ = nullptr;
};

// All that waits for an MPI library. There is one for each MPI library in the process.
class Engine {
  public:
    Flow flow;
    Urgency urgency;
    Tickets tickets{flow};
    SendQueue sends{flow, tickets, urgency};
    Turns turns;
    Helpers helpers;
    SeenFlushes flushes;
    ProgressThread progress_thread{tickets, progress_beside};

    // Plug in what is above the engine and goes on when the engine does. Called when the library is
    // loaded. go_on() returns how much it did. `application`: is the thread one of the program's?
    void plug(int (*go_on)(bool application)) { go_on_ = go_on; }

    // Test the pending tickets, which one thread does at a time, and let what is above go on.
    // Returns how many tickets are over. `application`: is the thread one of the program's?
    // `returns`: does it return to the runtime afterwards?
    int progress(bool application = true, bool returns = false);

    // Wait until `ticket` is over, unless it is already, by the path of its operation: suspend the
    // calling task, or poll. Returns the ticket's error.
    int wait_for(const Operation &operation, Ticket &ticket) {
        ticket.operation = operation;
        return wait_for(ticket, false);
    }
    // `tested`: the ticket was tested once, in vain.
    int wait_for(Ticket &ticket, bool tested);
    // The same for a send that has to wait for its turn (SendQueue::must_queue).
    int wait_in_queue(const Operation &operation, Ticket &ticket);
    // Poll until over() is true. For a thread that cannot be suspended, and must not block in MPI.
    template <class Over>
    void poll_until(const Operation &operation, Over over) {
        const Blocking mark(operation);
        Vigil vigil(operation);
        while (!over())
            poll(vigil);
    }

    // A send is about to be started. It must not overtake sends that wait for their turn.
    void begin_send(int peer, int tag = -1, Object object = {});
    // Call start(&request), after the collectives on the same object that wait for their turn.
    int start_in_turn(const Operation &operation, int (*start)(void *closure, MPI_Request *request),
                      void *closure, MPI_Request *request);

    // Visit the tickets that are not over, unless another thread keeps testing them.
    void visit_pending(void (*visit)(void *arg, const Ticket &ticket), void *arg);

  private:
    static int progress_beside(); // the program's threads
    int test_tickets(Ticket *&to_fulfil);
    void poll(Vigil &vigil);

    int (*go_on_)(bool application) = nullptr;
};

#pragma GCC visibility push(hidden)
extern constinit Engine g_engine;
#pragma GCC visibility pop

// Test a request here and now.
struct Tested {
    bool over;
    bool unraised; // as in a ticket
    int error;
};
Tested test_request(MPI_Request *request, MPI_Status *status);

// Test the ticket here and now.
bool test_once(Ticket &ticket);

// The tested operation is over. Call the error handler of its object, unless one was called.
// Returns the operation's error.
int settle(const Operation &operation, const Tested &tested, MPI_Status *status);
inline int settle(const Ticket &ticket) {
    return settle(ticket.operation, {true, ticket.unraised, ticket.error}, ticket.status);
}

// ---- what wrappers are made of ------------------------------------------------------------------
template <class Start>
int start_operation(const Operation &operation, Start &start, MPI_Request *request) {
    if (operation.notice == Notice::send)
        g_engine.begin_send(operation.peer, operation.tag, operation.object);
    if (operation.turn.kind != Object::Kind::none)
        return g_engine.start_in_turn(
            operation,
            [](void *closure, MPI_Request *r) { return (*static_cast<Start *>(closure))(r); },
            &start, request);
    return outside_task([&] { return start(request); });
}

// The program starts a collective itself: behind those on the same object that wait for their turn.
template <class Start>
int start_behind_turns(Object object, Start start) {
    if (g_engine.turns.taken() && !inside_mpi() && in_task()) [[unlikely]]
        return g_engine.start_in_turn(
            {.turn = object},
            [](void *closure, MPI_Request *) { return (*static_cast<Start *>(closure))(); }, &start,
            nullptr);
    return start();
}

// Call start(&request), then wait for the request.
template <class Start>
int start_and_wait(const Operation &operation, MPI_Status *status, Start start) {
    Ticket ticket;
    ticket.status = status;
    if (operation.notice == Notice::send && g_engine.sends.must_queue(operation, ticket)) {
        note_send();
        ticket.closure = &start;
        ticket.start = [](void *closure, MPI_Request *r) {
            return (*static_cast<Start *>(closure))(r);
        };
        return g_engine.wait_in_queue(operation, ticket);
    }
    const int error = start_operation(operation, start, &ticket.request);
    if (error == MPI_SUCCESS) {
        ticket.operation = operation;
        note_length(ticket.operation);
        return g_engine.wait_for(ticket, false);
    }
    g_engine.tickets.leave_order(ticket);
    return error;
}

// The same for a collective that has to be over before tasks start others on its communicator.
template <class Start>
int start_and_wait_alone(const Operation &operation, MPI_Status *status, Start start) {
    const bool suspends = operation.path == Path::suspends;
    const Turn turn(g_engine.turns, suspends ? operation.turn : Object{});
    Ticket ticket;
    ticket.status = status;
    const int error = outside_task([&] { return start(&ticket.request); });
    return error == MPI_SUCCESS ? g_engine.wait_for(operation, ticket) : error;
}

// Suspend the task, or poll, and call test(&flag) until the flag is set or an error comes.
template <class Test>
int poll_and_wait(const Operation &operation, Test test) {
    struct PollTicket : Ticket {
        Test *call;
    } ticket;
    ticket.call = &test;
    ticket.test = [](Ticket &base) {
        auto &self = static_cast<PollTicket &>(base);
        int flag = 0;
        self.error = (*self.call)(&flag);
        return flag != 0 || self.error != MPI_SUCCESS;
    };
    return g_engine.wait_for(operation, ticket);
}

// The first try of a blocking call in a task, before anything is stored about the call. Most
// messages are there already, or leave at once.

// The test of a first try where ranks outnumber cores.
int test_in_crowd(Notice notice, MPI_Request *request, int *flag, MPI_Status *status);

struct Attempt {
    MPI_Request request = MPI_REQUEST_NULL;
    int error = MPI_SUCCESS;
    Path path;             // kept here: in a register it would have to be saved
    bool unraised = false; // as in a ticket

    static bool is_allowed(Notice notice, std::int64_t count) {
        return g_calls.obstacles.load(std::memory_order_relaxed) == 0 &&
               (notice != Notice::send || count < Urgency::kLongMessage);
    }

    // Call start(&request), and test once. Returns whether the call is over. If not, the caller has
    // to call go_on(), also if the test gave an error.
    template <class Start>
    [[gnu::always_inline]] bool is_over(Notice notice, const Start &start, MPI_Status *status) {
        const Inside inside;
        error = start(&request);
        if (error != MPI_SUCCESS || (notice == Notice::send && is_born_complete(request)))
            return true;
        const QuietTests quiet;
        int flag = 0;
        error = crowded() ? test_in_crowd(notice, &request, &flag, status)
                          : quick_test(&request, &flag, status);
        if (error == MPI_SUCCESS) [[likely]]
            return flag != 0;
        unraised = QuietTests::kept_back();
        return false;
    }
};

// Wait for an attempt that is not over.
int go_on(const Attempt &attempt, const Operation &operation, MPI_Status *status);

// A moment's wait for an operation that is to be bound to a task, or told of by a callback. To
// write down who waits for it, to poll for it among others, and to complete the task from there,
// takes some thousand instructions. A message that comes meanwhile is better awaited here: then
// nothing has to be written down.
//
// TAMPI_Iwait and MPIX_Detach are not to block, and the rest of the task's body waits, too. So the
// wait is short, only while the thread has nothing else to do, and only as long as it pays.

// Does the next wait of a thread pay? After each one in vain, twice as many calls do not wait.
class Linger {
  public:
    static constexpr unsigned kMostInVain = 8;

    bool pays() {
        if (skips_ == 0)
            return true;
        --skips_;
        return false;
    }
    void note(bool over) {
        in_vain_ = over ? 0 : in_vain_ + (in_vain_ < kMostInVain);
        skips_ = (1U << in_vain_) - 1;
    }

  private:
    unsigned skips_ = 0;   // calls that will not wait
    unsigned in_vain_ = 0; // waits in a row
};

// Test a request, and again for a moment where that may pay.
Tested test_a_while(MPI_Request *request, MPI_Status *status);

} // namespace sennit::mpi
