// SPDX-License-Identifier: Apache-2.0
#include "result_file.h"

#include "failure.h"

#include <fstream>

namespace sennit::tool {

void write_result(const std::string &path, const std::string &text) {
    if (path.empty())
        return;
    if (path == "-") {
        fmt::print("{}", text);
        return;
    }
    std::ofstream file(path);
    file << text;
    if (!file.flush())
        fail("{} cannot be written", path);
}

} // namespace sennit::tool
