// SPDX-License-Identifier: Apache-2.0
#include "watch/link.h"

#include "base/config.h"

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

namespace sennit::watch {

void Link::connect(const char *address) {
    if (!address || !*address)
        return;
    sockaddr_un name{};
    name.sun_family = AF_UNIX;
    const std::size_t length = std::strlen(address);
    if (length >= sizeof name.sun_path)
        return;
    std::memcpy(name.sun_path + 1, address, length);
    const int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return;
    // On another machine than the launcher's nobody has this name.
    if (::connect(fd, reinterpret_cast<const sockaddr *>(&name),
                  static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + length)) != 0) {
        close(fd);
        return;
    }
    socket_ = fd;
}

void Link::disconnect() {
    if (socket_ >= 0)
        close(socket_);
    socket_ = -1;
}

void Link::send(int rank, std::uint64_t since, std::uint64_t now, std::uint64_t grace, bool outside,
                const char *text) {
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

void Link::send_moves(int rank) {
    char message[32];
    const int size = std::snprintf(message, sizeof message, "move\t%d", rank);
    ::send(socket_, message, static_cast<std::size_t>(size), MSG_DONTWAIT | MSG_NOSIGNAL);
}

bool Link::send_here(int rank) {
    char message[48];
    const int size = std::snprintf(message, sizeof message, "here\t%d\t%d", rank, getpid());
    return ::send(socket_, message, static_cast<std::size_t>(size), MSG_DONTWAIT | MSG_NOSIGNAL) ==
           size;
}

} // namespace sennit::watch
