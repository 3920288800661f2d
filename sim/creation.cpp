// SPDX-License-Identifier: Apache-2.0
// The creating threads: tasks, their places in the graph, their first priorities.
#include "engine.h"

#include <algorithm>

namespace sennit::sim {

Profile *Simulation::profile_of(Rank &rank, const TaskSpec &spec) {
    policy::ProfileKey key;
    key.entry = &functions_[spec.function];
    key.size = spec.kind == Kind::compute ? 48 : spec.begins(spec.kind) ? 32 : 40;
    key.dependences = spec.count; // of a recorded task the others are no items of its clause
    const bool known = machine_.known > 0 && spec.of_sender();
    Profile *profile = rank.profiles->find(
        key, known ? [](const void *) { return std::optional(true); } : policy::Profiles::Known{});
    if (policy::known_send(rank.outlook, profile))
        rank.outlook.verdict_changed(true);
    return profile;
}

// A rank has few kinds of tasks, and the same ones over and over.
std::uint16_t Simulation::number_of(Rank &rank, Profile *profile) {
    auto &known = rank.known_profiles;
    const auto found = std::find(known.begin(), known.end(), profile);
    const auto number = static_cast<std::uint16_t>(found - known.begin());
    if (found == known.end())
        known.push_back(profile);
    return number;
}

// What the creating thread will make next, and what is to be fetched for those after it: the data
// that they depend on; then who wrote and reads these; then where those keep their successors.
void Simulation::look_ahead(Rank &rank) {
    rank.spec = rank.specs.next();
    if (const TaskSpec *spec = rank.specs.after(6))
        for (std::uint32_t i = 0; i < spec->count; ++i)
            __builtin_prefetch(&rank.data[spec->accesses[i].datum], 1);
    if (const TaskSpec *spec = rank.specs.after(4))
        for (std::uint32_t i = 0; i < spec->count; ++i)
            prefetch_users(rank.data[spec->accesses[i].datum]);
    if (const TaskSpec *spec = rank.specs.after(2))
        for (std::uint32_t i = 0; i < spec->count; ++i)
            prefetch_lists(rank.data[spec->accesses[i].datum], spec->accesses[i].mode);
    tasks_.prefetch_next(rank.places);
}

void Simulation::prefetch_users(const Datum &datum) const {
    if (datum.readers != kNone)
        readers_.prefetch(datum.readers);
    if (datum.writer == kNone)
        return;
    tasks_.prefetch(datum.writer);
    tasks_.prefetch_vertex(datum.writer);
}

void Simulation::prefetch_lists(const Datum &datum, Access::Mode mode) const {
    if (mode == Access::Mode::inout && datum.readers != kNone) {
        const Line<Reader> &line = readers_[datum.readers];
        if (line.next != kNone)
            readers_.prefetch(line.next);
        for (std::uint32_t i = 0; i < line.count; ++i) {
            tasks_.prefetch(line.items[i].task);
            tasks_.prefetch_vertex(line.items[i].task);
        }
    } else if (datum.writer != kNone && tasks_[datum.writer].far != kNone) {
        successors_.prefetch(tasks_[datum.writer].far);
    }
}

// The creating thread turns to its next task; what it costs is known before it is made.
void Simulation::go_on_creating(Rank &rank, Time now) {
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
    const Time cost = create_ + depend_ * static_cast<Time>(items) + match_ +
                      (items > 0 ? place_ : 0) + rank.spec->before;
    occupy(rank, cost, false);
    events_.push(now + cost, pack(What::create, index_of(rank)));
}

// Nothing moves, but tasks that wait may wait for one that a full window keeps from being made. The
// runtime's window holds nobody up who finds nothing to run.
bool Simulation::create_in_spite_of_windows(Time now) {
    bool any = false;
    for (Rank &rank : ranks_) {
        if (!can_create(rank) || !rank.spec)
            continue;
        std::erase(rank.idle, rank.first_thread);
        threads_[rank.first_thread].idle = false;
        go_on_creating(rank, now);
        any = true;
    }
    return any;
}

void Simulation::created(Rank &rank, Time now) {
    tell_starts(rank);
    const std::uint64_t raises = rank.outlook.raises();
    const std::uint32_t task = make_next(rank, now);
    while (rank.spec && rank.spec->goes_on)
        make_next(rank, now);
    note_priorities(now);
    if (tasks_[task].priority != 0)
        tell_priority(task, now);
    if (missing_[task] == 0) {
        make_ready(rank, task, rank.first_thread, now);
        wake_for_ready(rank, now);
    }
    const auto raised = static_cast<double>(rank.outlook.raises() - raises);
    const Time cost = static_cast<Time>(raised * machine_.raise);
    occupy(rank, cost, false);
    if (window_full(rank) || rank.undeferred != kNone) {
        tell_creator(rank, Recorder::Creator::helps, now + cost);
        look_for_work(rank.first_thread, now + cost);
    } else {
        go_on_creating(rank, now + cost);
    }
}

// The task, or the piece, that rank.spec tells of; then that is the next one.
std::uint32_t Simulation::make_next(Rank &rank, Time now) {
    const TaskSpec &spec = *rank.spec;
    const std::uint32_t task = make_task(rank, spec, now);
    if (!unlimited_ && (!has_tasks_ || tasks_[task].is(Part::undeferred)))
        rank.undeferred = task;
    const Access *accesses = spec.accesses.data();
    std::size_t count = spec.count;
    if (spec.more) {
        accesses_.assign(accesses, accesses + count);
        accesses_.insert(accesses_.end(), spec.more->begin(), spec.more->end());
        accesses = accesses_.data();
        count = accesses_.size();
    }
    link(rank, task, accesses, count);
    look_ahead(rank);
    return task;
}

std::uint32_t Simulation::make_task(Rank &rank, const TaskSpec &spec, Time now) {
    const std::uint32_t index = tasks_.take(rank.places);
    Task &task = tasks_[index];
    const std::uint32_t serial = task.serial;
    task = Task{};
    task.serial = serial;
    task.kind = spec.kind;
    task.function = spec.function;
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
        task.call.message = spec.message;
        task.call.peer = spec.peer & kWhoMask;
        task.call.part = static_cast<std::uint32_t>(spec.part) & 7;
        task.call.next = kNone;
        task.call.before = nullptr;
        result_.sends += spec.begins(Kind::send);
        result_.receives += spec.begins(Kind::receive);
    }
    if (spec.goes_on) {
        task.goes_on = true;
        task.head() = {rank.newest, tasks_[rank.newest].serial};
    } else {
        rank.newest = index;
        rank.profile = rules_.learns() && !unlimited_ ? profile_of(rank, spec) : nullptr;
        task.priority = policy::first_priority(rules_, rank.outlook, rank.profile, spec.clause,
                                               spec.count > 0 || spec.more != nullptr);
    }
    // Who learns: the piece that sends, or of a task that does not, the first.
    if (rank.profile && (spec.begins(Kind::send) || !(spec.sends || spec.goes_on)))
        task.profile = number_of(rank, rank.profile) & Task::kMostProfiles;
    ++rank.unfinished;
    rank.most_unfinished = std::max(rank.most_unfinished, rank.unfinished);
    if (setting_.recorder)
        setting_.recorder->created(static_cast<int>(index_of(rank)), key_of(index), spec.function,
                                   now);
    return index;
}

