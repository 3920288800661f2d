// SPDX-License-Identifier: Apache-2.0
#include "openmp/env/affinity.h"

#include "base/environment.h"
#include "base/message.h"
#include "base/rank.h"
#include "openmp/env/display.h"
#include "openmp/env/environment.h"
#include "openmp/env/own_share.h"
#include "openmp/env/topology.h"
#include "tasks/sched/ordered_queue.h"
#include "tasks/sched/processors.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <new>
#include <sched.h>

namespace sennit::omp {

bool g_affinity_on = false;

CpuSet processors_of_caller() {
    CpuSet set = processors_of(0);
    if (set.empty())
        set.add(0);
    return set;
}

namespace {

// Where the threads of this process may run, and how they are bound. One thread writes it, while no
// other one is here: when the library is loaded, and when the environment is read again.
struct Affinity {
    CpuSet started; // processors that this process had when it started
    CpuSet allowed; // of them, those that it uses
    BindList bind;
    const char *places_name = nullptr;
    bool display = false;
    bool reset = false;    // the initial thread is bound in parallel regions only
    bool numbered = false; // OMP_PLACES says how many places: cores(4)
    // These live as long as the process, for threads look at them while it exits: nothing destroys
    // what lies in such memory.
    PlaceList *places = nullptr;
    PlaceList *domains = nullptr; // with queues of their own; null where there is one queue
    alignas(PlaceList) unsigned char lasting[2][sizeof(PlaceList)] = {};
};
Affinity g_affinity;

SENNIT_TLS int t_place = -1; // this thread is bound to, -1: to none

void bind_caller(const CpuSet &processors, int place) {
    t_place = place;
    if (sched_setaffinity(0, CpuSet::kBytes,
                          reinterpret_cast<const cpu_set_t *>(processors.data())) == 0)
        return;
    static std::atomic<bool> said{false};
    if (!said.exchange(true, std::memory_order_relaxed))
        warn("the system refuses to bind threads to their places (%s): they stay where they are",
             std::strerror(errno));
}

// ---- environment -------------------------------------------------------------------------------

// Null when it is unset or empty.
const char *variable(const char *name) {
    const char *text = trusted_environment(name);
    return text && *text ? text : nullptr;
}

const char *name_of(Level level) {
    static const char *const kNames[] = {"threads", "cores", "ll_caches", "numa_domains",
                                         "sockets"};
    return kNames[static_cast<int>(level)];
}

// Places of the machine, or single processors when it cannot be looked at.
void add_level(const char *name, Level level, PlaceList &list) {
    g_affinity.places_name = name_of(level);
    const char *obstacle = nullptr;
    if (level != Level::threads)
        obstacle = add_machine_places(level, g_affinity.allowed, list);
    if (obstacle)
        warn("%s: %s; going on with a place for each processor", name, obstacle);
    if (level == Level::threads || obstacle)
        list.add_singles(g_affinity.allowed);
}

// A list that a person wrote: what we may not use goes, and is told, unless it is the other ranks'.
// Of some nothing is left.
void finish_explicit(const char *name, const char *text, const char *wrong, PlaceList &list) {
    if (wrong) {
        warn("%s='%.200s' makes no sense at '%.100s'; it is ignored", name, text, wrong);
        list.clear();
    } else if (list.keep(g_affinity.allowed) && (list.count() == 0 || ranks_on_own_share() == 0)) {
        warn("%s='%.200s' names processors that this process may not use: %s", name, text,
             list.count() > 0 ? "they are left out" : "none is left; it is ignored");
    }
}

void read_omp_places(const char *text, PlaceList &list) {
    AbstractPlaces abstract;
    const char *wrong = parse_places(text, abstract, list);
    if (!wrong && !abstract.asked) {
        finish_explicit("OMP_PLACES", text, nullptr, list);
        // Threads stay where they are, whatever OMP_PROC_BIND says. To libgomp it is as if the
        // variable were not set.
        if (list.count() == 0 && stands_for_libomp())
            list.add(g_affinity.allowed);
        return;
    }
    if (wrong && !stands_for_libomp()) {
        list.clear();
        return warn("OMP_PLACES='%.200s' makes no sense at '%.100s'; it is ignored", text, wrong);
    }
    if (wrong) {
        if (!abstract.asked)
            abstract.level = Level::cores;
        warn("OMP_PLACES='%.200s' makes no sense at '%.100s'; going on with %s", text, wrong,
             name_of(abstract.level));
        abstract.most = CpuSet::kMost;
        list.clear();
    }
    add_level("OMP_PLACES", abstract.level, list);
    list.shorten(abstract.most);
    g_affinity.numbered = abstract.most != CpuSet::kMost;
}

// True where it says how threads are bound, or that they are not.
bool read_kmp_affinity(const char *text, PlaceList &list, BindList &bind) {
    const KmpAffinity asked = parse_kmp_affinity(text);
    if (*asked.unknown)
        warn("KMP_AFFINITY='%.200s': '%s' is not supported and ignored; see OMP_PLACES and "
             "OMP_PROC_BIND",
             text, asked.unknown);
    g_affinity.reset = asked.reset;
    if (!asked.bind)
        return asked.typed;
    bind.policies[0] = asked.spread ? ProcBind::spread : ProcBind::close;
    if (*asked.processors) {
        const char *wrong = parse_cpu_list(asked.processors, list);
        finish_explicit("KMP_AFFINITY", asked.processors, wrong, list);
        if (list.count() == 0)
            bind.policies[0] = ProcBind::false_;
        return true;
    }
    // In the machine's order, not that of the system's numbers.
    if (const char *obstacle = add_machine_places(asked.granularity, g_affinity.allowed, list)) {
        warn("KMP_AFFINITY: %s; going on with a place for each processor", obstacle);
        list.add_singles(g_affinity.allowed);
        return true;
    }
    const Level turns[] = {Level::cores, Level::sockets};
    for (int i = 0; i < 2 && i < asked.permute; ++i) {
        PlaceList groups;
        if (!add_machine_places(turns[i], g_affinity.allowed, groups))
            list.take_turns(groups);
    }
    list.rotate(asked.offset);
    return true;
}

// To libgomp it is as if a value that makes no sense were not there, to libomp it is false.
bool read_proc_bind(const char *text) {
    if (parse_proc_bind(text, g_affinity.bind))
        return true;
    const bool decides = stands_for_libomp();
    if (decides && (std::strcmp(text, "0") == 0 || std::strcmp(text, "1") == 0)) {
        g_affinity.bind.policies[0] = *text == '1' ? ProcBind::true_ : ProcBind::false_;
        return true;
    }
    warn("OMP_PROC_BIND='%.200s' is not true, false, or a list of at most %d policies out of "
         "primary, close, spread; %s",
         text, BindList::kMost, decides ? "going on with false" : "it is ignored");
    return decides;
}

// KMP_AFFINITY, which GCC's runtime does not know, comes before OMP_PROC_BIND and OMP_PLACES in
// LLVM's. They come before GOMP_CPU_AFFINITY.
void read_places(PlaceList &list) {
    if (const char *kmp = variable("KMP_AFFINITY");
        kmp && stands_for_libomp() && read_kmp_affinity(kmp, list, g_affinity.bind)) {
        for (const char *name : {"OMP_PROC_BIND", "OMP_PLACES", "GOMP_CPU_AFFINITY"})
            if (variable(name))
                warn("%s is ignored, for KMP_AFFINITY says where threads run", name);
        return;
    }
    bool decided = false; // OMP_PROC_BIND says something
    if (const char *text = variable("OMP_PROC_BIND"))
        decided = read_proc_bind(text);
    if (const char *places = variable("OMP_PLACES"))
        read_omp_places(places, list);
    if (list.count() > 0) {
        // OMP_PLACES has decided
    } else if (const char *cpus = variable("GOMP_CPU_AFFINITY");
               cpus && (!decided || g_affinity.bind.on())) {
        const char *wrong = parse_cpu_list(cpus, list);
        finish_explicit("GOMP_CPU_AFFINITY", cpus, wrong, list);
    }
    if (!decided && list.count() > 0)
        g_affinity.bind.policies[0] = ProcBind::true_;
    // The policy behind `true` is the implementation's choice (OpenMP 5.2, 21.2.4). libomp's keeps
    // a nested team in the place of the thread that started it, libgomp's wraps around.
    if (g_affinity.bind.policies[0] == ProcBind::true_ && stands_for_libomp())
        g_affinity.bind.policies[0] = ProcBind::spread;
    if (g_affinity.bind.on() && list.count() == 0)
        list.add_singles(g_affinity.allowed);
}

// Threads that take cores from others are bound to none.
void bind_nothing_where_cores_move(PlaceList &list) {
    if (!g_affinity.bind.on() || !cores_move())
        return;
    g_affinity.bind = {};
    list.clear();
    if (speaks_for_node() && is_needed())
        warn("OMP_PROC_BIND, OMP_PLACES and the like bind no threads where cores move between "
             "programs or ranks (SENNIT_POOL, SENNIT_LENDING)");
}

// Those of `allowed` that the parts leave; null, or why there are none. Of the sockets, cores and
// threads that they do not name, all stay: "1t" is a thread of each core.
const char *apply_subset(HwSubset subset, CpuSet &allowed) {
    constexpr int kAll = CpuSet::kMost;
    for (const Level level : {Level::sockets, Level::cores, Level::threads})
        if (PlaceList there; !subset.has(level) && (level == Level::threads ||
                                                    !add_machine_places(level, allowed, there)))
            subset.insert({level, kAll, 0});
    PlaceList lists[2]; // of things of a part, and of the part before
    lists[0].add(allowed);
    for (int i = 0; i < subset.count; ++i) {
        const HwSubset::Part &part = subset.parts[i];
        const PlaceList &outer = lists[i % 2];
        PlaceList &inner = lists[(i + 1) % 2];
        inner.clear();
        PlaceList things;
        if (part.level == Level::threads)
            things.add_singles(allowed);
        else if (const char *obstacle = add_machine_places(part.level, allowed, things))
            return obstacle;
        for (int parent = 0; parent < outer.count(); ++parent) {
            int seen = 0;
            int taken = 0;
            for (int j = 0; j < things.count() && taken < part.count; ++j) {
                CpuSet thing = things[j];
                thing.keep(outer[parent]);
                if (thing.empty() || seen++ < part.offset)
                    continue;
                inner.add(thing);
                ++taken;
            }
            if (taken == 0 || (taken < part.count && part.count != kAll))
                return "the machine has not so many";
        }
    }
    const PlaceList &last = lists[subset.count % 2];
    CpuSet kept;
    for (int i = 0; i < last.count(); ++i)
        kept.add(last[i]);
    allowed = kept;
    return nullptr;
}

// Which threads are near each other: for the queues of NUMA domains (tasks/sched/ordered_queue.h),
// and for thefts. A thread that is bound nowhere has no near one, so without binding all share one
// queue.
void learn_near_threads() {
    if (!g_affinity.bind.on())
        return;
    auto *const domains = new (g_affinity.lasting[1]) PlaceList;
    const policy::Machine machine = machine_of(g_affinity.allowed, *domains);
    if (machine.domains == 1)
        return;
    sched::set_machine(machine);
    g_affinity.domains = domains;
}

} // namespace

void choose_processors() {
    if (g_affinity.started.empty()) {
        g_affinity.started = processors_of_caller();
    } else if (keep_to_own_share()) {
        // An interpreter that loads what needs OpenMP, or a program that changed its environment.
        g_affinity.started = processors_of_caller();
        sched::g_processors.begin();
    }
    g_affinity.allowed = g_affinity.started;
    if (const int ranks = ranks_on_own_share())
        sched::set_sharers(ranks);
    const char *text = variable("KMP_HW_SUBSET");
    if (!text || !stands_for_libomp()) // GCC's runtime does not know it
        return;
    HwSubset subset;
    if (const char *wrong = parse_hw_subset(text, subset))
        return warn("KMP_HW_SUBSET='%.200s' makes no sense at '%.100s'; it is ignored", text,
                    wrong);
    if (const char *obstacle = apply_subset(subset, g_affinity.allowed))
        return warn("KMP_HW_SUBSET='%.200s': %s; it is ignored", text, obstacle);
    sched::set_processors(g_affinity.allowed.count());
    bind_caller(g_affinity.allowed, -1);
}

void affinity_setup() {
    const bool first = !g_affinity.places;
    if (first) {
        g_affinity.places = new (g_affinity.lasting[0]) PlaceList;
    } else { // the environment has changed
        leave_places();
        g_affinity.places->clear();
        g_affinity.bind = {};
        g_affinity.display = g_affinity.reset = g_affinity.numbered = false;
        g_affinity.places_name = nullptr;
    }
    read_places(*g_affinity.places);
    bind_nothing_where_cores_move(*g_affinity.places);
    read_bool("OMP_DISPLAY_AFFINITY", &g_affinity.display);
    set_default_affinity_format();
    if (const char *format = variable("OMP_AFFINITY_FORMAT"))
        set_affinity_format(format, std::strlen(format));
    g_affinity_on = g_affinity.bind.on() || g_affinity.display;
    if (!g_affinity.bind.on())
        return;
    CpuSet used;
    for (int place = 0; place < g_affinity.places->count(); ++place)
        used.add((*g_affinity.places)[place]);
    sched::set_usable_processors(used.count());
    // To libomp cores(4) leaves the process four cores, a list of places does not.
    if (g_affinity.numbered && stands_for_libomp())
        sched::set_processors(used.count());
    if (first)
        learn_near_threads(); // there are no teams yet
    if (!g_affinity.reset && (!first || is_needed()))
        bind_caller((*g_affinity.places)[0], 0);
}

void look_at_affinity() {
    __atomic_store_n(&g_affinity_on, true, __ATOMIC_RELAXED);
}

const CpuSet &processors_of_process() {
    return g_affinity.allowed;
}
const char *place_list_name() {
    return g_affinity.places_name;
}
const BindList &bind_list() {
    return g_affinity.bind;
}
const PlaceList &place_list() {
    return *g_affinity.places;
}
bool display_affinity() {
    return g_affinity.display;
}

bool bound_in_regions_only() {
    return g_affinity.reset;
}
int bound_place() {
    return t_place;
}
void bind_to_place(int place) {
    if (place != t_place)
        bind_caller((*g_affinity.places)[place], place);
}
void leave_places() {
    if (g_affinity.bind.on())
        bind_caller(g_affinity.allowed, -1);
}
int domain_of_place(int place) {
    return g_affinity.domains ? std::min(g_affinity.domains->find((*g_affinity.places)[place]),
                                         sched::machine().domains - 1)
                              : -1;
}

} // namespace sennit::omp
