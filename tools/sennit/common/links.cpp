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

struct LinkFolder {
    std::string parent;
    std::string name; // of the folder in it
    bool makes_parent = false;
};

// Those that last and that the nodes of a cluster share come first. None is in XDG_RUNTIME_DIR,
// which goes when the user logs out, while jobs run on.
std::vector<LinkFolder> places_for_links() {
    std::string cache = folder_of("XDG_CACHE_HOME");
    const std::string home = folder_of("HOME");
    if (cache.empty() && !home.empty())
        cache = home + "/.cache";
    std::vector<LinkFolder> places;
    if (!cache.empty())
        places.push_back({cache + "/sennit", "links", true});
    for (const std::string &folder : {folder_of("TMPDIR"), std::string("/tmp")})
        if (!folder.empty())
            places.push_back({folder, fmt::format("sennit-links-{}", geteuid()), false});
    return places;
}

// Nobody else can enter it, or put another in its place: the dynamic loader follows the links
// without a look at whose they are. Its path has no links of others in it. Empty: there is none.
std::string safe_folder(const LinkFolder &place) {
    if (place.makes_parent) {
        mkdir(fs::path(place.parent).parent_path().c_str(), only_mine);
        mkdir(place.parent.c_str(), only_mine);
    }
    std::error_code error;
    const std::string parent = fs::canonical(place.parent, error).string();
    if (error || !may_hold_what_is_ours(parent))
        return "";
    const std::string folder = fmt::format("{}/{}", parent, place.name);
    mkdir(folder.c_str(), only_mine);
    return is_private_folder(folder.c_str()) ? folder : "";
}

// The first place where `make` can make what stands for `target`.
template <typename Make>
std::string first_place(const std::string &target, const char *why, const Make &make) {
    std::vector<std::string> tried;
    for (const LinkFolder &place : places_for_links()) {
        tried.push_back(fmt::format("{}/{}", place.parent, place.name));
        const std::string folder = safe_folder(place);
        std::string path = fmt::format("{}/{:016x}", folder, std::hash<std::string>{}(target));
        if (!folder.empty() && loader_takes(path) && make(path))
            return path;
    }
    fail("'{}' {}, and no link to it can be made that is safe from others in any of {}: set TMPDIR "
         "to a folder of yours",
         target, why, fmt::join(tried, ", "));
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
