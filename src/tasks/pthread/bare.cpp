// SPDX-License-Identifier: Apache-2.0
#include "tasks/pthread/bare.h"

#include "base/hash.h"
#include "base/loaded_object.h"
#include "base/message.h"
#include "tasks/program/objects.h"

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <dlfcn.h>
#include <gnu/libc-version.h>
#include <iterator>

namespace sennit::pthread {
namespace {

bool is_ours(void *symbol) {
    return object_of(symbol) == object_of(&bare);
}

void *first(const char *name) {
    void *const program = dlopen(nullptr, RTLD_LAZY); // RTLD_DEFAULT: ours, by -Bsymbolic
    return program ? dlsym(program, name) : nullptr;
}

// The calls for C23 came with glibc 2.38; no program calls them where an older one is. That one is
// not asked: a name that dlsym() does not find takes memory, and an allocator may be who asks
// first.
const char *name_here(const char *name) {
    constexpr const char *kCalls[][2] = {{"__isoc23_vfscanf", "__isoc99_vfscanf"},
                                         {"__isoc23_vscanf", "__isoc99_vscanf"}};
    for (const auto &[c23, c99] : kCalls)
        if (std::strcmp(name, c23) == 0)
            return strverscmp(gnu_get_libc_version(), "2.38") < 0 ? c99 : c23;
    return name;
}

// Before glibc 2.34, message queues and aio_suspend were in librt.
bool librt_is_in_libc() {
    return strverscmp(gnu_get_libc_version(), "2.34") >= 0;
}

// A plugin may have loaded librt for itself.
void *in_librt(const char *name) {
    void *const librt =
        librt_is_in_libc() ? nullptr : dlopen("librt.so.1", RTLD_LAZY | RTLD_NOLOAD);
    return librt ? dlsym(librt, name) : nullptr;
}

// libc comes before this library where only a library of the program needs OpenMP. Then the first
// in the loader's order is libc's, or that of a tool in front of libc.
void *first_of_others(const char *name) {
    void *found = first(name);
    if (!found || is_ours(found))
        found = made_of_older_calls(name);
    if (!found)
        found = in_librt(name);
    if (!found)
        fatal("the C library has no %s", name);
    return found;
}

// Several threads may do this at once: all write the same.
template <class Function>
void set_next(Function *&function, const char *name) {
    __atomic_store_n(&function,
                     reinterpret_cast<Function *>(find_next(name_here(name), first_of_others)),
                     __ATOMIC_RELAXED);
}

#define SENNIT_BARE(result, name, parameters, arguments)                                           \
    result find_##name parameters {                                                                \
        find_bare();                                                                               \
        return bare.name arguments;                                                                \
    }
SENNIT_BARE_FUNCTIONS(SENNIT_BARE)
#undef SENNIT_BARE

#define SENNIT_BARE(result, name, parameters, arguments)                                           \
    result find_##name parameters {                                                                \
        set_next(bare.name, #name);                                                                \
        return bare.name arguments;                                                                \
    }
SENNIT_BARE_LATE(SENNIT_BARE)
#undef SENNIT_BARE

} // namespace

bool is_first(const char *name) {
    void *const found = first(name);
    return found && is_ours(found);
}

void find_bare() {
#define SENNIT_BARE(result, name, parameters, arguments) set_next(bare.name, #name);
    SENNIT_BARE_FUNCTIONS(SENNIT_BARE)
#undef SENNIT_BARE
    // The one of the late ones that a signal handler may be the first to call.
    if (librt_is_in_libc()) {
        set_next(bare.aio_suspend, "aio_suspend");
        set_next(bare.aio_suspend64, "aio_suspend64");
    }
}

#define SENNIT_BARE(result, name, parameters, arguments) .name = find_##name,
constinit Bare bare = {SENNIT_BARE_FUNCTIONS(SENNIT_BARE) SENNIT_BARE_LATE(SENNIT_BARE)};
#undef SENNIT_BARE

namespace {

constexpr const char *kNames[] = {
#define SENNIT_BARE(result, name, parameters, arguments) #name,
    SENNIT_BARE_FUNCTIONS(SENNIT_BARE) SENNIT_BARE_LATE(SENNIT_BARE)
#undef SENNIT_BARE
};

// A library names thousands of functions, of which few are among these.
class NumbersByName {
  public:
    constexpr NumbersByName() {
        numbers_.fill(-1);
        for (std::size_t i = 0; i < std::size(kNames); ++i) {
            std::size_t place = place_of(kNames[i]);
            while (numbers_[place] >= 0)
                place = next(place);
            numbers_[place] = static_cast<short>(i);
        }
    }
    // -1: it is none of them.
    constexpr int find(const char *name) const {
        std::size_t place = place_of(name);
        while (numbers_[place] >= 0 && __builtin_strcmp(kNames[numbers_[place]], name) != 0)
            place = next(place);
        return numbers_[place];
    }
    constexpr bool finds_all() const {
        for (std::size_t i = 0; i < std::size(kNames); ++i)
            if (find(kNames[i]) != static_cast<int>(i))
                return false;
        return true;
    }

  private:
    static constexpr unsigned kBits = 10;
    static constexpr std::size_t kPlaces = std::size_t{1} << kBits;
    static_assert(std::size(kNames) * 4 <= kPlaces);

    static constexpr std::size_t next(std::size_t place) { return (place + 1) % kPlaces; }
    static constexpr std::size_t place_of(const char *name) {
        std::uint64_t word = 0;
        for (; *name; ++name)
            word = word * 31 + static_cast<unsigned char>(*name);
        return hash_place(word, kBits);
    }

    std::array<short, kPlaces> numbers_{}; // -1: none
};
constexpr NumbersByName kNumbers;
static_assert(kNumbers.finds_all() && kNumbers.find("puts") < 0);

// Of each name: whether libraries find ours first. That stays so, for what is loaded later stands
// behind what is there. Several threads may find it out at once: all write the same.
enum class First : char { unknown, no, yes };
constinit std::atomic<First> g_first[std::size(kNames)] = {};

bool finds_ours(int number) {
    First first = g_first[number].load(std::memory_order_relaxed);
    if (first == First::unknown) {
        first = is_first(kNames[number]) ? First::yes : First::no;
        g_first[number].store(first, std::memory_order_relaxed);
    }
    return first == First::yes;
}

// Null where libraries call a tool that is in front of us, such as ThreadSanitizer's: it is to hear
// of their calls.
const void *bare_function(const char *symbol) {
    const int number = kNumbers.find(symbol);
    if (number < 0 || !finds_ours(number))
        return nullptr;
    const void *const functions[] = {
#define SENNIT_BARE(result, name, parameters, arguments) reinterpret_cast<const void *>(bare.name),
        SENNIT_BARE_FUNCTIONS(SENNIT_BARE) SENNIT_BARE_LATE(SENNIT_BARE)
#undef SENNIT_BARE
    };
    return functions[number];
}

} // namespace

void leave_alone(bool (*library)(const char *path)) {
    find_bare();
    each_object([=](const LoadedObject &object) {
        if (object.path() && library(object.path()))
            program::rebind(object, bare_function);
        return 0;
    });
}

} // namespace sennit::pthread
