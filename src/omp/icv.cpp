// SPDX-License-Identifier: Apache-2.0
// OMP_* variables (OpenMP 5.2, chapter 21). Each is read by one small function; a value that it
// does not understand costs one line and leaves the default.
#include "omp/icv.h"

#include "base/config.h"
#include "base/message.h"
#include "fiber/stack.h"
#include "omp/affinity.h"
#include "omp/allocators.h"
#include "omp/display.h"
#include "omp/target.h"
#include "omp/team.h"
#include "sched/queue.h"
#include "sched/threads.h"

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
constexpr int kMostLevels = 256;

void complain(const char *name, const char *value, const char *wanted, const char *instead) {
    warn("%s='%s' is not %s; going on with %s", name, value, wanted, instead);
}

// The environment's value without blanks around it, in a buffer that the next call reuses.
const char *read(const char *name) {
    static char text[512];
    const char *value = std::getenv(name);
    if (!value)
        return nullptr;
    while (std::isspace(static_cast<unsigned char>(*value)))
        ++value;
    std::snprintf(text, sizeof text, "%s", value);
    for (size_t end = std::strlen(text);
         end > 0 && std::isspace(static_cast<unsigned char>(text[end - 1]));)
        text[--end] = '\0';
    return text;
}

bool parse_number(const char *text, long low, long high, long *number, const char **end) {
    char *stop = nullptr;
    errno = 0;
    const long value = std::strtol(text, &stop, 10);
    if (stop == text || errno != 0 || value < low || value > high)
        return false;
    while (std::isspace(static_cast<unsigned char>(*stop)))
        ++stop;
    *number = value;
    *end = stop;
    return true;
}

void read_int(const char *name, int low, int high, int *into) {
    const char *text = read(name);
    if (!text)
        return;
    long number = 0;
    const char *end = nullptr;
    if (parse_number(text, low, high, &number, &end) && *end == '\0') {
        *into = static_cast<int>(number);
        return;
    }
    char wanted[64];
    char instead[32];
    std::snprintf(wanted, sizeof wanted, "a number in %d..%d", low, high);
    std::snprintf(instead, sizeof instead, "%d", *into);
    complain(name, text, wanted, instead);
}

void read_num_threads(Icvs &icvs) {
    const char *text = read("OMP_NUM_THREADS");
    if (!text)
        return;
    int list[kMostNestedLists];
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
    char instead[64];
    std::snprintf(instead, sizeof instead, "%d (the processors)", icvs.nthreads[0]);
    complain("OMP_NUM_THREADS", text, "a list of numbers of threads, each 1..32768", instead);
}

void read_schedule(Icvs &icvs) {
    const char *text = read("OMP_SCHEDULE");
    if (!text)
        return;
    static const struct {
        const char *name;
        Sched kind;
    } kinds[] = {{"static", Sched::static_},
                 {"dynamic", Sched::dynamic},
                 {"guided", Sched::guided},
                 {"auto", Sched::automatic}};
    const char *at = text;
    bool monotonic = false;
    if (strncasecmp(at, "monotonic:", 10) == 0) {
        monotonic = true;
        at += 10;
    } else if (strncasecmp(at, "nonmonotonic:", 13) == 0) {
        at += 13;
    }
    for (const auto &kind : kinds) {
        const size_t length = std::strlen(kind.name);
        if (strncasecmp(at, kind.name, length) != 0)
            continue;
        const char *rest = at + length;
        while (std::isspace(static_cast<unsigned char>(*rest)))
            ++rest;
        long chunk = 0;
        if (*rest == '\0' ||
            (*rest == ',' && parse_number(rest + 1, 1, LONG_MAX, &chunk, &rest) && *rest == '\0')) {
            icvs.schedule = kind.kind;
            icvs.schedule_monotonic = monotonic;
            icvs.chunk = chunk;
            return;
        }
    }
    complain("OMP_SCHEDULE", text, "[monotonic:|nonmonotonic:]static|dynamic|guided|auto[,chunk]",
             "static");
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
    if (*end != '\0' || number == 0 || number > (ULLONG_MAX >> (shift + 8)))
        return false;
    *bytes = static_cast<size_t>(number << shift);
    return true;
}

size_t default_stack_size() {
    constexpr size_t kUsual = 8u << 20;
    rlimit limit{};
    if (getrlimit(RLIMIT_STACK, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY ||
        limit.rlim_cur > (64u << 20))
        return kUsual;
    return limit.rlim_cur;
}

void read_stack_size() {
    size_t bytes = default_stack_size();
    for (const char *name : {"OMP_STACKSIZE", "GOMP_STACKSIZE", "KMP_STACKSIZE"}) {
        const char *text = read(name);
        if (!text)
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
        } else {
            bytes = asked;
        }
        break;
    }
    fiber::set_stack_size(bytes);
    g_icvs.stack_size = fiber::stack_size();
}

void read_wait_policy() {
    const char *text = read("OMP_WAIT_POLICY");
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
    const char *text = read("OMP_ALLOCATOR");
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
    const char *text = read("OMP_TARGET_OFFLOAD");
    if (!text)
        return;
    if (strcasecmp(text, "mandatory") == 0)
        omp::set_target_offload(omp::TargetOffload::mandatory);
    else if (strcasecmp(text, "disabled") == 0)
        omp::set_target_offload(omp::TargetOffload::disabled);
    else if (strcasecmp(text, "default") != 0)
        complain("OMP_TARGET_OFFLOAD", text, "mandatory, disabled or default", "default");
}

