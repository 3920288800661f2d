// SPDX-License-Identifier: Apache-2.0
#include "ranks/loader/image.h"

#include "ranks/loader/rank_request.h"

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

namespace {

#if defined(__x86_64__)
constexpr Elf64_Half kMachine = EM_X86_64;
#elif defined(__aarch64__)
constexpr Elf64_Half kMachine = EM_AARCH64;
#endif

constexpr std::uint64_t kLongestName = 4096; // PATH_MAX
constexpr unsigned kMostSegments = 4096;

bool is_power_of_two(std::uint64_t value) {
    return (value & (value - 1)) == 0;
}

// Empty: it cannot be read.
std::string read_interpreter(const Elf64_Phdr &segment, const FileReader &read) {
    if (segment.p_filesz == 0 || segment.p_filesz > kLongestName)
        return "";
    std::string name(segment.p_filesz, '\0');
    if (!read(name.data(), name.size(), segment.p_offset) || name.back() != '\0')
        return "";
    name.resize(name.find('\0'));
    return name;
}

// May it be mapped as it says? The sums must not wrap around.
bool is_sound(const Elf64_Phdr &segment) {
    constexpr std::uint64_t most = std::uint64_t{1} << 46;
    return segment.p_vaddr < most && segment.p_memsz < most && segment.p_offset < most &&
           segment.p_filesz <= segment.p_memsz && segment.p_align < most &&
           is_power_of_two(segment.p_align) && segment.p_vaddr % kPage == segment.p_offset % kPage;
}

void refuse(ElfProgram &program, const std::string &path, const char *why) {
    program.refusal = "'" + path + "' " + why;
}

} // namespace

ElfProgram read_program(const std::string &path, const FileReader &read) {
    ElfProgram program;
    Elf64_Ehdr &header = program.header;
    if (!read(&header, sizeof header, 0) || std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0) {
        refuse(program, path,
               "is no ELF program: a script starts its program by itself, with "
               "`sennit exec --virtual` in front of it");
        return program;
    }
    if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_machine != kMachine) {
        refuse(program, path, "is a program of another machine: build it for this one");
        return program;
    }
    if (header.e_type == ET_EXEC) {
        refuse(program, path,
               "is linked to fixed addresses, so there can be only one of it in an "
               "address space: link it with -pie, or leave --virtual away");
        return program;
    }
    program.segments.resize(std::min<unsigned>(header.e_phnum, kMostSegments));
    if (header.e_type != ET_DYN || header.e_phentsize != sizeof(Elf64_Phdr) ||
        header.e_phnum > kMostSegments ||
        !read(program.segments.data(), header.e_phnum * sizeof(Elf64_Phdr), header.e_phoff)) {
        refuse(program, path, "is damaged or no program: build it again");
        return program;
    }
    bool loads = false;
    for (const Elf64_Phdr &segment : program.segments) {
        if (segment.p_type == PT_GNU_STACK)
            program.executable_stack = (segment.p_flags & PF_X) != 0;
        if (segment.p_type == PT_LOAD) {
            loads = true;
            if (!is_sound(segment))
                refuse(program, path, "is damaged: build it again");
        }
        if (segment.p_type == PT_INTERP) {
            program.interpreter = read_interpreter(segment, read);
            if (program.interpreter.empty())
                refuse(program, path, "is damaged: build it again");
        }
    }
    if (!loads)
        refuse(program, path, "is damaged: build it again");
    return program;
}

ElfProgram read_program(const std::string &path) {
    const Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
    int error = file ? 0 : errno;
    ElfProgram program = read_program(path, [&](void *to, std::size_t size, std::uint64_t offset) {
        const ssize_t got = file ? pread(file.number(), to, size, static_cast<off_t>(offset)) : -1;
        if (got < 0 && error == 0)
            error = errno;
        return got == static_cast<ssize_t>(size);
    });
    if (error != 0)
        program.refusal = "'" + path + "' cannot be read: " + std::strerror(error);
    return program;
}

} // namespace sennit::loader
