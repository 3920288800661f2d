// SPDX-License-Identifier: Apache-2.0
#include "loader/host_start.h"

#include "base/open_files.h"
#include "loader/host.h"
#include "loader/meeting.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <signal.h>

namespace sennit::loader {
namespace {

constexpr int kRefused = 2; // as everything that Sennit refuses

int refuse(const std::string &why) {
    std::fprintf(stderr, "sennit: no virtual rank: %s\n", why.c_str());
    return kRefused;
}

// Nothing of the stub's is to be in the process of all. No open file is kept, or a launcher would
// wait for their end. Returns the listener, or an empty one.
Descriptor leave_the_stub(Descriptor listener) {
    constexpr int place = 3;
    setsid();
    const int nowhere = open("/dev/null", O_RDWR);
    const int held = fcntl(listener.number(), F_DUPFD, place); // above what is replaced
    if (nowhere < 0 || held < 0 || chdir("/") != 0)
        return {};
    for (int number = 0; number < place; ++number)
        dup2(nowhere, number);
    if (held == place ? fcntl(held, F_SETFD, FD_CLOEXEC) < 0 : dup3(held, place, O_CLOEXEC) < 0)
        return {};
    listener.release();
    close_files_from(place + 1);
    for (int signal = 1; signal <= 64; ++signal)
        ::signal(signal, SIG_DFL);
    return Descriptor(place);
}

} // namespace

int start_host(const std::string &folder, int space) {
    Meeting meeting(folder);
    std::string error = meeting.enter();
    if (!error.empty())
        return refuse(error);
    if (meeting.find(space))
        return 0;
    Descriptor listener = meeting.offer(space, error);
    if (!listener)
        return refuse(error);
    if (space == 0)
        meeting.sweep();
    meeting.leave();
    const pid_t host = fork();
    if (host < 0)
        return refuse(std::string("no process for its host: ") + std::strerror(errno));
    if (host > 0)
        return 0;
    listener = leave_the_stub(std::move(listener));
    return listener ? run_host(folder, space, std::move(listener)) : 1;
}

} // namespace sennit::loader
