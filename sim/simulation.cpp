// SPDX-License-Identifier: Apache-2.0
#include "simulation.h"

#include "heap.h"
#include "network.h"
#include "sched/policy/judge.h"
#include "sched/policy/tree.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <deque>
#include <memory>
#include <new>

namespace sennit::sim {
namespace {

using policy::Profile;
using policy::Vertex;

// Of an event: what happens in the upper three bits, to whom below.
enum class What : std::uint32_t {
    create,   // rank: its creating thread has made the next task
    finish,   // task: its body ends
    free,     // thread: looks for work
    notice,   // rank: an idle thread polls
    inject,   // message: handed to the card
    sent,     // message: the last byte has left
    arrive,   // message: its head is at the receiver
    delivered // message: the last byte is there
};
constexpr int kWhatShift = 29;
constexpr std::uint32_t kWhoMask = (1u << kWhatShift) - 1;

constexpr std::uint32_t pack(What what, std::uint32_t who) {
    return static_cast<std::uint32_t>(what) << kWhatShift | who;
}

// One cache line. Recycled as soon as it has ended; `serial` tells incarnations apart.
struct alignas(64) Task {
    union {
        Time duration;       // compute
        std::uint64_t bytes; // send, receive
    };
    std::uint64_t message = 0;
    Vertex *vertex = nullptr;
    std::uint32_t profile = 0; // index, 0: none
    std::uint32_t serial = 0;
    std::uint32_t age = 0;
    std::uint32_t successor = kNone;  // the first one; most tasks have no other
    std::uint32_t successors = kNone; // all others: a list of bundles
    std::uint32_t missing = 0;        // predecessors that have not ended
    std::uint32_t next = kNone;       // in a list
    std::uint32_t thread = 0;         // of the rank until it starts: the rank's first thread
    std::uint32_t peer = 0;
    std::int16_t priority = 0;
    std::uint8_t function = 0;
    Kind kind : 2 = Kind::compute;
    bool queued : 1 = false;
    bool waits : 1 = false;
    std::uint8_t node : 4 = 0; // of queues; see kMostQueues
};
static_assert(sizeof(Task) == 64);
constexpr int kMostQueues = 16;

// A cache line of successors.
struct alignas(64) Bundle {
    static constexpr std::uint32_t kRoom = 14;
    std::uint32_t next = kNone;
    std::uint32_t count = 0;
    std::uint32_t successors[kRoom] = {};
};
struct Reader {
    std::uint32_t task;
    std::uint32_t serial;
    std::uint32_t next;
};
struct Datum {
    std::uint32_t writer = kNone;
    std::uint32_t writer_serial = 0;
    std::uint32_t readers = kNone;
    std::uint32_t reader_count = 0; // in the list, dead ones too
};

// Indices into one growing array, reused.
template <class T>
class Pool {
  public:
    std::uint32_t take() {
        if (!free_.empty()) {
            const std::uint32_t index = free_.back();
            free_.pop_back();
            return index;
        }
        if (items_.size() >= kWhoMask)
            throw std::length_error("more than 500 million objects at once: set a smaller --window");
        items_.emplace_back();
        return static_cast<std::uint32_t>(items_.size() - 1);
    }
    void give_back(std::uint32_t index) { free_.push_back(index); }
    T &operator[](std::uint32_t index) { return items_[index]; }
    const T &operator[](std::uint32_t index) const { return items_[index]; }
    void prefetch(std::uint32_t index) const { __builtin_prefetch(&items_[index], 1); }

  private:
    std::vector<T> items_;
    std::vector<std::uint32_t> free_;
};

// Vertices with their lists of predecessors: few sizes, many of each.
class VertexHeap {
  public:
    ~VertexHeap() {
        for (void *slab : slabs_)
            std::free(slab);
    }
    Vertex *make(std::uint32_t predecessors) {
        const std::size_t kind = kind_of(predecessors);
        if (kind >= free_.size())
            free_.resize(kind + 1);
        if (free_[kind].empty())
            refill(kind);
        void *memory = free_[kind].back();
        free_[kind].pop_back();
        auto *vertex = new (memory) Vertex;
        vertex->predecessors = reinterpret_cast<Vertex **>(vertex + 1);
        return vertex;
    }
    void drop(Vertex *vertex, std::uint32_t predecessors) {
        free_[kind_of(predecessors)].push_back(vertex);
    }

  private:
    static std::size_t kind_of(std::uint32_t predecessors) {
        std::size_t kind = 0;
        for (std::uint32_t room = 4; room < predecessors; room *= 2)
            ++kind;
        return kind;
    }
    void refill(std::size_t kind) {
        const std::size_t bytes = sizeof(Vertex) + (sizeof(Vertex *) * 4 << kind);
        const std::size_t count = std::max<std::size_t>(1, (std::size_t{1} << 16) / bytes);
        auto *slab = static_cast<std::byte *>(std::malloc(bytes * count));
        if (!slab)
            throw std::bad_alloc();
        slabs_.push_back(slab);
        for (std::size_t i = count; i-- > 0;)
            free_[kind].push_back(slab + i * bytes);
    }
    std::vector<std::vector<void *>> free_;
    std::vector<void *> slabs_;
};

class Simulation;

class RankOutlook final : public policy::Outlook {
  public:
    Simulation *simulation = nullptr;

