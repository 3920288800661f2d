// SPDX-License-Identifier: Apache-2.0
#include "launch/program.h"

#include "common/failure.h"
#include "common/shell_text.h"
#include "launch/script.h"

#include <elf.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <set>

namespace sennit::tool {
namespace {

bool is_executable_file(const std::string &path) {
    struct stat status = {};
    return stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode) &&
           access(path.c_str(), X_OK) == 0;
}

// The first of PATH's folders that has it; empty: none.
std::string search_path(const std::string &command) {
    const char *path = std::getenv("PATH");
    for (const std::string &folder : split_path_list(path ? path : "/bin:/usr/bin")) {
        std::string candidate = fmt::format("{}/{}", folder, command);
        if (is_executable_file(candidate))
            return candidate;
    }
    return "";
}

// The loader ignores LD_PRELOAD and LD_LIBRARY_PATH for a program that gains rights. How does this
// one? Empty: it does not.
std::string privilege_of(const std::string &path) {
    struct stat status = {};
    if (stat(path.c_str(), &status) != 0)
        return "";
    if (status.st_mode & S_ISUID)
        return "set-uid";
    if (status.st_mode & S_ISGID)
        return "set-gid";
    if (getxattr(path.c_str(), "security.capability", nullptr, 0) > 0)
        return "given capabilities";
    return "";
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
    if (const std::string how = privilege_of(path); !how.empty())
        fail("'{}' is {}, so the loader ignores Sennit's libraries: run a copy without that "
             "(cp makes one)",
             path, how);
}

void refuse_unusable_image(const std::string &path, const ElfImage &image) {
    switch (image.kind) {
    case ElfImage::Kind::unreadable:
        fail("'{}' cannot be read ({}): Sennit looks into a program before it runs it", path,
             std::strerror(image.error_number));
    case ElfImage::Kind::other:
        fail("'{}' is neither a program nor a script", path);
    case ElfImage::Kind::foreign:
        fail("'{}' is a {} program, this machine's Sennit is for {}: rebuild it", path,
             image.machine, read_elf("/proc/self/exe").machine);
    case ElfImage::Kind::damaged:
        fail("'{}' is a damaged ELF file: rebuild it", path);
    case ElfImage::Kind::native:
        break;
    }
    if (image.interpreter.find("/ld-musl-") != std::string::npos)
        fail(
            "'{}' is a program for musl (it asks for {}), and Sennit's libraries need glibc: build "
            "it on a system with glibc",
            path, image.interpreter);
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
        if (!other && (use.kind || classify_mpi_library(use.library.name)))
            other = &use; // of another name and an unknown ABI, people say what it is
    }
    if (other)
        fail("'{}' uses {} ({}, needed by {}): --mpi {} would crash it, leave --mpi away",
             program.path, other->kind ? traits(*other->kind).name : "an unsupported MPI",
             other->library.name, other->library.needed_by, traits(asked).word);
}

// Of an ELF file: its libraries, into `program`.
void read_libraries(Program &program, const std::string &file, const ElfImage &image,
                    const std::vector<std::string> &library_path) {
    program.file = file;
    program.libraries = find_libraries(file, image, library_path);
    program.mpi_libraries.clear();
    program.openmp_libraries.clear();
    program.imports |= image.imports;
    for (const LoadedLibrary &library : program.libraries) {
        const auto &mpi = library.mpi;
        const auto *runtime = classify_openmp_library(library.name);
        if (mpi)
            program.mpi_libraries.push_back({mpi->kind, library});
        if (runtime)
            program.openmp_libraries.push_back({runtime, library});
        if (!mpi && !runtime)
            program.imports |= library.imports;
    }
    // A library between a program and its MPI may define MPI's functions, and none of the marks.
    const auto is_of_no_kind = [](const MpiUse &use) {
        return !use.kind && !classify_mpi_library(use.library.name);
    };
    if (!std::all_of(program.mpi_libraries.begin(), program.mpi_libraries.end(), is_of_no_kind))
        std::erase_if(program.mpi_libraries, is_of_no_kind);
    // A linker that drops what seems unneeded (--as-needed) keeps Sennit's library alone, which has
    // all that the program calls.
    if (program.mpi_libraries.empty())
        for (const LoadedLibrary &library : program.libraries)
            if (const auto kind = mpi_of_sennit_library(library.name))
                program.mpi_libraries.push_back({kind, library});
}

