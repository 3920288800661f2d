// SPDX-License-Identifier: Apache-2.0
#include "common/installation.h"

#include "common/failure.h"
#include "common/links.h"

#include <cstdlib>
#include <filesystem>

namespace sennit::tool {

namespace fs = std::filesystem;

namespace {

// What programs call the runtime, in the folder openmp_folder(); src/CMakeLists.txt makes the
// links.
constexpr const char *openmp_names[] = {"libgomp.so.1", "libomp.so.5", "libomp.so", "libiomp5.so",
                                        "libsennit-omp.so"};

// What a build may leave out: cmake/SennitInstall.cmake.
struct OptionalPart {
    const char *words;
    std::vector<const char *> files; // in library_folder()
};

std::vector<OptionalPart> optional_parts() {
    return {
        {"run --virtual", {"sennit-stub", "sennit-loader", "sennit-python", "libsennit-rank.so"}},
        {"simulate", {"sennit-simulate"}},
        {"cc", {"libsennit-pass.so", "libsennit-pass.a"}},
        {"simulate --network simgrid", {"sennit-simgrid"}},
        {"report --otf2", {"sennit-otf2"}}};
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
    library_folder_ =
        (loader_takes(home_) ? home_ : link_to(home_)) + (is_installed ? "/lib/sennit" : "/lib");
    // A package of Python's index can have no links in it.
    openmp_folder_ = library_folder_ + "/omp";
    if (fs::exists(openmp_library(), ignored) && !fs::is_directory(openmp_folder_, ignored))
        openmp_folder_ = folder_of_links(openmp_library(), openmp_names);
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

std::string Installation::worlds_library(MpiKind kind) const {
    return fmt::format("{}/libsennit-worlds-{}.so", library_folder(), traits(kind).word);
}

std::string Installation::accelerator_library(const Accelerator &accelerator) const {
    return fmt::format("{}/libsennit-{}.so", library_folder(), accelerator.word);
}

std::vector<Installation::Part> Installation::parts() const {
    std::vector<Part> result;
    for (const OptionalPart &part : optional_parts()) {
        result.push_back({part.words, part.files.size(), {}});
        for (const char *const file : part.files) {
            const std::string path = library_folder() + "/" + file;
            std::error_code ignored;
            if (!fs::is_regular_file(path, ignored))
                result.back().missing.push_back(path);
        }
    }
    return result;
}

std::vector<std::string> Installation::missing_files(const MpiKind *kind) const {
    std::vector<std::string> wanted = {openmp_library()};
    for (const char *name : openmp_names)
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
