// SPDX-License-Identifier: Apache-2.0
#include "tasks/program/marks.h"

#include "base/loaded_object.h"
#include "tasks/program/code.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace sennit::program {
namespace {

using namespace note;

constexpr int kMostFunctions = 256; // that one function leads to

std::size_t padded(std::size_t size, std::size_t align) {
    return (size + align - 1) & ~(align - 1);
}

// The words of a note. Sizes come from a file: nothing beyond the note is touched.
class Words {
  public:
    Words(const unsigned char *at, std::size_t bytes) : at_(at), count_(bytes / 4) {}

    std::size_t count() const { return count_; }
    std::uint32_t value(std::size_t i) const {
        std::uint32_t word;
        std::memcpy(&word, at_ + 4 * i, sizeof word);
        return word;
    }
    std::uintptr_t function(std::size_t i) const {
        const auto distance = static_cast<std::int32_t>(value(i));
        return reinterpret_cast<std::uintptr_t>(at_ + 4 * i) +
               static_cast<std::uintptr_t>(distance);
    }

  private:
    const unsigned char *at_;
    std::size_t count_;
};

// visit(function, flags, words, first, count): the record of a function, with the place of its
// calls.
template <class Visit>
void each_record(std::uint32_t type, const Words &words, Visit visit) {
    if (type == kSenders) {
        for (std::size_t i = 0; i < words.count(); ++i)
            visit(words.function(i), kSends | kUnknown, words, std::size_t{0}, std::size_t{0});
        return;
    }
    for (std::size_t i = 0; i + kCalls <= words.count();) {
        const std::uint32_t flags = words.value(i + kFlags);
        const std::size_t calls = calls_of(flags);
        if (calls > words.count() - (i + kCalls))
            return;
        visit(words.function(i + kFunction), flags, words, i + kCalls, calls);
        i += kCalls + calls;
    }
}

// The same for all notes of a segment.
template <class Visit>
void each_record(const unsigned char *at, std::size_t left, std::size_t align, Visit visit) {
    align = std::max<std::size_t>(align, 4);
    while (left >= sizeof(ElfW(Nhdr))) {
        ElfW(Nhdr) head;
        std::memcpy(&head, at, sizeof head);
        const std::size_t desc = sizeof head + padded(head.n_namesz, align);
        if (desc > left || head.n_descsz > left - desc)
            return;
        if ((head.n_type == kSenders || head.n_type == kRecords) && head.n_namesz == sizeof kName &&
            std::memcmp(at + sizeof head, kName, sizeof kName) == 0)
            each_record(head.n_type, Words(at + desc, head.n_descsz), visit);
        const std::size_t whole = desc + padded(head.n_descsz, align);
        if (whole > left)
            return;
        at += whole;
        left -= whole;
    }
}

// The same for all notes of an object.
template <class Visit>
void each_record(const LoadedObject &object, Visit visit) {
    for (const LoadedObject::Segment &segment : object.segments())
        if (segment.p_type == PT_NOTE)
            each_record(reinterpret_cast<const unsigned char *>(object.address_of(segment)),
                        segment.p_memsz, segment.p_align, visit);
}

// A function and what it leads to: each is looked at once.
class Walk {
  public:
    std::optional<Marks> from(std::uintptr_t function) {
        if (!function || !look_at(function))
            return std::nullopt;
        for (int next = 0; next < count_; ++next)
            if (const std::uintptr_t called = functions_[next]; !look_at(called)) {
                const std::uintptr_t behind = function_behind_stub(called);
                if (!behind || !look_at(behind))
                    marks_.all_known = false;
            }
        return marks_;
    }

  private:
    // Have the notes of its object a record of it? There may be several: of an inline function each
    // file has one.
    bool look_at(std::uintptr_t function) {
        bool found = false;
        each_object([this, function, &found](const LoadedObject &object) {
            if (!object.contains(PT_LOAD, function))
                return false;
            each_record(object, [&](std::uintptr_t marked, std::uint32_t flags, const Words &words,
                                    std::size_t first, std::size_t calls) {
                if (marked != function)
                    return;
                found = true;
                add(flags);
                for (std::size_t i = 0; i < calls; ++i)
                    follow(words.function(first + i));
            });
            return true;
        });
        return found;
    }

    void add(std::uint32_t flags) {
        marks_.sends |= (flags & kSends) != 0;
        marks_.receives |= (flags & kReceives) != 0;
        marks_.blocks |= (flags & kBlocks) != 0;
        marks_.all_known &= (flags & kUnknown) == 0;
    }

    void follow(std::uintptr_t function) {
        if (std::find(functions_, functions_ + count_, function) != functions_ + count_)
            return;
        if (count_ == kMostFunctions)
            marks_.all_known = false;
        else
            functions_[count_++] = function;
    }

    Marks marks_;
    std::uintptr_t functions_[kMostFunctions];
    int count_ = 0;
};

} // namespace

std::optional<Marks> marks_of(const void *function) {
    return Walk().from(reinterpret_cast<std::uintptr_t>(function));
}

bool any_marks() {
    bool found = false;
    each_object([&found](const LoadedObject &object) {
        each_record(object, [&found](auto &&...) { found = true; });
        return found;
    });
    return found;
}

} // namespace sennit::program
