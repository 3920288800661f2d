// SPDX-License-Identifier: Apache-2.0
#include "loader/channel.h"

#include <cerrno>
#include <cstring>
#include <sys/socket.h>

namespace sennit::loader {
namespace {

struct Ancillary {
    alignas(cmsghdr) char bytes[CMSG_SPACE(kMostAtOnce * sizeof(int))] = {};
};

// As many bytes as there are, and the descriptors that come with them.
bool receive_with(int socket, void *bytes, std::size_t size, std::vector<Descriptor> &descriptors,
                  bool &too_many) {
    iovec data{bytes, size};
    Ancillary ancillary;
    msghdr message{};
    message.msg_iov = &data;
    message.msg_iovlen = 1;
    message.msg_control = ancillary.bytes;
    message.msg_controllen = sizeof ancillary.bytes;
    if (recvmsg(socket, &message, MSG_CMSG_CLOEXEC | MSG_WAITALL) != static_cast<ssize_t>(size))
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
    too_many = (message.msg_flags & MSG_CTRUNC) != 0;
    return !too_many;
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

std::optional<RankRequest> receive_request(int socket, std::vector<Descriptor> &descriptors,
                                           bool &too_many) {
    RequestHead head;
    if (!receive_with(socket, &head, sizeof head, descriptors, too_many))
        return std::nullopt;
    const std::optional<std::size_t> size = size_behind(head);
    if (!size)
        return std::nullopt;
    std::string bytes(*size, '\0');
    if (!receive_all(socket, bytes.data(), bytes.size()))
        return std::nullopt;
    std::optional<RankRequest> request = decode(head, bytes);
    while (request && descriptors.size() < request->descriptors.size()) {
        const std::size_t before = descriptors.size();
        char mark = 0;
        if (!receive_with(socket, &mark, sizeof mark, descriptors, too_many) ||
            descriptors.size() == before)
            return std::nullopt;
    }
    return request;
}

} // namespace sennit::loader
