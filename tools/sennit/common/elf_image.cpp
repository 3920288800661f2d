// SPDX-License-Identifier: Apache-2.0
#include "common/elf_image.h"

#include "common/mpi_kind.h"

#include "base/loaded_object.h"

#include <elf.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <iterator>
#include <optional>
#include <string_view>

namespace sennit::tool {
namespace {

#if defined(__x86_64__)
constexpr std::uint16_t host_machine = EM_X86_64;
#elif defined(__aarch64__)
constexpr std::uint16_t host_machine = EM_AARCH64;
#else
#error "Sennit knows x86-64 and AArch64: add this machine here"
#endif

struct MachineName {
    std::uint16_t machine;
    const char *name;
};
constexpr MachineName machine_names[] = {
    {EM_X86_64, "x86-64"}, {EM_386, "x86"},       {EM_AARCH64, "AArch64"}, {EM_ARM, "ARM"},
    {EM_RISCV, "RISC-V"},  {EM_PPC64, "PowerPC"}, {EM_S390, "S/390"},      {EM_MIPS, "MIPS"},
};

// Functions by which libraries and programs come in later.
constexpr std::string_view bringers[] = {
    "dlopen", "dlmopen", "execv", "execve",      "execvp",       "execvpe", "execl",   "execle",
    "execlp", "fexecve", "popen", "posix_spawn", "posix_spawnp", "system",  "execveat"};

// What compilers call for task and taskloop: libgomp's and libomp's.
constexpr std::string_view task_makers[] = {"GOMP_task", "GOMP_taskloop", "GOMP_taskloop_ull",
                                            "__kmpc_omp_task_alloc"};

// The first call into a sanitizer that allots memory at fixed addresses.
constexpr std::string_view sanitizer_starts[] = {"__asan_init", "__hwasan_init", "__msan_init",
                                                 "__tsan_init"};

// Of C and Fortran, as each compiler writes them: MPI_Comm_spawn_multiple,
// mpi_comm_spawn_multiple_, mpi_comm_spawn_multiple_f08_.
constexpr const char *spawning_several = "omm_spawn_multiple";

class OpenFile : public ElfFile {
  public:
    explicit OpenFile(const std::string &path) : ElfFile(path.c_str()) {}
    ~OpenFile() { close_file(); }
    OpenFile(const OpenFile &) = delete;
    OpenFile &operator=(const OpenFile &) = delete;
};

std::string describe_machine(unsigned char elf_class, std::uint16_t machine) {
    const char *bits = elf_class == ELFCLASS32 ? "32-bit" : "64-bit";
    for (const MachineName &row : machine_names)
        if (row.machine == machine)
            return fmt::format("{} {}", bits, row.name);
    return fmt::format("{} machine type {}", bits, machine);
}

// Reads a native image step by step; a step that returns false found the file damaged.
class NativeReader {
  public:
    NativeReader(const ElfFile &file, const Elf64_Ehdr &header, ElfImage &image)
        : file_(file), header_(header), image_(image) {}

    bool read() { return read_segments() && read_dynamic() && read_names() && read_imports(); }

  private:
    bool read_segments() {
        if (header_.e_phnum > 0 && header_.e_phentsize != sizeof(Elf64_Phdr))
            return false;
        for (unsigned i = 0; i < header_.e_phnum; ++i) {
            const auto segment =
                file_.read<Elf64_Phdr>(header_.e_phoff + std::uint64_t{i} * sizeof(Elf64_Phdr));
            if (!segment)
                return false;
            if (segment->p_type == PT_LOAD) {
                loaded_.push_back(*segment);
                if (segment->p_offset == 0 && !image_.begin)
                    image_.begin = segment->p_vaddr;
            }
            if (segment->p_type == PT_DYNAMIC)
                dynamic_segment_ = *segment;
            if (segment->p_type == PT_INTERP) {
                const char *name = file_.read_string(segment->p_offset);
                if (!name)
                    return false;
                image_.interpreter = name;
            }
        }
        return true;
    }

    bool read_dynamic() {
        if (!dynamic_segment_)
            return true;
        image_.dynamic = true;
        const std::uint64_t count = dynamic_segment_->p_filesz / sizeof(Elf64_Dyn);
        for (std::uint64_t i = 0; i < count; ++i) {
            const auto entry =
                file_.read<Elf64_Dyn>(dynamic_segment_->p_offset + i * sizeof(Elf64_Dyn));
            if (!entry)
                return false;
            if (entry->d_tag == DT_NULL)
                break;
            if (entry->d_tag == DT_STRTAB)
                strings_ = file_offset(entry->d_un.d_ptr);
            else if (entry->d_tag == DT_FLAGS_1)
                image_.position_independent_program = (entry->d_un.d_val & DF_1_PIE) != 0;
            else
                names_.push_back(*entry);
        }
        return true;
    }

