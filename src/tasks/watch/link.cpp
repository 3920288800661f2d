// SPDX-License-Identifier: Apache-2.0
#include "tasks/watch/link.h"

#include "base/config.h"
#include "base/launcher_link.h"

#include <cstdio>
#include <cstdlib>
#include <sys/socket.h>
#include <unistd.h>

namespace sennit::watch {

void LauncherLink::connect(const char *address) {
    if (address && *address)
        socket_ = connect_to_launcher(address, 1);
}

void LauncherLink::disconnect() {
    if (socket_ >= 0)
        close(socket_);
    socket_ = -1;
}

void LauncherLink::send(int rank, std::uint64_t since, std::uint64_t now, std::uint64_t grace,
                        bool outside, const char *text) {
    constexpr int kMost = 32 * 1024; // below every system's limit for a datagram
    char *message = nullptr;
    int size = asprintf(
        &message, "hang\t%d\t%d\t%llu\t%llu\t%llu\t%d\t%d\n%s", rank, getpid(),
        static_cast<unsigned long long>(since), static_cast<unsigned long long>(now),
        static_cast<unsigned long long>(grace), config().hang == HangMode::abort, outside, text);
    if (size < 0)
        return;
    if (size > kMost)
        size = kMost;
    ::send(socket_, message, static_cast<std::size_t>(size), MSG_DONTWAIT | MSG_NOSIGNAL);
    std::free(message);
}

void LauncherLink::send_moves(int rank) {
    char message[32];
    const int size = std::snprintf(message, sizeof message, "move\t%d", rank);
    ::send(socket_, message, static_cast<std::size_t>(size), MSG_DONTWAIT | MSG_NOSIGNAL);
}

bool LauncherLink::send_here(int rank) {
    char message[48];
    const int size = std::snprintf(message, sizeof message, "here\t%d\t%d", rank, getpid());
    return ::send(socket_, message, static_cast<std::size_t>(size), MSG_DONTWAIT | MSG_NOSIGNAL) ==
           size;
}

} // namespace sennit::watch
