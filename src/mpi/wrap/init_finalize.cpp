// SPDX-License-Identifier: Apache-2.0
// Initialization, which asks for MPI_THREAD_MULTIPLE, and the end.
#include "mpi/wrap/init_finalize.h"

#include "TAMPI.h"
#include "sennit_worlds.h"

#include "base/agreements.h"
#include "base/clock.h"
#include "base/environment.h"
#include "base/rank.h"
#include "mpi/call/bare.h"
#include "mpi/call/runtime.h"
#include "mpi/call/thread_state.h"
#include "mpi/chaos/chaos.h"
#include "mpi/crowd/crowd.h"
#include "mpi/engine/engine.h"
#include "mpi/engine/progress_thread.h"
#include "mpi/extensions/continuations.h"
#include "mpi/options.h"
#include "mpi/quirks/crowded_start.h"
#include "mpi/quirks/requests.h"
#include "mpi/record/record.h"
#include "mpi/wrap/wrap.h"
#include "wait/rows.h"

#include <cstdio>
#include <cstring>
#include <dlfcn.h>
#include <sched.h>

using namespace sennit::mpi;

namespace {

constexpr const char *kNoMultiple =
    "sennit: this MPI does not provide MPI_THREAD_MULTIPLE: calls inside tasks block their thread "
    "as without Sennit; use an MPI built with support for it\n";

constexpr sennit_call kFinalizing = {"MPI_Finalize", 0, 0};

constexpr const char *kLate =
    "sennit: Open MPI came with a library that the program opened while it ran: calls inside tasks "
    "block their thread as without Sennit; put libmpi.so.40 into LD_PRELOAD\n";

// What `sennit run` hears of MPI_Init: a rank that ends without having called it leaves the others
// waiting in theirs for ever, and nobody but the launcher sees both (tools/sennit/job/rank_ends.h).

// A launcher that was stopped must not keep the job for ever.
constexpr int kPatienceSeconds = 5;

int open_link() {
    const char *const address = sennit::trusted_environment("SENNIT_HANG_LINK");
    return address && sennit::rank_of_environment() >= 0
               ? sennit::connect_to_launcher(address, kPatienceSeconds)
               : -1;
}

void tell(int link, const char *what) {
    char message[48];
    const int size = std::snprintf(message, sizeof message, "%s\t%d\t%d", what,
                                   sennit::rank_of_environment(), sennit::ranks_of_environment());
    if (link >= 0)
        send(link, message, static_cast<std::size_t>(size), MSG_NOSIGNAL);
}

void close_link(int link) {
    if (link >= 0)
        close(link);
}

// While it lives, the rank is in MPI_Init.
class InInitialization {
  public:
    InInitialization() : link_(open_link()) { tell(link_, "begin"); }
    ~InInitialization() {
        tell(link_, "begun");
        close_link(link_);
    }
    InInitialization(const InInitialization &) = delete;
    InInitialization &operator=(const InInitialization &) = delete;

