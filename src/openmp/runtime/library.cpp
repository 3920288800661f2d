// SPDX-License-Identifier: Apache-2.0
// The library's own life: set-up when it is loaded, what happens around fork().
#include "openmp/runtime/library.h"

#include "base/compiler.h"
#include "base/config.h"
#include "base/fence.h"
#include "base/loaded_object.h"
#include "openmp/env/display.h"
#include "openmp/env/environment.h"
#include "openmp/env/icv.h"
#include "openmp/env/own_share.h"
#include "openmp/env/split.h"
#include "openmp/env/topology.h"
#include "openmp/kmp/kmp.h"
#include "openmp/ompt/tool.h"
#include "openmp/sync/sync.h"
#include "openmp/team/free_agents.h"
#include "openmp/team/placement.h"
#include "openmp/team/team.h"
#include "tasks/fiber/stack.h"
#include "tasks/libc/elsewhere.h"
#include "tasks/libc/waits.h"
#include "tasks/program/code.h"
#include "tasks/pthread/affinity.h"
#include "tasks/pthread/bare.h"
#include "tasks/pthread/condition.h"
#include "tasks/pthread/parking.h"
#include "tasks/sched/ordered_queue.h"
#include "tasks/sched/threads.h"
#include "tasks/sched/worker.h"
#include "tasks/task/accounts.h"
#include "tasks/task/observer.h"
#include "tasks/task/priorities.h"
#include "tasks/task/task.h"
#include "tasks/trace/trace.h"

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <cstring>
#include <initializer_list>
#include <iterator>
#include <pthread.h>
#include <string_view>

namespace sennit {
namespace {

// ---- fork --------------------------------------------------------------------------------------

// What holds a lock, or knows of other threads, across fork(). `before` runs from the first row to
// the last, `parent` and `child` from the last row to the first.
struct AroundFork {
    std::string_view name;
    void (*before)(); // takes locks; null: the row has only something to forget in the child
    void (*parent)();
    void (*child)();
};

constexpr AroundFork kAroundFork[] = {
    // In the child it resumes tasks: after all that is below.
    {"libc", nullptr, nullptr, libc::after_fork_in_child},
    // Under these four locks memory is asked for. An allocator of the program's may unlock a mutex
    // then, which looks into the lot of `pthread`. So they are taken before that one.
    {"threadprivate", kmp::threadprivate_before_fork, kmp::threadprivate_after_fork,
     kmp::threadprivate_after_fork},
    {"accounts", task::accounts_before_fork, task::accounts_after_fork, task::accounts_after_fork},
    // Under it the priorities of queued tasks change: a queue's lock is taken behind it.
    {"priorities", task::priorities_before_fork, task::priorities_after_fork,
     task::priorities_after_fork},
    {"stacks", fiber::stacks_before_fork, fiber::stacks_after_fork, fiber::stacks_after_fork},
    // Nothing is called under these two: they might stand anywhere.
    {"polling services", [] { runtime::g_process.services.before_fork(); },
     [] { runtime::g_process.services.after_fork(); },
     [] { runtime::g_process.services.after_fork_in_child(); }},
    {"affinity format", omp::affinity_format_before_fork, omp::affinity_format_after_fork,
     omp::affinity_format_after_fork},
    // It holds signals back as long as its lot is locked, since handlers may look into the lot. In
    // the child they come again here. So what a handler may meet there is put right by rows below.
    {"pthread", pthread::before_fork, pthread::after_fork, pthread::after_fork_in_child},
    {"once", nullptr, nullptr, pthread::once_after_fork_in_child}, // a handler may call it
    // The hang report's link is the parent's. Its look reads threads, locks and teams: these are
    // put right first.
    {"watch", nullptr, nullptr, [] { runtime::g_process.watch.after_fork_in_child(); }},
    {"trace", nullptr, nullptr, trace::after_fork_in_child}, // begins a file of the child's own
    // Teams keep what the calling worker has, and drop the others: `workers` says which is which.
    {"teams", nullptr, nullptr, omp::team_after_fork_in_child},
    // In the child the lot keeps the waiters of the calling worker alone.
    {"parking", omp::parking_before_fork, omp::parking_after_fork,
     omp::parking_after_fork_in_child},
    // With the ticker's lock. In the child the calling thread's worker, and no other, is alive from
    // here on: rows above ask for it.
    {"workers", sched::before_fork, sched::after_fork, sched::after_fork_in_child},
    // The board and its slot are the parent's: in the child nobody may ring, lend or take a core
    // there. So it goes first.
    {"pool", nullptr, nullptr, runtime::leave_pool_in_child},
    // Rows above may tell of events, which are counted: in the child this is the very first.
    {"times", nullptr, nullptr, runtime::hide_times_in_child},
};

constexpr std::size_t place_of(std::string_view name) {
    std::size_t place = 0;
    while (kAroundFork[place].name != name)
        ++place;
    return place;
}
static_assert(place_of("threadprivate") < place_of("pthread") &&
              place_of("accounts") < place_of("pthread") &&
              place_of("priorities") < place_of("pthread") &&
              place_of("stacks") < place_of("pthread"));
static_assert(place_of("pthread") < place_of("once") && place_of("teams") < place_of("workers"));
static_assert(place_of("times") + 1 == std::size(kAroundFork));
#if !SENNIT_ASAN // with UBSan, GCC 12 does not know that a function has an address
// Each lock is given back on both sides.
static_assert(std::ranges::all_of(kAroundFork, [](const AroundFork &row) {
    return row.child && !row.before == !row.parent;
}));
#endif

void before_fork() {
    for (const AroundFork &row : kAroundFork)
        if (row.before)
            row.before();
}

// In the parent, or in the child.
template <void (*AroundFork::*after)()>
void after_fork() {
    for (std::size_t i = std::size(kAroundFork); i-- > 0;)
        if (kAroundFork[i].*after)
            (kAroundFork[i].*after)();
}

// ---- load --------------------------------------------------------------------------------------

void see_loaded_objects() {
    if (fiber::need_executable())
        sched::make_stacks_executable();
}

[[maybe_unused]] bool needs_openmp(const void *code) {
    const link_map *const object = object_of(code);
    return object && DynamicSection(*object).needs(is_openmp_library);
}

// Before the constructors of the program and of libraries that use OpenMP in theirs.
[[gnu::constructor(101)]] void load() {
    if (runtime::g_process.loading)
        return;
    runtime::g_process.loading = true;
    config_setup();
    program::set_names(runtime::kNames);
    if (config().policy == Policy::automatic && program::process_has_sending_tasks())
        choose_policy(Policy::fa);
    sched::plug(task::kSchedulerClient);
    sched::order_setup();
    fence_setup();
    if (is_needed()) // a shell binds nothing
        omp::keep_to_own_share();
    sched::setup();
    task::setup(); // looks at what is loaded, before we load anything ourselves
    icv_setup();
    omp::display_as_asked();
    trace::setup();
    if (trace::on())
        omp::let_regions_differ();
    task::observer_setup();
    ompt::setup();
    if (config().threadset == Threadset::pool)
        omp::offer_all_tasks();
    runtime::statistics_setup();
    runtime::g_process.watch.start(runtime::kHangRegions, runtime::kHangNames);
    pthread::leave_alone(runtime::passes_messages); // src/mpi suspends no task inside of them
    runtime::let_flows_leave_home();
    runtime::join_pool();
    runtime::show_times();
    pthread_atfork(before_fork, after_fork<&AroundFork::parent>, after_fork<&AroundFork::child>);
    pthread::observe_affinity(omp::note_own_binding);
    libc::note_processors();
    see_loaded_objects();
    runtime::keep_order_of_loops();
    runtime::stand_in_for_replaced();
    runtime::g_process.loaded = true;
}

} // namespace
} // namespace sennit

