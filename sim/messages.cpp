// SPDX-License-Identifier: Apache-2.0
// Tasks that call MPI, from the call to the thread that goes on with them.
#include "engine.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

namespace sennit::sim {

namespace {

// The part that waits is still to come, if it has not come before.
void expect_wait(Message::Wait &wait) {
    if (wait == Message::Wait::none)
        wait = Message::Wait::expected;
}

} // namespace

void Simulation::append(std::uint32_t &head, std::uint32_t &end, std::uint32_t task) {
    tasks_[task].call.next = kNone;
    if (head == kNone)
        head = task;
    else
        tasks_[end].call.next = task;
    end = task;
}

std::uint32_t Simulation::pop(std::uint32_t &head, std::uint32_t &end) {
    const std::uint32_t task = head;
    if (task != kNone) {
        head = tasks_[task].call.next;
        if (head == kNone)
            end = kNone;
    }
    return task;
}

// A task calls MPI; what begins there has reached the network at `at`.
void Simulation::call(Rank &rank, std::uint32_t index, std::uint32_t thread, Time at) {
    Task &task = tasks_[index];
    const bool waits = task.is(Part::wait);
    const Time begin = waits ? at : at - overhead_;
    if (!waits)
        occupy(rank, overhead_, true);
    if (task.begins(Kind::send) && task.profile)
        learn(rank, task, true);
    const bool over = waits ? begin_wait(index) : begin_end(index, index_of(rank), at);
    tell_ran(rank, index, thread, begin, at, over);
    if (over) {
        events_.push(at, pack(What::finish, index));
        return;
    }
    ++rank.suspended;
    if (waits_in_mpi(task))
        return;
    if (task.is(Part::detached)) {
        if (!unlimited_)
            events_.push(at, pack(What::free, thread));
        return;
    }
    ++result_.suspended;
    occupy(rank, suspend_, false);
    if (unlimited_)
        return;
    events_.push(at + suspend_, pack(What::free, thread));
    wake_creator(rank, at + suspend_);
}

// All that the task has done is over, but for a message: no thread is needed.
void Simulation::call_bound(Rank &rank, std::uint32_t index, std::uint32_t thread, Time at) {
    Task &task = tasks_[index];
    task.thread = static_cast<std::uint16_t>(thread - rank.first_thread);
    task.started = true;
    if (task.has_vertex)
        start_vertex(rank, index);
    const bool over = begin_wait(index);
    tell_ran(rank, index, thread, at, at, over);
    if (over)
        complete(index, at);
    else
        ++rank.suspended;
}

void Simulation::tell_ran(Rank &rank, std::uint32_t index, std::uint32_t thread, Time begin,
                          Time end, bool over) {
    if (!setting_.recorder)
        return;
    const Task &task = tasks_[index];
    setting_.recorder->ran({static_cast<int>(index_of(rank)),
                            static_cast<int>(thread - rank.first_thread), key_of(index),
                            static_cast<int>(task.function), task.kind, task.part(), begin, end,
                            task.call.peer, task.call.message, task.bytes, !over});
}

// One end of a message; does the task go on at once?
bool Simulation::begin_end(std::uint32_t index, std::uint32_t rank, Time at) {
    const Task &task = tasks_[index];
    const bool sends = task.kind == Kind::send;
    const std::uint32_t number = messages_.find_or_make(task.call.message);
    Message &message = messages_[number];
    Time &begun = sends ? message.sent_at : message.posted_at;
    if (begun >= 0)
        throw Stuck(fmt::format("message {:#x} has two {}", task.call.message,
                                sends ? "senders" : "receivers"));
    begun = at;
    message.source = sends ? rank : task.call.peer;
    message.target = sends ? task.call.peer : rank;
    if (task.is(Part::begin))
        expect_wait(sends ? message.send_wait : message.receive_wait);
    if (sends ? begin_send(number, task.bytes, at) : begin_receive(number, at))
        return true;
    const bool waits = is_one_task(task.part());
    if (waits)
        (sends ? message.send_task : message.receive_task) = index;
    inject_when_allowed(number);
    return !waits;
}

// Is it over at once?
bool Simulation::begin_send(std::uint32_t number, std::uint64_t bytes, Time at) {
    Message &message = messages_[number];
    message.bytes = bytes;
    ++result_.messages;
    result_.bytes += bytes;
    if (static_cast<double>(bytes) > machine_.eager)
        return false;
    message.send_over = true;
    events_.push(at, pack(What::inject, number));
    if (message.send_task != kNone) // it was there before
        communication_done(message.send_task, at);
    return true;
}

bool Simulation::begin_receive(std::uint32_t number, Time at) {
    const Message &message = messages_[number];
    if (!message.delivered)
        return false;
    const std::uint32_t waiter = message.receive_task;
    drop_if_over(number);
    if (waiter != kNone) // it was there before
        communication_done(waiter, at);
    return true;
}

// For what another task has begun or will begin; is it over?
bool Simulation::begin_wait(std::uint32_t index) {
    const Task &task = tasks_[index];
    const std::uint32_t number = messages_.find_or_make(task.call.message);
    Message &message = messages_[number];
    const bool sends = task.kind == Kind::send;
    (sends ? message.send_wait : message.receive_wait) = Message::Wait::here;
    if (!(sends ? message.send_over : message.receive_over())) {
        (sends ? message.send_task : message.receive_task) = index;
        return false;
    }
    drop_if_over(number);
    return true;
}

void Simulation::inject_when_allowed(std::uint32_t number) {
    const Message &message = messages_[number];
    if (message.sent_at < 0 || message.posted_at < 0 ||
        static_cast<double>(message.bytes) <= machine_.eager)
        return;
    const Time trip = cards_.through_memory(message.source, message.target)
                          ? static_cast<Time>(machine_.memory_latency)
                          : cards_.latency();
    const Time allowed = std::max(message.sent_at + trip, message.posted_at) + trip;
    events_.push(allowed, pack(What::inject, number));
}

void Simulation::inject(std::uint32_t number, Time now) {
    const Message &message = messages_[number];
    const bool tell = !message.send_over;
    if (cards_.through_memory(message.source, message.target)) {
        const Time end = now + cards_.memory_time(message.bytes);
        if (tell)
            events_.push(end, pack(What::sent, number));
        events_.push(end, pack(What::delivered, number));
        return;
    }
    if (fabric_)
        return fabric_->send(number, cards_.card_of(message.source), cards_.card_of(message.target),
                             message.bytes, now);
    if (!waiting_.empty()) {
        const std::uint32_t card = cards_.card_of(message.source);
        waiting_[card].messages.push_back(number);
        if (!waiting_[card].busy)
            send_most_urgent(card, now);
        return;
    }
    Time sent = 0;
    const Time head = cards_.send(message, now, sent);
    if (tell)
        events_.push(sent, pack(What::sent, number));
    events_.push(head, pack(What::arrive, number));
}

// Those that arrive before anything else happens become events.
void Simulation::let_messages_travel() {
    const Time next = events_.empty() ? std::numeric_limits<Time>::max() : events_.next_time();
    arrived_.clear();
    const Time now = fabric_->advance(next, arrived_);
    for (const std::uint32_t number : arrived_) {
        if (!messages_[number].send_over)
            events_.push(now, pack(What::sent, number));
        events_.push(now, pack(What::delivered, number));
    }
}

// The card is free: the message goes whose receive has the highest priority at its rank, as if the
// receiver had told; of equals the one that has waited longest. None is held back for one to come.
void Simulation::send_most_urgent(std::uint32_t card, Time now) {
    Waiting &waiting = waiting_[card];
    waiting.busy = !waiting.messages.empty();
    if (!waiting.busy)
        return;
    const auto urgency = [&](std::uint32_t number) {
        const std::uint32_t task = messages_[number].receive_task;
        return task == kNone ? -1 : int{tasks_[task].priority};
    };
    const auto first =
        std::max_element(waiting.messages.begin(), waiting.messages.end(),
                         [&](std::uint32_t a, std::uint32_t b) { return urgency(a) < urgency(b); });
    const std::uint32_t number = *first;
    waiting.messages.erase(first);
    Time sent = 0;
    const Time head = cards_.send(messages_[number], now, sent);
    events_.push(sent, pack(What::sent, number));
    events_.push(head, pack(What::arrive, number));
}

void Simulation::drop_if_over(std::uint32_t number) {
    const Message &message = messages_[number];
    if (message.over())
        messages_.drop(number);
}

// What a suspended task waits for has come.
void Simulation::communication_done(std::uint32_t index, Time now) {
    Rank &rank = rank_of(index);
    --rank.suspended;
    if (unlimited_)
        return finish(index, now);
    if (waits_in_mpi(tasks_[index])) {
        events_.push(now, pack(What::finish, index));
        return;
    }
    append(rank.arrived, rank.arrived_end, index);
    if (!rank.idle.empty() && !rank.noticing) { // an idle thread polls; else the next one to look
        rank.noticing = true;
        events_.push(now + poll_, pack(What::notice, index_of(rank)));
    }
}

void Simulation::notice(Rank &rank, Time now) {
    bool completed = false;
    while (rank.arrived != kNone) {
        const std::uint32_t index = pop(rank.arrived, rank.arrived_end);
        if (tasks_[index].is(Part::bound) ||
            tasks_[index].is(Part::detached)) { // whoever notices completes it
            complete(index, now);
            completed = true;
            continue;
        }
        if (setting_.recorder)
            setting_.recorder->unblocked(static_cast<int>(index_of(rank)), key_of(index), now);
        const std::uint32_t home = rank.first_thread + tasks_[index].thread;
        if (machine_.tied > 0) {
            append(threads_[home].inbox, threads_[home].inbox_end, index);
            if (threads_[home].idle)
                wake(rank, home, now);
            continue;
        }
        append(rank.inbox, rank.inbox_end, index);
        if (!rank.idle.empty())
            wake(rank, rank.idle.back(), now);
    }
    if (!completed)
        return;
    wake_for_ready(rank, now);
    wake_creator(rank, now);
}

} // namespace sennit::sim