void read_display_env() {
    const char *text = read("OMP_DISPLAY_ENV");
    if (!text)
        return;
    const bool verbose = strcasecmp(text, "verbose") == 0;
    if (verbose || strcasecmp(text, "true") == 0 || std::strcmp(text, "1") == 0)
        omp::display_environment(verbose);
    else if (strcasecmp(text, "false") != 0 && std::strcmp(text, "0") != 0)
        complain("OMP_DISPLAY_ENV", text, "true, false or verbose", "false");
}

} // namespace

LeagueIcvs &league_icvs() {
    return g_league;
}

const GlobalIcvs &global_icvs() {
    return g_icvs;
}

bool read_bool(const char *name, bool *into) {
    const char *text = read(name);
    if (!text)
        return false;
    const bool is_true = strcasecmp(text, "true") == 0 || std::strcmp(text, "1") == 0;
    const bool is_false = strcasecmp(text, "false") == 0 || std::strcmp(text, "0") == 0;
    if (is_true || is_false)
        *into = is_true;
    else
        complain(name, text, "true or false", *into ? "true" : "false");
    return is_true || is_false;
}

void icv_setup() {
    Icvs &icvs = g_icvs.initial;
    icvs.nthreads[0] = sched::processors();
    read_num_threads(icvs);
    read_bool("OMP_DYNAMIC", &icvs.dynamic);
    read_schedule(icvs);
    read_stack_size();
    omp::affinity_setup();
    read_wait_policy();
    read_cancellation();
    // OpenMP 5.2, 2.2: more than one active level by default when a list asks for nested regions.
    icvs.max_active_levels =
        icvs.nthreads_count > 1 || omp::bind_list().count > 1 ? kMostLevels : 1;
    bool nested = false;
    if (read_bool("OMP_NESTED", &nested))
        icvs.max_active_levels = nested ? kMostLevels : 1;
    read_int("OMP_MAX_ACTIVE_LEVELS", 0, INT_MAX, &icvs.max_active_levels);
    read_int("OMP_THREAD_LIMIT", 1, INT_MAX, &icvs.thread_limit);
    read_int("OMP_DEFAULT_DEVICE", 0, INT_MAX, &icvs.default_device);
    read_target_offload();
    read_allocator(icvs);
    int league[2] = {0, 0};
    read_int("OMP_NUM_TEAMS", 1, INT_MAX, &league[0]);
    read_int("OMP_TEAMS_THREAD_LIMIT", 1, INT_MAX, &league[1]);
    g_league.num_teams.store(league[0], std::memory_order_relaxed);
    g_league.thread_limit.store(league[1], std::memory_order_relaxed);
    // Policies of communication-aware scheduling live on priority clauses.
    if (sched::ordered())
        g_icvs.max_task_priority = sched::kLevels - 1;
    read_int("OMP_MAX_TASK_PRIORITY", 0, INT_MAX, &g_icvs.max_task_priority);
    read_display_env();
}

// ---- changes --------------------------------------------------------------------------------

namespace {

// Every set of values that a task ever had while others could inherit it, once: it stays for the
// life of the process.
struct Interned {
    Icvs icvs;
    Interned *next;
};
constexpr std::size_t kBuckets = 64;
std::atomic<Interned *> g_interned[kBuckets];

const Icvs *intern(const Icvs &icvs) {
    std::uint64_t hash = 0;
    for (const long value : {long{icvs.nthreads[0]}, long{icvs.nthreads[icvs.nthreads_count - 1]},
                             icvs.chunk, long{icvs.max_active_levels}, long{icvs.thread_limit}})
        hash = (hash + static_cast<std::uint64_t>(value)) * 0x9E3779B97F4A7C15ull;
    std::atomic<Interned *> &bucket = g_interned[hash >> 58];
    // A list that only grows at its head; entries never change. Two threads may add the same.
    Interned *first = bucket.load(std::memory_order_acquire);
    for (const Interned *at = first; at; at = at->next)
        if (at->icvs == icvs)
            return &at->icvs;
    void *memory = std::malloc(sizeof(Interned));
    if (!memory)
        fatal("no memory for a task's settings (%zu bytes)", sizeof(Interned));
    auto *fresh = new (memory) Interned{icvs, first};
    while (!bucket.compare_exchange_weak(fresh->next, fresh, std::memory_order_release,
                                         std::memory_order_relaxed)) {
    }
    return &fresh->icvs;
}

} // namespace

IcvUpdate::IcvUpdate(sched::Worker &worker) : worker_(worker), changed_(*worker.task->icvs) {}

IcvUpdate::~IcvUpdate() {
    Task &task = *worker_.task;
    if (changed_ == *task.icvs)
        return;
    // Nobody can have inherited an implicit task's before its team has tasks.
    if (!task.is_explicit() && !task.team->has_tasks.load(std::memory_order_relaxed)) {
        Icvs &own = omp::member_of(worker_).own_icvs;
        own = changed_;
        task.icvs = &own;
    } else {
        task.icvs = intern(changed_);
    }
}

} // namespace sennit
