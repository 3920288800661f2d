// SPDX-License-Identifier: Apache-2.0
// TALP's calls (include/dlb_talp.h): the regions of this process, what the runtime has counted of
// them, and what other processes of the node show on the board.
//
// A region is open from start to stop. At each start, stop and update, what the runtime has counted
// since the last of these is added to the numbers that the program reads.
#include "dlb/talp.h"

#include "dlb.h"

#include "base/clock.h"
#include "base/compiler.h"
#include "base/guard.h"
#include "base/hash.h"
#include "node/board.h"
#include "node/pool.h"
#include "sennit.h"

#include <bit>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <new>
#include <pthread.h>
#include <strings.h>
#include <sys/utsname.h>
#include <unistd.h>
#include <utility>

namespace {

using namespace sennit;
using namespace sennit::dlb;

struct Region {
    dlb_monitor_t told{}; // what the program reads; its first member, so that handles are regions
    char name[DLB_MONITOR_NAME_MAX] = "";
    bool is_open = false;
    SpentNow last; // valid while it is open
    Region *next = nullptr;
    Region *outer = nullptr; // opened before; valid while it is open
};

struct Talp {
    Mutex mutex;
    Region *regions SENNIT_GUARDED_BY(mutex) = nullptr;
    Region *global SENNIT_GUARDED_BY(mutex) = nullptr;
    Region *latest SENNIT_GUARDED_BY(mutex) = nullptr; // the last one that was opened
    int anonymous SENNIT_GUARDED_BY(mutex) = 0;
    node::Board board SENNIT_GUARDED_BY(mutex);
    int attached SENNIT_GUARDED_BY(mutex) = 0;
    bool follows_forks SENNIT_GUARDED_BY(mutex) = false;
};
constinit Talp g_talp;

void update(Region &region, const SpentNow &now) {
    dlb_monitor_t &told = region.told;
    const Spent spent = now.since(region.last);
    told.num_cpus = static_cast<int>(now.threads);
    told.elapsed_time += now.at_ns - region.last.at_ns;
    told.useful_time += spent.useful;
    told.mpi_time += spent.mpi;
    told.omp_load_imbalance_time += spent.imbalance;
    told.omp_scheduling_time += spent.scheduling;
    told.omp_serialization_time += spent.serial;
    told.num_mpi_calls += now.mpi_calls - region.last.mpi_calls;
    told.num_omp_parallels += now.parallels - region.last.parallels;
    told.num_omp_tasks += now.tasks - region.last.tasks;
    const std::int64_t all = told.useful_time + told.mpi_time + told.omp_load_imbalance_time +
                             told.omp_scheduling_time + told.omp_serialization_time;
    told.avg_cpus =
        told.elapsed_time > 0
            ? static_cast<float>(static_cast<double>(all) / static_cast<double>(told.elapsed_time))
            : 0;
    region.last = now;
}

void open(Region &region, const SpentNow &now) SENNIT_REQUIRES(g_talp.mutex) {
    region.told.start_time = now.at_ns;
    region.told.stop_time = 0;
    region.last = now;
    region.is_open = true;
    region.outer = g_talp.latest;
    g_talp.latest = &region;
}

void forget_open(Region &region) SENNIT_REQUIRES(g_talp.mutex) {
    Region **at = &g_talp.latest;
    while (*at && *at != &region)
        at = &(*at)->outer;
    if (*at)
        *at = region.outer;
    region.is_open = false;
}

void stop(Region &region, const SpentNow &now) SENNIT_REQUIRES(g_talp.mutex) {
    update(region, now);
    region.told.stop_time = now.at_ns;
    ++region.told.num_measurements;
    forget_open(region);
}

Region *make_region(const char *name) SENNIT_REQUIRES(g_talp.mutex) {
    void *const memory = std::malloc(sizeof(Region));
    if (!memory)
        return nullptr;
    auto *const region = new (memory) Region;
    std::snprintf(region->name, sizeof region->name, "%s", name);
    region->told.name = region->name;
    region->next = g_talp.regions;
    g_talp.regions = region;
    return region;
}

// The program reads it anew. Its name stays, and how often it was reset.
void clear(Region &region) {
    const int resets = region.told.num_resets;
    region.told = {};
    region.told.name = region.name;
    region.told.num_resets = resets;
}

// The child counts anew, and the runtime's own handler has run before. The board is the parent's,
// and the lock may be held by a thread that the child does not have.
void after_fork_in_child() SENNIT_ACROSS_FORK {
    new (&g_talp.mutex) Mutex;
    if (g_talp.attached > 0)
        g_talp.board.abandon();
    g_talp.attached = 0;
    SpentNow now;
    if (!read_spent(now))
        return;
    for (Region *region = g_talp.regions; region; region = region->next) {
        clear(*region);
        region->last = now;
        region->told.start_time = region->is_open ? now.at_ns : 0;
    }
}

void follow_forks() SENNIT_REQUIRES(g_talp.mutex) {
    if (!std::exchange(g_talp.follows_forks, true))
        pthread_atfork(nullptr, nullptr, after_fork_in_child);
}

// The whole run, from the begin of counting on.
Region *global_region() SENNIT_REQUIRES(g_talp.mutex) {
    SpentNow now;
    if (!g_talp.global && read_spent(now)) {
        follow_forks();
        g_talp.global = make_region(DLB_GLOBAL_REGION_NAME);
        if (g_talp.global) {
            SpentNow begin;
            begin.begin_ns = begin.at_ns = now.begin_ns;
            begin.threads = 1; // the initial one
            open(*g_talp.global, begin);
        }
    }
    return g_talp.global;
}

// Null: it is no region. DLB_ERR_NOTALP goes before.
Region *find(const dlb_monitor_t *handle) SENNIT_REQUIRES(g_talp.mutex) {
    if (handle == DLB_GLOBAL_REGION)
        return global_region();
    for (Region *region = g_talp.regions; region; region = region->next)
        if (&region->told == handle)
            return region;
    return nullptr;
}

// Calls change(region, now) with the lock.
template <class Change>
int with_region(const dlb_monitor_t *handle, Change change) {
    SpentNow now;
    if (!read_spent(now))
        return DLB_ERR_NOTALP;
    const Guard guard(g_talp.mutex);
    global_region(); // so it is the outermost one
    Region *const region = handle == DLB_LAST_OPEN_REGION ? g_talp.latest : find(handle);
    return region ? change(*region, now) : DLB_ERR_NOENT;
}

std::uint64_t this_node() {
    utsname facts{};
    uname(&facts);
    std::uint64_t hash = 0;
    for (const char *at = facts.nodename; *at; ++at)
        hash = hash_after(hash, static_cast<unsigned char>(*at));
    return hash | 1;
}

// What the process brings, with the region as of now.
int contribute(const dlb_monitor_t *handle, Contribution &mine, char *name) {
    return with_region(handle, [&](Region &region, const SpentNow &now) {
        if (region.is_open)
            update(region, now);
        const dlb_monitor_t &told = region.told;
        mine.spent = {told.useful_time, told.mpi_time, told.omp_serialization_time,
                      told.omp_load_imbalance_time, told.omp_scheduling_time};
        mine.elapsed_ns = told.elapsed_time;
        mine.threads = mine.spent.total() > 0 ? told.num_cpus : 0;
        mine.measurements = told.num_measurements + (region.is_open ? 1 : 0);
        mine.mpi_calls = told.num_mpi_calls;
        mine.parallels = told.num_omp_parallels;
        mine.tasks = told.num_omp_tasks;
        mine.node = this_node();
        mine.average_threads = static_cast<double>(told.avg_cpus);
        std::memcpy(name, region.name, sizeof region.name);
        return static_cast<int>(DLB_SUCCESS);
    });
}

// Of all ranks of the program, or of the node; of this process alone where there is no MPI. Memory
// that the caller frees. Null: there is none, or ranks could not meet.
Contribution *gather(bool node, const Contribution &mine, int &count, int &ranks) {
    const auto gather_all =
        reinterpret_cast<decltype(&sennit_gather)>(dlsym(RTLD_DEFAULT, "sennit_gather"));
    constexpr int bytes = sizeof(Contribution);
    ranks = gather_all ? gather_all(node, &mine, bytes, nullptr, 0) : 0;
    count = ranks > 0 ? ranks : 1;
    auto *const all = static_cast<Contribution *>(
        std::malloc(static_cast<std::size_t>(count) * sizeof(Contribution)));
    if (all && ranks > 0 && gather_all(node, &mine, bytes, all, ranks * bytes) != ranks) {
        std::free(all);
        return nullptr;
    }
    if (all && ranks == 0)
        all[0] = mine;
    return all;
}

// Calls tell(what all bring, ranks, the region's name).
template <class Tell>
int collect(bool node, const dlb_monitor_t *handle, Tell tell) {
    Contribution mine;
    char name[DLB_MONITOR_NAME_MAX] = "";
    int error = contribute(handle, mine, name);
    int count = 0;
    int ranks = 0;
    // Others wait for what this rank brings, also if it is nothing.
    Contribution *const all = gather(node, mine, count, ranks);
    if (error == DLB_SUCCESS)
        error = !all ? DLB_ERR_UNKNOWN
                     : tell(std::span<const Contribution>(all, static_cast<std::size_t>(count)),
                            ranks, name);
    std::free(all);
    return error;
}

bool is_global(const char *name) {
    return !name || strncasecmp(name, DLB_GLOBAL_REGION_NAME, DLB_MONITOR_NAME_MAX - 1) == 0;
}

int open_board() SENNIT_REQUIRES(g_talp.mutex) {
    node::Reason reason;
    const node::Membership membership = node::read_membership(reason);
    reason = {};
    follow_forks();
    if (g_talp.attached == 0 && !g_talp.board.open(membership.path, reason))
        return DLB_ERR_NOSHMEM;
    ++g_talp.attached;
    return DLB_SUCCESS;
}

// Visits the times of each process that counts: visit(pid, spent), with the lock. DLB_ERR_NOSHMEM:
// nobody has attached.
template <class Visit>
int each_process(Visit visit) {
    const Guard guard(g_talp.mutex);
    if (g_talp.attached == 0)
        return DLB_ERR_NOSHMEM;
    g_talp.board.each([&](int, node::BoardSlot &slot) {
        SpentNow now;
        const node::Identity holder = slot.holder.load(std::memory_order_relaxed);
        if (holder != 0 && slot.spent.read(now) && node::is_alive(holder))
            visit(static_cast<int>(node::pid_of(holder)), now.until(monotonic_ns()).all());
    });
    return DLB_SUCCESS;
}

void print(const Region &region) {
    const dlb_monitor_t &told = region.told;
    const Spent spent{told.useful_time, told.mpi_time, told.omp_serialization_time,
                      told.omp_load_imbalance_time, told.omp_scheduling_time};
    const auto seconds = [](std::int64_t ns) { return static_cast<double>(ns) * 1e-9; };
    std::fprintf(
        stderr,
        "sennit: region %s of process %d: %.3f s, %d times, %d threads, %lld MPI calls, %lld "
        "parallel regions, %lld tasks\n"
        "sennit:   useful %.3f s, MPI %.3f s, serial %.3f s, imbalance %.3f s, scheduling %.3f s\n"
        "sennit:   efficiency: parallel %.1f%% = MPI %.1f%% x OpenMP %.1f%% (serial parts %.1f%% x "
        "load balance %.1f%% x scheduling %.1f%%)\n",
        region.name, getpid(), seconds(told.elapsed_time), told.num_measurements, told.num_cpus,
        static_cast<long long>(told.num_mpi_calls), static_cast<long long>(told.num_omp_parallels),
        static_cast<long long>(told.num_omp_tasks), seconds(spent.useful), seconds(spent.mpi),
        seconds(spent.serial), seconds(spent.imbalance), seconds(spent.scheduling),
        100 * spent.parallel(), 100 * spent.mpi_part(), 100 * spent.openmp(),
        100 * spent.serial_parts(), 100 * spent.thread_balance(), 100 * spent.overhead());
}

} // namespace