  private:
    void changed(Vertex &vertex) override;
    void released(Vertex &vertex) override;
};

struct Thread {
    std::uint32_t rank = 0;
    std::uint32_t inbox = kNone; // suspended tasks that may go on here, a list
    std::uint32_t inbox_end = kNone;
    bool idle = false;
    bool waking = false; // was idle, and will look for work
};

struct Rank {
    Tasks creator;
    const TaskSpec *spec = nullptr; // the task that is being created
    bool creating = true;
    bool waits_for_all = false; // before it makes `spec`
    std::uint32_t first_thread = 0;
    std::uint32_t unfinished = 0;
    std::uint32_t created = 0;
    std::uint32_t next_age = 0;
    std::uint32_t waking = 0; // threads that were told to look
    std::uint32_t ready = 0;  // tasks in all queues
    std::uint32_t arrived = kNone; // tasks whose message has come, and nobody has polled: a list
    std::uint32_t arrived_end = kNone;
    std::uint32_t inbox = kNone; // as a thread's, if any thread may take it
    std::uint32_t inbox_end = kNone;
    bool noticing = false;
    std::vector<ReadyQueue> queues;            // of NUMA nodes, where ordered
    std::vector<std::deque<std::uint32_t>> own; // of threads, where not
    std::vector<std::uint32_t> idle;           // threads, last one first
    std::vector<Datum> data;
    RankOutlook outlook;
    std::unique_ptr<policy::Profiles> profiles;
    std::vector<std::uint32_t> profile_numbers;
    Time in_task = 0;
    Time overhead = 0;
    std::uint32_t most_unfinished = 0;
};

std::uint64_t mix(std::uint64_t value) {
    value = (value ^ value >> 33) * 0xFF51AFD7ED558CCDull;
    value = (value ^ value >> 33) * 0xC4CEB9FE1A85EC53ull;
    return value ^ value >> 33;
}

class Simulation {
  public:
    Simulation(const Workload &workload, const Setting &setting);
    Result run();

    void priority_changed(Vertex &vertex);
    void vertex_released(Vertex &vertex) {
        vertices_.drop(&vertex, static_cast<std::uint32_t>(vertex.floor));
    }

  private:
    Rank &rank_of(const Task &task) { return ranks_[threads_[task.thread].rank]; }
    std::uint32_t index_of(const Rank &rank) const {
        return static_cast<std::uint32_t>(&rank - ranks_.data());
    }
    // Is that entry of the rank's queues the task's latest?
    auto holds(const Rank &rank) {
        return [this, &rank](std::uint64_t key, std::uint32_t index) {
            const Task &task = tasks_[index];
            return task.queued && policy::key(rules_, task.priority, task.age) == key &&
                   &rank_of(task) == &rank;
        };
    }

    // Creation.
    bool may_create(const Rank &rank) const {
        return rank.creating && rank.unfinished < window_ &&
               !(rank.waits_for_all && rank.unfinished > 0);
    }
    void go_on_creating(Rank &rank, Time now);
    void created(Rank &rank, Time now);
    std::uint32_t make_task(Rank &rank, const TaskSpec &spec, Time now);
    void link(Rank &rank, std::uint32_t task, const Access *accesses, std::size_t count, Time now);
    void depend_on(std::uint32_t predecessor, std::uint32_t serial, std::uint32_t task);
    void forget_dead_readers(Datum &datum);
    Profile *profile_of(Rank &rank, const TaskSpec &spec);
    std::uint32_t number_of(Rank &rank, Profile *profile);

    // Queues.
    void make_ready(Rank &rank, std::uint32_t task, std::uint32_t thread, Time now);
    std::uint32_t take_ready(Rank &rank, std::uint32_t thread);
    void wake_for_ready(Rank &rank, Time now);
    void wake(Rank &rank, std::uint32_t thread, Time now);

    // Threads.
    void look_for_work(std::uint32_t thread, Time now);
    void start(Rank &rank, std::uint32_t task, std::uint32_t thread, Time now);
    void finish(std::uint32_t task, Time now);
    // For the recorder.
    std::uint64_t key_of(std::uint32_t task) const { return key_of(task, tasks_[task].serial); }
    static std::uint64_t key_of(std::uint32_t task, std::uint32_t serial) {
        return std::uint64_t{serial} << 32 | task;
    }
    void tell_priority(std::uint32_t task, Time now) {
        if (setting_.recorder)
            setting_.recorder->prioritized(static_cast<int>(threads_[tasks_[task].thread].rank),
                                           key_of(task), tasks_[task].priority, now);
    }
    void tell_creator(const Rank &rank, Recorder::Creator does, Time now) {
        if (setting_.recorder)
            setting_.recorder->creator(static_cast<int>(index_of(rank)), does, now);
    }
    void occupy(Rank &rank, Time time, bool in_task) {
        (in_task ? rank.in_task : rank.overhead) += time;
    }

    // Learning.
    void learn(Rank &rank, Task &task, bool sent);
    Time reconsider(Rank &rank);

    // Messages.
    void post(Rank &rank, std::uint32_t task, std::uint32_t thread, Time at);
    void inject_when_allowed(std::uint32_t message);
    void inject(std::uint32_t message, Time now);
    void communication_done(std::uint32_t task, Time now);
    void notice(Rank &rank, Time now);
    void append(std::uint32_t &head, std::uint32_t &end, std::uint32_t task);
    std::uint32_t pop(std::uint32_t &head, std::uint32_t &end);
    void drop_if_over(std::uint32_t message);

