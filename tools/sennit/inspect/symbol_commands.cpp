// SPDX-License-Identifier: Apache-2.0
#include "inspect/commands.h"

#include "base/printable.h"
#include "common/elf_image.h"
#include "common/failure.h"
#include "launch/run.h"

#include <elf.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>

namespace sennit::tool {
namespace {

// Nothing if it is no library and no position-independent program.
std::optional<std::uint64_t> own_address(const std::string &path) {
    const ElfImage image = read_elf(path);
    return image.kind == ElfImage::Kind::native && image.type == ET_DYN ? image.begin
                                                                        : std::nullopt;
}

bool is_loader(const std::string &path) {
    return std::filesystem::path(path).filename() == "sennit-loader";
}

} // namespace

// "7f0c1000-7f0c2000 r--p 00000000 08:01 1234    /usr/lib/libc.so.6"
std::optional<LoadedImage> parse_mapping(const std::string &line) {
    std::istringstream words(line);
    std::uint64_t low = 0;
    std::uint64_t high = 0;
    std::uint64_t offset = 0;
    char dash = 0;
    std::string access, device, inode, path;
    words >> std::hex >> low >> dash >> high >> access >> offset >> device >> inode;
    std::getline(words >> std::ws, path);
    if (path.empty() || path[0] != '/' || offset != 0 || dash != '-')
        return std::nullopt;
    return LoadedImage{path, low};
}

int print_symbol_commands(int process, OtherUser other_user) {
    const std::string folder = fmt::format("/proc/{}", process);
    std::error_code error;
    require_own_process(process, other_user);
    const std::filesystem::path program = std::filesystem::read_symlink(folder + "/exe", error);
    if (error)
        fail("process {} cannot be looked at: {}", process, error.message());
    std::vector<LoadedImage> images;
    std::ifstream maps(folder + "/maps");
    for (std::string line; std::getline(maps, line);) {
        std::optional<LoadedImage> image = parse_mapping(line);
        if (!image || is_loader(image->path))
            continue;
        if (const auto address = own_address(image->path)) {
            image->bias -= *address;
            images.push_back(*image);
        }
    }
    if (!is_loader(program.string()) || images.empty())
        fail("process {} is neither a virtual rank nor the host of some: gdb -p {} finds its "
             "symbols by itself",
             process, process);
    fmt::print("# gdb -p {} -x this-file: the programs and libraries of all its ranks\n", process);
    fmt::print("set confirm off\nset debuginfod enabled off\n");
    for (const LoadedImage &image : images) {
        const std::string shown = printable(image.path);
        if (shown == image.path)
            fmt::print("add-symbol-file {} -o {:#x}\n", shell_words({image.path}), image.bias);
        else
            fmt::print("# left out for the control characters in its name: {}\n", shown);
    }
    return 0;
}

} // namespace sennit::tool
