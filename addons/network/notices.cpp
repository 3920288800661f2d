// SPDX-License-Identifier: Apache-2.0
#include "network/notices.h"

#include "base/kept_file.h"
#include "base/private_socket.h"
#include "base/random_bytes.h"

#include <cerrno>
#include <cinttypes>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <unistd.h>

namespace sennit::network {
namespace {

struct Address {
    sockaddr_un name{};
    socklen_t size;

    // In the abstract name space (a first byte of 0). So nothing stays behind in a folder.
    explicit Address(std::uint64_t number) {
        name.sun_family = AF_UNIX;
        const int length = std::snprintf(name.sun_path + 1, sizeof name.sun_path - 1,
                                         "sennit-network-%016" PRIx64, number);
        size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1) +
               static_cast<socklen_t>(length);
    }
    const sockaddr *get() const { return reinterpret_cast<const sockaddr *>(&name); }
};

} // namespace

bool Notices::open(std::uint64_t &address) {
    socket_ = above_standard(socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
    const int on = 1;
    if (socket_ < 0 || setsockopt(socket_, SOL_SOCKET, SO_PASSCRED, &on, sizeof on) != 0)
        return false;
    constexpr int kAttempts = 64;
    for (int attempt = 0; attempt < kAttempts; ++attempt) {
        address = random_word(); // nobody can guess it and take the name before
        const Address own(address);
        if (bind(socket_, own.get(), own.size) == 0)
            return true;
        if (errno != EADDRINUSE)
            return false;
    }
    return false;
}

void Notices::tell(std::uint64_t address, const SendNotice &notice) const {
    const Address to(address);
    while (sendto(socket_, &notice, sizeof notice, MSG_NOSIGNAL, to.get(), to.size) < 0 &&
           errno == EINTR)
        ;
}

bool Notices::next(SendNotice &notice, int ranks) const {
    while (!stopping_.load(std::memory_order_acquire)) {
        const SignedMessage message = receive_signed(socket_, &notice, sizeof notice);
        if (message.size < 0 && errno != EINTR)
            return false;
        if (message.size == static_cast<ssize_t>(sizeof notice) && !message.is_cut &&
            message.is_signed && message.sender.uid == getuid() && notice.rank >= 0 &&
            notice.rank < ranks)
            return true;
    }
    return false;
}

// A datagram could be anybody's, the end of the socket is ours alone: recvmsg() returns.
void Notices::stop() {
    stopping_.store(true, std::memory_order_release);
    shutdown(socket_, SHUT_RD);
}

void Notices::close() {
    ::close(socket_);
    socket_ = -1;
}

} // namespace sennit::network
