// SPDX-License-Identifier: Apache-2.0
#include "common/result_file.h"

#include "base/own_file.h"
#include "common/failure.h"

#include <nlohmann/json.hpp>

#include <cerrno>
#include <cstdio>

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
    errno = 0;
    const int number = open_own_file(path.c_str());
    std::FILE *const file = number < 0 ? nullptr : fdopen(number, "w");
    const bool written = file && std::fwrite(text.data(), 1, text.size(), file) == text.size();
    if (file && std::fclose(file) == 0 && written)
        return;
    fail("{} cannot be written: {}", path, own_file_error(errno));
}

} // namespace sennit::tool
