// SPDX-License-Identifier: Apache-2.0
#include "program.h"

#include "failure.h"

#include <elf.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

namespace sennit::tool {
namespace {

bool is_executable_file(const std::string &path) {
    struct stat status = {};
    return stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode) &&
           access(path.c_str(), X_OK) == 0;
}

// The loader ignores LD_PRELOAD and LD_LIBRARY_PATH for a program that gains rights.
void refuse_privileged(const std::string &path, const struct stat &status) {
    const char *how = nullptr;
    if (status.st_mode & S_ISUID)
        how = "set-uid";
    else if (status.st_mode & S_ISGID)
        how = "set-gid";
    else if (getxattr(path.c_str(), "security.capability", nullptr, 0) > 0)
        how = "given capabilities";
    if (how)
        fail("'{}' is {}, so the loader ignores Sennit's libraries: run a copy without that "
             "(cp makes one)",
             path, how);
}

void refuse_unusable_file(const std::string &path) {
    struct stat status = {};
    if (stat(path.c_str(), &status) != 0)
        fail("'{}': {}", path, std::strerror(errno));
    if (S_ISDIR(status.st_mode))
        fail("'{}' is a folder: name the program in it", path);
    if (!S_ISREG(status.st_mode))
        fail("'{}' is not a file", path);
    if (access(path.c_str(), X_OK) != 0)
        fail("'{}' is not executable: chmod +x, or is it a program at all?", path);
    refuse_privileged(path, status);
}

void refuse_unusable_image(const std::string &path, const ElfImage &image) {
    switch (image.kind) {
    case ElfImage::Kind::unreadable:
        fail("'{}' cannot be read ({}): Sennit looks into a program before it runs it", path,
             std::strerror(image.error_number));
    case ElfImage::Kind::other:
        fail("'{}' is a script or not an ELF program: call `sennit exec` inside it, or say which "
             "MPI it uses with --mpi mpich or --mpi openmpi",
             path);
    case ElfImage::Kind::foreign:
        fail("'{}' is a {} program, this machine's Sennit is for {}: rebuild it", path,
             image.machine, read_elf("/proc/self/exe").machine);
    case ElfImage::Kind::damaged:
        fail("'{}' is a damaged ELF file: rebuild it", path);
    case ElfImage::Kind::native:
        break;
    }
    if (image.type != ET_EXEC && image.type != ET_DYN)
        fail("'{}' is an object file, not a program: link it", path);
    if (image.interpreter.empty()) {
        if (image.type == ET_DYN && !image.position_independent_program)
            fail("'{}' is a shared library, not a program", path);
        fail("'{}' is a static binary, no library can be put under it: link it dynamically "
             "(without -static)",
             path);
    }
}

// Sennit's library for one MPI crashes in a program of another: their handles differ.
void refuse_other_mpi(const Program &program, MpiKind asked) {
    const MpiUse *other = nullptr;
    for (const MpiUse &use : program.mpi_libraries) {
        if (use.kind == asked)
            return;
        if (!other)
            other = &use;
    }
    if (other)
        fail("'{}' uses {} ({}, needed by {}): --mpi {} would crash it, leave --mpi away",
             program.path, other->kind ? traits(*other->kind).name : "an unsupported MPI",
             other->library.name, other->library.needed_by, traits(asked).word);
}

} // namespace

std::string resolve_command(const std::string &command) {
    if (command.find('/') != std::string::npos)
        return command;
    const char *path = std::getenv("PATH");
    for (const std::string &folder : split_path_list(path ? path : "/bin:/usr/bin")) {
        const std::string candidate = fmt::format("{}/{}", folder, command);
        if (is_executable_file(candidate))
            return candidate;
    }
    if (access(command.c_str(), F_OK) == 0)
        fail("'{}' is not in PATH: write ./{}", command, command);
    fail("'{}' is not in PATH", command);
}

Program inspect_program(const std::string &command, const std::vector<std::string> &library_path,
                        bool forced) {
    Program program;
    program.command = command;
    program.path = resolve_command(command);
    refuse_unusable_file(program.path);
    const ElfImage image = read_elf(program.path);
    if (forced && image.kind == ElfImage::Kind::other) {
        program.elf = false;
        return program;
    }
    refuse_unusable_image(program.path, image);
    program.libraries = find_libraries(program.path, image, library_path);
    for (const LoadedLibrary &library : program.libraries) {
        if (const auto mpi = classify_mpi_library(library.name))
            program.mpi_libraries.push_back({mpi->kind, library});
        if (const auto *runtime = classify_openmp_library(library.name))
            program.openmp_libraries.push_back({runtime, library});
    }
    return program;
}

std::optional<MpiKind> choose_mpi(const Program &program, std::optional<MpiKind> asked) {
    if (asked) {
        refuse_other_mpi(program, *asked);
        return asked;
    }
    const MpiUse *chosen = nullptr;
    for (const MpiUse &use : program.mpi_libraries) {
        if (!use.kind)
            fail("'{}' uses {} (needed by {}), an MPI without a Sennit library: relink it with "
                 "MPICH (libmpi.so.12) or Open MPI (libmpi.so.40)",
                 program.path, use.library.name, use.library.needed_by);
        if (chosen && chosen->kind != use.kind)
            fail("'{}' has two MPIs in it: {} (needed by {}) and {} (needed by {}): relink it with "
                 "one, or say with --mpi which one it calls",
                 program.path, chosen->library.name, chosen->library.needed_by, use.library.name,
                 use.library.needed_by);
        chosen = &use;
    }
    return chosen ? chosen->kind : std::nullopt;
}

} // namespace sennit::tool
