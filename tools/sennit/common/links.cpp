// SPDX-License-Identifier: Apache-2.0
#include "common/links.h"

#include "common/failure.h"
#include "common/safe_place.h"

#include "base/private_socket.h"

#include <fmt/ranges.h>

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <vector>

namespace sennit::tool {
namespace {

namespace fs = std::filesystem;

constexpr mode_t only_mine = 0700;

// Is `link` one to `target`, whoever has made it?
bool is_linked(const std::string &link, const std::string &target) {
    std::error_code ignored;
    fs::create_symlink(target, link, ignored);
    return fs::read_symlink(link, ignored) == target && fs::equivalent(link, target, ignored);
}

// The first place where `make` can make what stands for `target`.
template <typename Make>
std::string first_place(const std::string &target, const char *why, const Make &make) {
    const std::vector<std::string> places = private_places();
    for (const std::string &place : places) {
        const std::string ours = fmt::format("{}/sennit-links-{}", place, geteuid());
        std::string path = fmt::format("{}/{:016x}", ours, std::hash<std::string>{}(target));
        mkdir(ours.c_str(), only_mine);
        if (loader_takes(path) && is_private_folder(ours.c_str()) && make(path))
            return path;
    }
    fail("'{}' {}, and no link to it can be made in any of {}: set TMPDIR to a folder of yours",
         target, why, fmt::join(places, ", "));
}

} // namespace

bool loader_takes(const std::string &path) {
    return path.find_first_of(": ;$") == std::string::npos; // $ORIGIN is replaced
}

std::string link_to(const std::string &folder) {
    return first_place(folder,
                       "has a space, ':', ';' or '$' in its name, which the dynamic loader cannot "
                       "take",
                       [&](const std::string &path) { return is_linked(path, folder); });
}

std::string folder_of_links(const std::string &file, std::span<const char *const> names) {
    return first_place(file, "lies there without its other names", [&](const std::string &path) {
        mkdir(path.c_str(), only_mine);
        return std::all_of(names.begin(), names.end(), [&](const char *name) {
            return is_linked(fmt::format("{}/{}", path, name), file);
        });
    });
}

} // namespace sennit::tool
