// SPDX-License-Identifier: Apache-2.0
#include "loader/channel.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <sys/socket.h>

namespace sennit::loader {
namespace {

constexpr std::size_t kMostBytes = std::size_t{64} << 20; // of a request
constexpr std::size_t kMostAtOnce = 250;                  // descriptors; the kernel's limit is 253

struct Ancillary {
    alignas(cmsghdr) char bytes[CMSG_SPACE(kMostAtOnce * sizeof(int))] = {};
};

bool send_some(int socket, const int *descriptors, std::size_t count) {
    char mark = 'd';
    iovec data{&mark, sizeof mark};
    Ancillary ancillary;
    msghdr message{};
    message.msg_iov = &data;
    message.msg_iovlen = 1;
    message.msg_control = ancillary.bytes;
    message.msg_controllen = CMSG_SPACE(count * sizeof(int));
    cmsghdr *header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(count * sizeof(int));
    std::memcpy(CMSG_DATA(header), descriptors, count * sizeof(int));
    return sendmsg(socket, &message, MSG_NOSIGNAL) == 1;
}

bool receive_some(int socket, std::vector<Descriptor> &descriptors) {
    char mark = 0;
    iovec data{&mark, sizeof mark};
    Ancillary ancillary;
    msghdr message{};
    message.msg_iov = &data;
    message.msg_iovlen = 1;
    message.msg_control = ancillary.bytes;
    message.msg_controllen = sizeof ancillary.bytes;
    if (recvmsg(socket, &message, MSG_CMSG_CLOEXEC) != 1)
        return false;
    for (cmsghdr *header = CMSG_FIRSTHDR(&message); header;
         header = CMSG_NXTHDR(&message, header)) {
        if (header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS)
            continue;
        const std::size_t count = (header->cmsg_len - CMSG_LEN(0)) / sizeof(int);
        for (std::size_t i = 0; i < count; ++i) {
            int number = -1;
            std::memcpy(&number, CMSG_DATA(header) + i * sizeof number, sizeof number);
            descriptors.emplace_back(number);
        }
    }
    return (message.msg_flags & MSG_CTRUNC) == 0;
}

} // namespace

bool is_same_user(int socket) {
    ucred peer{};
    socklen_t size = sizeof peer;
    return getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 && peer.uid == geteuid();
}

bool send_all(int socket, const void *bytes, std::size_t size) {
    for (const char *at = static_cast<const char *>(bytes); size > 0;) {
        const ssize_t sent = send(socket, at, size, MSG_NOSIGNAL);
        if (sent < 0 && errno == EINTR)
            continue;
        if (sent <= 0)
            return false;
        at += sent;
        size -= static_cast<std::size_t>(sent);
    }
    return true;
}

bool receive_all(int socket, void *bytes, std::size_t size) {
    for (char *at = static_cast<char *>(bytes); size > 0;) {
        const ssize_t got = recv(socket, at, size, 0);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return false;
        at += got;
        size -= static_cast<std::size_t>(got);
    }
    return true;
}

bool send_request(int socket, const RankRequest &request, const std::vector<int> &descriptors) {
    const std::string bytes = encode(request);
    const std::uint64_t size = bytes.size();
    if (!send_message(socket, size) || !send_all(socket, bytes.data(), bytes.size()))
        return false;
    for (std::size_t at = 0; at < descriptors.size(); at += kMostAtOnce)
        if (!send_some(socket, &descriptors[at], std::min(kMostAtOnce, descriptors.size() - at)))
            return false;
    return true;
}

std::optional<RankRequest> receive_request(int socket, std::vector<Descriptor> &descriptors) {
    std::uint64_t size = 0;
    if (!receive_message(socket, size) || size > kMostBytes)
        return std::nullopt;
    std::string bytes(size, '\0');
    if (!receive_all(socket, bytes.data(), size))
        return std::nullopt;
    std::optional<RankRequest> request = decode(bytes);
    while (request && descriptors.size() < request->descriptors.size())
        if (!receive_some(socket, descriptors))
            return std::nullopt;
    return request;
}

} // namespace sennit::loader
