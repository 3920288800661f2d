// SPDX-License-Identifier: Apache-2.0
#include "common/safe_place.h"

#include "base/private_socket.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <system_error>

namespace sennit::tool {
namespace {

bool is_safe(const std::filesystem::path &path, bool is_sticky_enough) {
    struct stat facts = {};
    if (lstat(path.c_str(), &facts) != 0 || (facts.st_uid != 0 && facts.st_uid != geteuid()))
        return false;
    constexpr mode_t others_write = 022;
    const bool is_sticky = S_ISDIR(facts.st_mode) && (facts.st_mode & S_ISVTX) != 0;
    return (facts.st_mode & others_write) == 0 || (is_sticky && is_sticky_enough);
}

bool is_safe_up_to_root(std::filesystem::path path, bool is_sticky_enough) {
    for (;; is_sticky_enough = true) {
        if (!is_safe(path, is_sticky_enough))
            return false;
        if (path == path.root_path())
            return true;
        path = path.parent_path();
    }
}

} // namespace

bool only_we_may_change(const std::string &path) {
    std::error_code error;
    const std::filesystem::path place = std::filesystem::canonical(path, error);
    if (error)
        return false;
    // A file in a sticky folder may be anybody's, under a name that is only waited for.
    const bool is_folder = std::filesystem::is_directory(place, error);
    return is_safe(place, false) && is_safe_up_to_root(place.parent_path(), is_folder);
}

bool may_hold_what_is_ours(const std::string &folder) {
    std::error_code error;
    const std::filesystem::path place = std::filesystem::canonical(folder, error);
    return !error && std::filesystem::is_directory(place, error) && is_safe_up_to_root(place, true);
}

std::string folder_of(const char *variable) {
    const char *const value = std::getenv(variable);
    return value && *value == '/' ? value : "";
}

std::vector<std::string> private_places() {
    std::vector<std::string> places;
    std::vector<std::string> last_resorts;
    const std::string runtime = folder_of("XDG_RUNTIME_DIR");
    if (!runtime.empty() && is_private_folder(runtime.c_str()))
        places.push_back(runtime);
    for (const std::string &place :
         {folder_of("TMPDIR"), std::string("/tmp"), std::string("/dev/shm")})
        if (!place.empty())
            (may_hold_what_is_ours(place) ? places : last_resorts).push_back(place);
    places.insert(places.end(), last_resorts.begin(), last_resorts.end());
    return places;
}

} // namespace sennit::tool
