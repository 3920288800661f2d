// SPDX-License-Identifier: Apache-2.0
#include "ranks/fibers/home.h"

#include "base/spin.h"
#include "ranks/fibers/call.h"
#include "ranks/fibers/carrier.h"
#include "ranks/fibers/fiber_rings.h"
#include "ranks/fibers/trap.h"

#include <cerrno>
#include <csignal>
#include <cstring>
#include <ctime>
#include <sys/auxv.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include <utility>

namespace sennit::virt {
namespace {

constexpr int kNudge = 64; // SIGRTMAX: each that is sent is kept
constexpr std::uint64_t kAllSignals = ~std::uint64_t{0};
// Those that libc sends to each thread by itself, and waits for: for setuid() and its like.
constexpr std::uint64_t kOfLibc = std::uint64_t{3} << 31;
constexpr int kMostHeld = 48;

long address(const void *pointer) {
    return reinterpret_cast<long>(pointer);
}

// Of the calling kernel thread, whatever it runs.
std::int64_t thread_ns() {
    timespec now{};
    call(SYS_clock_gettime, CLOCK_THREAD_CPUTIME_ID, address(&now), 0, 0, 0, 0);
    return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

// Of the fiber that the calling kernel thread has, for differences on this thread.
std::int64_t clock_of(const RankFiber &fiber) {
    if (Carrier *const carrier = fiber.carrier.load(std::memory_order_relaxed))
        return carrier->clock.now_ns(ticks(), fiber.rings->tick_rate(), thread_ns);
    return thread_ns();
}

bool is_nudge(const RankFiber &self, const siginfo_t &info) {
    return info.si_signo == kNudge && info.si_code == SI_QUEUE && info.si_value.sival_ptr == &self;
}

// Of the home thread while the fiber is away. Returns where the fiber left off.
void *parked(void *argument) {
    RankFiber &self = *static_cast<RankFiber *>(argument);
    siginfo_t held[kMostHeld];
    int count = 0;
    // Only the main flow takes signals for the whole rank: those that the program lets through
    // there. All others are for threads that wait for them, or for later.
    const bool is_main = self.main.load(std::memory_order_relaxed) == &self;
    const std::uint64_t of_rank = is_main ? ~self.signal_mask : 0;
    leave_thread(self);
    self.go(Stage::waiting); // seq_cst, see fiber_rings.h
    if (self.has_changed())
        self.rings->ring(self, nullptr);
    else
        self.rings->help(); // its time limit
    for (;;) {
        // Those that do not find room stay in the queue.
        constexpr std::uint64_t nudges = std::uint64_t{1} << (kNudge - 1);
        const std::uint64_t wanted = count == kMostHeld ? nudges : nudges | kOfLibc | of_rank;
        siginfo_t &info = held[count < kMostHeld ? count : kMostHeld - 1];
        siginfo_t nudge;
        siginfo_t &taken = count < kMostHeld ? info : nudge;
        if (call(SYS_rt_sigtimedwait, address(&wanted), address(&taken), 0, sizeof wanted) < 0)
            continue;
        if (is_nudge(self, taken))
            break;
        if (count < kMostHeld)
            ++count;
        self.wanted_home.store(1);
        self.rings->ring(self, nullptr);
        if (Carrier *const carrier = self.carrier.load())
            self.rings->poke(carrier->thread.load());
    }
    self.wanted_home.store(0, std::memory_order_relaxed);
    const pid_t process = self.process_number();
    const pid_t thread = self.thread.load(std::memory_order_relaxed);
    for (int i = 0; i < count; ++i)
        call(SYS_rt_tgsigqueueinfo, process, thread, held[i].si_signo, address(&held[i]));
    self.homecomings.store(self.homecomings.load(std::memory_order_relaxed) + 1,
                           std::memory_order_relaxed);
    self.go(Stage::home, std::memory_order_relaxed);
    come_to_thread(self);
    if (void *const frame = self.frame) {
        self.frame = nullptr;
        fit_frame(frame, self);
        sennit_virt_return(frame);
    }
    return self.stack_pointer;
}

// Compilers may use %gs for nothing; a program that does has it on its home thread alone.
bool uses_other_base() {
    unsigned long base;
    asm volatile("rdgsbase %0" : "=r"(base));
    return base != 0;
}

// The one that the thread library has named for this, in the thread's descriptor. Where the word is
// something else (musl's lock for the main thread), nothing is known.
void find_home_thread(RankFiber &self) {
    const std::atomic<pid_t> *word = nullptr;
    if (call(SYS_prctl, PR_GET_TID_ADDRESS, address(&word)) == 0 && word &&
        word->load() == self.thread.load(std::memory_order_relaxed))
        self.home_thread = word;
}

bool leave_home(RankFiber &self) {
    // The host tells the number once it knows it. A thread may have begun before.
    if (self.process_number() == 0 || uses_other_base())
        return false;
    stack_t alternate{};
    call(SYS_sigaltstack, 0, address(&alternate));
    if ((alternate.ss_flags & SS_ONSTACK) != 0)
        return false; // in a handler
    std::memcpy(self.alternate_stack, &alternate, sizeof alternate);
    call(SYS_rt_sigprocmask, SIG_SETMASK, address(&kAllSignals), address(&self.signal_mask),
         sizeof kAllSignals);
    asm volatile("rdfsbase %0" : "=r"(self.thread_pointer));
    if (!std::exchange(self.has_asked, true))
        find_home_thread(self);
    sennit_virt_park(&self.stack_pointer, self.parking, parked, &self);
    return true;
}

// Here again; where it is at home, its signals are taken again.
void arrive(RankFiber &self) {
    if (!self.carrier.load(std::memory_order_relaxed))
        call(SYS_rt_sigprocmask, SIG_SETMASK, address(&self.signal_mask), 0,
             sizeof self.signal_mask);
}

void leave_carrier(RankFiber &self, Carrier &carrier, LeaveReason reason) {
    carrier.reason = reason;
    sennit_virt_step_back(&self.stack_pointer, carrier.stack_pointer);
}

bool wait(RankFiber &self, Watched one, Watched other, std::int64_t limit_ns) {
    self.watched[0] = one;
    self.watched[1] = other;
    self.limit_ns = limit_ns;
    if (Carrier *const carrier = self.carrier.load(std::memory_order_relaxed))
        leave_carrier(self, *carrier, LeaveReason::waits);
    else if (!leave_home(self))
        return false;
    arrive(self);
    return true;
}

// At home, a yield of the kernel's would be one to carriers that spin: for milliseconds. So the
// flow leaves home, and takes turns with the fibers on the carriers.
void yield(RankFiber &self) {
    Carrier *const carrier = self.carrier.load(std::memory_order_relaxed);
    static const Atomic<std::uint32_t> changed{1};
    if (!carrier && self.rings->any_running() && wait(self, {&changed, 0}, {}, 0))
        return;
    if (!carrier || !self.rings->others_ready()) {
        call(SYS_sched_yield); // threads of the ranks share the core with the carriers
        return;
    }
    leave_carrier(self, *carrier, LeaveReason::yields);
    arrive(self);
}

bool keeps_others(const RankFiber &self) {
    return self.carrier.load(std::memory_order_relaxed) && self.rings->others_ready();
}

void ring(RankFiber &other, const RankFiber *self) {
    other.rings->ring(other, self);
    if (other.listener.load(std::memory_order_relaxed))
        if (RankFiber *const listener = other.listener.exchange(nullptr))
            other.rings->ring(*listener, self);
}

void ring_abroad(pid_t host) {
    call(SYS_kill, host, SIGURG);
}

RankFiber *find(const RankFiber &self, pid_t process) {
    return self.rings->fibers().find(process);
}

RankFiber *enter(RankFiber &main, pid_t thread) {
    RankFiber *const fiber = main.rings->fibers().add(&main);
    if (!fiber)
        return nullptr;
    fiber->thread.store(thread);
    return fiber;
}

void leave(RankFiber &self) {
    if (Carrier *const carrier = self.carrier.load(std::memory_order_relaxed)) {
        leave_carrier(self, *carrier, LeaveReason::home);
        arrive(self);
    }
    self.clock = {};
    self.main.store(nullptr); // who ends the rank must not find the next rank's
    self.in_use.store(0, std::memory_order_release);
}

std::int64_t work_ns(RankFiber &self, ClockUse use) {
    return self.clock.start(use, clock_of(self));
}

} // namespace

const RankFiberCalls g_rank_fiber_calls = {kRankFiberVersion, wait, yield, keeps_others, ring,
                                           ring_abroad,       find, enter, leave,        work_ns};

void come_to_thread(RankFiber &fiber) {
    if (fiber.clock.runs())
        fiber.clock.come(clock_of(fiber));
}

void leave_thread(RankFiber &fiber) {
    if (fiber.clock.runs())
        fiber.clock.leave(clock_of(fiber));
}

void return_home(RankFiber &fiber) {
    if (fiber.has_lost_home())
        return; // the number may be another program's, which the signal would kill
    const pid_t process = fiber.process_number();
    const pid_t home = fiber.thread.load(std::memory_order_relaxed);
    siginfo_t info{};
    info.si_signo = kNudge;
    info.si_code = SI_QUEUE;
    info.si_value.sival_ptr = &fiber;
    // The queue may be full for a moment (RLIMIT_SIGPENDING); a process that has ended needs none.
    while (call(SYS_rt_tgsigqueueinfo, process, home, kNudge, address(&info)) == -EAGAIN)
        call(SYS_sched_yield);
}

} // namespace sennit::virt

#ifndef PR_SET_SYSCALL_USER_DISPATCH
#define PR_SET_SYSCALL_USER_DISPATCH 59
#define PR_SYS_DISPATCH_OFF 0
#endif

namespace sennit::virt {

std::string impediment_of(unsigned long features, bool dispatches) {
    constexpr unsigned long may_write_thread_pointer = 2; // HWCAP2_FSGSBASE
    if ((features & may_write_thread_pointer) == 0)
        return "rank fibers need FSGSBASE, which this processor or its kernel (Linux 5.9) has not: "
               "use --virtual alone";
    if (!dispatches)
        return "rank fibers need a kernel with syscall user dispatch (Linux 5.11): use --virtual "
               "alone";
    return "";
}

namespace {

// Each is tried in a way that does nothing. Without it a fiber would stay away from home for ever,
// or a carrier with a fiber that spins.
[[maybe_unused]] const char *forbidden_call() {
    sigset_t none;
    sigemptyset(&none);
    constexpr timespec now{};
    if (sigtimedwait(&none, nullptr, &now) < 0 && errno != EAGAIN && errno != EINTR)
        return "rt_sigtimedwait";
    siginfo_t info{};
    info.si_code = SI_QUEUE;
    if (syscall(SYS_rt_tgsigqueueinfo, getpid(), gettid(), 0, &info) != 0)
        return "rt_tgsigqueueinfo";
    if (syscall(SYS_tgkill, getpid(), gettid(), 0) != 0)
        return "tgkill";
    stack_t stack{};
    if (sigaltstack(nullptr, &stack) != 0)
        return "sigaltstack";
    return nullptr;
}

} // namespace

std::string impediment() {
#if defined(__x86_64__)
    if (const char *const name = forbidden_call())
        return std::string("rank fibers need the system call ") + name +
               ", which this system forbids: use --virtual alone";
    return impediment_of(getauxval(AT_HWCAP2),
                         prctl(PR_SET_SYSCALL_USER_DISPATCH, PR_SYS_DISPATCH_OFF, 0, 0, 0) == 0);
#else
    return "rank fibers need an x86-64 processor: use --virtual alone";
#endif
}

} // namespace sennit::virt
