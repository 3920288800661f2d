// SPDX-License-Identifier: Apache-2.0
#include "result_file.h"

#include "failure.h"

#include <fstream>
#include <nlohmann/json.hpp>

namespace sennit::tool {

std::string json_text(const nlohmann::ordered_json &document) {
    return document.dump(1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

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
