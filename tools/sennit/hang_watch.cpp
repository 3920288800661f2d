// SPDX-License-Identifier: Apache-2.0
#include "hang_watch.h"

#include "failure.h"
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

HangWatch::HangWatch(const std::string &name, int ranks)
    : socket_(bind_datagrams(name)), judge_(ranks, is_stopped) {}

HangWatch::~HangWatch() {
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
