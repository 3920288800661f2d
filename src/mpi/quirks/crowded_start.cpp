// SPDX-License-Identifier: Apache-2.0
#include "mpi/quirks/crowded_start.h"

#include "base/compiler.h"
#include "base/loaded_object.h"
#include "base/rank.h"
#include "node/identity.h"
#include "wait/rows.h"

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <ctime>
#include <dlfcn.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <mpi.h>
#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>
#include <utility>

namespace sennit::mpi {
namespace {

constexpr int kFew = 2; // ranks of a core

int cores_of(pid_t process) {
    cpu_set_t cores;
    return sched_getaffinity(process, sizeof cores, &cores) == 0 ? CPU_COUNT(&cores) : 0;
}

// How many ranks there are for each core, if there are more than those few; or 0. Ranks that are
// bound to parts of the node's cores have all of the launcher's together.
int crowd() {
    const int ranks =
        first_number({"SENNIT_LOCAL_RANKS", "MPI_LOCALNRANKS", "OMPI_COMM_WORLD_LOCAL_SIZE"});
    const int count = std::max(cores_of(0), cores_of(node::launcher()));
    return count > 0 && ranks > kFew * count ? ranks / count : 0;
}

#ifdef OPEN_MPI

constexpr const wait::Naps &kNaps = wait::kStartOfOpenMpi;

constinit thread_local unsigned t_sleep_us __attribute__((tls_model("initial-exec"))) = 0;

#else

constexpr int kSignal = SIGVTALRM;
constexpr const wait::Naps &kNaps = wait::kStartOfMpich;

struct Spin {
    const link_map *mpi = nullptr;
    std::uintptr_t place = 0, stack = 0; // of the last tick
    std::uintptr_t known = 0;            // where it has spun before
    bool napped = false;                 // since it last did something else
    std::int64_t nap_ns = 0;
};
constinit thread_local Spin t_spin __attribute__((tls_model("initial-exec")));

// Else, where perf is denied: of the thread's processor time, and once after each nap by the clock.
struct Timers {
    int processor = -1, clock = -1;
};
// A descriptor of perf's. -1: there are timers, or nothing.
constinit thread_local int t_ticks __attribute__((tls_model("initial-exec"))) = -1;
constinit thread_local Timers t_timers __attribute__((tls_model("initial-exec")));

void set(int timer, std::int64_t first_ns, std::int64_t period_ns) {
    const itimerspec times = {{0, period_ns}, {0, first_ns}};
    syscall(SYS_timer_settime, timer, 0, &times, nullptr);
}

void set_ticks(std::uint64_t period_ns) {
    syscall(SYS_ioctl, t_ticks, PERF_EVENT_IOC_PERIOD, &period_ns);
}

void look_again_soon() {
    if (t_ticks >= 0)
        set_ticks(wait::kLooksAgainNs);
    else if (t_timers.clock >= 0)
        set(t_timers.clock, wait::kLooksAgainNs, 0);
}

void look_as_usual() {
    if (t_ticks >= 0)
        set_ticks(wait::kLooksForSpinsNs);
}

bool is_near(std::uintptr_t one, std::uintptr_t other) {
    constexpr std::uintptr_t most = 64;
    return one - other + most <= 2 * most;
}

void look(int /*signal*/, siginfo_t * /*info*/, void *context) {
    const mcontext_t &registers = static_cast<const ucontext_t *>(context)->uc_mcontext;
#if defined(__x86_64__)
    const auto place = static_cast<std::uintptr_t>(registers.gregs[REG_RIP]);
    const auto stack = static_cast<std::uintptr_t>(registers.gregs[REG_RSP]);
#elif defined(__aarch64__)
    const std::uintptr_t place = registers.pc, stack = registers.sp;
#endif
    const bool stays = is_near(place, t_spin.place) && stack == t_spin.stack;
    t_spin.place = place;
    t_spin.stack = stack;
    // A long memset of libc's is at one place, too.
    if ((!stays && !is_near(place, t_spin.known)) ||
        object_of(reinterpret_cast<const void *>(place)) != t_spin.mpi) {
        if (std::exchange(t_spin.napped, false))
            look_as_usual();
        return;
    }
    t_spin.known = place;
    const int error = errno;
    const timespec nap = {0, t_spin.nap_ns};
    clock_nanosleep(CLOCK_MONOTONIC, 0, &nap, nullptr);
    t_spin.napped = true;
    look_again_soon();
    errno = error;
}

// Unless the program has a use for the signal.
bool listen() {
    sigset_t blocked;
    struct sigaction now = {};
    if (pthread_sigmask(SIG_BLOCK, nullptr, &blocked) != 0 || sigismember(&blocked, kSignal) != 0 ||
        sigaction(kSignal, nullptr, &now) != 0 || (now.sa_flags & SA_SIGINFO) != 0 ||
        now.sa_handler != SIG_DFL)
        return false;
    struct sigaction ours = {};
    ours.sa_sigaction = look;
    ours.sa_flags = SA_SIGINFO | SA_RESTART;
    sigfillset(&ours.sa_mask);
    return sigaction(kSignal, &ours, nullptr) == 0;
}

// Unless somebody else, such as a profiler, has taken the signal meanwhile.
void listen_no_more() {
    struct sigaction now = {};
    if (sigaction(kSignal, nullptr, &now) != 0 || now.sa_sigaction != look)
        return;
    struct sigaction usual = {};
    usual.sa_handler = SIG_DFL;
    sigaction(kSignal, &usual, nullptr);
}

bool start_ticks() {
    perf_event_attr asked = {};
    asked.size = sizeof asked;
    asked.type = PERF_TYPE_SOFTWARE;
    asked.config = PERF_COUNT_SW_TASK_CLOCK;
    asked.sample_period = wait::kLooksForSpinsNs;
    asked.exclude_kernel = 1;
    asked.exclude_hv = 1;
    const int file =
        static_cast<int>(syscall(SYS_perf_event_open, &asked, 0, -1, -1, PERF_FLAG_FD_CLOEXEC));
    const f_owner_ex owner = {F_OWNER_TID, static_cast<pid_t>(syscall(SYS_gettid))};
    if (file >= 0 && (syscall(SYS_fcntl, file, F_SETOWN_EX, &owner) != 0 ||
                      syscall(SYS_fcntl, file, F_SETSIG, kSignal) != 0 ||
                      syscall(SYS_fcntl, file, F_SETFL, O_ASYNC) != 0)) {
        syscall(SYS_close, file);
        return false;
    }
    t_ticks = file;
    return file >= 0;
}

// A child that another thread has made meanwhile may have the file, too: then it lives on.
void end_ticks() {
    if (t_ticks >= 0) {
        syscall(SYS_ioctl, t_ticks, PERF_EVENT_IOC_DISABLE, 0);
        syscall(SYS_fcntl, t_ticks, F_SETFL, 0); // not O_ASYNC
        syscall(SYS_close, t_ticks);
    }
    t_ticks = -1;
}

// -1: the system has none.
int make_timer(clockid_t clock) {
    sigevent event = {};
    event.sigev_notify = SIGEV_THREAD_ID;
    event.sigev_signo = kSignal;
    event._sigev_un._tid = static_cast<pid_t>(syscall(SYS_gettid));
    int timer = -1;
    return syscall(SYS_timer_create, clock, &event, &timer) == 0 ? timer : -1;
}

bool start_timers() {
    t_timers.processor = make_timer(CLOCK_THREAD_CPUTIME_ID);
    if (t_timers.processor < 0)
        return false;
    t_timers.clock = make_timer(CLOCK_MONOTONIC);
    set(t_timers.processor, wait::kLooksForSpinsNs, wait::kLooksForSpinsNs);
    return true;
}

void end_timers() {
    for (const int timer : {t_timers.processor, t_timers.clock})
        if (timer >= 0)
            syscall(SYS_timer_delete, timer);
    t_timers = {};
}

#endif

// Where so many ranks share a core.
std::int64_t nap_ns(int ranks) {
    return std::min(ranks * kNaps.shortest_ns, kNaps.longest_ns);
}

} // namespace

#ifdef OPEN_MPI

CrowdedStart::CrowdedStart() {
    t_sleep_us = static_cast<unsigned>(nap_ns(crowd()) / wait::kUs);
}

CrowdedStart::~CrowdedStart() {
    t_sleep_us = 0;
}

#else

CrowdedStart::CrowdedStart() {
    const int ranks = is_virtual_rank() ? crowd() : 0;
    const void *const of_mpi = ranks > 0 ? dlsym(RTLD_DEFAULT, "MPIR_Dup_fn") : nullptr;
    if (!of_mpi || !listen())
        return;
    t_spin.mpi = object_of(of_mpi);
    t_spin.nap_ns = nap_ns(ranks);
    if (!start_ticks() && !start_timers())
        listen_no_more();
}

CrowdedStart::~CrowdedStart() {
    if (t_ticks < 0 && t_timers.processor < 0)
        return;
    // A signal that was sent before comes at the end of these calls at the latest.
    end_ticks();
    end_timers();
    listen_no_more();
}

#endif

} // namespace sennit::mpi

#ifdef OPEN_MPI

// As libc's, or the runtime's, but for a thread in MPI_Init or MPI_Finalize. A call at the end: the
// runtime knows a task by where its call returns to.
extern "C" SENNIT_EXPORT int usleep(useconds_t us) {
    auto *const next = reinterpret_cast<int (*)(useconds_t)>(dlsym(RTLD_NEXT, "usleep"));
    return next(std::max(us, sennit::mpi::t_sleep_us));
}

#endif
