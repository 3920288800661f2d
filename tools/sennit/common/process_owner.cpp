// SPDX-License-Identifier: Apache-2.0
#include "common/process_owner.h"

#include "base/printable.h"
#include "common/failure.h"

#include <pwd.h>
#include <unistd.h>

#include <array>
#include <fstream>
#include <optional>
#include <sstream>
#include <string>

namespace sennit::tool {
namespace {

// Real, effective, saved, and for files: a program that runs with another user's rights is that
// one's, too. Nothing: there is no such process.
std::optional<std::array<uid_t, 4>> users_of(int process) {
    std::ifstream file(fmt::format("/proc/{}/status", process));
    for (std::string line; std::getline(file, line);) {
        if (!line.starts_with("Uid:"))
            continue;
        std::istringstream words(line.substr(4));
        std::array<uid_t, 4> users{};
        for (uid_t &user : users)
            words >> user;
        return words ? std::optional(users) : std::nullopt;
    }
    return std::nullopt;
}

std::string name_of(uid_t user) {
    const passwd *const entry = getpwuid(user);
    return entry ? fmt::format("user {} ({})", user, printable(entry->pw_name))
                 : fmt::format("user {}", user);
}

} // namespace

bool require_own_process(int process, OtherUser other_user) {
    const auto users = process > 0 ? users_of(process) : std::nullopt;
    if (!users)
        fail("there is no process {}", process);
    for (const uid_t user : *users) {
        if (user == geteuid())
            continue;
        if (geteuid() != 0)
            fail("process {} belongs to {}: only this user, or root, may look into it", process,
                 name_of(user));
        if (other_user == OtherUser::refused)
            fail("process {} belongs to {}, who made the files that would be read of it: say "
                 "--other-user to look into it all the same",
                 process, name_of(user));
        return true;
    }
    return false;
}

} // namespace sennit::tool
