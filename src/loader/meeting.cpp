// SPDX-License-Identifier: Apache-2.0
#include "loader/meeting.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

namespace sennit::loader {
namespace {

// Nobody else may enter it, and nobody else may have made it.
std::string make_private_folder(const std::string &path) {
    if (mkdir(path.c_str(), 0700) != 0 && errno != EEXIST)
        return "cannot make the folder '" + path + "': " + std::strerror(errno);
    struct stat status{};
    if (lstat(path.c_str(), &status) != 0)
        return "cannot look at the folder '" + path + "': " + std::strerror(errno);
    if (!S_ISDIR(status.st_mode) || status.st_uid != geteuid() || (status.st_mode & 077) != 0)
        return "'" + path + "' is not a folder of yours alone: remove it, or set TMPDIR";
    return "";
}

bool make_address(const std::string &path, sockaddr_un &address) {
    address = {};
    address.sun_family = AF_UNIX;
    if (path.size() >= sizeof address.sun_path)
        return false;
    std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
    return true;
}

Descriptor make_socket() {
    return Descriptor(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
}

} // namespace

std::string Meeting::socket_path(int space) const {
    return folder_ + "/host-" + std::to_string(space);
}

std::string Meeting::enter() {
    const std::string parent = folder_.substr(0, folder_.rfind('/'));
    // Between open and flock the last host may have removed the file: then once more.
    for (;;) {
        for (const std::string &folder : {parent, folder_})
            if (std::string error = make_private_folder(folder); !error.empty())
                return error;
        Descriptor lock(open(lock_path().c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
        if (!lock && errno == ENOENT)
            continue;
        if (!lock)
            return "cannot open '" + lock_path() + "': " + std::strerror(errno);
        while (flock(lock.number(), LOCK_EX) != 0 && errno == EINTR) {
        }
        struct stat status{};
        if (fstat(lock.number(), &status) == 0 && status.st_nlink > 0) {
            lock_ = std::move(lock);
            return "";
        }
    }
}

Descriptor Meeting::find(int space) const {
    sockaddr_un address;
    Descriptor connection = make_socket();
    if (!make_address(socket_path(space), address) || !connection ||
        connect(connection.number(), reinterpret_cast<sockaddr *>(&address), sizeof address) != 0)
        return {};
    return connection;
}

Descriptor Meeting::offer(int space, std::string &error) const {
    const std::string path = socket_path(space);
    sockaddr_un address;
    if (!make_address(path, address)) {
        error = "the path of the socket '" + path + "' is too long: set TMPDIR to a shorter one";
        return {};
    }
    unlink(path.c_str());
    Descriptor listener = make_socket();
    const mode_t mask = umask(0177);
    const bool bound = listener && bind(listener.number(), reinterpret_cast<sockaddr *>(&address),
                                        sizeof address) == 0;
    umask(mask);
    if (!bound || listen(listener.number(), SOMAXCONN) != 0) {
        error = "cannot make the socket '" + path + "': " + std::strerror(errno);
        return {};
    }
    return listener;
}

void Meeting::close(int space) {
    unlink(socket_path(space).c_str());
    // Another host's socket, or a lock file that is in use by it, keeps the folder.
    for (int other = 0; other < space + 64; ++other)
        if (access(socket_path(other).c_str(), F_OK) == 0)
            return;
    unlink(lock_path().c_str());
    rmdir(folder_.c_str());
}

} // namespace sennit::loader
