// SPDX-License-Identifier: Apache-2.0
#include "ranks/loader/meeting.h"

#include "base/open_files.h"
#include "base/private_socket.h"
#include "base/small_file.h"
#include "ranks/loader/host.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <vector>

namespace sennit::loader {
namespace {

// Nobody else may enter it, and nobody else may have made it.
std::string make_private_folder(const std::string &path) {
    struct stat status{};
    for (;;) {
        if (mkdir(path.c_str(), 0700) != 0 && errno != EEXIST)
            return "cannot make the folder '" + path + "': " + std::strerror(errno);
        if (lstat(path.c_str(), &status) == 0)
            break;
        if (errno != ENOENT) // the last host may have removed it in between
            return "cannot look at the folder '" + path + "': " + std::strerror(errno);
    }
    if (!is_private_folder(status))
        return "'" + path + "' is not a folder of yours alone: remove it, or set TMPDIR";
    return "";
}

// Of this run of the system: a folder may be shared by several machines. Empty: not known.
std::string boot_id() {
    char text[64];
    return read_small_file("/proc/sys/kernel/random/boot_id", text, sizeof text) > 0 ? text : "";
}

// For who sweeps: where the hosts that meet here are.
void sign(const Descriptor &lock) {
    struct stat status{};
    const std::string id = boot_id();
    if (fstat(lock.number(), &status) == 0 && status.st_size == 0 &&
        pwrite(lock.number(), id.data(), id.size(), 0) < 0)
        return; // it will not be swept
}

bool is_signed_here(const Descriptor &lock) {
    char text[64] = {};
    const ssize_t size = pread(lock.number(), text, sizeof text - 1, 0);
    return size > 0 && boot_id() == text;
}

// The names in a folder.
std::vector<std::string> names_in(const std::string &path) {
    std::vector<std::string> names;
    DIR *const folder = opendir(path.c_str());
    if (!folder)
        return names;
    while (const dirent *const entry = readdir(folder))
        if (*entry->d_name != '.')
            names.emplace_back(entry->d_name);
    closedir(folder);
    return names;
}

Descriptor make_socket() {
    return Descriptor(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
}

} // namespace

std::string Meeting::socket_path(int space) const {
    return folder_ + "/host-" + std::to_string(space);
}

std::string Meeting::enter() {
    // Between open and flock the last host may have removed the file: then once more.
    for (;;) {
        for (const std::string &folder : {parent(), folder_})
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
            sign(lock);
            lock_ = std::move(lock);
            return "";
        }
    }
}

Descriptor Meeting::find(int space) const {
    sockaddr_un address;
    Descriptor connection = make_socket();
    if (!make_socket_address(socket_path(space).c_str(), address) || !connection ||
        connect(connection.number(), reinterpret_cast<sockaddr *>(&address), sizeof address) != 0)
        return {};
    return connection;
}

Descriptor Meeting::offer(int space, std::string &error) const {
    const std::string path = socket_path(space);
    sockaddr_un address;
    if (!make_socket_address(path.c_str(), address)) {
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

void Meeting::sweep() const {
    for (const std::string &name : names_in(parent()))
        if (const std::string folder = parent() + "/" + name; folder != folder_)
            Meeting(folder).remove_dead();
}

// A launcher that is about to use it either holds the lock, or finds it removed and begins anew
// (enter).
void Meeting::remove_dead() const {
    const Descriptor lock(open(lock_path().c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW));
    struct stat status{};
    if (!lock || flock(lock.number(), LOCK_EX | LOCK_NB) != 0 ||
        fstat(lock.number(), &status) != 0 || status.st_nlink == 0 || status.st_uid != geteuid() ||
        !is_signed_here(lock))
        return;
    std::vector<std::string> sockets;
    for (const std::string &name : names_in(folder_))
        if (name.compare(0, 5, "host-") == 0)
            sockets.push_back(folder_ + "/" + name);
    for (const std::string &path : sockets) {
        sockaddr_un address;
        const Descriptor connection = make_socket();
        if (!connection || !make_socket_address(path.c_str(), address) ||
            connect(connection.number(), reinterpret_cast<sockaddr *>(&address), sizeof address) ==
                0 ||
            errno != ECONNREFUSED)
            return; // a host listens, or cannot be asked
    }
    for (const std::string &path : sockets)
        unlink(path.c_str());
    unlink(lock_path().c_str());
    rmdir(folder_.c_str());
}

namespace {

constexpr int kRefused = 2; // as everything that Sennit refuses

int refuse(const std::string &why) {
    std::fprintf(stderr, "sennit: no virtual rank: %s\n", why.c_str());
    return kRefused;
}

// Nothing of the stub's is to be in the process of all. No open file is kept, or a launcher would
// wait for their end. Returns the listener, or an empty one.
Descriptor leave_the_stub(Descriptor listener) {
    constexpr int place = 3;
    setsid();
    const int nowhere = open("/dev/null", O_RDWR);
    const int held = fcntl(listener.number(), F_DUPFD, place); // above what is replaced
    if (nowhere < 0 || held < 0 || chdir("/") != 0)
        return {};
    for (int number = 0; number < place; ++number)
        dup2(nowhere, number);
    if (held == place ? fcntl(held, F_SETFD, FD_CLOEXEC) < 0 : dup3(held, place, O_CLOEXEC) < 0)
        return {};
    listener.release();
    close_files_from(place + 1);
    for (int signal = 1; signal <= 64; ++signal)
        ::signal(signal, SIG_DFL);
    return Descriptor(place);
}

} // namespace

int start_host(const std::string &folder, int space) {
    Meeting meeting(folder);
    std::string error = meeting.enter();
    if (!error.empty())
        return refuse(error);
    if (meeting.find(space))
        return 0;
    Descriptor listener = meeting.offer(space, error);
    if (!listener)
        return refuse(error);
    if (space == 0)
        meeting.sweep();
    meeting.leave();
    const pid_t host = fork();
    if (host < 0)
        return refuse(std::string("no process for its host: ") + std::strerror(errno));
    if (host > 0)
        return 0;
    listener = leave_the_stub(std::move(listener));
    return listener ? run_host(folder, space, std::move(listener)) : 1;
}

} // namespace sennit::loader
