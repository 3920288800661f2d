// SPDX-License-Identifier: Apache-2.0
// A command as execv() and its like take it.
#pragma once

#include <string>
#include <vector>

namespace sennit::tool {

// They point into `command`, and null ends them.
inline std::vector<char *> argument_pointers(const std::vector<std::string> &command) {
    std::vector<char *> pointers;
    pointers.reserve(command.size() + 1);
    for (const std::string &argument : command)
        pointers.push_back(const_cast<char *>(argument.c_str()));
    pointers.push_back(nullptr);
    return pointers;
}

} // namespace sennit::tool
