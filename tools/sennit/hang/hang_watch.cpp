// SPDX-License-Identifier: Apache-2.0
#include "hang/hang_watch.h"

#include "common/failure.h"
#include "common/process_stat.h"
#include "pool/pool_board.h"

#include "base/printable.h"
#include "base/private_socket.h"
#include "base/source_lines.h"

#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

namespace sennit::tool {

namespace {

constexpr int most_at_once = 64; // messages, before signals are served again
constexpr std::size_t longest_message = std::size_t{64} * 1024;

bool is_stopped(int process) {
    const auto stat = stat_of(process);
    return stat && (stat->state == 'T' || stat->state == 't');
}

// The kernel says of each message from whom it is: asked for before anybody can send one.
int bind_datagrams(const std::string &path) {
    const int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    const int yes = 1;
    sockaddr_un address;
    const mode_t mask = umask(0177);
    const bool bound = fd >= 0 && make_socket_address(path.c_str(), address) &&
                       setsockopt(fd, SOL_SOCKET, SO_PASSCRED, &yes, sizeof yes) == 0 &&
                       bind(fd, reinterpret_cast<const sockaddr *>(&address), sizeof address) == 0;
    const int error = errno;
    umask(mask);
    if (!bound)
        fail("cannot make the socket '{}' to watch the ranks: {}", path, std::strerror(error));
    return fd;
}

} // namespace

HangWatch::HangWatch(const std::string &socket, int ranks, std::string board, bool mpiexec_sees,
                     pid_t root)
    : socket_(bind_datagrams(socket)), board_file_(std::move(board)), mpiexec_sees_(mpiexec_sees),
      buffer_(longest_message), members_(root, socket), ends_(ranks),
      judge_(ranks, is_stopped, [this](const RankProcesses &processes, std::uint64_t least_ns) {
          return look_at_cores(processes, least_ns);
      }) {}

// A board that nobody has is not made for that.
CoreWaits HangWatch::look_at_cores(const RankProcesses &processes, std::uint64_t least_ns) {
    if (!board_ && node::is_in_use(board_file_.c_str())) {
        board_ = std::make_unique<node::Board>();
        if (node::Reason reason; !board_->open(board_file_.c_str(), reason))
            board_.reset();
    }
    return board_ ? core_waits(look_at(*board_), processes, least_ns) : CoreWaits();
}

HangWatch::~HangWatch() {
    if (board_)
        board_->close();
    close(socket_);
}

bool HangWatch::has_failed_early() const {
    const auto &failure = ends_.failure();
    return failure && (failure->signal != 0 || !ends_.has_begun(failure->rank));
}

void HangWatch::end_waiting_ranks() {
    for (const int process : waiting_)
        members_.send(process, SIGKILL);
    waiting_.clear();
}

void HangWatch::tell(const std::string &text, const std::vector<int> &processes, int signal) {
    std::fflush(stdout);
    char *const with_lines = with_source_lines(text.c_str());
    const std::string shown =
        printable(with_lines ? with_lines : text.c_str(), Lines::many); // the program's names
    std::free(with_lines);
    [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, shown.data(), shown.size());
    for (const int process : processes)
        has_ended_ranks_ |= members_.send(process, signal);
}

void HangWatch::hear(std::string_view message, int sender) {
    if (ends_.hear(message, sender))
        if (const auto verdict = ends_.verdict()) {
            waiting_ = verdict->processes;
            tell(verdict->text, {}, 0);
            if (!mpiexec_sees_) {
                end_waiting_ranks();
                has_ended_ranks_ = true;
            }
        }
    judge_.hear(message, sender);
    if (const auto verdict = judge_.verdict())
        tell(verdict->text, verdict->processes, SIGABRT);
}

// False: there is none.
bool HangWatch::take_message() {
    const SignedMessage message = receive_signed(socket_, buffer_.data(), buffer_.size());
    if (message.size < 0)
        return false;
    const ucred &sender = message.sender;
    if (message.is_signed && sender.uid == geteuid() && members_.admit(sender.pid))
        hear({buffer_.data(), static_cast<std::size_t>(message.size)}, sender.pid);
    return true;
}

void HangWatch::ready() {
    for (int taken = 0; taken < most_at_once && take_message(); ++taken) {
    }
}

// What has come since the last look, but not what somebody keeps on sending.
const RankEnds &HangWatch::ends() {
    constexpr int rounds = 64;
    for (int round = 0; round < rounds; ++round)
        ready();
    return ends_;
}

} // namespace sennit::tool
