// SPDX-License-Identifier: Apache-2.0
#include "job/rank_report.h"

#include "common/argument_pointers.h"
#include "common/failure.h"

#include "base/agreements.h"
#include "base/clock.h"
#include "base/signal_queue.h"

#include <fmt/format.h>

#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <iterator>

namespace sennit::tool {
namespace {

constexpr int patience_s = 5; // with a launcher that is stopped

bool send_text(const std::string &socket, const std::string &text) {
    const int link = connect_to_launcher(socket.c_str(), patience_s);
    if (link < 0)
        return false;
    const ssize_t sent = send(link, text.data(), text.size(), MSG_NOSIGNAL);
    close(link);
    return sent == static_cast<ssize_t>(text.size());
}

std::string name_of(const RankReport &report) {
    const std::string who =
        report.rank >= 0 ? fmt::format("rank {}", report.rank) : std::string("a rank");
    return fmt::format("{} (process {})", who, report.pid);
}

int wait_for(pid_t child) {
    int status = 0;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    return status;
}

// Who ignores it hears of no child's end, and some start programs so. The program gets `before`.
void heed_ends(struct sigaction &before) {
    struct sigaction usual = {};
    usual.sa_handler = SIG_DFL;
    sigaction(SIGCHLD, &usual, &before);
}

// All signals are blocked.
int wait_beside(Hearer &hearer, pid_t child) {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGCHLD);
    const SignalQueue signals(set);
    int status = 0;
    while (waitpid(child, &status, WNOHANG) == 0) {
        pollfd sources[] = {{signals.descriptor(), POLLIN, 0}, {hearer.descriptor(), POLLIN, 0}};
        poll(sources, std::size(sources), signals.patience(-1));
        for (ArrivedSignal arrived = {}; signals.next(arrived);) {
        }
        if (sources[1].revents != 0)
            hearer.replace();
    }
    return status;
}

} // namespace

void end_by(int signal) {
    const rlimit none = {0, 0};
    setrlimit(RLIMIT_CORE, &none);
    prctl(PR_SET_DUMPABLE, 0); // a program that the kernel gives core files to heeds no limit
    ::signal(signal, SIG_DFL);
    sigset_t alone;
    sigemptyset(&alone);
    sigaddset(&alone, signal);
    raise(signal);
    sigprocmask(SIG_UNBLOCK, &alone, nullptr);
    _exit(128 + signal);
}

bool is_request(int signal) {
    return signal == SIGINT || signal == SIGTERM || signal == SIGHUP;
}

std::string signal_text(int signal) {
    // Linux's numbers. glibc knows the names since 2.32 only (sigabbrev_np).
    static constexpr const char *names[] = {
        "",     "HUP",  "INT",  "QUIT", "ILL",    "TRAP",   "ABRT",  "BUS",  "FPE",  "KILL", "USR1",
        "SEGV", "USR2", "PIPE", "ALRM", "TERM",   "STKFLT", "CHLD",  "CONT", "STOP", "TSTP", "TTIN",
        "TTOU", "URG",  "XCPU", "XFSZ", "VTALRM", "PROF",   "WINCH", "POLL", "PWR",  "SYS"};
    return signal > 0 && signal < static_cast<int>(std::size(names))
               ? fmt::format("signal {} (SIG{})", signal, names[signal])
               : fmt::format("signal {}", signal);
}

std::string describe(const RankReport &report) {
    return fmt::format(
        "{} was ended by {}{}", name_of(report), signal_text(report.signal),
        report.signal == SIGKILL ? ": somebody killed it, or the kernel for want of memory" : "");
}

std::string describe_early_end(const RankReport &report) {
    return fmt::format("{} has ended with code {} before MPI_Init", name_of(report), report.code);
}

bool send_report(const std::string &socket, const RankReport &report) {
    return send_text(socket,
                     fmt::format("end\t{}\t{}\t{}\t{}\t{}\t{:d}", report.rank, monotonic_ns(),
                                 report.pid, report.signal, report.code, report.is_explained));
}

int run_watched(const std::string &path, const std::vector<std::string> &command,
                const WatchedRank &rank, const std::string &socket, Hearer *hearer) {
    sigset_t all;
    sigset_t before;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, &before);
    send_text(socket, fmt::format("watch\t{}\t{}", rank.number, rank.told_alone));
    struct sigaction of_children = {};
    heed_ends(of_children);
    const pid_t parent = getpid();
    const pid_t child = fork();
    if (child < 0)
        fail("cannot start '{}': {}", path, std::strerror(errno));
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getppid() != parent)
            _exit(128 + SIGKILL);
        sigaction(SIGCHLD, &of_children, nullptr);
        sigprocmask(SIG_SETMASK, &before, nullptr);
        execute(path, command);
    }
    const int status = hearer ? wait_beside(*hearer, child) : wait_for(child);
    RankReport report = {rank.number, child, 0, WEXITSTATUS(status), false};
    if (WIFSIGNALED(status)) {
        report.signal = WTERMSIG(status);
        report.code = 128 + report.signal;
    }
    if (!send_report(socket, report) && report.signal != 0 && !is_request(report.signal))
        tell("sennit: {}\n", describe(report));
    if (hearer)
        hearer->wait_until_heard();
    std::fflush(nullptr);
    if (report.signal != 0)
        end_by(report.signal);
    return report.code;
}

void execute(const std::string &path, const std::vector<std::string> &command) {
    execv(path.c_str(), argument_pointers(command).data());
    if (errno == ENOEXEC) { // a script without "#!", which shells run like this
        std::vector<std::string> line = {"/bin/sh", path};
        line.insert(line.end(), command.begin() + 1, command.end());
        execv(line[0].c_str(), argument_pointers(line).data());
    }
    fail("cannot start '{}': {}", path, std::strerror(errno));
}

} // namespace sennit::tool
