// SPDX-License-Identifier: Apache-2.0
#include "tasks/program/code.h"

#include "base/loaded_object.h"
#include "tasks/program/senders.h"

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace sennit::program {

#ifdef __x86_64__

namespace {

constexpr int kMostSlots = 64;            // of a kind, of an object
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

// Slots of the GOT that the loader fills with the addresses of functions of some kind.
class Slots {
  public:
    void add(std::uintptr_t slot) {
        if (count_ < kMostSlots)
            slots_[count_++] = slot;
    }
    bool any() const { return count_ > 0; }
    bool contain(std::uintptr_t slot) const {
        return std::find(slots_, slots_ + count_, slot) != slots_ + count_;
    }

  private:
    std::uintptr_t slots_[kMostSlots] = {};
    int count_ = 0;
};

using Wanted = int (*)(const char *symbol);
int wants_send(const char *symbol) {
    return names().sends(symbol);
}

// What is needed of a loaded object.
class Object {
  public:
    // The one that contains an address.
    explicit Object(std::uintptr_t address, Wanted wanted = wants_send) : wanted_(wanted) {
        each_object([this, address](const LoadedObject &object) {
            take(object, address);
            return text_end_ != 0;
        });
    }
    explicit Object(const LoadedObject &object) { take(object, 0); }

    Slots wanted;
    Slots makers; // of tasks
    bool found() const { return text_end_ > text_ && functions_; }
    bool contains(std::uintptr_t at) const { return at >= text_ && at < text_end_; }
    std::uint32_t function_count() const { return function_count_; }
    std::uintptr_t begin_of(std::uint32_t function) const {
        return functions_ + static_cast<std::uintptr_t>(static_cast<std::intptr_t>(
                                read<std::int32_t>(functions_ + 12 + 8ull * function)));
    }
    bool begins_function(std::uintptr_t at) const {
        const std::uint32_t next = function_after(at);
        return next > 0 && begin_of(next - 1) == at;
    }
    // Where the function that contains `at` ends.
    std::uintptr_t end_of(std::uintptr_t at) const {
        const std::uint32_t next = function_after(at);
        return std::min(
            {next < function_count_ ? begin_of(next) : text_end_, text_end_, at + kMostBytes});
    }

  private:
    // The first function of the table that begins behind `at`. The table has pairs, sorted: begin
    // of a function, place of its entry in .eh_frame; both are distances from the table's head.
    std::uint32_t function_after(std::uintptr_t at) const {
        std::uint32_t low = 0;
        std::uint32_t high = function_count_;
        while (low < high) {
            const std::uint32_t middle = low + (high - low) / 2;
            if (begin_of(middle) > at)
                high = middle;
            else
                low = middle + 1;
        }
        return low;
    }

    // With the code that contains an address, or, given 0, whatever code it has.
    void take(const LoadedObject &object, std::uintptr_t address) {
        for (const LoadedObject::Segment &segment : object.segments())
            if (segment.p_type == PT_LOAD && (segment.p_flags & (PF_X | PF_R)) == (PF_X | PF_R) &&
                (!address || address - object.address_of(segment) < segment.p_filesz)) {
                text_ = object.address_of(segment);
                text_end_ = text_ + segment.p_filesz;
            }
        if (!text_end_)
            return;
        if (const LoadedObject::Segment *frames = object.find(PT_GNU_EH_FRAME))
            find_functions(object.address_of(*frames), frames->p_memsz);
        DynamicSection(object).each_slot([this](const char *symbol, std::uintptr_t slot) {
            if (wanted_(symbol))
                wanted.add(slot);
            else if (names().makes_tasks(symbol))
                makers.add(slot);
        });
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

    Wanted wanted_ = wants_send;
    std::uintptr_t text_ = 0, text_end_ = 0; // the segment with the code
    std::uintptr_t functions_ = 0;
    std::uint32_t function_count_ = 0;
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

// visit(slot, target) for each call in [begin, end), until it says true: the slot that the call
// goes through, or 0 and the function in the same object that is called. A function's last call may
// be a jump. The stubs of the PLT are one function to .eh_frame_hdr: none is looked at from inside.
template <class Visit>
bool each_call(const Object &object, std::uintptr_t begin, std::uintptr_t end, Visit visit) {
    for (std::uintptr_t at = begin; at + 5 <= end; ++at) {
        const Byte byte = read<Byte>(at);
        // call, jmp; or a conditional jump, which clang makes of a call at the end of a branch
        const bool conditional =
            byte == 0x0f && at + 6 <= end && (read<Byte>(at + 1) & 0xf0) == 0x80;
        if (byte == 0xe8 || byte == 0xe9 || conditional) {
            const std::uintptr_t target = relative(at + (conditional ? 6 : 5));
            if (!object.contains(target) || (target >= begin && target < end))
                continue;
            const std::uintptr_t slot = slot_of_stub(object, target);
            if (visit(slot, slot ? 0 : target))
                return true;
        } else if (byte == 0xeb || (byte & 0xf0) == 0x70) {
            // The same to a neighbour.
            const std::uintptr_t target =
                at + 2 + static_cast<std::uintptr_t>(std::intptr_t{read<std::int8_t>(at + 1)});
            if ((target < begin || target >= end) && object.contains(target) &&
                object.begins_function(target) && visit(std::uintptr_t{0}, target))
                return true;
        } else if (byte == 0xff && at + 6 <= end &&
                   (read<Byte>(at + 1) == 0x15 || read<Byte>(at + 1) == 0x25)) {
            if (visit(relative(at + 6), std::uintptr_t{0}))
                return true;
        }
    }
    return false;
}

class Search {
  public:
    explicit Search(const Object &object) : object_(object) {}

    bool calls_wanted(std::uintptr_t function, int level) {
        if (count_ == kMostFunctions ||
            std::find(seen_, seen_ + count_, function) != seen_ + count_)
            return false;
        seen_[count_++] = function;
        return each_call(object_, function, object_.end_of(function),
                         [&](std::uintptr_t slot, std::uintptr_t target) {
                             return slot ? object_.wanted.contain(slot)
                                         : level > 0 && calls_wanted(target, level - 1);
                         });
    }

  private:
    const Object &object_;
    std::uintptr_t seen_[kMostFunctions] = {};
    int count_ = 0;
};

// Is there code in [begin, end) that takes the address of a function which sends?
bool names_sender(const Object &object, std::uintptr_t begin, std::uintptr_t end) {
    for (std::uintptr_t at = begin; at + 5 <= end; ++at) {
        std::uintptr_t named = 0;
        const Byte byte = read<Byte>(at);
        if (byte == 0x8d && at + 6 <= end && (read<Byte>(at + 1) & 0xc7) == 0x05)
            named = relative(at + 6); // lea named(%rip), register
        else if ((byte & 0xf8) == 0xb8)
            named = read<std::uint32_t>(at + 1); // mov $named, register: not position-independent
        if (object.contains(named) && object.begins_function(named) &&
            Search(object).calls_wanted(named, kMostLevels))
            return true;
    }
    return false;
}

bool has_sending_tasks(const Object &object) {
    if (!object.found() || !object.wanted.any() || !object.makers.any())
        return false;
    for (std::uint32_t i = 0; i < object.function_count(); ++i) {
        const std::uintptr_t begin = object.begin_of(i);
        if (!object.contains(begin))
            continue;
        const std::uintptr_t end = object.end_of(begin);
        const bool makes = each_call(object, begin, end, [&](std::uintptr_t slot, std::uintptr_t) {
            return slot != 0 && object.makers.contain(slot);
        });
        if (makes && names_sender(object, begin, end))
            return true;
    }
    return false;
}

} // namespace

bool calls(const void *entry, int (*wanted)(const char *symbol)) {
    const auto address = reinterpret_cast<std::uintptr_t>(entry);
    const Object object(address, wanted);
    return address && object.found() && object.wanted.any() &&
           Search(object).calls_wanted(address, kMostLevels);
}

std::uintptr_t function_behind_stub(std::uintptr_t stub) {
    const Object object(stub, [](const char *) { return 0; });
    const std::uintptr_t slot = slot_of_stub(object, stub);
    return slot ? read<std::uintptr_t>(slot) : 0;
}

bool has_sending_tasks(const void *in_object) {
    return in_object && has_sending_tasks(Object(reinterpret_cast<std::uintptr_t>(in_object)));
}

bool process_has_sending_tasks() {
    return each_object(
               [](const LoadedObject &object) { return has_sending_tasks(Object(object)); }) != 0;
}

#else

bool calls(const void *, int (*)(const char *)) {
    return false;
}
std::uintptr_t function_behind_stub(std::uintptr_t) {
    return 0;
}
bool has_sending_tasks(const void *) {
    return false;
}
bool process_has_sending_tasks() {
    return false;
}

#endif

std::optional<bool> calls_send(const void *entry) {
    if (calls(entry, [](const char *symbol) { return int{names().sends(symbol)}; }))
        return true;
    return std::nullopt;
}

} // namespace sennit::program