    void handle(const EventQueue::Event &event);
    [[noreturn]] void stuck(Time now);

    const Workload &workload_;
    const Setting &setting_;
    const Machine &machine_;
    const policy::Rules rules_;
    const bool unlimited_;
    const bool vertices_wanted_;
    const std::vector<std::string> functions_;
    policy::Machine tree_;
    EventQueue events_;
    Pool<Task> tasks_;
    Pool<Bundle> bundles_;
    Pool<Reader> readers_;
    VertexHeap vertices_;
    Messages messages_;
    Cards cards_;
    std::vector<Rank> ranks_;
    std::vector<Thread> threads_;
    std::vector<Profile *> profiles_{nullptr};
    std::vector<Vertex *> predecessors_; // scratch
    std::vector<Access> accesses_;       // scratch
    Time create_, depend_, schedule_, suspend_, resume_, poll_, wake_, overhead_;
    std::uint32_t window_;
    std::uint64_t finished_ = 0;
    std::uint64_t next_report_ = 0;
    Time horizon_ = 0;  // of what has happened so far
    Time last_end_ = 0; // of a task
    Result result_;
};

void RankOutlook::changed(Vertex &vertex) {
    simulation->priority_changed(vertex);
}
void RankOutlook::released(Vertex &vertex) {
    simulation->vertex_released(vertex);
}

Simulation::Simulation(const Workload &workload, const Setting &setting)
    : workload_(workload), setting_(setting), machine_(setting.machine),
      rules_(setting.choice.rules), unlimited_(setting.machine.unlimited),
      vertices_wanted_(rules_.propagates() && !unlimited_), functions_(workload.functions()),
      cards_(machine_), ranks_(static_cast<std::size_t>(machine_.rank_count())),
      threads_(static_cast<std::size_t>(machine_.rank_count()) *
               static_cast<std::size_t>(machine_.thread_count())) {
    const auto cost = [&](double value) { return unlimited_ ? 0 : static_cast<Time>(value); };
    create_ = cost(machine_.create);
    depend_ = cost(machine_.depend);
    schedule_ = cost(machine_.schedule);
    suspend_ = cost(machine_.suspend);
    resume_ = cost(machine_.resume);
    poll_ = cost(machine_.poll);
    wake_ = cost(machine_.wake);
    overhead_ = cost(machine_.overhead);
    window_ = unlimited_ ? kNone : static_cast<std::uint32_t>(std::min(machine_.window, 4e9));
    tree_.nodes = std::min({machine_.numa_count(), machine_.thread_count(), kMostQueues});
    const auto team = static_cast<std::uint32_t>(machine_.thread_count());
    for (std::size_t r = 0; r < ranks_.size(); ++r) {
        Rank &rank = ranks_[r];
        rank.first_thread = static_cast<std::uint32_t>(r) * team;
        rank.creator = workload.tasks_of(static_cast<int>(r), setting.choice.marks);
        rank.data.resize(workload.data_of(static_cast<int>(r)));
        rank.outlook.simulation = this;
        if (rules_.ordered)
            rank.queues.resize(static_cast<std::size_t>(tree_.nodes));
        else
            rank.own.resize(team);
        if (rules_.learns())
            rank.profiles = std::make_unique<policy::Profiles>();
        for (std::uint32_t t = 0; t < team; ++t)
            threads_[rank.first_thread + t].rank = static_cast<std::uint32_t>(r);
        for (std::uint32_t t = team; t-- > 1;) {
            rank.idle.push_back(rank.first_thread + t);
            threads_[rank.first_thread + t].idle = true;
        }
    }
}

// ---- creation -----------------------------------------------------------------------------------

Profile *Simulation::profile_of(Rank &rank, const TaskSpec &spec) {
    policy::ProfileKey key;
    key.entry = &functions_[spec.function];
    key.size = static_cast<std::uint32_t>(spec.kind == Kind::compute ? 48 : 32);
    key.dependences = spec.count + (spec.more ? static_cast<std::uint32_t>(spec.more->size()) : 0);
    return rank.profiles->find(key);
}

// A rank has few kinds of tasks, and the same ones over and over.
std::uint32_t Simulation::number_of(Rank &rank, Profile *profile) {
    if (!profile)
        return 0;
    for (const std::uint32_t number : rank.profile_numbers)
        if (profiles_[number] == profile)
            return number;
    profiles_.push_back(profile);
    rank.profile_numbers.push_back(static_cast<std::uint32_t>(profiles_.size() - 1));
    return rank.profile_numbers.back();
}

// The creating thread turns to its next task; what it costs is known before it is made.
void Simulation::go_on_creating(Rank &rank, Time now) {
    if (!rank.waits_for_all)
        rank.spec = rank.creator.next();
    rank.waits_for_all = rank.spec && rank.spec->after_all && rank.unfinished > 0;
    if (rank.waits_for_all) {
        tell_creator(rank, Recorder::Creator::waits_for_all, now);
        return look_for_work(rank.first_thread, now);
    }
    if (!rank.spec) {
        rank.creating = false;
        tell_creator(rank, Recorder::Creator::is_done, now);
        look_for_work(rank.first_thread, now);
        return;
    }
    tell_creator(rank, Recorder::Creator::creates, now);
    const std::size_t items = rank.spec->count + (rank.spec->more ? rank.spec->more->size() : 0);
    for (std::uint32_t i = 0; i < rank.spec->count; ++i) { // time to fetch what created() will touch
        const std::uint32_t writer = rank.data[rank.spec->accesses[i].datum].writer;
        if (writer != kNone)
            tasks_.prefetch(writer);
    }
    const Time cost = create_ + depend_ * static_cast<Time>(items) + rank.spec->before;
    occupy(rank, cost, false);
    events_.push(now + cost, pack(What::create, index_of(rank)));
}

void Simulation::created(Rank &rank, Time now) {
    const std::uint64_t raises = rank.outlook.raises();
    const TaskSpec &spec = *rank.spec;
    const std::uint32_t task = make_task(rank, spec, now);
    const Access *accesses = spec.accesses.data();
    std::size_t count = spec.count;
    if (spec.more) {
        accesses_.assign(accesses, accesses + count);
        accesses_.insert(accesses_.end(), spec.more->begin(), spec.more->end());
        accesses = accesses_.data();
        count = accesses_.size();
    }
    link(rank, task, accesses, count, now);
    if (tasks_[task].priority != 0)
        tell_priority(task, now);
    if (tasks_[task].missing == 0) {
        make_ready(rank, task, rank.first_thread, now);
        wake_for_ready(rank, now);
    }
    const auto raised = static_cast<double>(rank.outlook.raises() - raises);
    const Time cost = static_cast<Time>(raised * machine_.raise);
    occupy(rank, cost, false);
    if (rank.unfinished >= window_) {
        tell_creator(rank, Recorder::Creator::helps, now + cost);
        look_for_work(rank.first_thread, now + cost);
    } else {
        go_on_creating(rank, now + cost);
    }
}

std::uint32_t Simulation::make_task(Rank &rank, const TaskSpec &spec, Time now) {
    const std::uint32_t index = tasks_.take();
    Task &task = tasks_[index];
    const std::uint32_t serial = task.serial;
    task = Task{};
    task.serial = serial;
    task.kind = spec.kind;
    task.function = spec.function;
    task.thread = rank.first_thread;
    const std::uint32_t number = rank.created++;
    if (rules_.by_creation)
        task.age = rank.next_age++;
    if (spec.kind == Kind::compute) {
        Time duration = spec.duration;
        const std::uint32_t r = index_of(rank);
        if (machine_.noise > 0 && !unlimited_) {
            const std::uint64_t random =
                mix(setting_.seed * 0x9E3779B97F4A7C15ull ^ std::uint64_t{r} << 32 ^ number);
            const double even = static_cast<double>(random >> 11) * 0x1p-52 - 1;
            duration += static_cast<Time>(static_cast<double>(duration) * even * machine_.noise);
        }
        if (machine_.slow_rank > 0 && r + 1 == ranks_.size())
            duration += static_cast<Time>(static_cast<double>(duration) * machine_.slow_rank);
        task.duration = duration;
        ++result_.compute;
    } else {
        task.bytes = spec.bytes;
        task.message = spec.message;
        task.peer = spec.peer;
        ++(spec.kind == Kind::send ? result_.sends : result_.receives);
    }
    Profile *profile = nullptr;
    if (rules_.learns() && !unlimited_) {
        profile = profile_of(rank, spec);
        task.profile = number_of(rank, profile);
    }
    task.priority = static_cast<std::int16_t>(
        policy::first_priority(rules_, rank.outlook, profile, spec.clause,
                               spec.count > 0 || spec.more != nullptr));
    ++rank.unfinished;
    rank.most_unfinished = std::max(rank.most_unfinished, rank.unfinished);
    if (setting_.recorder)
        setting_.recorder->created(static_cast<int>(index_of(rank)), key_of(index), task.function,
                                   now);
    return index;
}

void Simulation::depend_on(std::uint32_t predecessor, std::uint32_t serial, std::uint32_t task) {
    Task &before = tasks_[predecessor];
    if (predecessor == task && before.serial == serial)
        return;
    if (setting_.recorder)
        setting_.recorder->depends(static_cast<int>(threads_[tasks_[task].thread].rank),
                                   key_of(predecessor, serial), key_of(task));
    if (before.serial != serial)
        return; // it has ended
    if (before.successor == kNone) {
        before.successor = task;
    } else {
        if (before.successors == kNone ||
            bundles_[before.successors].count == Bundle::kRoom) {
            const std::uint32_t fresh = bundles_.take();
            bundles_[fresh].next = before.successors;
            bundles_[fresh].count = 0;
            before.successors = fresh;
        }
        Bundle &bundle = bundles_[before.successors];
        bundle.successors[bundle.count++] = task;
    }
    ++tasks_[task].missing;
    if (vertices_wanted_ && before.vertex)
        predecessors_.push_back(before.vertex);
}

void Simulation::forget_dead_readers(Datum &datum) {
    std::uint32_t *link = &datum.readers;
    while (*link != kNone) {
        const std::uint32_t at = *link;
        const Reader &reader = readers_[at];
        if (tasks_[reader.task].serial == reader.serial) {
            link = &readers_[at].next;
            continue;
        }
        *link = reader.next;
        readers_.give_back(at);
        --datum.reader_count;
    }
}

// As the runtime's task/depend.h for in and inout: a reader follows the last writer; a writer
// follows the readers since the last writer, or that one.
void Simulation::link(Rank &rank, std::uint32_t index, const Access *accesses, std::size_t count,
                      Time) {
    predecessors_.clear();
    for (std::size_t i = 0; i < count; ++i) {
        Datum &datum = rank.data[accesses[i].datum];
        if (accesses[i].mode == Access::Mode::inout) {
            if (datum.readers == kNone && datum.writer != kNone)
                depend_on(datum.writer, datum.writer_serial, index);
            for (std::uint32_t at = datum.readers; at != kNone;) {
                const Reader reader = readers_[at];
                depend_on(reader.task, reader.serial, index);
                readers_.give_back(at);
                at = reader.next;
            }
            datum = {index, tasks_[index].serial, kNone, 0};
            continue;
        }
        if (datum.writer != kNone)
            depend_on(datum.writer, datum.writer_serial, index);
        if (accesses[i].mode == Access::Mode::last_in)
            continue;
        constexpr std::uint32_t kWorthTidying = 64;
        if (!setting_.recorder && // it is told of dependences on tasks that have ended, too
            datum.reader_count >= kWorthTidying && (datum.reader_count & (datum.reader_count - 1)) == 0)
            forget_dead_readers(datum);
        const std::uint32_t reader = readers_.take();
        readers_[reader] = {index, tasks_[index].serial, datum.readers};
        datum.readers = reader;
        ++datum.reader_count;
    }
    if (!vertices_wanted_ || count == 0)
        return;
    Task &task = tasks_[index];
    const auto known = static_cast<std::uint32_t>(predecessors_.size());
    Vertex *vertex = vertices_.make(known);
    vertex->item = reinterpret_cast<void *>(std::uintptr_t{index});
    vertex->profile = profiles_[task.profile];
    vertex->predecessor_count = static_cast<int>(known);
    std::copy(predecessors_.begin(), predecessors_.end(), vertex->predecessors);
    task.vertex = vertex;
    task.priority =
        static_cast<std::int16_t>(policy::place(rules_, rank.outlook, *vertex, task.priority));
}

// ---- queues -------------------------------------------------------------------------------------

void Simulation::priority_changed(Vertex &vertex) {
    const auto index = static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(vertex.item));
    Task &task = tasks_[index];
    task.priority = static_cast<std::int16_t>(vertex.priority());
    tell_priority(index, horizon_);
    if (!task.queued)
        return;
    Rank &rank = rank_of(task);
    ReadyQueue &queue = rank.queues[task.node];
    queue.push(policy::key(rules_, task.priority, task.age), index);
    if (queue.size() > 1024 + 2 * std::size_t{rank.ready})
        queue.tidy(holds(rank));
}

void Simulation::make_ready(Rank &rank, std::uint32_t index, std::uint32_t thread, Time now) {
    Task &task = tasks_[index];
    if (unlimited_)
        return start(rank, index, rank.first_thread, now);
    ++rank.ready;
    const std::uint32_t member = thread - rank.first_thread;
    if (!rules_.ordered) {
        rank.own[member].push_back(index);
        return;
    }
    if (!rules_.by_creation)
        task.age = rank.next_age++;
    const auto team = static_cast<std::uint32_t>(machine_.thread_count());
    task.node = static_cast<std::uint8_t>(member * static_cast<std::uint32_t>(tree_.nodes) / team);
    task.queued = true;
    rank.queues[task.node].push(policy::key(rules_, task.priority, task.age), index);
}

// Newest of one's own first, else the oldest of the next who has one (auto); else the first in
// order of the nearest queue that has any.
std::uint32_t Simulation::take_ready(Rank &rank, std::uint32_t thread) {
    if (rank.ready == 0)
        return kNone;
    --rank.ready;
    const std::uint32_t member = thread - rank.first_thread;
    const auto team = static_cast<std::uint32_t>(machine_.thread_count());
    if (!rules_.ordered) {
        auto &mine = rank.own[member];
        if (!mine.empty()) {
            const std::uint32_t task = mine.back();
            mine.pop_back();
            return task;
        }
        for (std::uint32_t step = 1; step < team; ++step) {
            auto &other = rank.own[(member + step) % team];
            if (other.empty())
                continue;
            const std::uint32_t task = other.front();
            other.pop_front();
            return task;
        }
    }
    const int node = static_cast<int>(member * static_cast<std::uint32_t>(tree_.nodes) / team);
    for (int near = 0; near < tree_.nodes; ++near) {
        const int at = tree_.look_at(node, near);
        ReadyQueue &queue = rank.queues[static_cast<std::size_t>(at)];
        const std::uint32_t index = queue.pop(holds(rank), kNone);
        if (index == kNone)
            continue;
        Task &task = tasks_[index];
        task.queued = false;
        if (!queue.empty())
            tasks_.prefetch(queue.first());
        if (near > 0 && task.kind == Kind::compute)
            task.duration +=
                static_cast<Time>(static_cast<double>(task.duration) * machine_.numa_penalty);
        return index;
    }
    return kNone; // not reached
}

void Simulation::wake(Rank &rank, std::uint32_t thread, Time now) {
    threads_[thread].idle = false;
    threads_[thread].waking = true;
    ++rank.waking;
    events_.push(now + wake_, pack(What::free, thread));
}

void Simulation::wake_for_ready(Rank &rank, Time now) {
    while (rank.ready > rank.waking && !rank.idle.empty()) {
        const std::uint32_t thread = rank.idle.back();
        rank.idle.pop_back();
        wake(rank, thread, now);
    }
}

// ---- threads ------------------------------------------------------------------------------------

void Simulation::look_for_work(std::uint32_t index, Time now) {
    if (unlimited_)
        return;
    Thread &thread = threads_[index];
    Rank &rank = ranks_[thread.rank];
    if (rank.arrived != kNone)
        notice(rank, now);
    std::uint32_t task = pop(thread.inbox, thread.inbox_end);
    if (task == kNone)
        task = pop(rank.inbox, rank.inbox_end);
    if (task != kNone) { // it has only waited for its message
        tasks_[task].thread = index;
        occupy(rank, resume_, false);
        events_.push(now + resume_, pack(What::finish, task));
        return;
    }
    if (index == rank.first_thread && may_create(rank))
        return go_on_creating(rank, now);
    task = take_ready(rank, index);
    if (task != kNone)
        return start(rank, task, index, now);
    if (rank.outlook.outdated()) {
        const Time cost = reconsider(rank);
        occupy(rank, cost, false);
        events_.push(now + cost, pack(What::free, index));
        return;
    }
    thread.idle = true;
    rank.idle.push_back(index);
    if (setting_.recorder)
        setting_.recorder->idles(static_cast<int>(thread.rank),
                                 static_cast<int>(index - rank.first_thread), now);
}

void Simulation::start(Rank &rank, std::uint32_t index, std::uint32_t thread, Time now) {
    Task &task = tasks_[index];
    task.thread = thread;
    Time cost = schedule_;
    if (task.vertex) {
        Vertex &vertex = *task.vertex;
        task.vertex = nullptr;
        // The outlook forgets the count, and has no use for the floor; the heap wants it back.
        vertex.floor = vertex.predecessor_count;
        rank.outlook.start(vertex);
        if (rank.outlook.overdue())
            cost += reconsider(rank);
    }
    occupy(rank, cost, false);
    if (task.kind != Kind::compute)
        return post(rank, index, thread, now + cost + overhead_);
    if (task.successor != kNone) // finish() will touch them
        tasks_.prefetch(task.successor);
    if (task.successors != kNone)
        bundles_.prefetch(task.successors);
    occupy(rank, task.duration, true);
    const Time end = now + cost + task.duration;
    if (setting_.recorder)
        setting_.recorder->ran({static_cast<int>(threads_[thread].rank),
                                static_cast<int>(thread - rank.first_thread), key_of(index),
                                task.function, task.kind, now + cost, end, 0, 0, 0, false});
    events_.push(end, pack(What::finish, index));
}

void Simulation::finish(std::uint32_t index, Time now) {
    Task &task = tasks_[index];
    const std::uint32_t thread = task.thread;
    Rank &rank = ranks_[threads_[thread].rank];
    if (task.profile && task.kind != Kind::send)
        learn(rank, task, false);
    if (setting_.recorder)
        setting_.recorder->ended(static_cast<int>(threads_[thread].rank),
                                 static_cast<int>(thread - rank.first_thread), key_of(index), now);
    result_.checksum = mix(result_.checksum ^ static_cast<std::uint64_t>(now) ^
                           std::uint64_t{task.age} << 40 ^ thread);
    const std::uint32_t first = task.successor;
    if (first != kNone)
        tasks_.prefetch(first);
    std::uint32_t others = task.successors;
    ++task.serial; // it is gone
    last_end_ = now;
    tasks_.give_back(index);
    --rank.unfinished;
    ++finished_;
    const auto release = [&](std::uint32_t successor) {
        if (--tasks_[successor].missing != 0)
            return;
        if (setting_.recorder)
            setting_.recorder->ready(static_cast<int>(index_of(rank)),
                                     static_cast<int>(thread - rank.first_thread),
                                     key_of(successor), now);
        make_ready(rank, successor, thread, now);
    };
    if (first != kNone)
        release(first);
    while (others != kNone) {
        const Bundle bundle = bundles_[others];
        bundles_.give_back(others);
        others = bundle.next;
        if (others != kNone)
            __builtin_prefetch(&bundles_[others]);
        for (std::uint32_t i = 0; i < bundle.count; ++i)
            tasks_.prefetch(bundle.successors[i]);
        for (std::uint32_t i = 0; i < bundle.count; ++i)
            release(bundle.successors[i]);
    }
    if (unlimited_) {
        if (rank.waits_for_all && rank.unfinished == 0)
            go_on_creating(rank, now);
        return;
    }
    look_for_work(thread, now);
    wake_for_ready(rank, now);
    // The creating thread idles although it could create.
    if (may_create(rank) && threads_[rank.first_thread].idle) {
        rank.idle.erase(std::find(rank.idle.begin(), rank.idle.end(), rank.first_thread));
        wake(rank, rank.first_thread, now);
    }
}

// ---- learning -----------------------------------------------------------------------------------

void Simulation::learn(Rank &rank, Task &task, bool sent) {
    if (policy::learn(*profiles_[task.profile], sent))
        rank.outlook.verdict_changed(sent);
}

Time Simulation::reconsider(Rank &rank) {
    rank.outlook.reconsider();
    return static_cast<Time>(static_cast<double>(rank.unfinished) * machine_.reconsider);
}

// ---- messages -----------------------------------------------------------------------------------

void Simulation::append(std::uint32_t &head, std::uint32_t &end, std::uint32_t task) {
    tasks_[task].next = kNone;
    if (head == kNone)
        head = task;
    else
        tasks_[end].next = task;
    end = task;
}

std::uint32_t Simulation::pop(std::uint32_t &head, std::uint32_t &end) {
    const std::uint32_t task = head;
    if (task != kNone) {
        head = tasks_[task].next;
        if (head == kNone)
            end = kNone;
    }
    return task;
}

// A task calls MPI; the call has reached the network at `at`.
void Simulation::post(Rank &rank, std::uint32_t index, std::uint32_t thread, Time at) {
    Task &task = tasks_[index];
    occupy(rank, overhead_, true);
    const bool sends = task.kind == Kind::send;
    if (sends && task.profile)
        learn(rank, task, true);
    const std::uint32_t number = messages_.find_or_make(task.message);
    Message &message = messages_[number];
    if ((sends ? message.sent_at : message.posted_at) >= 0)
        throw Stuck(fmt::format("message {:#x} has two {}", task.message,
                                sends ? "senders" : "receivers"));
    const std::uint32_t r = index_of(rank);
    const bool eager = static_cast<double>(task.bytes) <= machine_.eager;
    bool over;
    if (sends) {
        message.source = r;
        message.target = task.peer;
        message.bytes = task.bytes;
        message.sent_at = at;
        ++result_.messages;
        result_.bytes += task.bytes;
        over = eager;
        if (eager) {
            message.send_over = true;
            events_.push(at, pack(What::inject, number));
        } else {
            message.send_task = index;
            inject_when_allowed(number);
        }
    } else {
        message.posted_at = at;
        over = message.delivered;
        if (!over) {
            message.receive_task = index;
            inject_when_allowed(number);
        }
    }
    if (setting_.recorder)
        setting_.recorder->ran({static_cast<int>(r), static_cast<int>(thread - rank.first_thread),
                                key_of(index), task.function, task.kind, at - overhead_, at,
                                task.peer, task.message, task.bytes, !over});
    if (over) {
        events_.push(at, pack(What::finish, index));
        if (!sends)
            drop_if_over(number);
        return;
    }
    task.waits = true;
    ++result_.suspended;
    occupy(rank, suspend_, false);
    if (!unlimited_)
        events_.push(at + suspend_, pack(What::free, thread));
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
    const bool tell = message.send_task != kNone;
    if (cards_.through_memory(message.source, message.target)) {
        const Time end = now + cards_.memory_time(message.bytes);
        if (tell)
            events_.push(end, pack(What::sent, number));
        events_.push(end, pack(What::delivered, number));
        return;
    }
    Time sent = 0;
    const Time head = cards_.send(message, now, sent);
    if (tell)
        events_.push(sent, pack(What::sent, number));
    events_.push(head, pack(What::arrive, number));
}

void Simulation::drop_if_over(std::uint32_t number) {
    const Message &message = messages_[number];
    if (message.send_over && message.delivered && message.posted_at >= 0)
        messages_.drop(number);
}

// What a suspended task waits for has come.
void Simulation::communication_done(std::uint32_t index, Time now) {
    Task &task = tasks_[index];
    Rank &rank = rank_of(task);
    task.waits = false;
    if (unlimited_)
        return finish(index, now);
    append(rank.arrived, rank.arrived_end, index);
    if (!rank.idle.empty() && !rank.noticing) { // an idle thread polls; else the next one to look
        rank.noticing = true;
        events_.push(now + poll_, pack(What::notice, index_of(rank)));
    }
}

void Simulation::notice(Rank &rank, Time now) {
    while (rank.arrived != kNone) {
        const std::uint32_t index = pop(rank.arrived, rank.arrived_end);
        if (setting_.recorder)
            setting_.recorder->unblocked(static_cast<int>(index_of(rank)), key_of(index), now);
        const std::uint32_t home = tasks_[index].thread;
        if (machine_.tied > 0) {
            append(threads_[home].inbox, threads_[home].inbox_end, index);
            if (threads_[home].idle) {
                rank.idle.erase(std::find(rank.idle.begin(), rank.idle.end(), home));
                wake(rank, home, now);
            }
            continue;
        }
        append(rank.inbox, rank.inbox_end, index);
        if (!rank.idle.empty()) {
            const std::uint32_t thread = rank.idle.back();
            rank.idle.pop_back();
            wake(rank, thread, now);
        }
    }
}

// ---- the loop -----------------------------------------------------------------------------------

void Simulation::handle(const EventQueue::Event &event) {
    const std::uint32_t who = event.what & kWhoMask;
    const Time now = event.time;
    switch (static_cast<What>(event.what >> kWhatShift)) {
    case What::create:
        return created(ranks_[who], now);
    case What::finish:
        return finish(who, now);
    case What::free: {
        Rank &rank = ranks_[threads_[who].rank];
        if (threads_[who].waking) {
            threads_[who].waking = false;
            --rank.waking;
        }
        look_for_work(who, now);
        return wake_for_ready(rank, now);
    }
    case What::notice: {
        Rank &rank = ranks_[who];
        rank.noticing = false;
        return notice(rank, now);
    }
    case What::inject:
        return inject(who, now);
    case What::arrive:
        events_.push(cards_.receive(messages_[who], now), pack(What::delivered, who));
        return;
    case What::sent: {
        Message &message = messages_[who];
        message.send_over = true;
        const std::uint32_t task = message.send_task;
        drop_if_over(who);
        return communication_done(task, now);
    }
    case What::delivered: {
        Message &message = messages_[who];
        message.delivered = true;
        const std::uint32_t task = message.receive_task;
        drop_if_over(who);
        if (task != kNone)
            communication_done(task, now);
        return;
    }
    }
}

Result Simulation::run() {
    for (Rank &rank : ranks_)
        go_on_creating(rank, 0);
    constexpr std::uint64_t kBetweenReports = 1 << 16;
    while (!events_.empty()) {
        const EventQueue::Event event = events_.pop();
        if (!events_.empty() && events_.next() >> kWhatShift == static_cast<std::uint32_t>(What::finish))
            tasks_.prefetch(events_.next() & kWhoMask);
        ++result_.events;
        horizon_ = event.time;
        handle(event);
        if (finished_ >= next_report_) {
            next_report_ = finished_ + kBetweenReports;
            if (setting_.progress)
                setting_.progress({finished_, workload_.task_count(), horizon_});
        }
    }
    for (const Rank &rank : ranks_)
        if (rank.unfinished > 0 || rank.creating)
            stuck(horizon_);
    result_.time = last_end_;
    result_.tasks = finished_;
    double work = 0;
    for (const Rank &rank : ranks_) {
        const double in_task = static_cast<double>(rank.in_task) * 1e-9;
        result_.in_task += in_task;
        result_.overhead += static_cast<double>(rank.overhead) * 1e-9;
        result_.busiest_rank = std::max(result_.busiest_rank, in_task / machine_.threads);
        result_.raises += rank.outlook.raises();
        result_.passes += rank.outlook.passes();
        result_.most_unfinished =
            std::max<std::uint64_t>(result_.most_unfinished, rank.most_unfinished);
        work += in_task;
    }
    result_.mean_work = work / machine_.threads / machine_.ranks;
    result_.idle = static_cast<double>(last_end_) * 1e-9 * machine_.threads * machine_.ranks -
                   result_.in_task - result_.overhead;
    return result_;
}

void Simulation::stuck(Time now) {
    std::string text;
    int listed = 0;
    messages_.each([&](const Message &message) {
        if (listed++ >= 3)
            return;
        if (message.posted_at < 0)
            text += fmt::format("; rank {} sent message {:#x} to rank {}, which does not receive it",
                                message.source, message.key, message.target);
        else if (message.sent_at < 0)
            text += fmt::format("; rank {} waits for message {:#x}, which nobody sent",
                                threads_[tasks_[message.receive_task].thread].rank, message.key);
    });
    std::uint64_t unfinished = 0;
    for (const Rank &rank : ranks_)
        unfinished += rank.unfinished;
    throw Stuck(fmt::format("nothing can go on after {:.6f} s: {} tasks are not done{}",
                            static_cast<double>(now) * 1e-9, unfinished, text));
}

constexpr struct {
    const char *name;
    Policy policy;
    Marks marks;
} g_choices[] = {
    {"auto", Policy::automatic, Marks::none}, {"fifo", Policy::fifo, Marks::none},
    {"lifo", Policy::lifo, Marks::none},      {"ma1", Policy::ma1, Marks::sends},
    {"ma2", Policy::ma2, Marks::paths},       {"ma3", Policy::ma3, Marks::depths},
    {"sa", Policy::sa, Marks::sends},         {"fa", Policy::fa, Marks::none},
    {"path", Policy::ma3, Marks::global},
};

} // namespace

Choice parse_choice(const std::string &policy, const std::string &order) {
    Order wanted;
    if (order == "auto")
        wanted = Order::automatic;
    else if (order == "creation")
        wanted = Order::creation;
    else if (order == "ready")
        wanted = Order::ready;
    else
        throw std::invalid_argument(
            fmt::format("order '{}' is unknown: use auto, creation or ready", order));
    for (const auto &choice : g_choices)
        if (policy == choice.name)
            return {policy, policy::rules_of(choice.policy, wanted), choice.marks};
    throw std::invalid_argument(fmt::format("policy '{}' is unknown", policy));
}

std::vector<std::string> known_choices() {
    std::vector<std::string> names;
    for (const auto &choice : g_choices)
        names.emplace_back(choice.name);
    return names;
}

Result simulate(const Workload &workload, const Setting &setting) {
    return Simulation(workload, setting).run();
}

Time critical_path(const Workload &workload, const Setting &setting) {
    Setting bare = setting;
    bare.machine.unlimited = true;
    bare.recorder = nullptr;
    bare.choice = parse_choice("fifo");
    return Simulation(workload, bare).run().time;
}

} // namespace sennit::sim
