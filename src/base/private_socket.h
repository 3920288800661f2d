// SPDX-License-Identifier: Apache-2.0
// Unix sockets between processes of one user: the folder in which only this user finds them, their
// addresses, and who has sent a message. Whom a message is believed, its receiver decides.
#pragma once

#include <cstring>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <unistd.h>

namespace sennit {

// A folder, and no link to one, of this user, which nobody else may enter. The facts are lstat()'s.
inline bool is_private_folder(const struct stat &facts) {
    return S_ISDIR(facts.st_mode) && facts.st_uid == geteuid() && (facts.st_mode & 077) == 0;
}
inline bool is_private_folder(const char *path) {
    struct stat facts{};
    return lstat(path, &facts) == 0 && is_private_folder(facts);
}

// False: the path is too long for a socket's address.
inline bool make_socket_address(const char *path, sockaddr_un &address) {
    address = {};
    address.sun_family = AF_UNIX;
    const std::size_t length = std::strlen(path);
    if (length >= sizeof address.sun_path)
        return false;
    std::memcpy(address.sun_path, path, length);
    return true;
}

// One datagram, and the process and the user that have sent it, as the kernel says (SO_PASSCRED).
// Descriptors that come with it do not fit, and are closed by the kernel.
struct SignedMessage {
    ssize_t size = -1; // less than 0: none, and errno says why
    bool is_cut = false;
    bool is_signed = false;
    ucred sender{};
};
inline SignedMessage receive_signed(int socket, void *bytes, std::size_t room) {
    alignas(cmsghdr) char ancillary[CMSG_SPACE(sizeof(ucred))] = {};
    iovec data{bytes, room};
    msghdr message{};
    message.msg_iov = &data;
    message.msg_iovlen = 1;
    message.msg_control = ancillary;
    message.msg_controllen = sizeof ancillary;
    SignedMessage received;
    received.size = recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
    if (received.size < 0)
        return received;
    received.is_cut = (message.msg_flags & MSG_TRUNC) != 0;
    for (cmsghdr *part = CMSG_FIRSTHDR(&message); part; part = CMSG_NXTHDR(&message, part)) {
        if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_CREDENTIALS)
            continue;
        std::memcpy(&received.sender, CMSG_DATA(part), sizeof received.sender);
        received.is_signed = true;
        break;
    }
    return received;
}

} // namespace sennit
