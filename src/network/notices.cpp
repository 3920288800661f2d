// SPDX-License-Identifier: Apache-2.0
#include "network/notices.h"

#include <cerrno>
#include <cinttypes>
#include <cstddef>
#include <cstdio>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

namespace sennit::network {
namespace {

struct Address {
    sockaddr_un name{};
    socklen_t size;

    // In the abstract name space (a first byte of 0). So nothing stays behind in a folder.
    Address(std::uint64_t job, int rank) {
        name.sun_family = AF_UNIX;
        const int length = std::snprintf(name.sun_path + 1, sizeof name.sun_path - 1,
                                         "sennit-network-%" PRIx64 "-%d", job, rank);
        size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1) +
               static_cast<socklen_t>(length);
    }
    const sockaddr *get() const { return reinterpret_cast<const sockaddr *>(&name); }
};

} // namespace

bool Notices::open(std::uint64_t job, int rank) {
    job_ = job;
    socket_ = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (socket_ < 0)
        return false;
    const Address own(job, rank);
    return bind(socket_, own.get(), own.size) == 0;
}

void Notices::tell(int rank, const Notice &notice) const {
    const Address to(job_, rank);
    while (sendto(socket_, &notice, sizeof notice, MSG_NOSIGNAL, to.get(), to.size) < 0 &&
           errno == EINTR)
        ;
}

bool Notices::next(Notice &notice) const {
    for (;;) {
        const ssize_t size = recv(socket_, &notice, sizeof notice, 0);
        if (size == static_cast<ssize_t>(sizeof notice))
            return notice.rank >= 0;
        if (size < 0 && errno != EINTR)
            return false;
    }
}

void Notices::close() {
    ::close(socket_);
    socket_ = -1;
}

} // namespace sennit::network
