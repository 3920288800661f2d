// SPDX-License-Identifier: Apache-2.0
#include "common/installation.h"

#include "common/failure.h"
#include "common/safe_place.h"

#include "base/private_socket.h"

#include <fmt/ranges.h>

#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <functional>

namespace sennit::tool {

namespace fs = std::filesystem;

namespace {

// LD_PRELOAD and LD_LIBRARY_PATH know no way to quote what separates folders, or begins $ORIGIN.
constexpr const char *separators = ": ;$";

// A link to `folder` in `place`, under a name without separators; empty: there can be none. It
// stays: programs that were started with it may start others at any time. All that this user
// starts shares it, so there is one of each installation, and none needs to make it alone.
std::string link_in(const std::string &place, const std::string &folder) {
    const std::string ours = fmt::format("{}/sennit-links-{}", place, geteuid());
    const std::string link = fmt::format("{}/{:016x}", ours, std::hash<std::string>{}(folder));
    if (link.find_first_of(separators) != std::string::npos)
        return "";
    constexpr mode_t only_mine = 0700;
    mkdir(ours.c_str(), only_mine);
    if (!is_private_folder(ours.c_str()))
        return "";
    std::error_code ignored;
    fs::create_directory_symlink(folder, link, ignored);
    return fs::read_symlink(link, ignored) == folder && fs::equivalent(link, folder, ignored) ? link
                                                                                              : "";
}

std::string without_separators(const std::string &folder) {
    if (folder.find_first_of(separators) == std::string::npos)
        return folder;
    const std::vector<std::string> places = private_places();
    for (const std::string &place : places)
        if (std::string link = link_in(place, folder); !link.empty())
            return link;
    fail("Sennit's folder '{}' has a space, ':', ';' or '$' in its name, which the dynamic loader "
         "cannot take, and no link to it can be made in any of {}: set TMPDIR to a folder of yours",
         folder, fmt::join(places, ", "));
}

} // namespace

std::string own_executable() {
    std::error_code error;
    const fs::path path = fs::read_symlink("/proc/self/exe", error);
    if (error)
        fail("cannot read /proc/self/exe ({}): is /proc mounted?", error.message());
    return path.string();
}

Installation Installation::locate() {
    if (const char *home = std::getenv("SENNIT_HOME"); home && *home) {
        std::error_code error;
        const fs::path path = fs::canonical(home, error);
        if (error)
            fail("SENNIT_HOME='{}' is not a folder ({}): correct or unset it", home,
                 error.message());
        return Installation(path.string());
    }
    return Installation(fs::path(own_executable()).parent_path().parent_path().string());
}

Installation::Installation(std::string home) : home_(std::move(home)) {
    std::error_code ignored;
    const bool is_installed = fs::is_directory(home_ + "/lib/sennit", ignored);
    library_folder_ = without_separators(home_) + (is_installed ? "/lib/sennit" : "/lib");
}

std::string Installation::mpi_library(MpiKind kind) const {
    return fmt::format("{}/libsennit-{}.so", library_folder(), traits(kind).word);
}

std::string Installation::session_library() const {
    return library_folder() + "/libsennit-session.so";
}

std::string Installation::network_library(MpiKind kind) const {
    return fmt::format("{}/libsennit-network-{}.so", library_folder(), traits(kind).word);
}

std::vector<std::string> Installation::missing_files(const MpiKind *kind) const {
    std::vector<std::string> wanted = {openmp_library()};
    for (const char *name : {"libgomp.so.1", "libomp.so.5", "libiomp5.so"})
        wanted.push_back(openmp_folder() + "/" + name);
    if (kind)
        wanted.push_back(mpi_library(*kind));
    std::vector<std::string> missing;
    for (const std::string &path : wanted) {
        std::error_code ignored;
        if (!fs::is_regular_file(path, ignored))
            missing.push_back(path);
    }
    return missing;
}

} // namespace sennit::tool
