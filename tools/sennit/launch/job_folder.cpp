// SPDX-License-Identifier: Apache-2.0
#include "launch/job_folder.h"

#include "common/failure.h"
#include "common/safe_place.h"

#include "base/private_socket.h"
#include "base/small_file.h"

#include <fmt/ranges.h>

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string_view>
#include <vector>

namespace sennit::tool {
namespace {

namespace fs = std::filesystem;

constexpr const char *socket_name = "/ranks";
constexpr const char *watchers_name = "/watchers";
constexpr const char *lock_name = "/lock";

// Of this run of the machine: several may share a folder for temporary files.
std::string name_of_machine() {
    char text[64];
    read_small_file("/proc/sys/kernel/random/boot_id", text, sizeof text);
    constexpr std::size_t enough = 8;
    return std::string(text).substr(0, enough);
}

std::string folder_prefix() {
    return fmt::format("sennit-job-{}-", name_of_machine());
}

// Its `sennit run` was killed: nobody listens. One that is being made has no socket yet, or is new.
bool is_left_behind(const fs::path &folder) {
    const std::string path = folder.string() + socket_name;
    struct stat facts = {};
    sockaddr_un address;
    constexpr std::time_t young = 60;
    if (!is_private_folder(folder.c_str()) || lstat(path.c_str(), &facts) != 0 ||
        !make_socket_address(path.c_str(), address) ||
        facts.st_mtime >
            std::chrono::system_clock::to_time_t(std::chrono::system_clock::now()) - young)
        return false;
    const int probe = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    const bool refused =
        probe >= 0 && connect(probe, reinterpret_cast<sockaddr *>(&address), sizeof address) != 0 &&
        errno == ECONNREFUSED;
    close(probe);
    return refused;
}

void remove_folder(const fs::path &folder) {
    for (const char *const name : {socket_name, watchers_name, lock_name})
        unlink((folder.string() + name).c_str());
    rmdir(folder.c_str());
}

void remove_left_behind(const std::string &place) {
    const std::string prefix = folder_prefix();
    std::error_code error;
    for (fs::directory_iterator at(place, error), end; !error && at != end; at.increment(error))
        if (at->path().filename().string().starts_with(prefix) && is_left_behind(at->path()))
            remove_folder(at->path());
}

// Empty: not there.
std::string make_folder(const std::string &place) {
    std::string path = fmt::format("{}/{}XXXXXX", place, folder_prefix());
    sockaddr_un address;
    if (!make_socket_address((path + socket_name).c_str(), address) || !mkdtemp(path.data()))
        return "";
    if (is_private_folder(path.c_str()))
        return path;
    rmdir(path.c_str()); // a file system without owners, or without modes
    return "";
}

} // namespace

JobFolder::JobFolder() {
    const std::vector<std::string> places = private_places();
    for (const std::string &place : places) {
        path_ = make_folder(place);
        if (path_.empty())
            continue;
        remove_left_behind(place);
        return;
    }
    fail("no folder that only this user may enter can be made for the socket of the ranks, in any "
         "of {}: set TMPDIR to a folder of yours with a short path",
         fmt::join(places, ", "));
}

JobFolder::~JobFolder() {
    remove_folder(path_);
}

std::string JobFolder::socket() const {
    return path_ + socket_name;
}

std::string SharedFolder::ranks() const {
    return path + socket_name;
}

std::string SharedFolder::watchers() const {
    return path + watchers_name;
}

std::string SharedFolder::lock() const {
    return path + lock_name;
}

void SharedFolder::remove() const {
    remove_folder(path);
}

std::optional<SharedFolder> share_folder(const std::string &job) {
    for (const std::string &place : private_places()) {
        SharedFolder folder = {fmt::format("{}/{}{}", place, folder_prefix(), job)};
        sockaddr_un address;
        if (!make_socket_address(folder.watchers().c_str(), address))
            continue;
        const bool is_new = mkdir(folder.path.c_str(), 0700) == 0;
        if (!is_private_folder(folder.path.c_str()))
            continue; // another user's, or one that cannot be kept from others
        if (is_new)
            remove_left_behind(place);
        return folder;
    }
    return std::nullopt;
}

} // namespace sennit::tool
