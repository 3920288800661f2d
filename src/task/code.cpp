// SPDX-License-Identifier: Apache-2.0
#include "task/code.h"

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <cstring>
#include <elf.h>
#include <link.h>
#include <string_view>

namespace sennit::task {

bool is_send(const char *symbol) {
    char lower[32];
    std::size_t length = 0;
    for (; symbol[length] && length < sizeof lower; ++length)
        lower[length] = static_cast<char>(std::tolower(static_cast<unsigned char>(symbol[length])));
    if (length == sizeof lower) // no MPI function with a send's name is that long
        return false;
    std::string_view name(lower, length);
    const auto skip = [&](std::string_view prefix) {
        const bool there = name.starts_with(prefix);
        if (there)
            name.remove_prefix(prefix.size());
        return there;
    };
    skip("p");
    if (!skip("mpi_") && !skip("tampi_") && !skip("mpix_"))
        return false;
    for (const std::string_view word : {"send", "isend", "ssend", "bsend", "rsend", "issend",
                                        "ibsend", "irsend", "sendrecv", "isendrecv"})
        // What follows is Fortran's: _, _f08_, _f08ts_; and _replace. Not _init, which sends
        // nothing.
        if (name == word || (name.starts_with(word) && name[word.size()] == '_' &&
                             !name.substr(word.size()).starts_with("_init")))
            return true;
    return false;
}

#ifdef __x86_64__

namespace {

constexpr int kMostSends = 32;            // slots of an object
constexpr int kMostFunctions = 32;        // looked at
constexpr int kMostLevels = 3;            // of calls below the task's function
constexpr std::size_t kMostBytes = 16384; // of a function

using Byte = unsigned char;

template <class T>
T read(std::uintptr_t at) {
    T value;
    std::memcpy(&value, reinterpret_cast<const void *>(at), sizeof value);
    return value;
}

// The loaded object that contains an address, and what of it is needed.
class Object {
  public:
    explicit Object(std::uintptr_t address) : address_(address) { dl_iterate_phdr(visit, this); }
    bool found() const { return text_end_ > text_ && functions_; }
    bool sends() const { return slot_count_ > 0; }
    bool contains(std::uintptr_t at) const { return at >= text_ && at < text_end_; }
    bool is_slot(std::uintptr_t at) const {
        return std::find(slots_, slots_ + slot_count_, at) != slots_ + slot_count_;
    }
    // Where the function that contains `at` ends.
    std::uintptr_t end_of(std::uintptr_t at) const {
        // A table of pairs, sorted: begin of a function, place of its entry in .eh_frame; both are
        // distances from the table's head.
        std::uint32_t low = 0;
        std::uint32_t high = function_count_;
        while (low < high) {
            const std::uint32_t middle = low + (high - low) / 2;
            if (begin_of(middle) > at)
                high = middle;
            else
                low = middle + 1;
        }
        const std::uintptr_t next = low < function_count_ ? begin_of(low) : text_end_;
        return std::min({next, text_end_, at + kMostBytes});
    }

  private:
    static int visit(dl_phdr_info *info, std::size_t, void *given) {
        return static_cast<Object *>(given)->take(*info);
    }
    bool take(const dl_phdr_info &info) {
        const std::uintptr_t base = info.dlpi_addr;
        const ElfW(Phdr) *dynamic = nullptr;
        const ElfW(Phdr) *frames = nullptr;
        for (int i = 0; i < info.dlpi_phnum; ++i) {
            const ElfW(Phdr) &segment = info.dlpi_phdr[i];
            if (segment.p_type == PT_LOAD && (segment.p_flags & (PF_X | PF_R)) == (PF_X | PF_R) &&
                address_ - (base + segment.p_vaddr) < segment.p_filesz) {
                text_ = base + segment.p_vaddr;
                text_end_ = text_ + segment.p_filesz;
            }
            if (segment.p_type == PT_DYNAMIC)
                dynamic = &segment;
            if (segment.p_type == PT_GNU_EH_FRAME)
                frames = &segment;
        }
        if (!text_end_)
            return false;
        if (frames)
            find_functions(base + frames->p_vaddr, frames->p_memsz);
        if (dynamic)
            find_slots(base, reinterpret_cast<const ElfW(Dyn) *>(base + dynamic->p_vaddr));
        return true;
    }

    void find_functions(std::uintptr_t head, std::size_t size) {
        // version 1; .eh_frame's address, the count and the table in the encodings that linkers use
        constexpr Byte kHead[] = {1, 0x1b, 0x03, 0x3b};
        constexpr std::size_t kTable = 12;
        if (size < kTable ||
            std::memcmp(reinterpret_cast<const void *>(head), kHead, sizeof kHead) != 0)
            return;
        functions_ = head;
        function_count_ = static_cast<std::uint32_t>(
            std::min<std::size_t>(read<std::uint32_t>(head + 8), (size - kTable) / 8));
    }
    std::uintptr_t begin_of(std::uint32_t function) const {
        return functions_ + static_cast<std::uintptr_t>(static_cast<std::intptr_t>(
                                read<std::int32_t>(functions_ + 12 + 8ull * function)));
    }