class Inspection {
  public:
    explicit Inspection(const std::vector<std::string> &library_path)
        : library_path_(library_path) {}

    Program run(const std::vector<std::string> &command) {
        program_.path = resolve_command(command.at(0));
        refuse_unusable_file(program_.path);
        seen_.insert(program_.path);
        const ElfImage image = read_elf(program_.path);
        const auto script =
            image.kind == ElfImage::Kind::other ? read_script(program_.path) : std::nullopt;
        if (script) {
            program_.script = program_.imports.brings_more = true;
            follow_script(program_.path, *script);
        } else {
            refuse_unusable_image(program_.path, image);
            read_libraries(program_, program_.path, image, library_path_);
        }
        const std::string line = fmt::format("{}", fmt::join(command, " "));
        note_launcher(command[0], line);
        if (program_.imports.brings_more && !program_.uses_mpi_or_openmp())
            follow_arguments(program_.path, command, line);
        return std::move(program_);
    }

  private:
    static constexpr std::size_t most_seen = 500; // of words that may be programs

    // What a command line names behind its first word.
    void follow_arguments(const std::string &by, const std::vector<std::string> &words,
                          const std::string &line) {
        const bool shell = is_shell(words[0]);
        for (std::size_t at = 1; at < words.size() && program_.mpi_libraries.empty(); ++at) {
            note_launcher(words[at], line);
            if (words[at - 1] == "-c" && (shell || (at > 1 && is_shell(words[at - 2]))))
                follow_text(by, words[at]);
            else
                consider(by, words[at], shell);
        }
    }

    void follow_script(const std::string &path, const Script &script) {
        program_.way.push_back(
            fmt::format("'{}' is a script, which {} runs", path, script.interpreter));
        if (is_shell(script.interpreter))
            follow_text(path, script.text);
        else
            consider(path, script.interpreter, false);
    }

    void follow_text(const std::string &by, const std::string &text) {
        ++texts_;
        for (const ShellCommand &command : read_shell_text(text)) {
            follow_command(by, command);
            if (!program_.mpi_libraries.empty())
                break;
        }
        --texts_;
    }

    // What a command is told may have the name of a program by chance: `-out R`. Only a path is
    // always taken for one.
    void follow_command(const std::string &by, const ShellCommand &command) {
        const std::string &name = command.words[0];
        if (name.find_first_of(" \t\n") != std::string::npos) { // eval "..."
            follow_text(by, name);
            return;
        }
        note_launcher(name, command.line);
        consider(by, name, false);
        if (command.function || name.starts_with('$') || is_launcher(name) ||
            starters_.contains(find_program(name, false))) {
            follow_arguments(by, command.words, command.line);
            return;
        }
        for (const std::string &word : command.words)
            if (word.find('/') != std::string::npos)
                consider(by, word, false);
    }

    void note_launcher(const std::string &word, const std::string &line) {
        if (!is_launcher(word) || program_.starts_ranks)
            return;
        program_.starts_ranks = true;
        program_.starts_ranks_by = line;
    }

