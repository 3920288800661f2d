// SPDX-License-Identifier: Apache-2.0
#include "tasks/task/depend.h"

#include "base/assert.h"
#include "base/config.h"
#include "base/hash.h"
#include "base/message.h"
#include "tasks/task/lifecycle.h"
#include "tasks/task/observer.h"
#include "tasks/task/priorities.h"
#include "tasks/task/repeats.h"

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <new>
#include <utility>

namespace sennit {
namespace {

// A generation: the nodes, and which kind of access they make. A few nodes are kept inline, for
// example the readers in a stencil.
struct Generation {
    static constexpr std::uint32_t kFew = 4;
    DependNode *few[kFew];
    DependNode **many = nullptr;
    std::uint32_t size = 0;
    std::uint32_t capacity = kFew;
    task::DependKind kind = task::DependKind::out;
    DependMutex *mutex = nullptr;

    bool is_new() const { return size == 0 && !many && !mutex; }
    DependNode **begin() { return many ? many : few; }
    DependNode **end() { return begin() + size; }
    DependNode *const *begin() const { return many ? many : few; }
    DependNode *const *end() const { return begin() + size; }
    bool is_sound() const {
        return size <= capacity && (many != nullptr || capacity == kFew) &&
               (mutex != nullptr) == (kind == task::DependKind::mutexinoutset);
    }
};

struct Entry {
    std::uintptr_t address = 0; // 0: free
    Generation now;
    Generation before;

    // One writer. A next writer need wait for nobody from before it.
    bool is_chain() const {
        return now.size == 1 && now.kind == task::DependKind::out && before.size == 0;
    }
};

void *checked(void *memory, std::size_t size) {
    if (!memory)
        fatal("no memory for task dependences (%zu bytes)", size);
    return memory;
}

} // namespace

struct DependTable {
    Entry *entries = nullptr;
    std::size_t capacity = 0; // power of two
    std::size_t used = 0;
    DependNode *all = nullptr; // last omp_all_memory access: predecessor of every new address
    ExclusionLock *exclusion = nullptr; // of mutexinoutset items, once there was one
    DependNode *waited = nullptr;       // see keep_waited
    task::Repeats repeats;

    [[no_unique_address]] WholeChecks checks;

    [[gnu::always_inline]] inline Entry &find(std::uintptr_t address);
    void grow();
    bool is_found(const Entry &entry) const;
    template <class Visit>
    void each_place(Visit visit) const;
    bool is_sound() const;
};

namespace {

std::size_t hash(std::uintptr_t address) {
    return static_cast<std::size_t>((address * kGolden) >> 20);
}

SENNIT_NOINLINE void clear_what_it_has(sched::Worker *worker, Generation &generation) {
    for (DependNode *node : generation)
        task::drop_place(worker, node);
    generation.size = 0;
    generation.kind = task::DependKind::out;
    if (SENNIT_UNLIKELY(generation.many != nullptr)) {
        std::free(generation.many);
        generation.many = nullptr;
        generation.capacity = Generation::kFew;
    }
    if (SENNIT_UNLIKELY(generation.mutex != nullptr)) {
        task::drop_mutex(generation.mutex);
        generation.mutex = nullptr;
    }
}

inline void clear(sched::Worker *worker, Generation &generation) {
    if (!generation.is_new())
        clear_what_it_has(worker, generation);
    else
        generation.kind = task::DependKind::out;
}

// Forget the tasks that have completed before asking for more room. So a long run of readers stays
// small.
SENNIT_NOINLINE void make_room(sched::Worker *worker, Generation &generation) {
    DependNode **first = generation.begin();
    constexpr std::uint32_t kTraced = 4096; // a trace has the edges from completed tasks, too
    const bool forget = !observed::by(observed::kTrace) || generation.size >= kTraced;
    DependNode **kept =
        !forget ? generation.end() : std::remove_if(first, generation.end(), [&](DependNode *old) {
            if (!old->done())
                return false;
            task::drop_place(worker, old);
            return true;
        });
    generation.size = static_cast<std::uint32_t>(kept - first);
    if (generation.size * 2 <= generation.capacity)
        return;
    const std::uint32_t capacity = generation.size * 4;
    const std::size_t bytes = capacity * sizeof(DependNode *);
    auto **many = static_cast<DependNode **>(checked(std::malloc(bytes), bytes));
    std::memcpy(many, first, generation.size * sizeof(DependNode *));
    std::free(generation.many);
    generation.many = many;
    generation.capacity = capacity;
}

// `node` has been counted.
inline void add(sched::Worker *worker, Generation &generation, DependNode *node) {
    if (SENNIT_UNLIKELY(generation.size == generation.capacity))
        make_room(worker, generation);
    generation.begin()[generation.size++] = node;
}

// The edges to a new node. Siblings are connected one after the other. So if a predecessor has an
// edge to the node already, that is on top of its list. The edge is recognized by its address
// alone, for a predecessor that completes meanwhile may free it.
struct Edges {
    static constexpr int kKept = 8; // of a node with more, a second edge would do no harm
    int count = 0;
    task::Linking *linking;
    const DependEdge *latest[kKept];

