// SPDX-License-Identifier: Apache-2.0
#include "ranks/stub/stub.h"

#include "base/system_call.h"

#include <cerrno>
#include <ctime>
#include <sys/socket.h>
#include <sys/syscall.h>

namespace sennit::loader::stub {
namespace {

struct Ancillary {
    alignas(cmsghdr) char bytes[CMSG_SPACE(kMostAtOnce * sizeof(int))];
};

std::uint32_t fill(msghdr &message, Ancillary &ancillary, const int *descriptors,
                   std::uint32_t count) {
    if (count > kMostAtOnce)
        count = kMostAtOnce;
    if (count == 0)
        return 0;
    message.msg_control = ancillary.bytes;
    message.msg_controllen = CMSG_SPACE(count * sizeof(int));
    auto &header = *reinterpret_cast<cmsghdr *>(ancillary.bytes);
    header.cmsg_level = SOL_SOCKET;
    header.cmsg_type = SCM_RIGHTS;
    header.cmsg_len = CMSG_LEN(count * sizeof(int));
    auto *at = reinterpret_cast<int *>(CMSG_DATA(&header));
    for (std::uint32_t i = 0; i < count; ++i)
        at[i] = descriptors[i];
    return count;
}

// Other programs of the user may have descriptors on their way, too: they are waited for.
long send_some(int socket, const msghdr &message) {
    constexpr int most_pauses = 6000;
    const timespec pause{0, 10'000'000};
    for (int pauses = 0;; ++pauses) {
        const long sent = system_call(SYS_sendmsg, socket, &message, MSG_NOSIGNAL);
        if (sent != -ETOOMANYREFS || pauses == most_pauses)
            return sent;
        system_call(SYS_nanosleep, &pause, 0);
    }
}

// All of it. The kernel takes the descriptors with the first bytes.
int send_parts(int socket, msghdr &message) {
    while (message.msg_iovlen > 0) {
        long sent = send_some(socket, message);
        if (sent < 0)
            return static_cast<int>(-sent);
        message.msg_control = nullptr;
        message.msg_controllen = 0;
        for (; message.msg_iovlen > 0; ++message.msg_iov, --message.msg_iovlen) {
            iovec &part = *message.msg_iov;
            if (static_cast<unsigned long>(sent) < part.iov_len) {
                part.iov_base = static_cast<char *>(part.iov_base) + sent;
                part.iov_len -= static_cast<unsigned long>(sent);
                break;
            }
            sent -= static_cast<long>(part.iov_len);
        }
    }
    return 0;
}

iovec part(const void *bytes, std::size_t size) {
    return {const_cast<void *>(bytes), size};
}

} // namespace

int send(int socket, const Outgoing &request) {
    const RequestHead &head = request.head;
    iovec parts[] = {
        part(&head, sizeof head), part(request.numbers, head.descriptors * sizeof *request.numbers),
        part(request.affinity, head.affinity_size), part(request.text, head.text_size)};
    Ancillary ancillary;
    msghdr message{};
    message.msg_iov = parts;
    message.msg_iovlen = sizeof parts / sizeof *parts;
    std::uint32_t sent = fill(message, ancillary, request.descriptors, head.descriptors);
    if (const int error = send_parts(socket, message); error != 0)
        return error;
    while (sent < head.descriptors) {
        iovec mark = part("d", 1);
        message = {};
        message.msg_iov = &mark;
        message.msg_iovlen = 1;
        sent += fill(message, ancillary, request.descriptors + sent, head.descriptors - sent);
        if (const int error = send_parts(socket, message); error != 0)
            return error;
    }
    return 0;
}

} // namespace sennit::loader::stub
