// SPDX-License-Identifier: Apache-2.0
#include "launch/library_search.h"

#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <sstream>
#include <utility>

namespace sennit::tool {
namespace {

constexpr const char *system_folders[] = {
#if defined(__x86_64__)
    "/lib/x86_64-linux-gnu",
    "/usr/lib/x86_64-linux-gnu",
#elif defined(__aarch64__)
    "/lib/aarch64-linux-gnu",
    "/usr/lib/aarch64-linux-gnu",
#endif
    "/lib64",
    "/usr/lib64",
    "/lib",
    "/usr/lib",
};

// /etc/ld.so.cache in glibc's format 1.1: a header, `count` entries sorted by name, strings whose
// offsets count from the header. Older systems put a table of another format in front of it.
class LoaderCache {
  public:
    LoaderCache() {
        std::ifstream file("/etc/ld.so.cache", std::ios::binary);
        std::ostringstream whole;
        whole << file.rdbuf();
        text_ = whole.str();
        const std::size_t start = text_.find(magic);
        if (start == std::string::npos || text_.size() - start < sizeof(Header))
            return;
        Header header;
        std::memcpy(&header, text_.data() + start, sizeof header);
        const std::size_t room = (text_.size() - start - sizeof header) / sizeof(Entry);
        for (std::size_t i = 0; i < header.count && i < room; ++i) {
            Entry entry;
            std::memcpy(&entry, text_.data() + start + sizeof header + i * sizeof entry,
                        sizeof entry);
            if (entry.key < text_.size() - start && entry.value < text_.size() - start)
                names_and_paths_.emplace_back(text_.c_str() + start + entry.key,
                                              text_.c_str() + start + entry.value);
        }
    }
    LoaderCache(const LoaderCache &) = delete;
    LoaderCache &operator=(const LoaderCache &) = delete;

    std::vector<std::string> candidates(const std::string &name) const {
        std::vector<std::string> paths;
        for (const auto &[known, path] : names_and_paths_)
            if (name == known)
                paths.emplace_back(path);
        return paths;
    }

  private:
    static constexpr const char *magic = "glibc-ld.so.cache1.1";
    struct Header {
        char magic_and_version[20];
        std::uint32_t count;
        std::uint32_t string_bytes;
        std::uint32_t unused[5];
    };
    struct Entry {
        std::int32_t flags;
        std::uint32_t key;
        std::uint32_t value;
        std::uint32_t os_version;
        std::uint64_t capabilities;
    };

    std::string text_;
    std::vector<std::pair<const char *, const char *>> names_and_paths_; // in text_
};

const LoaderCache &loader_cache() {
    static const LoaderCache cache;
    return cache;
}

std::string expand_origin(std::string folder, const std::string &object) {
    const std::string origin = std::filesystem::path(object).parent_path().string();
    for (const char *token : {"${ORIGIN}", "$ORIGIN"})
        for (std::size_t at; (at = folder.find(token)) != std::string::npos;)
            folder.replace(at, std::strlen(token), origin);
    return folder;
}

std::vector<std::string> expand_origin(const std::vector<std::string> &folders,
                                       const std::string &object) {
    std::vector<std::string> expanded;
    expanded.reserve(folders.size());
    for (const std::string &folder : folders)
        expanded.push_back(expand_origin(folder, object));
    return expanded;
}

// A name with a number tells. What has another name, or no number, tells by what it defines; not
// Sennit's own libraries, which define what they stand in front of.
std::optional<MpiLibrary> mpi_of(const std::string &name, const ElfImage &image) {
    const auto by_name = classify_mpi_library(name);
    if ((by_name && (by_name->kind || !name.ends_with(".so"))) || mpi_of_sennit_library(name))
        return by_name;
    const auto by_marks = classify_mpi_marks(image.mpi_marks);
    return by_marks ? by_marks : by_name;
}

class Search {
  public:
    Search(const std::string &program, const ElfImage &image,
           const std::vector<std::string> &library_path)
        : library_path_(library_path) {
        std::error_code ignored;
        const auto absolute =
            std::filesystem::absolute(program, ignored).lexically_normal().string();
        objects_.push_back({absolute, image, no_parent});
    }

    std::vector<LoadedLibrary> run() {
        for (std::size_t at = 0; at < objects_.size(); ++at) {
            const std::vector<std::string> needed = objects_[at].image.needed;
            for (const std::string &name : needed)
                if (known_.insert(name).second)
                    load(name, at);
        }
        return found_;
    }

  private:
    static constexpr std::size_t no_parent = SIZE_MAX;
    struct Object {
        std::string path;
        ElfImage image;
        std::size_t parent; // the object that brought it in
    };

    void load(const std::string &name, std::size_t by) {
        LoadedLibrary library{name, "", objects_[by].path};
        ElfImage image;
        find(library, image, by);
        library.imports = image.imports;
        library.mpi = mpi_of(name, image);
        found_.push_back(library);
        if (library.path.empty())
            return;
        // A later NEEDED of the same soname gets this copy, under whatever name it was found.
        if (!image.soname.empty())
            known_.insert(image.soname);
        objects_.push_back({library.path, image, by});
    }

    void find(LoadedLibrary &library, ElfImage &image, std::size_t by) const {
        const auto accept = [&](const std::string &path) {
            image = read_elf(path); // the loader, too, passes over files of another machine
            if (image.kind != ElfImage::Kind::native)
                return false;
            library.path = path;
            return true;
        };
        const auto accept_in = [&](const std::vector<std::string> &folders) {
            for (const std::string &folder : folders)
                if (accept(folder + "/" + library.name))
                    return true;
            return false;
        };
        if (library.name.find('/') != std::string::npos) {
            accept(library.name);
            return;
        }
        const Object &object = objects_[by];
        if (object.image.runpath.empty()) {
            for (std::size_t at = by; at != no_parent; at = objects_[at].parent) {
                const Object &holder = objects_[at];
                if (holder.image.runpath.empty() &&
                    accept_in(expand_origin(holder.image.rpath, holder.path))) {
                    library.found_by_rpath = true;
                    return;
                }
            }
        }
        if (accept_in(library_path_) || accept_in(expand_origin(object.image.runpath, object.path)))
            return;
        for (const std::string &path : loader_cache().candidates(library.name))
            if (accept(path))
                return;
        accept_in({std::begin(system_folders), std::end(system_folders)});
    }

    const std::vector<std::string> library_path_;
    std::vector<Object> objects_;
    std::set<std::string> known_;
    std::vector<LoadedLibrary> found_;
};

} // namespace

std::vector<LoadedLibrary> find_libraries(const std::string &program, const ElfImage &image,
                                          const std::vector<std::string> &library_path) {
    return Search(program, image, library_path).run();
}

std::string find_preloaded(const std::string &name, const std::vector<std::string> &library_path) {
    ElfImage needs_it;
    needs_it.needed = {name};
    return Search("", needs_it, library_path).run().at(0).path;
}

} // namespace sennit::tool
