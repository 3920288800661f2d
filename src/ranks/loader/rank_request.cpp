// SPDX-License-Identifier: Apache-2.0
#include "ranks/loader/rank_request.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <sys/socket.h>

namespace sennit::loader {
namespace {

constexpr std::size_t kMostBytes = std::size_t{64} << 20;

std::size_t numbers_size(const RequestHead &head) {
    return head.descriptors * sizeof(std::int32_t);
}

// Takes the texts from the front.
std::string take(std::string_view &texts) {
    const std::size_t size = texts.find('\0');
    std::string text(texts.substr(0, size));
    texts.remove_prefix(size + 1);
    return text;
}

} // namespace

std::optional<std::size_t> size_behind(const RequestHead &head) {
    if (head.magic != RequestHead::kMagic || head.text_size > kMostBytes ||
        head.affinity_size > kMostBytes || numbers_size(head) > kMostBytes)
        return std::nullopt;
    return numbers_size(head) + head.affinity_size + head.text_size;
}

std::optional<RankRequest> decode(const RequestHead &head, std::string_view bytes) {
    if (size_behind(head) != bytes.size())
        return std::nullopt;
    std::string_view texts = bytes.substr(numbers_size(head) + head.affinity_size);
    const auto ends = static_cast<std::uint64_t>(std::count(texts.begin(), texts.end(), '\0'));
    if (ends != std::uint64_t{1} + head.arguments + head.environment || texts.back() != '\0')
        return std::nullopt;
    RankRequest request;
    request.descriptors.resize(head.descriptors);
    if (head.descriptors > 0)
        std::memcpy(request.descriptors.data(), bytes.data(), numbers_size(head));
    request.affinity = bytes.substr(numbers_size(head), head.affinity_size);
    request.program = take(texts);
    request.arguments.reserve(head.arguments);
    for (std::uint32_t i = 0; i < head.arguments; ++i)
        request.arguments.push_back(take(texts));
    request.environment.reserve(head.environment);
    for (std::uint32_t i = 0; i < head.environment; ++i)
        request.environment.push_back(take(texts));
    request.mappings = head.mappings;
    request.file_mask = head.file_mask;
    request.fiber = head.fiber != 0;
    request.blocked_signals = head.blocked_signals;
    request.ignored_signals = head.ignored_signals;
    std::copy(std::begin(head.limits), std::end(head.limits), request.limits.begin());
    return request;
}

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
