// SPDX-License-Identifier: Apache-2.0
#include "mpi/engine/engine.h"
#include "base/clock.h"
#include "base/spin.h"
#include "mpi/call/array.h"
#include "mpi/call/errors.h"
#include "mpi/call/guard.h"
#include "mpi/call/list.h"
#include "mpi/chaos/chaos.h"
#include "mpi/engine/attempt.h"
#include "mpi/engine/rotation.h"
#include "mpi/engine/urgency.h"
#include "mpi/extensions/callback.h"
#include "mpi/extensions/continuation.h"

#include <sched.h>

namespace sennit::mpi {

constinit std::atomic<int> g_obstacles{0};

namespace {

// New tickets come through a stack that the polling thread takes whole; all else belongs to the
// thread that holds g_token.

int test_tickets();
Ticket *take_to_call();

std::atomic<Ticket *> g_inbox{nullptr};
std::atomic<std::int64_t> g_pending{0};
std::atomic<bool> g_token{false};

// How long to test before a task is suspended: about as long as that and resuming it would take,
// and longer where its worker has nothing else to do.
class Patience {
  public:
    bool lasts() {
        if (++tests_ < kBriefTests)
            return true;
        if (urgency::on() || worker_wanted()) // those who send do not know yet that somebody waits
            return false;
        if (tests_ % kTestsAClock != 0)
            return true;
        const std::int64_t now = monotonic_ns();
        if (end_ == 0)
            end_ = now + kLongNs;
        return now < end_;
    }

