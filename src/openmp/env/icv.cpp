// SPDX-License-Identifier: Apache-2.0
// OMP_* variables (OpenMP 5.2, chapter 21). Each is read by one small function.
#include "openmp/env/icv.h"

#include "base/config.h"
#include "base/message.h"
#include "openmp/env/affinity.h"
#include "openmp/env/environment.h"
#include "openmp/env/split.h"
#include "openmp/memory/allocators.h"
#include "tasks/fiber/stack.h"
#include "tasks/sched/processors.h"
#include "tasks/sched/queue.h"
#include "tasks/task/task.h"

#include <algorithm>
#include <atomic>
#include <cctype>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>
#include <strings.h>
#include <sys/resource.h>

namespace sennit {
namespace {

GlobalIcvs g_icvs;
LeagueIcvs g_league;

constexpr int kMostThreads = 1 << 15;

void read_num_threads(Icvs &icvs) {
    const char *text = read_variable("OMP_NUM_THREADS");
    if (!text)
        return;
    int list[kMostNestedLists] = {};
    int count = 0;
    for (const char *at = text; count < kMostNestedLists;) {
        long number = 0;
        if (!parse_number(at, 1, kMostThreads, &number, &at))
            break;
        list[count++] = static_cast<int>(number);
        if (*at == '\0') {
            std::memcpy(icvs.nthreads, list, sizeof list);
            icvs.nthreads_count = count;
            return;
        }
        if (*at++ != ',')
            break;
    }
    long number = 0;
    const char *end = nullptr;
    const bool is_zero = parse_number(text, 0, 0, &number, &end) && *end == '\0';
    if (is_zero && stands_for_libomp())
        icvs.nthreads[0] = 1; // as of other numbers that are too small, the smallest
    char instead[64];
    std::snprintf(instead, sizeof instead, "%d%s", icvs.nthreads[0],
                  icvs.nthreads[0] == sched::processors() ? " (the processors)" : "");
    complain("OMP_NUM_THREADS", text, "a list of numbers of threads, each 1..32768", instead);
}

// Does the environment say how many levels of regions are active?
bool says_levels(const Icvs &icvs) {
    return g_icvs.levels_changed || icvs.nthreads_count > 1 || omp::bind_list().count > 1 ||
           read_variable("OMP_MAX_ACTIVE_LEVELS") || read_variable("OMP_NESTED");
}

// Regions inside of others have as many threads as without.
void split(Icvs &icvs) {
    const int threads = icvs.nthreads[0];
    const int split = std::min(omp::split_threads(threads), kNoThreadLimit);
    icvs.cuts_inner = omp::split_inner() && !says_levels(icvs);
    if (split == threads)
        return;
    if (icvs.nthreads_count == 1)
        icvs.nthreads[icvs.nthreads_count++] = threads;
    icvs.nthreads[0] = split;
}

bool starts_chunk(const char *text) {
    return *text == ',' &&
           std::isdigit(static_cast<unsigned char>(text[1 + std::strspn(text + 1, " \t")]));
}

// What follows the kind. False where it makes no sense: the kind stays, with a chunk of 1. So do
// both stock runtimes. LLVM's has no chunks of 0 and none for auto, and reads no further than the
// number.
bool parse_chunk(const char *text, Sched kind, long *chunk) {
    const bool libomp = stands_for_libomp();
    const char *end = nullptr;
    const bool good = *text == ',' && parse_number(text + 1, 0, INT_MAX, chunk, &end) &&
                      (libomp ? *chunk > 0 && kind != Sched::automatic : *end == '\0');
    if (!good)
        *chunk = 1;
    return good;
}

// [modifier:]kind[,chunk] (OpenMP 5.2, 21.1.1), and LLVM's kinds.
bool parse_schedule(const char *text, Icvs &icvs) {
    static const struct {
        const char *name;
        Sched kind;
    } kinds[] = {{"static", Sched::static_},       {"dynamic", Sched::dynamic},
                 {"guided", Sched::guided},        {"auto", Sched::automatic},
                 {"static_steal", Sched::dynamic}, {"trapezoidal", Sched::trapezoidal}};
    const char *at = text;
    const bool monotonic = take_word(&at, "monotonic");
    if (monotonic || take_word(&at, "nonmonotonic")) {
        if (*at != ':')
            return false;
        ++at;
    }
    for (const auto &kind : kinds) {
        if (!take_word(&at, kind.name))
            continue;
        // Without a digit behind the comma, LLVM's runtime takes nothing of it.
        if (*at != '\0' && stands_for_libomp() && !starts_chunk(at))
            return false;
        long chunk = 0;
        if (*at != '\0' && !parse_chunk(at, kind.kind, &chunk))
            complain("OMP_SCHEDULE", text, "a schedule with a chunk of 1 or more", "a chunk of 1");
        icvs.set_schedule(kind.kind, monotonic, chunk);
        return true;
    }
    return false;
}

void read_schedule(Icvs &icvs) {
    const char *text = read_variable("OMP_SCHEDULE");
    if (text && !parse_schedule(text, icvs))
        complain("OMP_SCHEDULE", text,
                 "[monotonic:|nonmonotonic:]static|dynamic|guided|auto[,chunk]",
                 icvs.schedule == Sched::static_ ? "static" : "dynamic");
}

// "size", "sizeB", K (the default unit), M, G. False when it is none of these.
bool parse_size(const char *text, size_t *bytes) {
    char *end = nullptr;
    errno = 0;
    const unsigned long long number = std::strtoull(text, &end, 10);
    if (end == text || errno != 0 || *text == '-')
        return false;
    while (std::isspace(static_cast<unsigned char>(*end)))
        ++end;
    int shift = 10;
    if (*end != '\0') {
        switch (std::toupper(static_cast<unsigned char>(*end++))) {
        case 'B':
            shift = 0;
            break;
        case 'K':
            shift = 10;
            break;
        case 'M':
            shift = 20;
            break;
        case 'G':
            shift = 30;
            break;
        default:
            return false;
        }
    }
    if (shift != 0 && std::toupper(static_cast<unsigned char>(*end)) == 'B' && stands_for_libomp())
        ++end; // LLVM's runtime takes 4MB for 4M
    if (*end != '\0' || number == 0 || number > (ULLONG_MAX >> (shift + 8)))
        return false;
    *bytes = static_cast<size_t>(number << shift);
    return true;
}

// The limit, as libgomp's threads have it. Where there is none, as many as libomp's have at most:
// addresses are not memory.
size_t default_stack_size() {
    constexpr size_t kUnlimited = 64u << 20;
    rlimit limit{};
    if (getrlimit(RLIMIT_STACK, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
        return kUnlimited;
    return limit.rlim_cur;
}

void read_stack_size() {
    size_t bytes = default_stack_size();
    bool is_asked = false;
    for (const char *name : {"OMP_STACKSIZE", "GOMP_STACKSIZE", "KMP_STACKSIZE"}) {
        const char *text = read_variable(name);
        if (!text || (*name == 'K' && !stands_for_libomp())) // GCC's runtime does not know it
            continue;
        size_t asked = 0;
        if (!parse_size(text, &asked)) {
            char instead[32];
            std::snprintf(instead, sizeof instead, "%zuK", bytes >> 10);
            complain(name, text, "a size such as 512K, 8M or 1G", instead);
        } else if (asked < fiber::kMinimumStack) {
            char instead[64];
            std::snprintf(instead, sizeof instead, "the smallest, %zuK",
                          fiber::kMinimumStack >> 10);
            complain(name, text, "enough for a task", instead);
            bytes = fiber::kMinimumStack;
            is_asked = true;
        } else {
            bytes = asked;
            is_asked = true;
        }
        break;
    }
    if (is_asked)
        return set_stack_size(bytes);
    fiber::set_default_stack_size(bytes);
    g_icvs.stack_size = fiber::thread_stack_size();
}

void read_wait_policy() {
    const char *text = read_variable("OMP_WAIT_POLICY");
    if (!text)
        return;
    g_icvs.wait_active = strcasecmp(text, "active") == 0;
    if (!g_icvs.wait_active && strcasecmp(text, "passive") != 0)
        return complain("OMP_WAIT_POLICY", text, "active or passive", "the default");
    sched::set_wait_policy(g_icvs.wait_active ? sched::WaitPolicy::active
                                              : sched::WaitPolicy::passive);
}

void read_cancellation() {
    if (read_bool("OMP_CANCELLATION", &g_icvs.cancellation) && g_icvs.cancellation)
        task::heed_cancellation();
}

void read_allocator(Icvs &icvs) {
    const char *text = read_variable("OMP_ALLOCATOR");
    if (!text)
        return;
    const omp::AllocatorHandle handle = omp::parse_allocator(text);
    if (handle == omp::kNullAllocator)
        return complain("OMP_ALLOCATOR", text,
                        "an allocator that is to be had, such as omp_default_mem_alloc or "
                        "omp_default_mem_space:alignment=64",
                        g_icvs.allocator);
    icvs.default_allocator = handle;
    std::snprintf(g_icvs.allocator, sizeof g_icvs.allocator, "%s", text);
}

void read_target_offload() {
    const char *text = read_variable("OMP_TARGET_OFFLOAD");
    if (!text)
        return;
    TargetOffload value = TargetOffload::enabled;
    if (strcasecmp(text, "mandatory") == 0)
        value = TargetOffload::mandatory;
    else if (strcasecmp(text, "disabled") == 0)
        value = TargetOffload::disabled;
    else if (strcasecmp(text, "default") != 0)
        complain("OMP_TARGET_OFFLOAD", text, "mandatory, disabled or default", "default");
    g_icvs.target_offload = value;
}

} // namespace

LeagueIcvs &league_icvs() {
    return g_league;
}

const GlobalIcvs &global_icvs() {
    return g_icvs;
}

void Icvs::set_schedule(Sched kind, bool is_monotonic, long size) {
    schedule = kind;
    schedule_monotonic = is_monotonic;
    // OpenMP 5.2, 11.5.3: without a chunk one iteration, but for static.
    chunk = size > 0 ? size : kind == Sched::static_ ? 0 : 1;
}

int Icvs::set_num_threads(int level, const int *threads, int count) {
    int at = level < kMostNestedLists ? level : kMostNestedLists - 1;
    for (int i = nthreads_count; i < at; ++i)
        nthreads[i] = nthreads[nthreads_count - 1];
    for (int i = 0; i < count && at < kMostNestedLists; ++i)
        nthreads[at++] = threads[i];
    if (nthreads_count < at)
        nthreads_count = at;
    return at;
}

void set_stack_size(std::size_t bytes) {
    fiber::set_stack_size(bytes);
    g_icvs.stack_size = fiber::thread_stack_size();
}

namespace {

void read_max_active_levels(Icvs &icvs) {
    // GCC's runtime takes what it supports for more, and says nothing; LLVM's takes nothing of it.
    const char *text = read_variable("OMP_MAX_ACTIVE_LEVELS");
    if (!text)
        return;
    const long most = g_icvs.supported_levels < INT_MAX ? LONG_MAX : INT_MAX;
    const char *end = nullptr;
    long levels = 0;
    if (parse_number(text, 0, most, &levels, &end) && *end == '\0') {
        icvs.max_active_levels = static_cast<int>(std::min(levels, long{g_icvs.supported_levels}));
        return;
    }
    char instead[32];
    std::snprintf(instead, sizeof instead, "%d", icvs.max_active_levels);
    complain("OMP_MAX_ACTIVE_LEVELS", text, "a number of 0 or more", instead);
}

// KMP_DEVICE_THREAD_LIMIT, whose older name is KMP_ALL_THREADS, and KMP_LIBRARY: how many threads
// there may be, and how they wait. GCC's runtime knows none of them.
void read_library(Icvs &icvs) {
    for (const char *name : {"KMP_DEVICE_THREAD_LIMIT", "KMP_ALL_THREADS"}) {
        const char *text = read_variable(name);
        if (!text)
            continue;
        int limit = sched::processors();
        if (strcasecmp(text, "all") == 0 || read_int(name, 1, INT_MAX, &limit))
            icvs.thread_limit = std::min(icvs.thread_limit, limit);
        break;
    }
    const char *text = read_variable("KMP_LIBRARY");
    if (!text)
        return;
    if (strcasecmp(text, "serial") == 0)
        icvs.thread_limit = 1;
    else if (strcasecmp(text, "turnaround") == 0)
        sched::set_wait_policy(sched::WaitPolicy::active);
    else if (strcasecmp(text, "throughput") != 0)
        complain("KMP_LIBRARY", text, "serial, turnaround or throughput", "throughput");
}

void read_limits(Icvs &icvs) {
    bool nested = false;
    if (read_bool("OMP_NESTED", &nested))
        icvs.max_active_levels = nested ? g_icvs.supported_levels : 1;
    read_max_active_levels(icvs);
    read_int("OMP_THREAD_LIMIT", 1, INT_MAX, &icvs.thread_limit);
    if (stands_for_libomp())
        read_library(icvs);
}

void read_league() {
    int league[2] = {g_league.num_teams.load(std::memory_order_relaxed),
                     g_league.thread_limit.load(std::memory_order_relaxed)};
    read_int("OMP_NUM_TEAMS", 1, INT_MAX, &league[0]);
    read_int("OMP_TEAMS_THREAD_LIMIT", 1, INT_MAX, &league[1]);
    g_league.num_teams.store(league[0], std::memory_order_relaxed);
    g_league.thread_limit.store(league[1], std::memory_order_relaxed);
    if (!stands_for_libomp()) // GCC's runtime knows no more of them
        return;
    read_int("KMP_TEAMS_THREAD_LIMIT", 1, INT_MAX, &g_league.threads);
    omp::BindList bind;
    const char *text = read_variable("KMP_TEAMS_PROC_BIND");
    if (!text)
        return;
    if (!omp::parse_proc_bind(text, bind) || bind.policies[0] < omp::ProcBind::primary)
        return complain("KMP_TEAMS_PROC_BIND", text, "spread, close or primary", "spread");
    g_league.bind = bind.policies[0];
}

void change_levels(Icvs &icvs) {
    g_icvs.levels_changed = true;
    icvs.cuts_inner = false;
    read_limits(icvs);
}

// What may change while the program runs.
const struct {
    const char *name;
    void (*read)(Icvs &initial);
} kChangeable[] = {
    {"OMP_NUM_THREADS",
     [](Icvs &icvs) {
         read_num_threads(icvs);
         split(icvs);
     }},
    {"OMP_DYNAMIC", [](Icvs &icvs) { read_bool("OMP_DYNAMIC", &icvs.dynamic); }},
    {"OMP_SCHEDULE", read_schedule},
    {"OMP_NESTED", change_levels},
    {"OMP_MAX_ACTIVE_LEVELS", change_levels},
    {"OMP_THREAD_LIMIT", read_limits},
    {"OMP_NUM_TEAMS", [](Icvs &) { read_league(); }},
    {"OMP_TEAMS_THREAD_LIMIT", [](Icvs &) { read_league(); }},
    {"OMP_DEFAULT_DEVICE",
     [](Icvs &icvs) { read_int("OMP_DEFAULT_DEVICE", 0, INT_MAX, &icvs.default_device); }},
    {"OMP_STACKSIZE", [](Icvs &) { read_stack_size(); }},
    {"KMP_STACKSIZE", [](Icvs &) { read_stack_size(); }},
    {"OMP_WAIT_POLICY", [](Icvs &) { read_wait_policy(); }},
    {"OMP_TARGET_OFFLOAD", [](Icvs &) { read_target_offload(); }},
};

} // namespace

bool change_setting(const char *name, const char *value) {
    for (const auto &setting : kChangeable) {
        if (std::strcmp(setting.name, name) != 0)
            continue;
        const GivenVariable given(name, value);
        setting.read(g_icvs.initial);
        return true;
    }
    return false;
}

void icv_refuse_split(const char *why) {
    g_icvs.initial.cuts_inner = false;
    if (const int threads = omp::refuse_split(why))
        g_icvs.initial.nthreads[0] = threads;
}

// Other threads may read it meanwhile: one number or the other.
void omp::set_threads_of_environment(int threads) {
    std::atomic_ref(g_icvs.initial.nthreads[0]).store(threads, std::memory_order_relaxed);
}

namespace {

std::uint64_t g_environment_read;
void read_all();

} // namespace

void icv_first_use() {
    static std::atomic<bool> used{false};
    if (!used.exchange(true, std::memory_order_relaxed) && (stands_for_libomp() || !is_needed()) &&
        environment_hash() != g_environment_read)
        read_all();
}

void icv_setup() {
    read_all();
}

namespace {

void read_all() {
    g_environment_read = environment_hash();
    g_icvs = {};
    Icvs &icvs = g_icvs.initial;
    if (!stands_for_libomp()) { // libgomp's defaults
        g_icvs.supported_levels = UCHAR_MAX;
        icvs.set_schedule(Sched::dynamic, false, 1);
    }
    omp::choose_processors();
    omp::affinity_setup(); // before the number of processors is asked for: cores(4) changes it
    icvs.nthreads[0] = sched::processors();
    read_num_threads(icvs);
    read_bool("OMP_DYNAMIC", &icvs.dynamic);
    read_schedule(icvs);
    read_stack_size();
    read_wait_policy();
    read_cancellation();
    read_target_offload();
    // OpenMP 5.2, 2.2: more than one active level by default when a list asks for nested
    // regions.
    icvs.max_active_levels =
        icvs.nthreads_count > 1 || omp::bind_list().count > 1 ? g_icvs.supported_levels : 1;
    read_limits(icvs);
    split(icvs);
    read_int("OMP_DEFAULT_DEVICE", 0, INT_MAX, &icvs.default_device);
    read_allocator(icvs);
    read_league();
    // Policies of communication-aware scheduling live on priority clauses.
    if (sched::ordered())
        g_icvs.max_task_priority = sched::kLevels - 1;
    read_int("OMP_MAX_TASK_PRIORITY", 0, INT_MAX, &g_icvs.max_task_priority);
    bool throttling = true;
    if (read_bool("KMP_ENABLE_TASK_THROTTLING", &throttling) && !throttling)
        task::never_throttle();
    read_bool("KMP_INHERIT_FP_CONTROL", &g_icvs.inherit_fp_control);
    // Threads run ahead of each other by a number of loops that we have chosen; the check
    // remains.
    int loops = 7;
    read_int("KMP_DISP_NUM_BUFFERS", 1, 4096, &loops);
}

} // namespace

} // namespace sennit
