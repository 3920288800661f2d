// SPDX-License-Identifier: Apache-2.0
#include "rank_report.h"

#include "argument_pointers.h"
#include "failure.h"

#include <fmt/format.h>

#include <signal.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <ctime>

namespace sennit::tool {
namespace {

// An abstract address begins with a zero byte and ends with its length.
socklen_t make_address(const std::string &name, sockaddr_un &address) {
    address = {};
    address.sun_family = AF_UNIX;
    const std::size_t size = std::min(name.size(), sizeof address.sun_path - 1);
    std::memcpy(address.sun_path + 1, name.data(), size);
    return static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + size);
}

bool send_datagram(const std::string &name, const void *data, std::size_t length) {
    const int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return false;
    sockaddr_un address;
    const socklen_t size = make_address(name, address);
    const ssize_t sent =
        sendto(fd, data, length, MSG_DONTWAIT, reinterpret_cast<const sockaddr *>(&address), size);
    close(fd);
    return sent == static_cast<ssize_t>(length);
}

} // namespace

std::string signal_text(int signal) {
    const char *const name = sigabbrev_np(signal);
    return name ? fmt::format("signal {} (SIG{})", signal, name) : fmt::format("signal {}", signal);
}

std::string describe(const RankReport &report) {
    const std::string who =
        report.rank >= 0 ? fmt::format("rank {}", report.rank) : std::string("a rank");
    return fmt::format(
        "{} (process {}) was ended by {}{}", who, report.pid, signal_text(report.signal),
        report.signal == SIGKILL ? ": somebody killed it, or the kernel for want of memory" : "");
}

std::string hang_link(const std::string &watch_address) {
    return watch_address + "-hang";
}

int bind_datagrams(const std::string &name) {
    const int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    sockaddr_un address;
    const socklen_t size = make_address(name, address);
    if (fd < 0 || bind(fd, reinterpret_cast<const sockaddr *>(&address), size) != 0)
        fail("cannot make a socket to watch the ranks: {}", std::strerror(errno));
    return fd;
}

ReportBox::ReportBox() {
    std::uint64_t random = 0;
    if (getrandom(&random, sizeof random, 0) != sizeof random)
        fail("cannot make a name for a socket to watch the ranks: {}", std::strerror(errno));
    address_ = fmt::format("sennit-{}-{:016x}", getpid(), random);
    socket_ = bind_datagrams(address_);
}

ReportBox::~ReportBox() {
    close(socket_);
}

std::optional<RankReport> ReportBox::next() {
    RankReport report;
    if (recv(socket_, &report, sizeof report, 0) != static_cast<ssize_t>(sizeof report))
        return std::nullopt;
    return report;
}

int run_watched(const std::string &path, const std::vector<std::string> &command, int rank,
                const std::string &address) {
    sigset_t all;
    sigset_t before;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, &before);
    const pid_t parent = getpid();
    const pid_t child = fork();
    if (child < 0)
        fail("cannot start '{}': {}", path, std::strerror(errno));
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getppid() != parent)
            _exit(128 + SIGKILL);
        sigprocmask(SIG_SETMASK, &before, nullptr);
        execute(path, command);
    }
    int status = 0;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    RankReport report = {rank, child, 0, WEXITSTATUS(status)};
    if (WIFSIGNALED(status)) {
        report.signal = WTERMSIG(status);
        report.code = 128 + report.signal;
    }
    timespec now = {};
    clock_gettime(CLOCK_MONOTONIC, &now);
    const std::string end =
        fmt::format("end\t{}\t{}", rank, now.tv_sec * 1'000'000'000LL + now.tv_nsec);
    send_datagram(hang_link(address), end.data(), end.size());
    if (report.code != 0 && !send_datagram(address, &report, sizeof report) && report.signal != 0)
        fmt::print(stderr, "sennit: {}\n", describe(report));
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