bool sennit::dlb::read_spent(SpentNow &now) {
    static const auto read = reinterpret_cast<decltype(&sennit_get_time_spent)>(
        dlsym(RTLD_DEFAULT, "sennit_get_time_spent"));
    sennit_time_spent counted;
    if (!read || read(&counted) != SENNIT_SUCCESS)
        return false;
    now = std::bit_cast<SpentNow>(counted);
    return true;
}

extern "C" {

SENNIT_EXPORT int DLB_TALP_Attach() {
    const Guard guard(g_talp.mutex);
    return open_board();
}

SENNIT_EXPORT int DLB_TALP_Detach() {
    const Guard guard(g_talp.mutex);
    if (g_talp.attached == 0)
        return DLB_ERR_NOSHMEM;
    if (--g_talp.attached == 0)
        g_talp.board.close();
    return DLB_SUCCESS;
}

SENNIT_EXPORT int DLB_TALP_GetNumCPUs(int *cpus) {
    *cpus = static_cast<int>(sysconf(_SC_NPROCESSORS_CONF));
    return DLB_SUCCESS;
}

SENNIT_EXPORT int DLB_TALP_GetPidList(int *pids, int *count, int most) {
    int found = 0;
    const int error = each_process([&](int pid, const Spent &) {
        if (found < most)
            pids[found++] = pid;
    });
    if (error == DLB_SUCCESS)
        *count = found;
    return error;
}

SENNIT_EXPORT int DLB_TALP_GetTimes(int pid, double *mpi_time, double *useful_time) {
    const auto tell = [&](const Spent &spent) {
        *mpi_time = static_cast<double>(spent.mpi) * 1e-9;
        *useful_time = static_cast<double>(spent.useful) * 1e-9;
        return static_cast<int>(DLB_SUCCESS);
    };
    if (pid == 0 || pid == getpid())
        return with_region(DLB_GLOBAL_REGION, [&](Region &region, const SpentNow &now) {
            if (region.is_open)
                update(region, now);
            return tell({.useful = region.told.useful_time, .mpi = region.told.mpi_time});
        });
    int result = DLB_ERR_NOPROC;
    const int error = each_process([&](int other, const Spent &spent) {
        if (other == pid)
            result = tell(spent);
    });
    return error == DLB_SUCCESS ? result : error;
}

SENNIT_EXPORT int DLB_TALP_GetNodeTimes(const char *name, dlb_node_times_t *times, int *count,
                                        int most) {
    int found = 0;
    const int error = each_process([&](int pid, const Spent &spent) {
        if (found < most && is_global(name))
            times[found++] = {pid, spent.mpi, spent.useful};
    });
    if (error == DLB_SUCCESS)
        *count = found;
    return error;
}

SENNIT_EXPORT int DLB_TALP_QueryPOPNodeMetrics(const char *name, dlb_node_metrics_t *metrics) {
    NodeSum sum;
    const int error =
        each_process([&](int, const Spent &spent) { sum.add(spent.mpi, spent.useful); });
    if (error != DLB_SUCCESS)
        return error;
    return is_global(name) && sum.tell(DLB_GLOBAL_REGION_NAME, *metrics) ? DLB_SUCCESS
                                                                         : DLB_ERR_NOENT;
}

SENNIT_EXPORT dlb_monitor_t *DLB_MonitoringRegionGetGlobal() {
    const Guard guard(g_talp.mutex);
    Region *const region = global_region();
    return region ? &region->told : nullptr;
}
SENNIT_EXPORT dlb_monitor_t *DLB_MonitoringRegionGetImplicit() {
    return DLB_MonitoringRegionGetGlobal();
}
SENNIT_EXPORT const dlb_monitor_t *DLB_MonitoringRegionGetMPIRegion() {
    return DLB_MonitoringRegionGetGlobal();
}

SENNIT_EXPORT dlb_monitor_t *DLB_MonitoringRegionRegister(const char *name) {
    SpentNow now;
    if (name == DLB_LAST_OPEN_REGION || !read_spent(now))
        return nullptr;
    const Guard guard(g_talp.mutex);
    Region *const global = global_region();
    char made_up[32] = "";
    if (!name || !*name) {
        std::snprintf(made_up, sizeof made_up, "Anonymous Region %d", ++g_talp.anonymous);
        name = made_up;
    }
    if (strncasecmp(name, "all", DLB_MONITOR_NAME_MAX - 1) == 0)
        return nullptr;
    if (is_global(name))
        return global ? &global->told : nullptr;
    for (Region *region = g_talp.regions; region; region = region->next)
        if (std::strncmp(region->name, name, sizeof region->name - 1) == 0)
            return &region->told;
    Region *const region = make_region(name);
    return region ? &region->told : nullptr;
}

SENNIT_EXPORT int DLB_MonitoringRegionReset(dlb_monitor_t *handle) {
    return with_region(handle, [](Region &region, const SpentNow &) {
        g_talp.mutex.assert_held();
        if (region.is_open)
            forget_open(region);
        clear(region);
        ++region.told.num_resets;
        return static_cast<int>(DLB_SUCCESS);
    });
}

SENNIT_EXPORT int DLB_MonitoringRegionStart(dlb_monitor_t *handle) {
    if (handle == DLB_LAST_OPEN_REGION)
        return DLB_ERR_NOENT;
    return with_region(handle, [](Region &region, const SpentNow &now) {
        g_talp.mutex.assert_held();
        if (region.is_open)
            return static_cast<int>(DLB_NOUPDT);
        open(region, now);
        return static_cast<int>(DLB_SUCCESS);
    });
}

SENNIT_EXPORT int DLB_MonitoringRegionStop(dlb_monitor_t *handle) {
    return with_region(handle, [](Region &region, const SpentNow &now) {
        g_talp.mutex.assert_held();
        if (!region.is_open)
            return static_cast<int>(DLB_NOUPDT);
        stop(region, now);
        return static_cast<int>(DLB_SUCCESS);
    });
}

SENNIT_EXPORT int DLB_MonitoringRegionReport(const dlb_monitor_t *handle) {
    return with_region(handle, [](Region &region, const SpentNow &now) {
        if (region.is_open)
            update(region, now);
        print(region);
        return static_cast<int>(DLB_SUCCESS);
    });
}

SENNIT_EXPORT int DLB_MonitoringRegionsUpdate() {
    return with_region(DLB_GLOBAL_REGION, [](Region &, const SpentNow &now) {
        g_talp.mutex.assert_held();
        for (Region *region = g_talp.regions; region; region = region->next)
            if (region->is_open)
                update(*region, now);
        return static_cast<int>(DLB_SUCCESS);
    });
}

SENNIT_EXPORT int DLB_TALP_CollectPOPMetrics(dlb_monitor_t *handle, dlb_pop_metrics_t *metrics) {
    return collect(false, handle,
                   [&](std::span<const Contribution> all, int ranks, const char *name) {
                       *metrics = pop_metrics(all, ranks);
                       std::snprintf(metrics->name, sizeof metrics->name, "%s", name);
                       return static_cast<int>(DLB_SUCCESS);
                   });
}

SENNIT_EXPORT int DLB_TALP_CollectPOPNodeMetrics(dlb_monitor_t *handle,
                                                 dlb_node_metrics_t *metrics) {
    return collect(true, handle, [&](std::span<const Contribution> all, int, const char *name) {
        NodeSum sum;
        for (const Contribution &one : all)
            sum.add(one.spent.mpi, one.spent.useful);
        return sum.tell(name, *metrics) ? DLB_SUCCESS : DLB_ERR_NOENT;
    });
}
SENNIT_EXPORT int DLB_TALP_CollectNodeMetrics(dlb_monitor_t *handle, dlb_node_metrics_t *metrics) {
    return DLB_TALP_CollectPOPNodeMetrics(handle, metrics);
}

} // extern "C"
