// SPDX-License-Identifier: Apache-2.0
#include "network/notices.h"

#include "base/kept_file.h"
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

// Of a message that the kernel has signed: by its sender's user.
bool is_of_this_user(msghdr &message) {
    for (cmsghdr *part = CMSG_FIRSTHDR(&message); part; part = CMSG_NXTHDR(&message, part)) {
        if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_CREDENTIALS)
            continue;
        ucred sender{};
        std::memcpy(&sender, CMSG_DATA(part), sizeof sender);
        return sender.uid == getuid();
    }
    return false;
}

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

void Notices::tell(std::uint64_t address, const Notice &notice) const {
    const Address to(address);
    while (sendto(socket_, &notice, sizeof notice, MSG_NOSIGNAL, to.get(), to.size) < 0 &&
           errno == EINTR)
        ;
}

bool Notices::next(Notice &notice, int ranks) const {
    while (!stopping_.load(std::memory_order_acquire)) {
        iovec bytes{&notice, sizeof notice};
        alignas(cmsghdr) char room[CMSG_SPACE(sizeof(ucred))];
        msghdr message{};
        message.msg_iov = &bytes;
        message.msg_iovlen = 1;
        message.msg_control = room;
        message.msg_controllen = sizeof room;
        // Descriptors that a stranger sends do not fit, and are closed by the kernel.
        const ssize_t size = recvmsg(socket_, &message, MSG_CMSG_CLOEXEC);
        if (size < 0 && errno != EINTR)
            return false;
        if (size == static_cast<ssize_t>(sizeof notice) && (message.msg_flags & MSG_TRUNC) == 0 &&
            is_of_this_user(message) && notice.rank >= 0 && notice.rank < ranks)
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