    explicit Edges(task::Linking *given) : linking(given) {}
    bool has(const DependEdge *edge) const {
        const DependEdge *const *end = latest + std::min(count, kKept);
        return std::find(latest, end, edge) != end;
    }
    void add(const DependEdge *edge) { latest[count++ % kKept] = edge; }
};

// A waiter without a task is a wait of its creator. A trace shows it so.
SENNIT_COLD void trace_edge(const DependNode &predecessor, const DependNode &node, bool waits) {
    if (predecessor.task && node.task && predecessor.task->trace_id && node.task->trace_id)
        trace::edge(predecessor.task->trace_id, node.task->trace_id, waits);
}
SENNIT_COLD void observed_edge(const DependNode &predecessor, const DependNode &node) {
    if (!predecessor.task || !node.task)
        return;
    trace_edge(predecessor, node, true);
    if (task::Observer *observer = task::observer())
        observer->ordered(*predecessor.task, *node.task);
}

// Adds an edge from the predecessor to the node, unless there is one, or the predecessor has
// completed.
[[gnu::always_inline]] inline void connect(sched::Worker &worker, DependNode *predecessor,
                                           DependNode &node, Edges &edges) {
    DependEdge *top = predecessor->successors.load(std::memory_order_acquire);
    if (predecessor == &node)
        return;
    if (top == DependNode::closed()) {
        if (observed::by(observed::kTrace))
            trace_edge(*predecessor, node, false);
        return;
    }
    if (top && edges.has(top))
        return;
    DependEdge *edge = &node.own_edge;
    if (edge->successor)
        edge = static_cast<DependEdge *>(worker.heap.allocate(sizeof(DependEdge)));
    edge->successor = &node;
    do {
        if (top == DependNode::closed()) {
            if (observed::by(observed::kTrace))
                trace_edge(*predecessor, node, false);
            if (edge == &node.own_edge)
                edge->successor = nullptr;
            else
                worker.heap.release(edge);
            return;
        }
        edge->next = top;
    } while (!predecessor->successors.compare_exchange_weak(top, edge, std::memory_order_release,
                                                            std::memory_order_acquire));
    edges.add(edge);
    if (SENNIT_UNLIKELY(edges.linking != nullptr))
        edges.linking->add(*predecessor);
    if (observed::by_anybody())
        observed_edge(*predecessor, node);
}

// The same where nobody looks on and there is no edge yet. (Later an access that stays with the
// table may add a second one, which does no harm.)
[[gnu::always_inline]] inline void connect_first(sched::Worker &worker, DependNode *predecessor,
                                                 DependNode &node, Edges &edges) {
    DependEdge *top = predecessor->successors.load(std::memory_order_acquire);
    if (top == DependNode::closed())
        return;
    DependEdge *edge = &node.own_edge;
    if (edges.count > 0)
        edge = static_cast<DependEdge *>(worker.heap.allocate(sizeof(DependEdge)));
    edge->successor = &node;
    edge->next = top;
    // Pairs with the exchange in release_successors, as in connect().
    while (SENNIT_UNLIKELY(!predecessor->successors.compare_exchange_weak(
        top, edge, std::memory_order_release, std::memory_order_acquire))) {
        if (top == DependNode::closed()) {
            if (edge == &node.own_edge)
                edge->successor = nullptr;
            else
                worker.heap.release(edge);
            return;
        }
        edge->next = top;
    }
    ++edges.count;
}

// A writer behind one writer: the most common case.
[[gnu::always_inline]] inline void continue_chain(sched::Worker &worker, Entry &entry,
                                                  DependNode &node, Edges &edges) {
    task::count_place(node);
    DependNode *predecessor = entry.now.few[0];
    connect(worker, predecessor, node, edges);
    entry.now.few[0] = &node;
    task::drop_place(&worker, predecessor);
}

// The generation that the node belongs to is the current one; what it depends on, the one before.
[[gnu::always_inline]] inline void open(sched::Worker &worker, DependTable &table, Entry &entry,
                                        DependNode &node, task::DependKind kind) {
    Generation &now = entry.now;
    task::count_place(node);
    const bool joins = now.size > 0 && kind == now.kind && kind != task::DependKind::out;
    if (joins)
        return;
    clear(&worker, entry.before);
    std::swap(entry.before, now);
    now.kind = kind;
    if (kind == task::DependKind::mutexinoutset)
        now.mutex = task::make_mutex(table.exclusion);
}
// And there it is, once it is connected.
[[gnu::always_inline]] inline void enter(sched::Worker &worker, Entry &entry, DependNode &node,
                                         task::DependKind kind) {
    if (kind == task::DependKind::out)
        clear(&worker, entry.before); // nobody joins a writer: not needed again
    if (entry.now.mutex)
        task::add_mutex(node, *entry.now.mutex);
    add(&worker, entry.now, &node);
}

[[gnu::always_inline]] inline void add_access(sched::Worker &worker, DependTable &table,
                                              Entry &entry, DependNode &node, task::DependKind kind,
                                              Edges &edges) {
    if (kind == task::DependKind::out && entry.is_chain())
        return continue_chain(worker, entry, node, edges);
    open(worker, table, entry, node, kind);
    for (DependNode *predecessor : entry.before)
        connect(worker, predecessor, node, edges);
    enter(worker, entry, node, kind);
}

// omp_all_memory: behind everything so far, before everything to come.
SENNIT_COLD void add_all_memory(sched::Worker &worker, DependTable &table, DependNode &node,
                                Edges &edges) {
    for (std::size_t i = 0; i < table.capacity; ++i)
        if (table.entries[i].address)
            add_access(worker, table, table.entries[i], node, task::DependKind::out, edges);
    if (table.all) {
        connect(worker, table.all, node, edges);
        task::drop_place(&worker, table.all);
    }
    task::count_place(node);
    table.all = &node;
}

} // namespace

Entry &DependTable::find(std::uintptr_t address) {
    if ((used + 1) * 2 > capacity)
        grow();
    std::size_t at = hash(address) & (capacity - 1);
    while (entries[at].address && entries[at].address != address)
        at = (at + 1) & (capacity - 1);
    Entry &entry = entries[at];
    if (!entry.address) {
        entry.address = address;
        ++used;
        if (all) {
            ++all->places;
            add(nullptr, entry.now, all);
        }
    }
    return entry;
}

// A table of many addresses first forgets those whose tasks have all completed. It grows only if
// that does not make enough room. A small table always grows: it would do this again and again.
void DependTable::grow() {
    constexpr std::size_t kMany = 512;
    const std::size_t old_capacity = capacity;
    Entry *old = entries;
    std::size_t live = 0;
    auto idle = [](Entry &entry) {
        if (observed::by(observed::kTrace)) // a trace has the edges from completed tasks, too
            return false;
        for (Generation *generation : {&entry.now, &entry.before})
            for (DependNode *node : *generation)
                if (!node->done())
                    return false;
        return true;
    };
    for (std::size_t i = 0; i < old_capacity; ++i) {
        Entry &entry = old[i];
        if (!entry.address)
            continue;
        if (old_capacity >= kMany && idle(entry)) {
            clear(nullptr, entry.now);
            clear(nullptr, entry.before);
            entry.address = 0;
        } else {
            ++live;
        }
    }
    while (capacity < 16 || (live + 1) * 3 > capacity)
        capacity = capacity ? capacity * 2 : 16;
    const std::size_t bytes = capacity * sizeof(Entry);
    entries = static_cast<Entry *>(checked(std::malloc(bytes), bytes));
    for (std::size_t i = 0; i < capacity; ++i)
        new (&entries[i]) Entry;
    used = live;
    for (std::size_t i = 0; i < old_capacity; ++i) {
        if (!old[i].address)
            continue;
        std::size_t at = hash(old[i].address) & (capacity - 1);
        while (entries[at].address)
            at = (at + 1) & (capacity - 1);
        entries[at] = old[i];
    }
    std::free(old);
}

// Linear probing from its hash on leads there.
bool DependTable::is_found(const Entry &entry) const {
    std::size_t at = hash(entry.address) & (capacity - 1);
    while (entries[at].address && entries[at].address != entry.address)
        at = (at + 1) & (capacity - 1);
    return &entries[at] == &entry;
}

// Every place of a node, also of the same one again.
template <class Visit>
void DependTable::each_place(Visit visit) const {
    for (std::size_t i = 0; i < capacity; ++i)
        for (const Generation *generation : {&entries[i].now, &entries[i].before})
            for (DependNode *node : *generation)
                visit(*node);
    if (all)
        visit(*all);
    repeats.each_place(visit);
}

// A node's count of places, with one taken away for each place that is found, is 0. Then they are
// given back.
bool DependTable::is_sound() const {
    std::size_t found = 0;
    bool sound = (capacity & (capacity - 1)) == 0;
    for (std::size_t i = 0; i < capacity; ++i) {
        const Entry &entry = entries[i];
        sound = sound && entry.now.is_sound() && entry.before.is_sound();
        if (!entry.address)
            continue;
        ++found;
        sound = sound && is_found(entry);
    }
    if (!sound || found != used)
        return false;
    each_place([](DependNode &node) { --node.places; });
    each_place([&](DependNode &node) {
        sound = sound && node.places == 0 && node.references.load(std::memory_order_relaxed) > 0;
    });
    each_place([](DependNode &node) { ++node.places; });
    return sound;
}

namespace task {

bool is_sound(const DependTable &table) {
    return table.is_sound();
}

void release_block(sched::Worker *worker, void *block) {
    if (worker)
        worker->heap.release(block);
    else
        Heap::release_foreign(block);
}

void free_node(sched::Worker *worker, DependNode *node) {
    if (SENNIT_UNLIKELY(node->mutexes != nullptr))
        free_mutexes(*node);
    if (!worker)
        worker = sched::Worker::self();
    Task *const task = node->task;
    if (SENNIT_LIKELY(task && reinterpret_cast<std::byte *>(node) == task->node))
        return release_block(worker, task);
    if (task)
        release_block(worker, task);
    release_block(worker, node);
}

void keep_waited(Task &creator, DependNode *node) {
    SENNIT_ASSERT(!creator.children_depend->waited);
    creator.children_depend->waited = node;
}

DependNode *take_waited(Task &creator) {
    return std::exchange(creator.children_depend->waited, nullptr);
}

static DependTable *make_table() {
    auto *table = new (checked(std::malloc(sizeof(DependTable)), sizeof(DependTable))) DependTable;
    if (config().replay == RepeatedGraphs::off)
        table->repeats.switch_off();
    if (sched::rules().propagates())
        table->repeats.need_all_edges();
    return table;
}

// Only its creator's wait has pointed to it.
static void end_waited(sched::Worker *worker, DependTable &table) {
    DependNode *node = std::exchange(table.waited, nullptr);
    DependEdge *behind = node->successors.exchange(DependNode::closed(), std::memory_order_release);
    SENNIT_ASSERT(!behind);
    static_cast<void>(behind);
    drop_node(worker, node);
}

void drop_table(sched::Worker *worker, DependTable *table) {
    if (!table)
        return;
    SENNIT_ASSERT(table->is_sound());
    if (table->waited)
        end_waited(worker, *table);
    table->repeats.release(worker);
    for (std::size_t i = 0; i < table->capacity; ++i) {
        clear(worker, table->entries[i].now);
        clear(worker, table->entries[i].before);
    }
    if (table->all)
        drop_place(worker, table->all);
    if (table->exclusion)
        drop_exclusion_lock(table->exclusion);
    std::free(table->entries);
    std::free(table);
}

// ---- repeated graphs, see repeats.h ---------------------------------------------------------

// What comes is no step of the period: the table is given what it has missed.
static SENNIT_COLD void end_replay(sched::Worker &worker, DependTable &table) {
    Repeats &repeats = table.repeats;
    repeats.each_latest([&](const Repeats::Step &step) {
        const Repeats::Access *const accesses = repeats.accesses(step);
        for (std::uint32_t i = 0; i < step.count; ++i) {
            if (accesses[i].by_table)
                continue;
            Entry &entry = table.find(accesses[i].address);
            open(worker, table, entry, *step.latest, accesses[i].kind);
            enter(worker, entry, *step.latest, accesses[i].kind);
        }
    });
    repeats.end(&worker);
}

// A tool sees all edges, as the table shows them.
static bool may_look(const Linking *linking) {
    return !observed::by_anybody() && (!linking || may_foresee());
}

// The node has all its edges. True when nothing is missing.
[[gnu::always_inline]] static inline bool is_ready(DependNode &node, const Edges &edges) {
    if (edges.count == 0) {
        node.missing.store(0, std::memory_order_relaxed); // nobody else knows the node
        return true;
    }
    // acq_rel: pairs with the decrements of predecessors that completed meanwhile.
    const int taken = DependNode::kBias - edges.count;
    return node.missing.fetch_sub(taken, std::memory_order_acq_rel) == taken;
}

[[gnu::always_inline]] static inline void add_to_table(sched::Worker &worker, DependTable &table,
                                                       DependNode &node, const Depend *depends,
                                                       int count, Edges &edges) {
    for (int i = 0; i < count; ++i) {
        const auto address = reinterpret_cast<std::uintptr_t>(depends[i].address);
        if (SENNIT_UNLIKELY(address == 0))
            add_all_memory(worker, table, node, edges);
        else
            add_access(worker, table, table.find(address), node, depends[i].kind, edges);
    }
    SENNIT_ASSERT(!table.checks.due(table.capacity) || table.is_sound());
    if (SENNIT_UNLIKELY(edges.linking != nullptr))
        edges.linking->finish();
}
static SENNIT_NOINLINE void add_some(sched::Worker &worker, DependTable &table, DependNode &node,
                                     const Depend *depends, int count, Edges &edges) {
    add_to_table(worker, table, node, depends, count, edges);
}

// The accesses that stay with the table. How many edges.
static SENNIT_NOINLINE int add_by_table(sched::Worker &worker, DependTable &table, DependNode &node,
                                        const Depend *depends, const Repeats::Step &step) {
    Edges edges(nullptr);
    const Repeats::Access *const accesses = table.repeats.accesses(step);
    for (std::uint32_t i = 0; i < step.count; ++i)
        if (accesses[i].by_table)
            add_some(worker, table, node, depends + i, 1, edges);
    return edges.count;
}

// True when nothing is missing.
[[gnu::always_inline]] static inline bool replay(sched::Worker &worker, DependTable &table,
                                                 DependNode &node, const Depend *depends,
                                                 Repeats::Step &step) {
    Repeats &repeats = table.repeats;
    Edges edges(nullptr);
    const std::uint32_t *const predecessors = repeats.predecessors();
    for (std::uint32_t i = step.predecessor; i < step.predecessors_end; ++i)
        connect_first(worker, repeats.latest(predecessors[i]), node, edges);
    if (SENNIT_UNLIKELY(step.looks_up))
        edges.count += add_by_table(worker, table, node, depends, step);
    count_place(node);
    drop_place(&worker, std::exchange(step.latest, &node));
    repeats.advance();
    SENNIT_ASSERT(!table.checks.due(table.capacity) || table.is_sound());
    return is_ready(node, edges);
}

// While a period is looked for, or where one ends.
static SENNIT_NOINLINE bool add_and_look(sched::Worker &worker, DependTable &table,
                                         DependNode &node, const Depend *depends, int count,
                                         Linking *linking) {
    if (table.repeats.replays())
        end_replay(worker, table);
    Edges edges(linking);
    add_some(worker, table, node, depends, count, edges);
    if (may_look(linking))
        table.repeats.look(worker, depends, count, node);
    else
        table.repeats.end(&worker); // it misses a task
    return is_ready(node, edges);
}

// A task that is linked has its priority to come: it is replayed if that is known.
static SENNIT_NOINLINE bool add_repeated(sched::Worker &worker, DependTable &table,
                                         DependNode &node, const Depend *depends, int count,
                                         Linking *linking) {
    if (SENNIT_LIKELY(table.repeats.replays() && !observed::by_anybody())) {
        Repeats::Step *const step = table.repeats.next(depends, count);
        if (step && (!linking || linking->foresee(table.repeats, *step)))
            return replay(worker, table, node, depends, *step);
    }
    return add_and_look(worker, table, node, depends, count, linking);
}

static SENNIT_NOINLINE bool add_prepared(sched::Worker &worker, Task &parent, DependNode &node,
                                         const Depend *depends, int count, Linking *linking) {
    if (!parent.children_depend)
        parent.children_depend = make_table();
    if (parent.children_depend->waited)
        end_waited(&worker, *parent.children_depend);
    return add_depends(worker, parent, node, depends, count, linking);
}

// What is not the plainest case is jumped to, so that its registers are not saved for it here.
bool add_depends(sched::Worker &worker, Task &parent, DependNode &node, const Depend *depends,
                 int count, Linking *linking) {
    DependTable *const table = parent.children_depend;
    if (SENNIT_UNLIKELY(!table || table->waited))
        return add_prepared(worker, parent, node, depends, count, linking);
    if (table->repeats.counts(depends[0]))
        return add_repeated(worker, *table, node, depends, count, linking);
    Edges edges(linking);
    add_to_table(worker, *table, node, depends, count, edges);
    return is_ready(node, edges);
}

} // namespace task
} // namespace sennit

