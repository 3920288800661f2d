// SPDX-License-Identifier: Apache-2.0
#include "loader/elf_program.h"

#include "loader/descriptor.h"
#include "loader/mapping.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>

namespace sennit::loader {
namespace {

#if defined(__x86_64__)
constexpr Elf64_Half kMachine = EM_X86_64;
#elif defined(__aarch64__)
constexpr Elf64_Half kMachine = EM_AARCH64;
#endif

constexpr std::size_t kMostRead = 64 * 1024; // of a file: headers and the interpreter's name

bool is_power_of_two(std::uint64_t value) {
    return (value & (value - 1)) == 0;
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

ElfProgram read_program(const std::string &path, const char *bytes, std::size_t size) {
    ElfProgram program;
    if (size < sizeof program.header || std::memcmp(bytes, ELFMAG, SELFMAG) != 0) {
        refuse(program, path,
               "is no ELF program: a script starts its program by itself, with "
               "`sennit exec --virtual` in front of it");
        return program;
    }
    Elf64_Ehdr &header = program.header;
    std::memcpy(&header, bytes, sizeof header);
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
    if (header.e_type != ET_DYN || header.e_phentsize != sizeof(Elf64_Phdr) ||
        header.e_phoff > size || (size - header.e_phoff) / sizeof(Elf64_Phdr) < header.e_phnum) {
        refuse(program, path, "is damaged or no program: build it again");
        return program;
    }
    program.segments.resize(header.e_phnum);
    std::memcpy(program.segments.data(), bytes + header.e_phoff,
                header.e_phnum * sizeof(Elf64_Phdr));
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
            const char *name = bytes + segment.p_offset;
            if (segment.p_offset >= size || segment.p_filesz > size - segment.p_offset ||
                !std::memchr(name, '\0', segment.p_filesz))
                refuse(program, path, "is damaged: build it again");
            else
                program.interpreter = name;
        }
    }
    if (!loads)
        refuse(program, path, "is damaged: build it again");
    return program;
}

ElfProgram read_program(const std::string &path) {
    ElfProgram program;
    std::string bytes(kMostRead, '\0'); // before open: it may set errno
    const Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
    const ssize_t got = file ? pread(file.number(), bytes.data(), bytes.size(), 0) : -1;
    if (got < 0) {
        program.refusal = "'" + path + "' cannot be read: " + std::strerror(errno);
        return program;
    }
    return read_program(path, bytes.data(), static_cast<std::size_t>(got));
}

} // namespace sennit::loader
