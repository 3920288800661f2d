// SPDX-License-Identifier: Apache-2.0
#include "hang_watch.h"

#include "failure.h"
#include "pool_board.h"
#include "process_stat.h"
#include "rank_report.h"

#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <fmt/format.h>

#include <cstdio>
#include <fstream>
#include <string>
#include <vector>

namespace sennit::tool {

namespace {

bool is_stopped(int process) {
    std::string line;
    std::ifstream file(fmt::format("/proc/{}/stat", process));
    const auto stat = std::getline(file, line) ? parse_process_stat(line) : std::nullopt;
    return stat && (stat->state == 'T' || stat->state == 't');
}

} // namespace

HangWatch::HangWatch(const std::string &name, int ranks, std::string board)
    : socket_(bind_datagrams(name)), board_file_(std::move(board)),
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

void HangWatch::ready() {
    std::vector<char> buffer(64 * 1024);
    for (ssize_t size; (size = recv(socket_, buffer.data(), buffer.size(), 0)) >= 0;) {
        judge_.hear({buffer.data(), static_cast<std::size_t>(size)});
        const auto verdict = judge_.verdict();
        if (!verdict)
            continue;
        std::fflush(stdout);
        [[maybe_unused]] const ssize_t written =
            write(STDERR_FILENO, verdict->text.data(), verdict->text.size());
        for (const int process : verdict->processes)
            has_ended_ranks_ |= kill(process, SIGABRT) == 0;
    }
}

} // namespace sennit::tool
