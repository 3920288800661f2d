// SPDX-License-Identifier: Apache-2.0
#include "execution.h"

#include <pthread.h>
#include <sched.h>
#include <unistd.h>

namespace stress {
namespace {

template <class T>
T &at(std::vector<T> &list, int index) {
    return list[static_cast<std::size_t>(index)];
}

void work(int rounds) {
    for (volatile int i = 0; i < rounds; i = i + 1) {
    }
}

void node_body(Execution &run, const Node &node, omp_event_handle_t event);

// firstprivate data that is whole or is not.
template <int kWords>
struct Payload {
    std::uint32_t words[kWords];
    explicit Payload(int node) {
        for (int i = 0; i < kWords; ++i)
            words[i] = note_of(node + i);
    }
    bool holds(int node) const {
        for (int i = 0; i < kWords; ++i)
            if (words[i] != note_of(node + i))
                return false;
        return true;
    }
};

// ---- making tasks, a function for each set of clauses ---------------------------------------

#define STRESS_TEXT(...) #__VA_ARGS__
#define STRESS_PRAGMA(...) _Pragma(STRESS_TEXT(omp __VA_ARGS__))
// What every task has; `run` and `node` are pointers.
#define STRESS_TASK(...)                                                                           \
    STRESS_PRAGMA(task if (node->deferred) final(node->final) priority(node->priority)             \
                      firstprivate(run, node) __VA_ARGS__)
#define STRESS_ON(access)                                                                          \
    depend(iterator(int i = 0 : uses.count[int(Access::access)]),                                  \
           access : cell[uses.list[int(Access::access)][i]])
#define STRESS_OLDER STRESS_ON(in) STRESS_ON(out) STRESS_ON(inout)
#ifdef __clang__
#define STRESS_ALL STRESS_OLDER STRESS_ON(mutexinoutset) STRESS_ON(inoutset)
#else
#define STRESS_ALL STRESS_OLDER STRESS_ON(mutexinoutset)
#endif

// The cells that a node depends on, but for the first `skip` of its first dependence's type.
struct Uses {
    const int *list[kAccesses];
    int count[kAccesses];

