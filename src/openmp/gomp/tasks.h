// SPDX-License-Identifier: Apache-2.0
// What makes tasks shares: the argument block that GCC makes for a task, and its dependences.
#pragma once

#include "openmp/gomp/gomp.h"
#include "tasks/task/submit.h"

#include <alloca.h>
#include <cstring>

namespace sennit::gomp {

using CopyFunction = void (*)(void *into, void *from);

// The block as the caller has it. copy, if any, constructs a task's own; else it is bytes.
struct Arguments {
    void *data;
    CopyFunction copy;
    long size;
    long align;
};

inline char *align_up(void *pointer, long align) {
    const auto mask = static_cast<std::uintptr_t>(align > 1 ? align - 1 : 0);
    return reinterpret_cast<char *>((reinterpret_cast<std::uintptr_t>(pointer) + mask) & ~mask);
}

inline void copy_arguments(void *into, void *from, CopyFunction copy, long size) {
    if (copy)
        copy(into, from);
    else if (from)
        std::memcpy(into, from, static_cast<std::size_t>(size));
}

// The body on the caller's stack, with a block of its own if that takes a constructor.
SENNIT_NOINLINE inline void call_with_copy(Function function, void *data, CopyFunction copy,
                                           long size, long align) {
    void *raw = alloca(static_cast<std::size_t>(size + align - 1));
    void *block = align_up(raw, align);
    copy(block, data);
    function(block);
}

inline void call(Function function, Arguments arguments) {
    if (SENNIT_UNLIKELY(arguments.copy != nullptr))
        call_with_copy(function, arguments.data, arguments.copy, arguments.size, arguments.align);
    else
        function(arguments.data);
}

// Of the three clauses that are a task's own. Their bits stand in the same order as ours.
inline std::uint32_t translate(unsigned flags) {
    static_assert(Task::kUntied == kUntied << 2 && Task::kFinal == kFinal << 2 &&
                  Task::kMergeable == kMergeable << 3);
    return (flags & (kUntied | kFinal)) << 2 | (flags & kMergeable) << 3;
}

// Of a null address: is it omp_all_memory? Else it is a pointer that is null: no dependence.
bool is_all_memory(task::DependKind kind, const void *code);

// GCC's dependence array in either layout; null for none. `code` is where the program names them.
class Dependences {
  public:
    Dependences(void **depend, const void *code) : depend_(depend), code_(code) {
        if (!depend)
            return;
        const auto first = reinterpret_cast<std::uintptr_t>(depend[0]);
        if (first != 0) { // {count, outs, addresses...}
            count_ = static_cast<int>(first);
            out_ = word(1);
            in_ = count_ - out_;
            start_ = 2;
        } else if (word(1) != 0) {
            // {0, count, outs, mutexinoutsets, ins, addresses..., depobjs...}
            count_ = word(1);
            out_ = word(2);
            mutex_ = word(3);
            in_ = word(4);
            start_ = 5;
        }
    }
    int size() const { return count_; }
    int fill(task::Depend *into) const {
        using task::DependKind;
        void **item = depend_ + start_;
        task::Depend *at = into;
        const auto add_all = [&](int count, DependKind kind) {
            for (void **const end = item + count; item != end; ++item)
                at = add(at, *item, kind, code_);
        };
        add_all(out_, DependKind::out);
        add_all(mutex_, DependKind::mutexinoutset);
        add_all(in_, DependKind::in);
        void **const end = depend_ + start_ + count_;
        for (; item < end; ++item)
            at = add_object(at, static_cast<void **>(*item), code_);
        return static_cast<int>(at - into);
    }

    // omp_depend_t: {address, kind}. Returns where the next one goes.
    static task::Depend *add_object(task::Depend *at, void *const *object, const void *code) {
        return add(at, object[0], kind_of(reinterpret_cast<std::uintptr_t>(object[1])), code);
    }

  private:
    [[gnu::always_inline]] static task::Depend *add(task::Depend *at, void *address,
                                                    task::DependKind kind, const void *code) {
        if (SENNIT_UNLIKELY(!address) && !is_all_memory(kind, code))
            return at;
        *at = {address, kind};
        return at + 1;
    }
    int word(int index) const {
        return static_cast<int>(reinterpret_cast<std::uintptr_t>(depend_[index]));
    }
    static task::DependKind kind_of(std::uintptr_t kind) {
        switch (kind) {
        case 1:
            return task::DependKind::in;
        case 4:
            return task::DependKind::mutexinoutset;
        case 5:
            return task::DependKind::inoutset;
        default:
            return task::DependKind::out; // out, inout
        }
    }
    void **depend_;
    const void *code_;
    int count_ = 0; // also {0, 0}, the first layout: what an empty iterator leaves
    int out_ = 0;
    int mutex_ = 0;
    int in_ = 0;
    int start_ = 0;
};

} // namespace sennit::gomp