    // Slots of the GOT that the loader fills with a send's address.
    void find_slots(std::uintptr_t base, const ElfW(Dyn) * dynamic) {
        const ElfW(Sym) *symbols = nullptr;
        const char *strings = nullptr;
        struct {
            const ElfW(Rela) *first = nullptr;
            std::size_t bytes = 0;
        } tables[2];
        for (; dynamic->d_tag != DT_NULL; ++dynamic) {
            const auto value = static_cast<std::uintptr_t>(dynamic->d_un.d_val);
            // glibc has made addresses of distances, other loaders have not.
            const auto *target =
                reinterpret_cast<const void *>(value < base ? base + value : value);
            switch (dynamic->d_tag) {
            case DT_SYMTAB:
                symbols = static_cast<const ElfW(Sym) *>(target);
                break;
            case DT_STRTAB:
                strings = static_cast<const char *>(target);
                break;
            case DT_JMPREL:
                tables[0].first = static_cast<const ElfW(Rela) *>(target);
                break;
            case DT_PLTRELSZ:
                tables[0].bytes = value;
                break;
            case DT_RELA:
                tables[1].first = static_cast<const ElfW(Rela) *>(target);
                break;
            case DT_RELASZ:
                tables[1].bytes = value;
                break;
            default:
                break;
            }
        }
        if (!symbols || !strings)
            return;
        for (const auto &table : tables)
            for (std::size_t i = 0; table.first && i < table.bytes / sizeof(ElfW(Rela)); ++i) {
                const ElfW(Rela) &relocation = table.first[i];
                const auto type = ELF64_R_TYPE(relocation.r_info);
                if ((type == R_X86_64_JUMP_SLOT || type == R_X86_64_GLOB_DAT) &&
                    slot_count_ < kMostSends &&
                    is_send(strings + symbols[ELF64_R_SYM(relocation.r_info)].st_name))
                    slots_[slot_count_++] = base + relocation.r_offset;
            }
    }

    const std::uintptr_t address_;
    std::uintptr_t text_ = 0, text_end_ = 0; // the segment with the code
    std::uintptr_t functions_ = 0;
    std::uint32_t function_count_ = 0;
    std::uintptr_t slots_[kMostSends] = {};
    int slot_count_ = 0;
};

// `distance` after the instruction that ends at `end`.
std::uintptr_t relative(std::uintptr_t end) {
    return end +
           static_cast<std::uintptr_t>(static_cast<std::intptr_t>(read<std::int32_t>(end - 4)));
}

// The slot that a stub of the PLT at `at` jumps through; 0: there is none.
std::uintptr_t slot_of_stub(const Object &object, std::uintptr_t at) {
    constexpr Byte kEndbr[] = {0xf3, 0x0f, 0x1e, 0xfa};
    constexpr std::size_t kLongest = 11;
    if (!object.contains(at) || !object.contains(at + kLongest))
        return 0;
    if (std::memcmp(reinterpret_cast<const void *>(at), kEndbr, sizeof kEndbr) == 0)
        at += sizeof kEndbr;
    if (read<Byte>(at) == 0xf2) // bnd
        ++at;
    return read<Byte>(at) == 0xff && read<Byte>(at + 1) == 0x25 ? relative(at + 6) : 0;
}

class Search {
  public:
    explicit Search(const Object &object) : object_(object) {}

    bool look_at(std::uintptr_t function, int level) {
        if (count_ == kMostFunctions ||
            std::find(seen_, seen_ + count_, function) != seen_ + count_)
            return false;
        seen_[count_++] = function;
        const std::uintptr_t end = object_.end_of(function);
        for (std::uintptr_t at = function; at + 5 <= end; ++at) {
            const Byte byte = read<Byte>(at);
            if (byte == 0xe8 || byte == 0xe9) { // call, or jump where it is the last one
                const std::uintptr_t target = relative(at + 5);
                if (!object_.contains(target) || (target >= function && target < end))
                    continue;
                // The stubs are one function to .eh_frame_hdr: none is looked at from inside.
                const std::uintptr_t slot = slot_of_stub(object_, target);
                if (slot ? object_.is_slot(slot) : level > 0 && look_at(target, level - 1))
                    return true;
            } else if (byte == 0xff && at + 6 <= end &&
                       (read<Byte>(at + 1) == 0x15 || read<Byte>(at + 1) == 0x25)) {
                if (object_.is_slot(relative(at + 6)))
                    return true;
            }
        }
        return false;
    }

  private:
    const Object &object_;
    std::uintptr_t seen_[kMostFunctions] = {};
    int count_ = 0;
};

} // namespace

std::optional<bool> calls_send(const void *entry) {
    const auto address = reinterpret_cast<std::uintptr_t>(entry);
    const Object object(address);
    if (object.found() && object.sends() && Search(object).look_at(address, kMostLevels))
        return true;
    return std::nullopt;
}

#else

std::optional<bool> calls_send(const void *) {
    return std::nullopt;
}

#endif

} // namespace sennit::task