// The start code that the linker puts into every object (crti.o, _init) calls this if it is there:
// when the object is loaded, by the program's start or by dlopen, before its constructors and
// before anybody else can call what is in it. It is there for profilers: programs linked with -pg
// have their own, which comes first. Then libraries that are opened later are not seen.
// What is loaded together with us calls before load(), and before a sanitizer is ready. As a rule
// it then knows nothing of OpenMP. But the loader starts a preloaded library after all those that
// do not name it as needed: one that names a stock runtime, whose place we take, may have
// constructors with OpenMP.
extern "C" SENNIT_EXPORT __attribute__((no_sanitize("address", "thread"))) void __gmon_start__() {
    if (sennit::runtime::g_process.loaded) {
        sennit::see_loaded_objects();
        sennit::runtime::keep_order_of_loops_in(__builtin_return_address(0));
        sennit::runtime::stand_in_if_replaced(__builtin_return_address(0));
    }
#if !SENNIT_ASAN && !SENNIT_TSAN
    else if (!sennit::runtime::g_process.loading &&
             sennit::needs_openmp(__builtin_return_address(0)))
        sennit::load();
#endif
}

namespace sennit::runtime {
namespace {

std::int64_t late_at_barrier(const watch::VolatileMemory &memory, const void *object) {
    const auto *team = static_cast<const omp::Team *>(object);
    return memory.get_or(&team->size, 0) -
           memory.get_or<std::int64_t>(&team->arrived, 0) % omp::Team::kJoin;
}

bool holds(const Task *task, std::uint32_t word) {
    return omp::TaskMutex::is_mark_of(word, task);
}

} // namespace

constinit const watch::Regions kHangRegions = {.late_at_barrier = late_at_barrier, .holds = holds};

bool is_send(const char *symbol) {
    const int initial = std::tolower(static_cast<unsigned char>(symbol[0]));
    if (initial != 'm' && initial != 'p' && initial != 't') // of many symbols nearly all
        return false;
    char lower[32];
    std::size_t length = 0;
    for (; symbol[length] && length < sizeof lower; ++length)
        lower[length] = static_cast<char>(std::tolower(static_cast<unsigned char>(symbol[length])));
    if (length == sizeof lower) // no MPI function with a send's name is that long
        return false;
    std::string_view name(lower, length);
    const auto skip = [&](std::string_view prefix) {
        const bool there = name.starts_with(prefix);
        if (there)
            name.remove_prefix(prefix.size());
        return there;
    };
    skip("p");
    if (!skip("mpi_") && !skip("tampi_") && !skip("mpix_"))
        return false;
    // Not MPI_Start, which may start a receive.
    for (const std::string_view word :
         {"send", "isend", "ssend", "bsend", "rsend", "issend", "ibsend", "irsend", "sendrecv",
          "isendrecv", "pready", "put", "rput", "accumulate", "raccumulate"})
        // What follows is Fortran's: _, _f08_, _f08ts_; and _replace. Not _init, which sends
        // nothing.
        if (name == word || (name.starts_with(word) && name[word.size()] == '_' &&
                             !name.substr(word.size()).starts_with("_init")))
            return true;
    return false;
}

namespace {

using Beginnings = std::initializer_list<std::string_view>;

bool begins_with_any(std::string_view text, Beginnings beginnings) {
    return std::ranges::any_of(beginnings,
                               [=](std::string_view known) { return text.starts_with(known); });
}

std::string_view file_name(std::string_view path) {
    return path.substr(path.rfind('/') + 1); // npos + 1 is 0
}

} // namespace

bool passes_messages(const char *path) {
    return begins_with_any(file_name(path),
                           {"libmpi.", "libmpich.", "libmpi_", "libopen-", "libpmpi", "mca_",
                            "libucp.", "libuct", "libucs", "libucm", "libfabric.", "libpsm",
                            "libpmix", "libevent"});
}

namespace {

// They may be installed anywhere.
bool is_runtime_library(const char *path) {
    return passes_messages(path) ||
           begins_with_any(file_name(path),
                           {"libmpi",     "libpmi",    "libprrte",    "libuc",       "libhwloc",
                            "libsennit",  "libgomp.",  "libgomp-",    "libomp.",     "libomp-",
                            "libiomp5",   "libasan.",  "libtsan.",    "libubsan.",   "libstdc++",
                            "libc++",     "libgcc_s.", "libgfortran", "libquadmath", "libflang",
                            "libFortran", "ld-linux",  "linux-vdso",  "libc.so",     "libm.so",
                            "libdl.so",   "librt.so",  "libpthread"});
}

bool is_the_programs(const char *path) {
    return !begins_with_any(path, {"/lib", "/usr/lib"}) && !is_runtime_library(path);
}

bool is_on_file(const char *call) {
    const std::string_view name(call);
    return name.starts_with("MPI_File_") || name.starts_with("cuda") || name.starts_with("hip");
}

// A generalized request.
bool ends_by_program(const char *call) {
    return std::strcmp(call, "MPI_Grequest_start") == 0;
}

bool makes_tasks(const char *symbol) {
    for (const char *name :
         {"GOMP_task", "GOMP_taskloop", "GOMP_taskloop_ull", "__kmpc_omp_task_alloc"})
        if (std::strcmp(symbol, name) == 0)
            return true;
    return false;
}

// MPI, sennit.h, alpi.h, omp_fulfill_event, taskyield, or dlsym, by which any of these could be
// reached.
bool suspends(const char *symbol) {
    for (const char *name : {"dlsym", "dlvsym", "omp_fulfill_event", "GOMP_taskyield",
                             "__kmpc_omp_taskyield", "MPI_Init", "MPI_Init_thread"})
        if (std::strcmp(symbol, name) == 0)
            return true;
    const std::string_view name(symbol);
    return (name.starts_with("sennit_") && name != "sennit_version") || name.starts_with("alpi_");
}

// What src/tasks/libc stands in front of, or what Fortran's library calls it by.
bool blocks(const char *symbol) {
    if (config().libc == LibcCalls::off)
        return false;
#define SENNIT_BARE(result, name, parameters, arguments)                                           \
    if (std::strcmp(symbol, #name) == 0)                                                           \
        return true;
    SENNIT_BARE_CALLS(SENNIT_BARE)
    SENNIT_BARE_LATE(SENNIT_BARE)
#undef SENNIT_BARE
    // By these a FILE may have another task at its other end.
    for (const char *name : {"fdopen", "popen", "mkfifo"})
        if (std::strcmp(symbol, name) == 0)
            return true;
    return std::string_view(symbol).starts_with("_gfortran_sleep_");
}

} // namespace

constinit const program::SymbolNames kNames = {
    .sends = is_send,
    .makes_tasks = makes_tasks,
    .suspends = suspends,
    .blocks = blocks,
    .is_the_programs = is_the_programs,
};
constinit const watch::CallNames kHangNames = {
    .is_on_file = is_on_file,
    .ends_by_program = ends_by_program,
    .is_runtime_library = is_runtime_library,
};

} // namespace sennit::runtime