namespace sennit::task {
namespace {

void *checked(void *memory, std::size_t size) {
    if (!memory)
        fatal("no memory for task dependences (%zu bytes)", size);
    return memory;
}

// An item that is not free; null when all are.
DependMutex *held_one(MutexSet &set) SENNIT_REQUIRES(set.guard().lock) {
    for (DependMutex *mutex : set) {
        mutex->guard.lock.assert_held();
        if (mutex->held)
            return mutex;
    }
    return nullptr;
}

void set_held(MutexSet &set, bool held) SENNIT_REQUIRES(set.guard().lock) {
    for (DependMutex *mutex : set) {
        mutex->guard.lock.assert_held();
        mutex->held = held;
    }
}

void take_all(MutexSet &set) SENNIT_REQUIRES(set.guard().lock) {
    SENNIT_ASSERT(!set.taken && !held_one(set));
    set_held(set, true);
    set.taken = true;
}

void append(DependMutex &mutex, DependNode &node) SENNIT_REQUIRES(mutex.guard.lock) {
    SENNIT_ASSERT(mutex.held);
    node.mutexes->next = nullptr;
    (mutex.last ? mutex.last->mutexes->next : mutex.first) = &node;
    mutex.last = &node;
}

DependNode *take_first(DependMutex &mutex) SENNIT_REQUIRES(mutex.guard.lock) {
    DependNode *node = mutex.first;
    if (!node)
        return nullptr;
    mutex.first = std::exchange(node->mutexes->next, nullptr);
    if (!mutex.first)
        mutex.last = nullptr;
    return node;
}

// Until somebody holds the item again, or nobody waits for it. A task that lacks another item waits
// for that one from now on.
void give_away(DependMutex &mutex, DependNode *&granted) SENNIT_REQUIRES(mutex.guard.lock) {
    while (!mutex.held) {
        DependNode *node = take_first(mutex);
        if (!node)
            return;
        MutexSet &set = *node->mutexes;
        set.guard().lock.assert_held(); // it is the same one
        if (DependMutex *other = held_one(set)) {
            other->guard.lock.assert_held();
            append(*other, *node);
        } else {
            take_all(set);
            set.next = std::exchange(granted, node);
        }
    }
}

} // namespace

DependMutex *make_mutex(ExclusionLock *&table_lock) {
    if (!table_lock)
        table_lock =
            new (checked(std::malloc(sizeof(ExclusionLock)), sizeof(ExclusionLock))) ExclusionLock;
    table_lock->references.fetch_add(1, std::memory_order_relaxed);
    return new (checked(std::malloc(sizeof(DependMutex)), sizeof(DependMutex)))
        DependMutex(*table_lock);
}

// acq_rel: what the other tasks did with the item comes before the end.
void drop_exclusion_lock(ExclusionLock *lock) {
    if (lock->references.fetch_sub(1, std::memory_order_acq_rel) == 1)
        std::free(lock);
}

void drop_mutex(DependMutex *mutex) {
    if (mutex->references.fetch_sub(1, std::memory_order_acq_rel) != 1)
        return;
    mutex->guard.lock.assert_held(); // nobody else has it any more
    SENNIT_ASSERT(!mutex->held && !mutex->first);
    drop_exclusion_lock(&mutex->guard);
    std::free(mutex);
}

void add_mutex(DependNode &node, DependMutex &mutex) {
    MutexSet *set = node.mutexes;
    if (set && std::find(set->begin(), set->end(), &mutex) != set->end())
        return;
    const int count = set ? set->count : 0;
    const std::size_t bytes =
        sizeof(MutexSet) + static_cast<std::size_t>(count + 1) * sizeof(DependMutex *);
    set = static_cast<MutexSet *>(checked(std::realloc(set, bytes), bytes));
    *set = {.count = count + 1, .taken = false, .next = nullptr};
    set->begin()[count] = &mutex;
    node.mutexes = set;
    mutex.references.fetch_add(1, std::memory_order_relaxed);
}

bool take_mutexes(DependNode &node) {
    MutexSet &set = *node.mutexes;
    // The item was given to the task, and then the task was queued. So this is ordered by the
    // queue's own operations.
    if (set.taken)
        return true;
    const Guard guard(set.guard().lock);
    if (DependMutex *held = held_one(set)) {
        held->guard.lock.assert_held();
        append(*held, node);
        return false;
    }
    take_all(set);
    return true;
}

void release_mutexes(sched::Worker *worker, DependNode &node) {
    MutexSet &set = *node.mutexes;
    SENNIT_ASSERT(set.taken);
    DependNode *granted = nullptr;
    {
        const Guard guard(set.guard().lock);
        set_held(set, false);
        for (DependMutex *mutex : set) {
            mutex->guard.lock.assert_held();
            give_away(*mutex, granted);
        }
    }
    set.taken = false;
    free_mutexes(node);
    while (granted) {
        DependNode *next = std::exchange(granted->mutexes->next, nullptr); // it may be gone then
        node_ready(worker, *granted, Then::queue);
        granted = next;
    }
}

SENNIT_COLD void free_mutexes(DependNode &node) {
    MutexSet *set = std::exchange(node.mutexes, nullptr);
    SENNIT_ASSERT(!set->taken);
    for (DependMutex *mutex : *set)
        drop_mutex(mutex);
    std::free(set);
}

} // namespace sennit::task