void Simulation::depend_on(std::uint32_t predecessor, std::uint32_t serial, std::uint32_t task) {
    Task &before = tasks_[predecessor];
    if (predecessor == task && before.serial == serial)
        return;
    if (setting_.recorder)
        setting_.recorder->depends(static_cast<int>(tasks_.rank_of(task)),
                                   key_of(predecessor, serial), key_of(task));
    if (before.serial != serial)
        return; // it has ended
    if (before.near_count < Task::kNear)
        before.near[before.near_count++] = task;
    else
        add(successors_, before.far, task);
    ++missing_[task];
    const std::uint32_t first = before.goes_on ? before.head().task : predecessor;
    if (before.goes_on && tasks_[first].serial != before.head().serial)
        return; // of its pieces the first has ended
    if (tasks_[first].has_vertex && !tasks_[first].started)
        predecessors_.push_back(&tasks_.vertex(first));
}

void Simulation::note_reader(Datum &datum, Reader reader) {
    add(readers_, datum.readers, reader);
    ++datum.reader_count;
}

// Of a datum that is written, newest first: all are fetched at once before the first is looked at.
void Simulation::take_readers(const Datum &datum) {
    taken_.clear();
    for (std::uint32_t at = datum.readers; at != kNone;) {
        const Line<Reader> &line = readers_[at];
        for (std::uint32_t i = line.count; i-- > 0;) {
            taken_.push_back(line.items[i]);
            tasks_.prefetch(line.items[i].task);
            tasks_.prefetch_vertex(line.items[i].task);
        }
        readers_.give_back(at);
        at = line.next;
    }
}

void Simulation::forget_dead_readers(Datum &datum) {
    take_readers(datum);
    datum.readers = kNone;
    datum.reader_count = 0;
    for (auto reader = taken_.rbegin(); reader != taken_.rend(); ++reader)
        if (tasks_[reader->task].serial == reader->serial)
            note_reader(datum, *reader);
}

// As the runtime's tasks/task/depend.h for in and inout: a reader follows the last writer; a writer
// follows the readers since the last writer, or that one.
void Simulation::link(Rank &rank, std::uint32_t index, const Access *accesses, std::size_t count) {
    predecessors_.clear();
    for (std::size_t i = 0; i < count; ++i) {
        Datum &datum = rank.data[accesses[i].datum];
        if (accesses[i].mode == Access::Mode::inout) {
            if (datum.readers == kNone && datum.writer != kNone)
                depend_on(datum.writer, datum.writer_serial, index);
            take_readers(datum);
            for (const Reader &reader : taken_)
                depend_on(reader.task, reader.serial, index);
            datum = {index, tasks_[index].serial, kNone, 0};
            continue;
        }
        if (datum.writer != kNone)
            depend_on(datum.writer, datum.writer_serial, index);
        if (accesses[i].mode == Access::Mode::last_in)
            continue;
        constexpr std::uint32_t kWorthTidying = 64;
        if (!setting_.recorder && // it is told of dependences on tasks that have ended, too
            datum.reader_count >= kWorthTidying &&
            (datum.reader_count & (datum.reader_count - 1)) == 0)
            forget_dead_readers(datum);
        note_reader(datum, {index, tasks_[index].serial});
    }
    Task &task = tasks_[index];
    if (!vertices_wanted_ || count == 0 || task.goes_on)
        return;
    Vertex &vertex = tasks_.make_vertex(index, predecessors_);
    vertex.profile = rank.profile;
    task.priority = policy::place(rules_, rank.outlook, vertex, task.priority);
}

} // namespace sennit::sim
