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
#include <mpi.h>
#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

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
    std::int64_t nap_ns = 0;
};
constinit thread_local Spin t_spin __attribute__((tls_model("initial-exec")));
constinit thread_local int t_timer __attribute__((tls_model("initial-exec"))) = -1;
// By the clock, once after each nap: a thread that spins on need not do so until the next tick.
constinit thread_local int t_again __attribute__((tls_model("initial-exec"))) = -1;

void set(int timer, std::int64_t first_ns, std::int64_t period_ns) {
    const itimerspec times = {{0, period_ns}, {0, first_ns}};
    syscall(SYS_timer_settime, timer, 0, &times, nullptr);
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
    const bool spins = is_near(place, t_spin.place) && stack == t_spin.stack;
    t_spin.place = place;
    t_spin.stack = stack;
    if (!spins && !is_near(place, t_spin.known))
        return;
    // A long memset of libc's is at one place, too.
    if (object_of(reinterpret_cast<const void *>(place)) != t_spin.mpi)
        return;
    t_spin.known = place;
    const int error = errno;
    const timespec nap = {0, t_spin.nap_ns};
    clock_nanosleep(CLOCK_MONOTONIC, 0, &nap, nullptr);
    if (t_again >= 0)
        set(t_again, wait::kLooksAgainNs, 0);
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

// -1: the system has none.
int make_timer(clockid_t clock) {
    sigevent event = {};
    event.sigev_notify = SIGEV_THREAD_ID;
    event.sigev_signo = kSignal;
    event._sigev_un._tid = static_cast<pid_t>(syscall(SYS_gettid));
    int timer = -1;
    return syscall(SYS_timer_create, clock, &event, &timer) == 0 ? timer : -1;
}

void end(int &timer) {
    if (timer >= 0)
        syscall(SYS_timer_delete, timer);
    timer = -1;
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
    t_again = make_timer(CLOCK_MONOTONIC);
    t_timer = make_timer(CLOCK_THREAD_CPUTIME_ID);
    if (t_timer < 0) {
        end(t_again);
        listen_no_more();
        return;
    }
    set(t_timer, wait::kLooksForSpinsNs, wait::kLooksForSpinsNs); // or the kernel's own tick
}

CrowdedStart::~CrowdedStart() {
    if (t_timer < 0)
        return;
    // A signal that a timer has sent before comes at the end of this call at the latest.
    end(t_again);
    end(t_timer);
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