  private:
    static constexpr int kBriefTests = 4;
    static constexpr int kTestsAClock = 8;
    static constexpr std::int64_t kLongNs = 20'000;
    int tests_ = 0;
    std::int64_t end_ = 0;
};

Array<MPI_Request> g_requests; // parallel to g_waiting
Array<Ticket *> g_waiting;
Rotation g_order;
Array<Ticket *> g_special; // tickets with a test of their own
Rotation g_special_order;

// Tickets that are over and call back, oldest first. Anybody's who holds no token: the one that is
// called may block, and the others must not wait for it.
std::atomic<int> g_to_call_count{0};
SpinLock g_to_call_lock;
constinit List<Ticket> g_to_call;

// The card of a machine is a queue, too: under a policy that knows what is urgent, MPI gets a few
// long sends at once, and the others wait here, in the order of their calls. Of those with the same
// communicator, peer and tag the first goes first, and so does it before a send that need not wait.
pthread_mutex_t g_queue_mutex = PTHREAD_MUTEX_INITIALIZER; // also while one of them is started
Array<Ticket *> g_queued;
std::atomic<int> g_queued_count{0};
Flow g_flow;

Ticket &take_queued(int at) {
    Ticket &taken = *g_queued[at];
    for (; at + 1 < g_queued.size(); ++at)
        g_queued[at] = g_queued[at + 1];
    g_queued.pop();
    g_queued_count.fetch_sub(1, std::memory_order_relaxed);
    g_obstacles.fetch_sub(1, std::memory_order_relaxed);
    return taken;
}

bool same_channel(const Operation &one, const Operation &other) {
    return one.peer == other.peer && one.tag == other.tag && one.object == other.object;
}

// Single-completion calls leave MPI_ERROR alone; Testsome does not.
void copy_status(MPI_Status *into, const MPI_Status &from) {
    if (into == MPI_STATUS_IGNORE)
        return;
    const int error = into->MPI_ERROR;
    *into = from;
    into->MPI_ERROR = error;
}

} // namespace

void leave_order(Ticket &ticket) {
    if (ticket.place)
        g_flow.leave(ticket.place);
    ticket.place = 0;
}

namespace {

// The last touch of a ticket: it lives in the frame of the task. What calls back has to wait until
// this thread tests no more.
void finish_now(Ticket &ticket) {
    leave_order(ticket);
    if (ticket.finished) {
        g_to_call_lock.lock();
        g_to_call.push(&ticket);
        g_to_call_count.fetch_add(1, std::memory_order_relaxed);
        g_to_call_lock.unlock();
        return;
    }
    end_pending();
    resume(ticket.task);
}

void finish(Ticket &ticket, std::uint64_t bytes = 0) {
    if (!chaos::on() || !chaos::hold(ticket, bytes))
        finish_now(ticket);
}

std::uint64_t bytes_of(const MPI_Status &status) {
    static constexpr auto get_count = SENNIT_BARE(Get_count);
    int bytes = 0;
    return get_count(&status, MPI_BYTE, &bytes) == MPI_SUCCESS && bytes > 0
               ? static_cast<std::uint64_t>(bytes)
               : 0;
}

// SENNIT_CHAOS=order: any order of tests.
void shuffle() {
    for (int i = g_waiting.size() - 1; i > 0; --i) {
        const int other = chaos::any_below(i + 1);
        chaos::swap(g_requests, i, other);
        chaos::swap(g_waiting, i, other);
    }
    for (int i = g_special.size() - 1; i > 0; --i)
        chaos::swap(g_special, i, chaos::any_below(i + 1));
}

void push_request(Ticket &ticket) {
    g_requests.push(ticket.request);
    g_waiting.push(&ticket);
    g_order.added();
}

void take_new() {
    Ticket *newest = g_inbox.exchange(nullptr, std::memory_order_acquire);
    Ticket *oldest = nullptr;
    while (newest) {
        Ticket *next = newest->next;
        newest->next = oldest;
        oldest = newest;
        newest = next;
    }
    while (oldest) {
        Ticket *next = oldest->next;
        if (oldest->test) {
            g_special.push(oldest);
            g_special_order.added();
        } else {
            push_request(*oldest);
        }
        oldest = next;
    }
}

// The request at `at` is over.
void complete(int at, const MPI_Status &status, int error, bool unraised) {
    Ticket &ticket = *g_waiting[at];
    ticket.error = error;
    ticket.unraised = unraised;
    copy_status(ticket.status, status);
    if (ticket.handle)
        *ticket.handle = g_requests[at]; // null, or an inactive persistent request
    g_waiting[at] = nullptr;
    ticket.next = nullptr;
    const bool received = chaos::on() && ticket.operation.notice == Notice::receive;
    finish(ticket, received ? bytes_of(status) : 0);
}

// Testsome says that it failed and not for which request: ask them one by one.
int find_failure(Rotation::Slice slice) {
    static constexpr auto test = SENNIT_BARE(Test);
    for (int i = slice.begin; i < slice.begin + slice.count; ++i) {
        int flag = 0;
        MPI_Status status;
        const int error = test(&g_requests[i], &flag, &status);
        if (error == MPI_SUCCESS && !flag)
            continue;
        complete(i, status, error, QuietTests::kept_back());
        return 1;
    }
    return 0;
}

// One Testsome over the slice; returns how many are over, which are null afterwards.
int test_requests(Rotation::Slice slice) {
    static constexpr auto testsome = SENNIT_BARE(Testsome);
    int indices[Rotation::kBatch];
    MPI_Status statuses[Rotation::kBatch];
    int done = 0;
    const int error =
        testsome(slice.count, g_requests.data() + slice.begin, &done, indices, statuses);
    if (done == MPI_UNDEFINED)
        done = 0;
    bool unraised = QuietTests::kept_back();
    if (error != MPI_SUCCESS && error != MPI_ERR_IN_STATUS)
        return find_failure(slice);
    for (int i = 0; i < done; ++i) {
        const int own = error == MPI_SUCCESS ? MPI_SUCCESS : statuses[i].MPI_ERROR;
        complete(slice.begin + indices[i], statuses[i], own, unraised);
        // The handler was called for the first that failed.
        unraised = unraised || own != MPI_SUCCESS;
    }
    return done;
}

int test_requests() {
    return g_order.turn([](Rotation::Slice slice) { return test_requests(slice); },
                        [](int at) { return g_waiting[at] == nullptr; },
                        [](int from, int to) {
                            g_requests[to] = g_requests[from];
                            g_waiting[to] = g_waiting[from];
                        },
                        [] {
                            g_requests.pop();
                            g_waiting.pop();
                        });
}

int test_special(Rotation::Slice slice) {
    int done = 0;
    for (int i = slice.begin; i < slice.begin + slice.count; ++i) {
        Ticket &ticket = *g_special[i];
        if (!ticket.test(ticket))
            continue;
        ticket.unraised = QuietTests::kept_back();
        g_special[i] = nullptr;
        finish(ticket);
        ++done;
    }
    return done;
}

int test_special() {
    return g_special_order.turn([](Rotation::Slice slice) { return test_special(slice); },
                                [](int at) { return g_special[at] == nullptr; },
                                [](int from, int to) { g_special[to] = g_special[from]; },
                                [] { g_special.pop(); });
}

// A receiver has told how urgent a message is, which waits here or is still to be sent.
void heard(int peer, int tag, int priority) {
    const Guard guard(g_queue_mutex);
    for (int i = 0; i < g_queued.size(); ++i) {
        const Operation &operation = g_queued[i]->operation;
        if (operation.peer == peer && operation.tag == tag &&
            operation.object == communicator(MPI_COMM_WORLD)) {
            g_queued[i]->key = urgency::key_of(g_queued[i]->key, priority);
            return;
        }
    }
    urgency::remember(peer, tag, priority);
}

// Let queued sends go, the first in order first. Returns how many could not be started and are
// over.
int start_queued() {
    if (urgency::on())
        urgency::listen(heard);
    int failed = 0;
    while (g_queued_count.load(std::memory_order_relaxed) > 0) {
        const Guard guard(g_queue_mutex);
        if (g_queued.size() == 0)
            break;
        int first = 0;
        for (int i = 1; i < g_queued.size(); ++i)
            if (g_queued[i]->key < g_queued[first]->key)
                first = i;
        const bool wanted = urgency::on() && urgency::is_wanted(g_queued[first]->key);
        const Flow::Place place = g_flow.let_go(monotonic_ns(), wanted);
        if (!place)
            break;
        int oldest = 0;
        while (!same_channel(g_queued[oldest]->operation, g_queued[first]->operation))
            ++oldest;
        Ticket &ticket = take_queued(oldest);
        ticket.place = place;
        ticket.error = ticket.start(ticket.closure, &ticket.request);
        if (ticket.error == MPI_SUCCESS) {
            push_request(ticket);
        } else {
            ticket.unraised = QuietTests::kept_back();
            finish(ticket);
            ++failed;
        }
    }
    return failed;
}

} // namespace

std::int64_t pending() {
    return g_pending.load(std::memory_order_acquire);
}

bool hold_tests() {
    constexpr int attempts = 10'000;
    for (int i = 0; g_token.exchange(true, std::memory_order_acquire); ++i) {
        if (i == attempts)
            return false;
        sched_yield();
    }
    return true;
}

void release_tests() {
    g_token.store(false, std::memory_order_release);
}

void visit_pending(void (*visit)(void *, const Ticket &), void *arg) {
    if (!hold_tests())
        return;
    take_new();
    for (int i = 0; i < g_special.size(); ++i)
        visit(arg, *g_special[i]);
    for (int i = 0; i < g_waiting.size(); ++i)
        visit(arg, *g_waiting[i]);
    {
        const Guard guard(g_queue_mutex);
        for (int i = 0; i < g_queued.size(); ++i)
            visit(arg, *g_queued[i]);
    }
    release_tests();
}

void begin_pending() {
    g_pending.fetch_add(1, std::memory_order_relaxed);
    count_pending(1);
}

void end_pending() {
    g_pending.fetch_sub(1, std::memory_order_relaxed);
    count_pending(-1);
}

void file(Ticket &ticket) {
    Ticket *top = g_inbox.load(std::memory_order_relaxed);
    do
        ticket.next = top;
    while (!g_inbox.compare_exchange_weak(top, &ticket, std::memory_order_release,
                                          std::memory_order_relaxed));
}

bool test_once(Ticket &ticket) {
    const QuietTests quiet;
    const bool over = outside_task([&] {
        if (ticket.test)
            return ticket.test(ticket);
        static constexpr auto test = SENNIT_BARE(Test);
        int flag = 0;
        MPI_Request *handle = ticket.handle ? ticket.handle : &ticket.request;
        ticket.error = test(handle, &flag, ticket.status);
        return flag || ticket.error != MPI_SUCCESS;
    });
    ticket.unraised = QuietTests::kept_back();
    return over;
}

int settle(Ticket &ticket) {
    if (ticket.error != MPI_SUCCESS && ticket.unraised)
        raise(ticket.operation.object, ticket.error);
    if (chaos::on() && ticket.error == MPI_SUCCESS)
        chaos::shorten(ticket.operation, ticket.status);
    return ticket.error;
}

namespace {

// `tested`: once, in vain.
int wait_for(Ticket &ticket, bool tested) {
    // With other operations pending the time is better spent on whoever can go on.
    Patience patience;
    const auto lasts = [&] {
        return g_pending.load(std::memory_order_relaxed) == 0 && patience.lasts();
    };
    for (bool tests = !tested || lasts(); tests; tests = lasts())
        if (test_once(ticket)) {
            leave_order(ticket);
            if (!chaos::on() || !chaos::delays() || ticket.error != MPI_SUCCESS)
                return settle(ticket);
            ticket.test = [](Ticket &) { return true; }; // it will be late
            break;
        }
    const Operation &operation = ticket.operation;
    if (Callback::polls() && !in_task()) {
        Callback::poll_until(operation, [&] { return test_once(ticket); });
        return settle(ticket);
    }
    if (ticket.handle)
        ticket.request = *ticket.handle;
    ticket.task = current_task();
    if (urgency::on())
        urgency::tell(operation, task_urgency());
    begin_pending();
    file(ticket);
    suspend(ticket.task, operation);
    return settle(ticket);
}

} // namespace

int wait_for(const Operation &operation, Ticket &ticket) {
    ticket.operation = operation;
    return wait_for(ticket, false);
}

int go_on(const Attempt &attempt, const Operation &operation, MPI_Status *status) {
    Ticket ticket;
    ticket.operation = operation;
    ticket.request = attempt.request;
    ticket.status = status;
    ticket.error = attempt.error;
    ticket.unraised = attempt.unraised;
    return attempt.error == MPI_SUCCESS ? wait_for(ticket, true) : settle(ticket);
}

bool must_queue(const Operation &operation, Ticket &ticket) {
    if (operation.count < urgency::kLongMessage || Callback::polls())
        return false;
    const int at_once = send_order(ticket.key);
    if (at_once == 0)
        return false;
    if (urgency::on()) { // whether it is wanted is known there
        g_flow.queue_all(at_once);
        return true;
    }
    ticket.place = g_flow.enter(at_once);
    return ticket.place == 0;
}

int wait_in_queue(const Operation &operation, Ticket &ticket) {
    ticket.operation = operation;
    ticket.task = current_task();
    begin_pending();
    {
        const Guard guard(g_queue_mutex);
        if (urgency::on())
            ticket.key = urgency::key_of(ticket.key, urgency::told(operation));
        g_queued.push(&ticket);
        g_queued_count.fetch_add(1, std::memory_order_relaxed);
        g_obstacles.fetch_add(1, std::memory_order_relaxed);
    }
    suspend(ticket.task, operation);
    return settle(ticket);
}

void begin_send(int peer, int tag, Object object) {
    notify(Notice::send, peer);
    if (g_queued_count.load(std::memory_order_relaxed) == 0 || inside_mpi())
        return;
    const Guard guard(g_queue_mutex);
    for (int i = 0; i < g_queued.size();) {
        const Operation &queued = g_queued[i]->operation;
        const bool before = queued.peer == peer && (tag < 0 || queued.tag == tag) &&
                            (object.kind == Object::Kind::none || queued.object == object);
        if (!before) {
            ++i;
            continue;
        }
        Ticket &ticket = take_queued(i);
        ticket.error = outside_task([&] { return ticket.start(ticket.closure, &ticket.request); });
        if (ticket.error != MPI_SUCCESS)
            ticket.test = [](Ticket &) { return true; };
        file(ticket);
    }
}

int progress(bool application) {
    if (g_pending.load(std::memory_order_relaxed) == 0)
        return 0;
    const int done = test_tickets();
    while (Ticket *ticket = take_to_call()) {
        ticket->finished(*ticket);
        end_pending();
    }
    return done + run_continuations(application);
}

namespace {

Ticket *take_to_call() {
    if (g_to_call_count.load(std::memory_order_relaxed) == 0)
        return nullptr;
    g_to_call_lock.lock();
    Ticket *const first = g_to_call.pop();
    if (first)
        g_to_call_count.fetch_sub(1, std::memory_order_relaxed);
    g_to_call_lock.unlock();
    return first;
}

int test_tickets() {
    if (g_token.exchange(true, std::memory_order_acquire))
        return 0;
    const QuietTests quiet;
    const Inside inside;
    take_new();
    if (chaos::on() && chaos::shuffles())
        shuffle();
    int done = test_special() + test_requests() + start_queued();
    if (chaos::on())
        done += chaos::release(finish_now);
    g_token.store(false, std::memory_order_release);
    return done;
}

} // namespace

} // namespace sennit::mpi
