// SPDX-License-Identifier: Apache-2.0
// A function of libc that this library stands in front of: whoever comes next, for others may stand
// behind it.
#pragma once

#include "base/compiler.h"
#include "base/loaded_object.h"

#include <atomic>
#include <dlfcn.h>

// libc's oldest version of its symbols here.
#if defined(__x86_64__)
#define SENNIT_OLDEST_LIBC "GLIBC_2.2.5"
#elif defined(__aarch64__)
#define SENNIT_OLDEST_LIBC "GLIBC_2.17"
#endif

// Defines `name` for programs. Under a name of our own in C++: libc's headers declare theirs with
// attributes that differ.
#define SENNIT_IN_FRONT(result, name, parameters)                                                  \
    extern "C" SENNIT_EXPORT result in_front_##name parameters __asm__(#name);                     \
    result in_front_##name parameters

namespace sennit::loader::inside {

template <typename Function>
class Next {
  public:
    constexpr explicit Next(const char *name) : name_(name) {}

    // Found at its first call: constructors of other libraries may call it before ours have run.
    Function *get() {
        if (void *known = found_.load(std::memory_order_relaxed))
            return reinterpret_cast<Function *>(known);
        void *const found = find_next(name_, [](const char *name) { // for old programs only
            void *const old = dlvsym(RTLD_NEXT, name, SENNIT_OLDEST_LIBC);
            return old; // not by a jump: it knows this library by where it returns to
        });
        found_.store(found, std::memory_order_relaxed);
        return reinterpret_cast<Function *>(found);
    }
    template <typename... Arguments>
    auto operator()(Arguments... arguments) {
        return get()(arguments...);
    }

  private:
    const char *name_;
    std::atomic<void *> found_{nullptr};
};

} // namespace sennit::loader::inside
