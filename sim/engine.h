// SPDX-License-Identifier: Apache-2.0
// The simulation's insides, for the files that they are in: creation.cpp makes tasks and finds
// their dependences, threads.cpp has queues and those who take from them, messages.cpp what goes
// between ranks, engine.cpp the loop around. One event at a time, in the order of simulated
// time; among equals, of their making.
#pragma once

#include "decide/tasks/outlook.h"
#include "decide/tasks/rules.h"
#include "event_queue.h"
#include "fabric.h"
#include "network.h"
#include "objects.h"
#include "ready_queue.h"
#include "simulation.h"

#include <algorithm>
#include <deque>
#include <memory>
#include <string>
#include <vector>

namespace sennit::sim {

class Simulation;
struct Rank;

class RankOutlook final : public policy::Outlook {
  public:
    Simulation *simulation = nullptr;
    Rank *rank = nullptr;

  private:
    void changed(Vertex &vertex) override;
    void released(Vertex &vertex) override;
};

struct Thread {
    std::uint32_t rank = 0;
    std::uint8_t node = 0;       // of the rank's queues
    std::uint32_t inbox = kNone; // suspended tasks that may go on here, a list
    std::uint32_t inbox_end = kNone;
    bool idle = false;
    bool waking = false; // was idle, and will look for work
};

struct Rank {
    Specs specs; // those that will be created next
    TaskStore::Share places;
    const TaskSpec *spec = nullptr; // the task that is being created
    bool creating = true;
    bool waits_for_all = false; // before it makes `spec`
    bool undeferred_ready = false;
    std::uint32_t undeferred = kNone; // the task that the creating thread waits for, and runs
    std::uint32_t newest = kNone;     // task, of one in pieces the first
    Profile *profile = nullptr;       // its
    std::uint32_t first_thread = 0;
    std::uint32_t unfinished = 0;
    std::uint32_t suspended = 0; // of the unfinished: they wait for messages
    std::uint32_t created = 0;
    std::uint32_t next_age = 0;
    std::uint32_t starting = 0;    // tasks that have started, and the outlook does not know yet
    std::uint32_t waking = 0;      // threads that were told to look
    std::uint32_t ready = 0;       // tasks in all queues
    std::uint32_t arrived = kNone; // tasks whose message has come, and nobody has polled: a list
    std::uint32_t arrived_end = kNone;
    std::uint32_t inbox = kNone; // as a thread's, if any thread may take it
    std::uint32_t inbox_end = kNone;
    bool noticing = false;
    std::vector<ReadyQueue> queues;             // of NUMA domains, where ordered
    std::vector<std::deque<std::uint32_t>> own; // of threads, where not
    std::vector<std::uint32_t> idle;            // threads, last one first
    std::vector<Datum> data;
    RankOutlook outlook;
    std::unique_ptr<policy::Profiles> profiles;
    std::vector<Profile *> known_profiles{nullptr}; // by number; the first is none
    Time in_task = 0;
    Time overhead = 0;
    std::uint32_t most_unfinished = 0;
};
inline std::uint64_t mix(std::uint64_t value) {
    value = (value ^ value >> 33) * 0xFF51AFD7ED558CCDull;
    value = (value ^ value >> 33) * 0xC4CEB9FE1A85EC53ull;
    return value ^ value >> 33;
}

class Simulation {
  public:
    Simulation(const Workload &workload, const Setting &setting);
    Result run(Fabric *fabric);

    // Priorities are changed many at a time: each task is fetched while the others are found.
    void priority_changed(Vertex &vertex) {
        tasks_.prefetch(TaskStore::index_of(vertex));
        changed_.push_back(&vertex);
    }
    void vertex_released(Rank &rank, Vertex &vertex) { tasks_.released(rank.places, vertex); }

  private:
    Rank &rank_of(std::uint32_t task) { return ranks_[tasks_.rank_of(task)]; }
    std::uint32_t index_of(const Rank &rank) const {
        return static_cast<std::uint32_t>(&rank - ranks_.data());
    }
    // Is that entry of a queue the task's latest?
    auto holds() {
        return [this](std::uint64_t key, std::uint32_t index) {
            const Task &task = tasks_[index];
            return task.queued && policy::key(rules_, task.priority, task.age) == key;
        };
    }

    // Creation.
    static bool can_create(const Rank &rank) {
        return rank.creating && rank.undeferred == kNone &&
               !(rank.waits_for_all && rank.unfinished > 0);
    }
    bool window_full(const Rank &rank) const { return rank.unfinished - rank.suspended >= window_; }
    // Rather than help with what is ready.
    bool should_create(const Rank &rank) const { return can_create(rank) && !window_full(rank); }
    bool create_in_spite_of_windows(Time now);
    void look_ahead(Rank &rank);
    void go_on_creating(Rank &rank, Time now);
    void created(Rank &rank, Time now);
    std::uint32_t make_next(Rank &rank, Time now);
    std::uint32_t make_task(Rank &rank, const TaskSpec &spec, Time now);
    void link(Rank &rank, std::uint32_t task, const Access *accesses, std::size_t count);
    void depend_on(std::uint32_t predecessor, std::uint32_t serial, std::uint32_t task);
    void note_reader(Datum &datum, Reader reader);
    void take_readers(const Datum &datum);
    void forget_dead_readers(Datum &datum);
    Profile *profile_of(Rank &rank, const TaskSpec &spec);
    static std::uint16_t number_of(Rank &rank, Profile *profile);