  private:
    int link_;
};

void opened(bool multiple) {
    if (g_wrap.users.come())
        g_wrap.collectives.choose();
    if (!is_watched())
        return;
    if (!knows_constants()) {
        if (runtime_present())
            std::fputs(kLate, stderr);
        return;
    }
    begin_tasks();
    libraries_loaded();
    if (const char *hang = sennit::trusted_environment("SENNIT_HANG");
        hang && std::strcmp(hang, "off") != 0)
        RequestTable::follow();
    if (!multiple && runtime_present())
        std::fputs(kNoMultiple, stderr);
    set_multiple(multiple);
}

// The caller came with another MPI than the one that this library is for. Handles of the one would
// be taken for handles of the other. If a program needs both, the launcher's word counts.
void refuse_other_mpi(const void *caller) {
    constexpr const char *of_mpich = "MPIR_Dup_fn", *of_openmpi = "ompi_mpi_comm_world";
#ifdef OPEN_MPI
    constexpr const char *own = of_openmpi, *foreign = of_mpich, *name = "MPICH", *word = "mpich";
#else
    constexpr const char *own = of_mpich, *foreign = of_openmpi, *name = "Open MPI",
                         *word = "openmpi";
#endif
    Dl_info at{};
    void *const library =
        dladdr(caller, &at) ? dlopen(at.dli_fname, RTLD_LAZY | RTLD_NOLOAD) : nullptr;
    if (!library) // the program itself, into which the launcher has looked
        return;
    const bool is_foreign = dlsym(library, foreign) && !dlsym(library, own);
    dlclose(library);
    if (!is_foreign)
        return;
    std::fprintf(stderr, "sennit: %s needs %s: start the program with --mpi %s\n", at.dli_fname,
                 name, word);
    std::_Exit(2);
}

// If the ranks' MPI does not speak the launcher's language, they start nevertheless, each as a job
// of its own. They would compute the same thing many times.
void say_if_alone() {
    static constexpr auto comm_size = SENNIT_BARE(Comm_size);
    const int started = sennit::ranks_of_environment();
    int size = 0;
    if (started <= 1 || sennit::rank_of_environment() != 0 || !knows_constants() ||
        comm_size(MPI_COMM_WORLD, &size) != MPI_SUCCESS || size > 1)
        return;
    std::fprintf(
        stderr,
        "sennit: the launcher has started %d ranks, but in MPI each is alone: start them "
        "by this MPI's mpiexec; by srun with --mpi=pmi2 (MPICH) or --mpi=pmix (Open MPI)\n",
        started);
}

int init(int *argc, char ***argv, int required, int *provided) {
    static constexpr auto bare = SENNIT_BARE(Init_thread);
    const bool tasks = runtime_present() && knows_constants();
    const bool task_multiple = required == MPI_TASK_MULTIPLE;
    const int asked =
        tasks || task_multiple || ProgressThread::wanted() ? MPI_THREAD_MULTIPLE : required;
    int got = MPI_THREAD_SINGLE;
    const int error = outside_task([&] {
        const InInitialization told;
        const CrowdedStart start;
        return bare(argc, argv, asked, &got);
    });
    if (error != MPI_SUCCESS)
        return error;
    say_if_alone();
    opened(got >= MPI_THREAD_MULTIPLE);
    // This comes first, for all ranks do it. What follows is for some settings, and says so if a
    // rank lacks them.
    begin_crowd();
    if (tasks) {
        learn_born_complete();
        g_record.timeline.start();
    }
    if (task_urgency() >= 0 && got >= MPI_THREAD_MULTIPLE)
        g_engine.urgency.begin();
    g_engine.progress_thread.start(got);
    const int level = task_multiple && tasks && is_aware() && got >= MPI_THREAD_MULTIPLE
                          ? MPI_TASK_MULTIPLE
                          : got;
    g_wrap.users.ask_level(required);
    g_wrap.users.tell_level(level);
    if (provided)
        *provided = level;
    return MPI_SUCCESS;
}

void say_what_is_missing(const char *call) {
    std::fprintf(stderr, "sennit: %s waits for operations that were left pending:\n", call);
    g_engine.visit_pending(
        [](void *, const Ticket &ticket) {
            std::fprintf(stderr, "sennit:   %s, peer %d, tag %d\n", ticket.operation.name,
                         ticket.operation.peer, ticket.operation.tag);
        },
        nullptr);
    if (const int callbacks = g_extensions.callbacks.under_way())
        std::fprintf(stderr, "sennit:   callbacks that have not returned: %d\n", callbacks);
    if (leaves_tasks())
        std::fputs("sennit:   tasks of no parallel region that have not ended\n", stderr);
    if (others_leave_tasks())
        std::fputs(
            "sennit:   tasks of no parallel region that other threads have created and do not "
            "end: it goes on without them; let those threads reach a taskwait\n",
            stderr);
}

// Operations that were detached or bound to tasks must not be lost. Nor must what is left of tasks
// that were created outside of parallel regions: other runtimes run those at once. This is done
// before the last user leaves.
void close(const sennit_call &call) {
    constexpr const sennit::wait::Naps &naps = sennit::wait::kFinalize.naps;
    if (!g_wrap.users.leave())
        return;
    const Blocking mark(call, -1, -1, 0);
    sennit::SeenTime idle(sennit::monotonic_ns());
    bool told = false;
    for (;;) {
        const bool tasks = leaves_tasks();
        const bool others = !told && others_leave_tasks(); // who may never come back to them
        if (!tasks && !others && g_engine.tickets.pending_acquire() == 0 &&
            g_extensions.callbacks.under_way() == 0)
            break;
        if (tasks) {
            const Unmarked unmarked;
            run_tasks(naps.shortest_ns);
        }
        if (g_engine.progress() > 0) {
            idle = sennit::SeenTime(sennit::monotonic_ns());
        } else if (!told && idle.look(sennit::monotonic_ns()) > naps.longest_ns) {
            say_what_is_missing(call.name);
            told = true;
        }
        sched_yield();
    }
    g_wrap.answers.close([] { set_multiple(false); });
}

} // namespace

SENNIT_DEFINE(Init, int *argc, char ***argv) {
    refuse_other_mpi(__builtin_return_address(0));
    return init(argc, argv, MPI_THREAD_SINGLE, nullptr);
}

SENNIT_DEFINE(Init_thread, int *argc, char ***argv, int required, int *provided) {
    refuse_other_mpi(__builtin_return_address(0));
    return init(argc, argv, required, provided);
}