    // Is `word`, which `by` names, a program that uses MPI or OpenMP, or a script that leads to
    // one? A shell reads a script that is not executable.
    void consider(const std::string &by, const std::string &word, bool readable) {
        if (word.empty() || word.starts_with('-') || seen_.size() > most_seen)
            return;
        const std::string path = find_program(word, readable);
        if (path.empty() || !seen_.insert(path).second)
            return;
        const ElfImage image = read_elf(path);
        if (image.kind == ElfImage::Kind::other) {
            if (const auto script = read_script(path))
                follow_script(path, *script);
            return;
        }
        if (image.kind != ElfImage::Kind::native || image.interpreter.empty())
            return;
        if (image.imports.brings_more)
            starters_.insert(path);
        Program found;
        read_libraries(found, path, image, library_path_);
        // What needs only OpenMP gives way to the first that needs MPI.
        if (found.mpi_libraries.empty() &&
            (found.openmp_libraries.empty() || program_.uses_mpi_or_openmp()))
            return;
        if (const std::string how = privilege_of(path); texts_ > 0 && !how.empty()) {
            program_.warning = fmt::format("'{}' starts '{}', which is {}: the loader ignores "
                                           "Sennit's libraries there, a copy without that would "
                                           "run on them (cp makes one)",
                                           by, path, how);
            return;
        }
        refuse_unusable_file(path);
        program_.way.push_back(fmt::format("'{}' starts '{}'", by, path));
        program_.file = found.file;
        program_.imports |= found.imports;
        program_.libraries = std::move(found.libraries);
        program_.mpi_libraries = std::move(found.mpi_libraries);
        program_.openmp_libraries = std::move(found.openmp_libraries);
    }

    static std::string find_program(const std::string &word, bool readable) {
        std::error_code ignored;
        if (readable && std::filesystem::is_regular_file(word, ignored))
            return word;
        if (word.find('/') != std::string::npos)
            return is_executable_file(word) ? word : "";
        return search_path(word);
    }

    const std::vector<std::string> library_path_;
    Program program_;
    int texts_ = 0; // that are being followed
    std::set<std::string> seen_;
    std::set<std::string> starters_; // programs that may start what their arguments name
};

} // namespace

std::string resolve_command(const std::string &command) {
    if (command.find('/') != std::string::npos)
        return command;
    if (std::string found = search_path(command); !found.empty())
        return found;
    if (access(command.c_str(), F_OK) == 0)
        fail("'{}' is not in PATH: write ./{}", command, command);
    fail("'{}' is not in PATH", command);
}

bool Program::uses(MpiKind kind) const {
    return std::any_of(mpi_libraries.begin(), mpi_libraries.end(),
                       [&](const MpiUse &use) { return use.kind == kind; });
}

Program inspect_program(const std::vector<std::string> &command,
                        const std::vector<std::string> &library_path) {
    return Inspection(library_path).run(command);
}

std::optional<MpiUse> find_mpi_beside(const Program &program) {
    const std::filesystem::path bin = std::filesystem::absolute(program.path).parent_path();
    std::optional<MpiUse> found;
    for (const MpiKind kind : {MpiKind::mpich, MpiKind::openmpi}) {
        const std::string name = fmt::format("libmpi.so.{}", traits(kind).abi);
        const std::string path = (bin.parent_path() / "lib" / name).string();
        if (bin.filename() != "bin" || access(path.c_str(), R_OK) != 0)
            continue;
        if (found)
            return std::nullopt;
        found = {kind, {name, path, program.path}};
    }
    return found;
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
                 "MPICH (libmpi.so.12) or Open MPI (libmpi.so.40){}",
                 program.file, use.library.name, use.library.needed_by,
                 classify_mpi_library(use.library.name)
                     ? ""
                     : ", or say whose ABI it has, --mpi mpich or --mpi openmpi");
        if (chosen && chosen->kind != use.kind)
            fail("'{}' has two MPIs in it: {} (needed by {}) and {} (needed by {}): relink it with "
                 "one, or say with --mpi which one it calls",
                 program.file, chosen->library.name, chosen->library.needed_by, use.library.name,
                 use.library.needed_by);
        chosen = &use;
    }
    return chosen ? chosen->kind : std::nullopt;
}

} // namespace sennit::tool