    explicit Uses(const Node &node, int skip = 0) {
        for (int a = 0; a < kAccesses; ++a) {
            list[a] = node.by_access[a].data();
            count[a] = static_cast<int>(node.by_access[a].size());
        }
        if (skip) {
            const int first = static_cast<int>(node.depends[0].access);
            list[first] += skip;
            count[first] -= skip;
        }
    }
    explicit Uses(const std::vector<Depend> &depends, std::vector<int> (&cells)[kAccesses]) {
        for (const Depend &depend : depends)
            cells[static_cast<int>(depend.access)].push_back(depend.cell);
        for (int a = 0; a < kAccesses; ++a) {
            list[a] = cells[a].data();
            count[a] = static_cast<int>(cells[a].size());
        }
    }
};

void make_plain(Execution *run, const Node *node) {
    STRESS_TASK()
    node_body(*run, *node, {});
}

template <int kWords>
void make_payload(Execution *run, const Node *node) {
    Payload<kWords> payload(node->id);
    STRESS_TASK(firstprivate(payload)) {
        if (!payload.holds(node->id))
            run->bad_payload.fetch_add(1, std::memory_order_relaxed);
        node_body(*run, *node, {});
    }
}

void make_depend(Execution *run, const Node *node) {
    [[maybe_unused]] std::uint32_t *const cell = run->cells.data();
    const Uses uses(*node);
    STRESS_TASK(STRESS_OLDER)
    node_body(*run, *node, {});
}

void make_depend_all(Execution *run, const Node *node) {
    [[maybe_unused]] std::uint32_t *const cell = run->cells.data();
    const Uses uses(*node);
    STRESS_TASK(STRESS_ALL)
    node_body(*run, *node, {});
}

void make_big_payload(Execution *run, const Node *node) {
    [[maybe_unused]] std::uint32_t *const cell = run->cells.data();
    const Uses uses(*node);
    Payload<3000> payload(node->id);
    STRESS_TASK(STRESS_ALL firstprivate(payload)) {
        if (!payload.holds(node->id))
            run->bad_payload.fetch_add(1, std::memory_order_relaxed);
        node_body(*run, *node, {});
    }
}

void make_untied(Execution *run, const Node *node) {
    [[maybe_unused]] std::uint32_t *const cell = run->cells.data();
    const Uses uses(*node);
    STRESS_TASK(STRESS_OLDER untied)
    node_body(*run, *node, {});
}

void make_mergeable(Execution *run, const Node *node) {
    [[maybe_unused]] std::uint32_t *const cell = run->cells.data();
    const Uses uses(*node);
    STRESS_TASK(STRESS_ALL mergeable)
    node_body(*run, *node, {});
}

void make_cancel(Execution *run, const Node *node) {
    [[maybe_unused]] std::uint32_t *const cell = run->cells.data();
    const Uses uses(*node);
    STRESS_TASK(STRESS_ALL) {
#pragma omp cancellation point taskgroup
        node_body(*run, *node, {});
#pragma omp cancel taskgroup
    }
}

void make_depend_null(Execution *run, const Node *node) {
    [[maybe_unused]] std::uint32_t *const cell = run->cells.data();
    [[maybe_unused]] std::uint32_t *const nothing = run->nothing;
    const Uses uses(*node);
    STRESS_TASK(STRESS_ALL depend(inout : *nothing) depend(in : *nothing))
    node_body(*run, *node, {});
}

#ifdef __clang__
void make_all_memory(Execution *run, const Node *node) {
    STRESS_TASK(depend(out : omp_all_memory))
    node_body(*run, *node, {});
}
#endif

void make_depend_object(Execution *run, const Node *node) {
    [[maybe_unused]] std::uint32_t *const cell = run->cells.data();
    const Uses uses(*node, 1);
    const Depend first = node->depends[0];
    omp_depend_t object;
    if (first.access == Access::in) {
#pragma omp depobj(object) depend(in : cell[first.cell])
    } else {
#pragma omp depobj(object) depend(in : cell[first.cell])
#pragma omp depobj(object) update(inout)
    }
    STRESS_TASK(STRESS_OLDER depend(depobj : object))
    node_body(*run, *node, {});
#pragma omp depobj(object) destroy
}

// An event that nobody got, because its task was discarded before it was made, is null.
void creator_fulfils(Execution &run, const Node &node, omp_event_handle_t event) {
    if (node.fulfil == Fulfil::creator && event != omp_event_handle_t{})
        fulfil(run, node.id, {event, nullptr});
}

void make_detach(Execution *run, const Node *node) {
    omp_event_handle_t event{};
    STRESS_TASK(detach(event))
    node_body(*run, *node, event);
    creator_fulfils(*run, *node, event);
}

void make_detach_depend(Execution *run, const Node *node) {
    [[maybe_unused]] std::uint32_t *const cell = run->cells.data();
    const Uses uses(*node);
    omp_event_handle_t event{};
    STRESS_TASK(STRESS_ALL detach(event))
    node_body(*run, *node, event);
    creator_fulfils(*run, *node, event);
}

// A reference that is a parameter is what both compilers take for a list item.
void make_reduce(Execution *run, const Node *node, std::uint32_t &sum) {
    STRESS_TASK(in_reduction(+ : sum)) {
        node_body(*run, *node, {});
        sum += written(Access::inoutset, 0, node->id);
    }
}

void make_reduce_depend(Execution *run, const Node *node, std::uint32_t &sum) {
    [[maybe_unused]] std::uint32_t *const cell = run->cells.data();
    const Uses uses(*node);
    STRESS_TASK(in_reduction(+ : sum) STRESS_ALL) {
        sum += written(Access::inoutset, 0, node->id);
        node_body(*run, *node, {});
    }
}

void make_task(Execution &run, const Node &node) {
    switch (node.shape) {
    case Shape::plain:
        return make_plain(&run, &node);
    case Shape::payload:
        return make_payload<90>(&run, &node);
    case Shape::depend:
        return make_depend(&run, &node);
    case Shape::depend_all:
        return make_depend_all(&run, &node);
    case Shape::depend_null:
        return make_depend_null(&run, &node);
    case Shape::depend_object:
        return make_depend_object(&run, &node);
#ifdef __clang__
    case Shape::all_memory:
        return make_all_memory(&run, &node);
#else
    case Shape::all_memory:
        break; // never drawn for GCC
#endif
    case Shape::untied:
        return make_untied(&run, &node);
    case Shape::mergeable:
        return make_mergeable(&run, &node);
    case Shape::big_payload:
        return make_big_payload(&run, &node);
    case Shape::detach:
        return make_detach(&run, &node);
    case Shape::detach_depend:
        return make_detach_depend(&run, &node);
    case Shape::reduce:
        return make_reduce(&run, &node, at(run.reductions, node.reduction));
    case Shape::reduce_depend:
        return make_reduce_depend(&run, &node, at(run.reductions, node.reduction));
    case Shape::cancel:
        return make_cancel(&run, &node);
    }
}

// ---- the other steps ------------------------------------------------------------------------

void run_steps(Execution &run, const Node &node, const std::vector<Step> &steps);

void wait_depend(Execution &run, const Step &step) {
    std::vector<int> cells[kAccesses];
    const Uses uses(step.depends, cells);
    [[maybe_unused]] std::uint32_t *const cell = run.cells.data();
#ifdef __clang__
    if (step.kind == Step::taskwait_nowait) {
        STRESS_PRAGMA(taskwait STRESS_OLDER nowait)
        return;
    }
#endif
    STRESS_PRAGMA(taskwait STRESS_OLDER)
}

void reduce(Execution &run, const Node &node, const Step &step,
            [[maybe_unused]] std::uint32_t &sum) {
#pragma omp taskgroup task_reduction(+ : sum)
    run_steps(run, node, step.steps);
}

void taskgroup(Execution &run, const Node &node, const Step &step) {
    if (step.reduction >= 0)
        return reduce(run, node, step, at(run.reductions, step.reduction));
#pragma omp taskgroup
    run_steps(run, node, step.steps);
}

void taskloop(Execution &run, const Step &step) {
    const auto &nodes = step.nodes;
    const auto count = static_cast<int>(nodes.size());
    if (step.flag && step.other) {
#pragma omp taskloop num_tasks(step.amount) nogroup shared(run, nodes)
        for (int i = 0; i < count; ++i)
            node_body(run, *nodes[static_cast<std::size_t>(i)], {});
    } else if (step.flag) {
#pragma omp taskloop grainsize(step.amount) nogroup shared(run, nodes)
        for (int i = 0; i < count; ++i)
            node_body(run, *nodes[static_cast<std::size_t>(i)], {});
    } else if (step.other) {
#pragma omp taskloop num_tasks(step.amount) shared(run, nodes)
        for (int i = 0; i < count; ++i)
            node_body(run, *nodes[static_cast<std::size_t>(i)], {});
    } else {
#pragma omp taskloop grainsize(step.amount) shared(run, nodes)
        for (int i = 0; i < count; ++i)
            node_body(run, *nodes[static_cast<std::size_t>(i)], {});
    }
}

// An implicit task may run several roots one after the other.
void run_root(Execution &run, const Node &root) {
    const int threads = omp_get_max_threads();
    node_body(run, root, {});
    omp_set_num_threads(threads);
}

void region(Execution &run, const std::vector<Node *> &roots, int threads, int mode) {
    const auto count = static_cast<int>(roots.size());
#pragma omp parallel num_threads(threads)
    {
        if (mode == 0) {
#pragma omp single nowait
            for (const Node *root : roots)
                run_root(run, *root);
        } else if (mode == 1) {
#pragma omp for schedule(dynamic, 1) nowait
            for (int i = 0; i < count; ++i)
                run_root(run, *roots[static_cast<std::size_t>(i)]);
        } else {
            for (const Node *root : roots) {
#pragma omp single
                run_root(run, *root);
            }
        }
    }
}

void add_one(Execution &run, std::uint32_t &counter, int which, bool yield) {
    run.uses[which].fetch_add(1, std::memory_order_relaxed);
    const std::uint32_t before = counter;
    if (yield) {
#pragma omp taskyield
    }
    counter = before + 1;
}

void run_step(Execution &run, const Node &node, const Step &step) {
    switch (step.kind) {
    case Step::task: {
        const Node &child = *step.nodes[0];
        make_task(run, child);
        if (child.sync >= 0)
            at(run.synced, child.sync).store(run.stamp(), std::memory_order_relaxed);
        break;
    }
    case Step::taskwait: {
#pragma omp taskwait
        break;
    }
    case Step::taskwait_depend:
    case Step::taskwait_nowait:
        wait_depend(run, step);
        break;
    case Step::taskgroup:
        taskgroup(run, node, step);
        break;
    case Step::taskloop:
        taskloop(run, step);
        break;
    case Step::yield: {
#pragma omp taskyield
        break;
    }
    case Step::critical:
#pragma omp critical(stress)
        add_one(run, run.critical, Execution::kLocks, false);
        break;
    case Step::lock:
        omp_set_lock(&run.locks[step.amount]);
        add_one(run, run.locked[step.amount], step.amount, step.flag);
        omp_unset_lock(&run.locks[step.amount]);
        break;
    case Step::fulfil:
        do_errand();
        break;
    case Step::suspend:
        suspend_task(run);
        break;
    case Step::parallel:
        region(run, step.nodes, step.amount, node.id % 3);
        break;
    case Step::work:
        work(step.amount);
        break;
    }
    if (step.sync >= 0)
        at(run.synced, step.sync).store(run.stamp(), std::memory_order_relaxed);
    int look = step.first_look;
    for (const int cell : step.cells)
        if (run.program.looks[static_cast<std::size_t>(look)].known)
            at(run.found, look++) = at(run.cells, cell);
}

void run_steps(Execution &run, const Node &node, const std::vector<Step> &steps) {
    const pthread_t thread = pthread_self();
    const int number = omp_get_thread_num(), level = omp_get_level();
    for (const Step &step : steps) {
        at(run.now, node.id).store(&step, std::memory_order_relaxed);
        run_step(run, node, step);
        if (node.shape != Shape::untied && !pthread_equal(thread, pthread_self()))
            run.moved.fetch_add(1, std::memory_order_relaxed);
        if (node.shape != Shape::untied && (number != omp_get_thread_num()))
            run.moved.fetch_add(1, std::memory_order_relaxed);
        if (level != omp_get_level())
            run.moved.fetch_add(1, std::memory_order_relaxed);
    }
}

// ---- a node ---------------------------------------------------------------------------------

// Upset the timing now and then, differently in each node.
void jitter(int id, std::uint64_t seed) {
    const std::uint64_t hash = (static_cast<std::uint64_t>(id) + seed * 31) * 0x9E3779B97F4A7C15u;
    switch (hash >> 58) {
    case 0:
        sched_yield();
        break;
    case 1:
        work(static_cast<int>(hash & 4095));
        break;
    case 2:
        if ((hash & 15) == 0)
            usleep(30);
        break;
    default:
        break;
    }
}

void hand_over(Execution &run, const Node &node, const Event &event, Fulfil now) {
    if (!node.has_event() || node.fulfil != now)
        return;
    if (now == Fulfil::body_begins || now == Fulfil::body_ends) {
        fulfil(run, node.id, event);
        return;
    }
    Errand errand;
    errand.run = &run;
    errand.node = node.id;
    errand.event = event;
    publish(errand);
}

void node_body(Execution &run, const Node &node, omp_event_handle_t handle) {
    const Event event{handle, node.binds ? bind_event() : nullptr};
    if (at(run.begun, node.id).exchange(run.stamp(), std::memory_order_relaxed) != 0)
        run.ran_twice.fetch_add(1, std::memory_order_relaxed);
    if (static_cast<bool>(omp_in_final()) != node.in_final)
        run.bad_final.fetch_add(1, std::memory_order_relaxed);
    if (omp_get_max_threads() != node.threads)
        run.bad_threads.fetch_add(1, std::memory_order_relaxed);
    if (node.set_threads)
        omp_set_num_threads(node.set_threads);
    if (node.offers)
        offer_tasks();
    for (const int before : node.events_before)
        if (node.steady && at(run.notes, before) != note_of(before))
            run.bad_note.fetch_add(1, std::memory_order_relaxed);

    const auto count = static_cast<int>(node.depends.size());
    for (int i = 0; i < count; ++i) {
        const Depend &depend = node.depends[static_cast<std::size_t>(i)];
        if (depend.access != Access::out && depend.access != Access::inoutset)
            at(run.found, node.first_look + i) = at(run.cells, depend.cell);
    }
    hand_over(run, node, event, Fulfil::body_begins);
    hand_over(run, node, event, Fulfil::others_early);
    jitter(node.id, run.program.seed);
    run_steps(run, node, node.steps);
    jitter(node.id + 1, run.program.seed);

    for (int i = 0; i < count; ++i) {
        const Depend &depend = node.depends[static_cast<std::size_t>(i)];
        std::uint32_t &cell = at(run.cells, depend.cell);
        const std::uint32_t before = at(run.found, node.first_look + i);
        if (depend.access == Access::inoutset)
            __atomic_fetch_add(&cell, written(depend.access, 0, node.id), __ATOMIC_RELAXED);
        else if (depend.access != Access::in)
            cell = written(depend.access, before, node.id);
        else if (node.steady && cell != before)
            run.bad_reader.fetch_add(1, std::memory_order_relaxed);
    }
    at(run.ended, node.id).store(run.stamp(), std::memory_order_relaxed);
    hand_over(run, node, event, Fulfil::body_ends);
    hand_over(run, node, event, Fulfil::others_late);
}

} // namespace

Execution::Execution(const Program &program)
    : program(program), begun(program.nodes.size()), ended(program.nodes.size()),
      fulfilled(program.nodes.size()), synced(static_cast<std::size_t>(program.syncs)),
      now(program.nodes.size()), cells(static_cast<std::size_t>(program.cells)),
      found(program.looks.size()), notes(program.nodes.size()),
      reductions(program.reductions.size()) {
    for (omp_lock_t &lock : locks)
        omp_init_lock(&lock);
}

Execution::~Execution() {
    for (omp_lock_t &lock : locks)
        omp_destroy_lock(&lock);
}

void Execution::run() {
    omp_set_num_threads(program.threads);
    region(*this, program.roots, program.threads, program.mode);
    synced[0].store(stamp(), std::memory_order_relaxed);
}

} // namespace stress
