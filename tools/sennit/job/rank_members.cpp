// SPDX-License-Identifier: Apache-2.0
#include "job/rank_members.h"

#include "common/descendants.h"

#include <poll.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <fstream>

namespace sennit::tool {
namespace {

// Names that older headers lack; their numbers are those of every machine.
constexpr long open_process = 434;   // pidfd_open
constexpr long signal_process = 424; // pidfd_send_signal

bool is_own_host(pid_t process) {
    struct stat facts = {};
    return stat(fmt::format("/proc/{}", process).c_str(), &facts) == 0 &&
           facts.st_uid == geteuid() && is_host(process);
}

bool has_ended(int descriptor) {
    pollfd end = {descriptor, POLLIN, 0};
    return poll(&end, 1, 0) > 0;
}

// Nobody has the number after it: also of one that has ended, until its parent knows that.
bool has_its_number(int descriptor) {
    return !has_ended(descriptor) || syscall(signal_process, descriptor, 0, nullptr, 0) == 0;
}

} // namespace

RankMembers::~RankMembers() {
    for (const auto &[process, member] : members_)
        if (member.descriptor >= 0)
            close(member.descriptor);
}

// By its command line: one that is asked for another job has another address.
bool RankMembers::is_watcher(pid_t process) const {
    std::ifstream file(fmt::format("/proc/{}/cmdline", process));
    std::string word;
    for (int words = 0; words < 3 && std::getline(file, word, '\0'); ++words)
        if (word == "--watch")
            return std::getline(file, word, '\0') && word == address_;
    return false;
}

bool RankMembers::belongs(pid_t process) const {
    if (is_watcher(process))
        return true;
    constexpr int deepest = 1000; // the table changes meanwhile
    pid_t parent = node::parent_of(process);
    for (int depth = 0; depth < deepest && parent > 1; ++depth) {
        if (parent == root_ || is_own_host(parent) || is_watcher(parent))
            return true;
        parent = node::parent_of(parent);
    }
    return parent != 0 && parent == root_; // the first process of a container
}

void RankMembers::forget_ended() {
    std::erase_if(members_, [](const auto &entry) {
        const int descriptor = entry.second.descriptor;
        const bool ended =
            descriptor >= 0 ? has_ended(descriptor) : !node::is_alive(entry.second.identity);
        if (ended && descriptor >= 0)
            close(descriptor);
        return ended;
    });
    worth_a_look_ = std::max<std::size_t>(1024, 2 * members_.size());
}

bool RankMembers::admit(pid_t process) {
    if (process <= 1)
        return false;
    const auto known = members_.find(process);
    if (known != members_.end() && known->second.descriptor >= 0) {
        if (has_its_number(known->second.descriptor))
            return true;
        close(known->second.descriptor);
        members_.erase(known);
    }
    // First the descriptor: what is found afterwards is of this process, or of none.
    const auto descriptor = static_cast<int>(syscall(open_process, process, 0));
    const node::Identity identity = node::identity_of(process);
    const bool is_member = belongs(process);
    if (!is_member && descriptor >= 0)
        close(descriptor);
    if (!is_member) // last words of one that is gone are heard
        return node::parent_of(process) == 0;
    if (members_.size() >= worth_a_look_)
        forget_ended();
    members_[process] = {descriptor, identity};
    return true;
}

bool RankMembers::send(pid_t process, int signal) const {
    const auto known = members_.find(process);
    if (known == members_.end())
        return false;
    const Member &member = known->second;
    if (member.descriptor >= 0) {
        if (syscall(signal_process, member.descriptor, signal, nullptr, 0) == 0)
            return true;
        const bool is_refused = errno == ENOSYS || errno == EPERM; // a container's filter
        if (!is_refused || has_ended(member.descriptor))
            return false;
    }
    return node::is_alive(member.identity) && kill(process, signal) == 0;
}

} // namespace sennit::tool
