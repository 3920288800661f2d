// SPDX-License-Identifier: Apache-2.0
// To stand in front of a library: functions under its names, in a library that is preloaded or
// linked before it, and the function behind each of ours.
#pragma once

#include "base/compiler.h" // SENNIT_EXPORT

#include <cstddef>

namespace sennit::interpose {

// Of the libraries behind this one, or else of any that is loaded; null: there is none.
void *find_next(const char *name);
// The same among all libraries that are loaded but this one, also those which the program has
// opened for itself alone, an extension of Python say: neither RTLD_NEXT nor RTLD_DEFAULT looks
// there.
void *find_in_any_library(const char *name);

// What a library exports that stands in front of ours under the same names (addons/worlds): nobody
// looks for a function there, for it calls us.
inline constexpr const char *kInFront = "sennit_stands_in_front";

// A name as an argument of a template.
template <std::size_t n>
struct Name {
    char text[n];
    constexpr Name(const char (&given)[n]) { // NOLINT(google-explicit-constructor): a literal
        for (std::size_t i = 0; i < n; ++i)
            text[i] = given[i];
    }
};

// A function that `find` finds at its first call: afterwards a call of it is one jump. Threads may
// find it at once, for all of them find the same.
template <void *(*find)(const char *name), Name name, class Function>
class Bare;
template <void *(*find)(const char *name), Name name, class Result, class... Arguments>
class Bare<find, name, Result(Arguments...)> {
  public:
    using Function = Result (*)(Arguments...);
    Result operator()(Arguments... arguments) const {
        return __atomic_load_n(&s_function, __ATOMIC_RELAXED)(arguments...);
    }
    // For who has to keep a pointer: it is valid before the function was found.
    operator Function() const { return call; } // NOLINT(google-explicit-constructor)

  private:
    static Result first(Arguments... arguments) {
        const auto found = reinterpret_cast<Function>(find(name.text));
        __atomic_store_n(&s_function, found, __ATOMIC_RELAXED);
        return found(arguments...);
    }
    static Result call(Arguments... arguments) { return Bare{}(arguments...); }
    static inline constinit Function s_function = first;
};

} // namespace sennit::interpose

// Defines `own`(parameters) and exports it under two names: that of the standard, which a program
// calls, and that of the profiling interface, which MPI's language bindings and tools call.
#define SENNIT_INTERPOSE(own, name, profiling_name, ...)                                           \
    SENNIT_INTERPOSE_WITH(, own, name, profiling_name, __VA_ARGS__)

// The same with attributes for all three.
#define SENNIT_INTERPOSE_WITH(attributes, own, name, profiling_name, ...)                          \
    extern "C" attributes int own(__VA_ARGS__);                                                    \
    extern "C" attributes SENNIT_EXPORT int name(__VA_ARGS__) __attribute__((alias(#own)));        \
    extern "C" attributes SENNIT_EXPORT int profiling_name(__VA_ARGS__)                            \
        __attribute__((alias(#own)));                                                              \
    extern "C" int own(__VA_ARGS__)
