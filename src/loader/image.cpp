// SPDX-License-Identifier: Apache-2.0
#include "loader/image.h"

#include "loader/descriptor.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>

namespace sennit::loader {
namespace {

int protection_of(const Elf64_Phdr &segment) {
    return (segment.p_flags & PF_R ? PROT_READ : 0) | (segment.p_flags & PF_W ? PROT_WRITE : 0) |
           (segment.p_flags & PF_X ? PROT_EXEC : 0);
}

bool map_at(char *at, std::size_t size, int protection, int flags, int file, std::size_t offset) {
    return size == 0 || mmap(at, size, protection, flags | MAP_PRIVATE | MAP_FIXED, file,
                             static_cast<off_t>(offset)) != MAP_FAILED;
}

bool map_segment(char *bias, const Elf64_Phdr &segment, int file) {
    const std::size_t in_page = segment.p_vaddr % kPage;
    char *const start = bias + segment.p_vaddr - in_page;
    const std::size_t of_file = segment.p_filesz == 0 ? 0 : in_page + segment.p_filesz;
    const std::size_t end = page_up(in_page + segment.p_memsz);
    const int protection = protection_of(segment);
    if (!map_at(start, of_file, protection, 0, file, segment.p_offset - in_page))
        return false;
    // All that is left of the last page: a dynamic linker takes its first memory behind its own
    // variables, and expects zeros there.
    if (protection & PROT_WRITE)
        std::memset(start + of_file, 0, page_up(of_file) - of_file);
    return map_at(start + page_up(of_file), end - page_up(of_file), protection, MAP_ANONYMOUS, -1,
                  0);
}

} // namespace

Image map_image(const std::string &path, const ElfProgram &program) {
    Image image;
    const auto give_up = [&]() -> Image && {
        image.error = "'" + path + "' cannot be mapped: " + std::strerror(errno);
        return std::move(image);
    };
    std::uint64_t low = ~std::uint64_t{0};
    std::uint64_t high = 0;
    std::uint64_t alignment = kPage;
    std::uint64_t end_in_file = 0;
    for (const Elf64_Phdr &segment : program.segments) {
        if (segment.p_type != PT_LOAD)
            continue;
        low = std::min<std::uint64_t>(low, page_down(segment.p_vaddr));
        high = std::max<std::uint64_t>(high, page_up(segment.p_vaddr + segment.p_memsz));
        alignment = std::max<std::uint64_t>(alignment, segment.p_align);
        end_in_file = std::max<std::uint64_t>(end_in_file, segment.p_offset + segment.p_filesz);
    }
    const Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
    struct stat status{};
    image.memory = Mapping(high - low + alignment - kPage, PROT_NONE, MAP_NORESERVE);
    if (!file || !image.memory || fstat(file.number(), &status) != 0)
        return give_up();
    // A look at what is behind its end would end this process, and all ranks.
    if (end_in_file > static_cast<std::uint64_t>(status.st_size)) {
        image.error = "'" + path + "' is cut off: install it again";
        return image;
    }
    const auto start = reinterpret_cast<std::uintptr_t>(image.memory.low());
    image.bias = ((start - low + alignment - 1) & ~(alignment - 1));
    image.segment_count = program.header.e_phnum;
    image.entry = image.bias + program.header.e_entry;
    for (const Elf64_Phdr &segment : program.segments) {
        if (segment.p_type != PT_LOAD)
            continue;
        if (!map_segment(reinterpret_cast<char *>(image.bias), segment, file.number()))
            return give_up();
        if (program.header.e_phoff - segment.p_offset < segment.p_filesz)
            image.segments =
                image.bias + segment.p_vaddr + program.header.e_phoff - segment.p_offset;
    }
    return image;
}

} // namespace sennit::loader