SENNIT_DEFINE(Query_thread, int *provided) {
    const int level = g_wrap.users.told_level();
    if (level == MPI_TASK_MULTIPLE) {
        *provided = level;
        return MPI_SUCCESS;
    }
    static constexpr auto bare = SENNIT_BARE(Query_thread);
    return outside_task([&] { return bare(provided); });
}

// For programs that the plug-in has transformed (pass/library): may other calls of MPI come from
// this process while the caller waits? Not below MPI_THREAD_MULTIPLE. -1: nobody has called
// MPI_Init.
extern "C" SENNIT_EXPORT int sennit_mpi_asked_level() {
    return in_task() ? MPI_THREAD_MULTIPLE : g_wrap.users.asked_level();
}

// include/sennit_worlds.h; where programs have worlds of their own, addons/worlds answers.
extern "C" SENNIT_EXPORT MPI_Comm sennit_comm_all() {
    return MPI_COMM_WORLD;
}
#ifndef MPI_ABI
extern "C" SENNIT_EXPORT MPI_Fint sennit_comm_all_() {
    return MPI_Comm_c2f(MPI_COMM_WORLD);
}
#endif

SENNIT_DEFINE(Finalize, void) {
    close(kFinalizing);
    g_extensions.continuations.close();
    g_engine.progress_thread.stop();
    g_engine.urgency.end();
    g_record.timeline.finish();
    static constexpr auto bare = SENNIT_BARE(Finalize);
    const Blocking mark(kFinalizing, -1, -1, 0);
    end_crowd();
    g_wrap.answers.close([] { set_multiple(false); });
    const int error = [&] {
        const CrowdedStart end;
        return bare();
    }();
    leave_board();
    return error;
}

#if MPI_VERSION >= 4

namespace {

// The rank has initialized MPI in a way for which no other rank waits.
void tell_launcher_of_session() {
    const int link = open_link();
    tell(link, "begun");
    close_link(link);
}

} // namespace

// MPI 4.0, section 11.3.1: the thread level of a session is asked for by the key "thread_level".
SENNIT_DEFINE(Session_init, MPI_Info info, MPI_Errhandler handler, MPI_Session *session) {
    static constexpr auto bare = SENNIT_BARE(Session_init);
    static constexpr auto info_create = SENNIT_BARE(Info_create);
    static constexpr auto info_dup = SENNIT_BARE(Info_dup);
    static constexpr auto info_set = SENNIT_BARE(Info_set);
    static constexpr auto info_get = SENNIT_BARE(Info_get_string);
    static constexpr auto info_free = SENNIT_BARE(Info_free);
    static constexpr auto session_info = SENNIT_BARE(Session_get_info);
    tell_launcher_of_session();
    return outside_task([&] {
        if (!runtime_present())
            return bare(info, handler, session);
        MPI_Info own = MPI_INFO_NULL;
        int error = info == MPI_INFO_NULL ? info_create(&own) : info_dup(info, &own);
        if (error == MPI_SUCCESS)
            error = info_set(own, "thread_level", "MPI_THREAD_MULTIPLE");
        if (error == MPI_SUCCESS)
            error = bare(own, handler, session);
        if (error != MPI_SUCCESS)
            return error;
        info_free(&own);
        MPI_Info got = MPI_INFO_NULL;
        char level[64] = "";
        int length = sizeof level;
        int flag = 0;
        if (session_info(*session, &got) == MPI_SUCCESS) {
            info_get(got, "thread_level", &length, level, &flag);
            info_free(&got);
        }
        opened(flag && std::strcmp(level, "MPI_THREAD_MULTIPLE") == 0);
        return error;
    });
}

SENNIT_DEFINE(Session_finalize, MPI_Session *session) {
    static constexpr sennit_call call = {"MPI_Session_finalize", 0, 0};
    close(call);
    static constexpr auto bare = SENNIT_BARE(Session_finalize);
    return outside_task([&] { return bare(session); });
}

#endif

namespace sennit::mpi {

// Where the library is put together: what a room needs from above is plugged in here, before any
// call comes. The state of each room is one object of it (g_calls, g_crowd, g_chaos,
// g_engine, g_record, g_extensions, g_wrap), of which a process with several ranks would have
// several.

namespace {

// The polling service. Its thread is the program's, unless it has never run a task. It polls
// because something that it ran waits, maybe a callback.
int serve(void *) {
    const bool application = !g_extensions.continuations.any() || is_workers_thread();
    int done = 0;
    InCallback::while_blocked([&] { done = g_engine.progress(application, true); });
    return done;
}

[[gnu::constructor(101)]] void plug() { // before those without a number
    g_engine.plug([](bool application) { return g_extensions.continuations.run(application); });
    answer_runtime(serve, kDescriber);
    g_chaos.configure(trusted_environment(options::chaos.variable));
}

} // namespace
} // namespace sennit::mpi
