// SPDX-License-Identifier: Apache-2.0
#include "pool/pool_keeper.h"

#include "common/failure.h"
#include "pool/pool_board.h"
#include "pool/pool_targets.h"

#include "base/clock.h"
#include "base/open_files.h"
#include "base/signal_queue.h"
#include "node/identity.h"
#include "node/look.h"
#include "node/segment.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <map>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

namespace sennit::tool {
namespace {

constexpr std::int64_t sweep_ns = 1'000'000'000;
constexpr int look_ms = static_cast<int>(node::kRethinkNs / 1'000'000);
constexpr int most_last_looks = 100;
constexpr int last_look_ms = 20;
constexpr const char *ready = "ready";

class Keeper {
  public:
    explicit Keeper(const PoolPlan &plan) : plan_(plan) {}
    // Throws Failure.
    void begin();
    // Until it is to stop.
    void keep();

  private:
    void write_settings();
    void watch_members();
    void free_dead();
    bool wait(); // false: stop now
    bool is_over();
    void think();

    const PoolPlan &plan_;
    node::Board board_;
    std::optional<DutyLock> duty_;
    node::BoardSlot *slot_ = nullptr;
    std::optional<SignalQueue> signals_;
    std::map<node::Identity, int> members_; // with their descriptors
    std::uint32_t changes_ = 0;
    std::int64_t next_thought_ns_ = 0;
    std::int64_t next_sweep_ns_ = 0;
};

void Keeper::begin() {
    sigset_t set;
    sigfillset(&set);
    sigprocmask(SIG_SETMASK, &set, nullptr);
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    sigaddset(&set, SIGTERM);
    signals_.emplace(set);
    open_most_files();
    node::Reason reason;
    if (!board_.open(plan_.path.c_str(), reason))
        fail("pool '{}': {}", plan_.name, reason.text);
    duty_ = DutyLock::take(plan_.path, Duty::keeper);
    if (!duty_ || !duty_->is_of(plan_.path)) {
        board_.close();
        fail("there is a pool '{}' already: sennit pool ls", plan_.name);
    }
    board_.sweep();
    node::ProcessInfo member;
    std::snprintf(member.program, sizeof member.program, "sennit pool");
    write_settings();
    slot_ = board_.join(keeper_job, member);
    if (!slot_) {
        board_.close();
        fail("pool '{}': all {} places are taken", plan_.name, node::kMostSlots);
    }
}

void Keeper::write_settings() {
    node::PoolSettings &pool = board_.pool();
    pool.stops.store(0, std::memory_order_relaxed);
    if (plan_.adopts)
        return;
    std::snprintf(pool.name, sizeof pool.name, "%s", plan_.name.c_str());
    std::snprintf(pool.policy, sizeof pool.policy, "%s", plan_.policy.c_str());
    pool.cores = plan_.cores;
    node::widen(board_.core_table(), plan_.cores);
    pool.named.store(1, std::memory_order_release);
}

// A descriptor for each process that has a slot; the system makes it readable at their ends.
void Keeper::watch_members() {
    std::map<node::Identity, int> present;
    bool dead = false;
    board_.each([&](int, node::BoardSlot &slot) {
        const node::Identity holder = slot.holder.load(std::memory_order_relaxed);
        if (holder == 0 || &slot == slot_ || present.contains(holder))
            return;
        if (const auto known = members_.extract(holder)) {
            present.emplace(holder, known.mapped());
            return;
        }
        const int process = static_cast<int>(syscall(SYS_pidfd_open, node::pid_of(holder), 0));
        dead = dead || (process < 0 && errno == ESRCH);
        present.emplace(holder, process);
    });
    for (const auto &[identity, process] : members_)
        if (process >= 0)
            close(process);
    members_ = std::move(present);
    if (dead)
        free_dead();
}

void Keeper::free_dead() {
    board_.sweep();
}

bool Keeper::wait() {
    if (!signals_)
        return false; // it has not begun
    std::vector<pollfd> sources = {{signals_->descriptor(), POLLIN, 0}};
    for (const auto &[identity, process] : members_)
        if (process >= 0)
            sources.push_back({process, POLLIN, 0});
    // Who joins rings nobody: it is looked for.
    poll(sources.data(), sources.size(), look_ms);
    const std::int64_t now = monotonic_ns();
    // A process that goes on as another program makes no descriptor readable.
    if (now >= next_sweep_ns_ || std::any_of(sources.begin() + 1, sources.end(),
                                             [](const pollfd &one) { return one.revents != 0; })) {
        free_dead();
        next_sweep_ns_ = now + sweep_ns;
    }
    ArrivedSignal signal = {};
    while (signals_->next(signal))
        if (signal.number == SIGTERM)
            return false;
    return true;
}

bool Keeper::is_over() {
    if (plan_.owner != 0 && !node::is_alive(plan_.owner))
        board_.pool().stops.store(1, std::memory_order_release);
    return board_.pool().stops.load(std::memory_order_acquire) != 0 && members_.empty();
}

void Keeper::think() {
    const std::uint32_t now = board_.core_table().changes();
    if (now != changes_) {
        changes_ = now;
        forget_moves_of_others(board_, plan_.path);
        node::divide_cores(board_);
    }
    const std::int64_t time = monotonic_ns();
    if (members_.empty() || time < next_thought_ns_)
        return;
    next_thought_ns_ = time + node::kRethinkNs;
    const DutyLock lock = DutyLock::wait_for(plan_.path, Duty::targets);
    node::rethink_cores(board_);
}

void Keeper::keep() {
    bool goes_on = true;
    while (goes_on) {
        watch_members();
        think();
        if (is_over())
            break;
        goes_on = wait();
        // Of two stops with no joiner between them nothing is lost: it looks once more.
    }
    watch_members();
    // The programs of an owner have ended when it says stop. The slot of one that was killed may
    // still be there.
    const bool is_last = members_.empty() || plan_.owner != 0;
    board_.leave(*slot_);
    board_.close();
    // A virtual rank that was killed keeps the file in use until its host has ended, a moment
    // later.
    for (int look = 0; is_last && look < most_last_looks && access(plan_.path.c_str(), F_OK) == 0;
         ++look) {
        poll(nullptr, 0, last_look_ms);
        node::remove_unused(plan_.path.c_str());
    }
}

constexpr int reply = STDERR_FILENO + 1; // the keeper's descriptor for what it says to its starter

// All other descriptors are closed. `to` becomes `reply`; where the caller has no input or output
// of its own, it may be one of the first three.
void detach_from_caller(int to) {
    const int kept = fcntl(to, F_DUPFD_CLOEXEC, reply);
    const int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
    for (const int standard : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
        if (nothing < 0 || dup2(nothing, standard) < 0)
            close(standard); // or who reads the caller's output would wait for the keeper's end
    if (kept != reply)
        dup2(kept, reply);
    fcntl(reply, F_SETFD, FD_CLOEXEC);
    close_files_from(reply + 1);
    if (chdir("/") != 0)
        return; // it keeps a folder busy: no harm
}

void say(const std::string &text) {
    if (write(reply, text.data(), text.size()) < 0)
        _exit(refused);
}

[[noreturn]] void become_keeper(const PoolPlan &plan, int starter) {
    prctl(PR_SET_NAME, "sennit-pool");
    detach_from_caller(starter);
    Keeper keeper(plan);
    try {
        keeper.begin();
        say(ready);
    } catch (const std::exception &error) {
        say(error.what());
        _exit(refused);
    }
    close(reply);
    try {
        keeper.keep();
    } catch (const std::exception &) {
        _exit(1); // as if it had been killed
    }
    _exit(0);
}

std::string read_all(int from) {
    std::string text;
    char buffer[512];
    for (ssize_t got; (got = read(from, buffer, sizeof buffer)) > 0 || (got < 0 && errno == EINTR);)
        if (got > 0)
            text.append(buffer, static_cast<std::size_t>(got));
    return text;
}

} // namespace

void start_keeper(const PoolPlan &plan) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
        fail("pool '{}': no pipe: {}", plan.name, std::strerror(errno));
    std::fflush(nullptr);
    const pid_t child = fork();
    if (child == 0) {
        // Twice: not the leader of its session, so no terminal ever becomes its own.
        setsid();
        if (fork() == 0)
            become_keeper(plan, ends[1]);
        _exit(0);
    }
    close(ends[1]);
    if (child > 0)
        waitpid(child, nullptr, 0);
    const std::string said = read_all(ends[0]);
    close(ends[0]);
    if (said != ready)
        fail("{}",
             said.empty() ? fmt::format("pool '{}': its keeper cannot start", plan.name) : said);
}

} // namespace sennit::tool