    // Queues.
    void note_priorities(Time now);
    void make_ready(Rank &rank, std::uint32_t task, std::uint32_t thread, Time now);
    std::uint32_t take_ready(Rank &rank, std::uint32_t thread);
    void wake_for_ready(Rank &rank, Time now);
    void wake_creator(Rank &rank, Time now);
    void wake(Rank &rank, std::uint32_t thread, Time now);

    // Threads.
    void look_for_work(std::uint32_t thread, Time now);
    void start(Rank &rank, std::uint32_t task, std::uint32_t thread, Time now);
    void finish(std::uint32_t task, Time now);
    std::uint32_t complete(std::uint32_t task, Time now);
    // For the recorder.
    std::uint64_t key_of(std::uint32_t task) const { return key_of(task, tasks_[task].serial); }
    static std::uint64_t key_of(std::uint32_t task, std::uint32_t serial) {
        return std::uint64_t{serial} << 32 | task;
    }
    void tell_priority(std::uint32_t task, Time now) {
        if (setting_.recorder)
            setting_.recorder->prioritized(static_cast<int>(tasks_.rank_of(task)), key_of(task),
                                           tasks_[task].priority, now);
    }
    void tell_creator(const Rank &rank, Recorder::Creator does, Time now) {
        if (setting_.recorder)
            setting_.recorder->creator(static_cast<int>(index_of(rank)), does, now);
    }
    void occupy(Rank &rank, Time time, bool in_task) {
        (in_task ? rank.in_task : rank.overhead) += time;
    }

    // The outlook's share in a start is done a few starts later, so that there is time to fetch the
    // vertices before it: nobody asks before the rank's next creation or change of a verdict.
    void start_vertex(Rank &rank, std::uint32_t task);
    void start_oldest_vertex();
    void tell_starts(const Rank &rank) {
        while (rank.starting > 0)
            start_oldest_vertex();
    }

    // Learning.
    void learn(Rank &rank, Task &task, bool sent);
    Time reconsider(Rank &rank);

    // Messages.
    void call(Rank &rank, std::uint32_t task, std::uint32_t thread, Time at);
    void call_bound(Rank &rank, std::uint32_t task, std::uint32_t thread, Time at);
    bool begin_end(std::uint32_t task, std::uint32_t rank, Time at);
    bool begin_send(std::uint32_t message, std::uint64_t bytes, Time at);
    bool begin_receive(std::uint32_t message, Time at);
    bool begin_wait(std::uint32_t task);
    // Its thread does nothing else meanwhile.
    bool waits_in_mpi(const Task &task) const { return !has_tasks_ || task.is(Part::undeferred); }
    void tell_ran(Rank &rank, std::uint32_t task, std::uint32_t thread, Time begin, Time end,
                  bool over);
    void inject_when_allowed(std::uint32_t message);
    void inject(std::uint32_t message, Time now);
    void let_messages_travel();
    void send_most_urgent(std::uint32_t card, Time now);
    void communication_done(std::uint32_t task, Time now);
    void notice(Rank &rank, Time now);
    void append(std::uint32_t &head, std::uint32_t &end, std::uint32_t task);
    std::uint32_t pop(std::uint32_t &head, std::uint32_t &end);
    void drop_if_over(std::uint32_t message);

    void handle(const EventQueue::Event &event);
    void prefetch_taken_next(const ReadyQueue &queue);
    void prefetch_users(const Datum &datum) const;
    void prefetch_lists(const Datum &datum, Access::Mode mode) const;
    void prefetch_soon(std::uint32_t what) const;
    void prefetch_behind(std::uint32_t what) const;
    void prefetch_successors(const Task &task) const;
    [[noreturn]] void stuck(Time now);
    std::string text_of_cycle();
    class Waits;

    const Workload &workload_;
    const Setting &setting_;
    const Machine &machine_;
    const policy::Rules rules_;
    const bool unlimited_;
    const bool has_tasks_;
    const bool vertices_wanted_;
    const std::vector<std::string> functions_;
    const std::uint64_t task_count_; // as the workload says: counting may take it long
    policy::Machine tree_;
    EventQueue events_;
    TaskStore tasks_;
    // Of each task, its predecessors that have not ended. Apart from the rest: most that end are
    // not the last, and touch nothing else of their successors.
    Column<std::uint32_t> missing_;
    Pool<Line<std::uint32_t>> successors_;
    Pool<Line<Reader>> readers_;
    Messages messages_;
    Cards cards_;
    Fabric *fabric_ = nullptr;           // instead of the cards
    std::vector<std::uint32_t> arrived_; // scratch
    struct Waiting { // messages that a card has not sent yet; where urgent ones go first
        std::vector<std::uint32_t> messages;
        bool busy = false; // the card
    };
    std::vector<Waiting> waiting_; // by card
    std::vector<Rank> ranks_;
    std::vector<Thread> threads_;
    std::vector<Vertex *> predecessors_; // scratch
    std::vector<Access> accesses_;       // scratch
    std::vector<Reader> taken_;          // scratch
    static constexpr std::uint32_t kStarting = 16;
    std::uint32_t starting_[kStarting] = {}; // a ring
    std::uint32_t starting_begin_ = 0, starting_end_ = 0;
    std::vector<Vertex *> changed_; // their priorities, and the tasks do not know yet
    Time create_, depend_, schedule_, suspend_, resume_, poll_, wake_, overhead_;
    Time place_, match_; // 0 where the policy does not
    std::uint32_t window_;
    std::uint64_t finished_ = 0;
    std::uint64_t next_report_ = 0;
    Time horizon_ = 0;  // of what has happened so far
    Time last_end_ = 0; // of a task
    Result result_;
};

} // namespace sennit::sim