    bool read_names() {
        for (const Elf64_Dyn &entry : names_) {
            const auto tag = entry.d_tag;
            if (tag != DT_NEEDED && tag != DT_RPATH && tag != DT_RUNPATH && tag != DT_SONAME)
                continue;
            if (!strings_)
                return false;
            const char *text = file_.read_string(*strings_ + entry.d_un.d_val);
            if (!text)
                return false;
            if (tag == DT_NEEDED)
                image_.needed.emplace_back(text);
            else if (tag == DT_SONAME)
                image_.soname = text;
            else
                (tag == DT_RPATH ? image_.rpath : image_.runpath) = split_path_list(text);
        }
        return true;
    }

    // The dynamic section does not tell how many symbols there are, the table of sections does. Who
    // has none may import anything.
    bool read_imports() {
        if (!dynamic_segment_)
            return true;
        image_.imports = {.brings_more = true, .makes_tasks = true};
        for (unsigned i = 0; i < header_.e_shnum; ++i) {
            const auto section =
                file_.read<Elf64_Shdr>(header_.e_shoff + std::uint64_t{i} * sizeof(Elf64_Shdr));
            if (!section)
                return false;
            if (section->sh_type == SHT_DYNSYM) {
                image_.imports = {};
                return read_symbols(*section);
            }
        }
        return true;
    }

    bool read_symbols(const Elf64_Shdr &symbols) {
        const auto is_in = [](const auto &names, const char *name) {
            return std::find(std::begin(names), std::end(names), name) != std::end(names);
        };
        for (std::uint64_t at = 0; at < symbols.sh_size; at += sizeof(Elf64_Sym)) {
            const auto symbol = file_.read<Elf64_Sym>(symbols.sh_offset + at);
            if (!symbol || !strings_)
                return false;
            const char *name = file_.read_string(*strings_ + symbol->st_name);
            if (!name)
                return false;
            const bool is_import = symbol->st_shndx == SHN_UNDEF;
            if (is_import)
                image_.imports |= {.brings_more = is_in(bringers, name),
                                   .spawns_several = std::strstr(name, spawning_several) != nullptr,
                                   .makes_tasks = is_in(task_makers, name)};
            image_.sanitized |= is_in(sanitizer_starts, name);
            if (!is_import && is_in(mpi_marks, name))
                image_.mpi_marks.emplace_back(name);
        }
        return true;
    }

    std::optional<std::uint64_t> file_offset(std::uint64_t address) const {
        for (const Elf64_Phdr &segment : loaded_)
            if (address >= segment.p_vaddr && address - segment.p_vaddr < segment.p_filesz)
                return address - segment.p_vaddr + segment.p_offset;
        return std::nullopt;
    }

    const ElfFile &file_;
    const Elf64_Ehdr &header_;
    ElfImage &image_;
    std::vector<Elf64_Phdr> loaded_;
    std::vector<Elf64_Dyn> names_;
    std::optional<Elf64_Phdr> dynamic_segment_;
    std::optional<std::uint64_t> strings_;
};

} // namespace

ElfImage read_elf(const std::string &path) {
    ElfImage image;
    const OpenFile file(path);
    if (file.error() != 0) {
        image.error_number = file.error();
        return image;
    }
    // e_ident, e_type and e_machine lie at the same offsets in both classes.
    const auto start = file.read<Elf32_Ehdr>(0);
    if (!start || std::memcmp(start->e_ident, ELFMAG, SELFMAG) != 0) {
        image.kind = ElfImage::Kind::other;
        return image;
    }
    image.machine = describe_machine(start->e_ident[EI_CLASS], start->e_machine);
    if (start->e_ident[EI_CLASS] != ELFCLASS64 || start->e_ident[EI_DATA] != ELFDATA2LSB ||
        start->e_machine != host_machine) {
        image.kind = ElfImage::Kind::foreign;
        return image;
    }
    const auto header = file.read<Elf64_Ehdr>(0);
    image.kind = ElfImage::Kind::damaged;
    if (header && NativeReader(file, *header, image).read())
        image.kind = ElfImage::Kind::native;
    image.type = start->e_type;
    return image;
}

std::vector<std::string> split_path_list(const std::string &list, const char *separators) {
    std::vector<std::string> parts;
    if (list.empty())
        return parts;
    std::size_t start = 0;
    while (true) {
        const std::size_t end = list.find_first_of(separators, start);
        const std::string part = list.substr(start, end - start);
        parts.push_back(part.empty() ? "." : part);
        if (end == std::string::npos)
            return parts;
        start = end + 1;
    }
}

} // namespace sennit::tool
