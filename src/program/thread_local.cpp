// SPDX-License-Identifier: Apache-2.0
#include "program/thread_local.h"

#include "base/loaded_object.h"

#include <algorithm>
#include <cstdio>
#include <initializer_list>
#include <string_view>

namespace sennit::program {
namespace {

bool begins_with_any(std::string_view text, std::initializer_list<std::string_view> beginnings) {
    return std::ranges::any_of(beginnings,
                               [=](std::string_view known) { return text.starts_with(known); });
}

bool is_the_programs(std::string_view path) {
    if (begins_with_any(path, {"/lib", "/usr/lib", "linux-vdso"}))
        return false;
    const std::size_t slash = path.rfind('/');
    const std::string_view name = slash == path.npos ? path : path.substr(slash + 1);
    // The compilers' runtimes and ours, MPI and what it stands on: they may be installed anywhere.
    return !begins_with_any(name,
                            {"ld-linux",  "libc.so",      "libm.so",    "libstdc++.", "libc++",
                             "libgcc_s.", "libgfortran.", "libflang",   "libFortran", "libgomp.",
                             "libomp.",   "libiomp5.",    "libasan.",   "libtsan.",   "libubsan.",
                             "libsennit", "libmpi",       "libopen-",   "mca_",       "libpmi",
                             "libprrte",  "libuc",        "libfabric.", "libhwloc.",  "libevent"});
}

} // namespace

const char *thread_local_data(char *whose, std::size_t size) {
    const char *what = nullptr;
    each_object([&](const LoadedObject &object) {
        if (!is_the_programs(object.path()))
            return 0;
        if (object.find(PT_TLS))
            what = "thread-local data";
        else if (DynamicSection(object).imports([](std::string_view name) {
                     return name.starts_with("__kmpc_threadprivate");
                 }))
            what = "threadprivate variables";
        else
            return 0;
        std::snprintf(whose, size, "%s", *object.path() ? object.path() : "the program");
        return 1;
    });
    return what;
}

} // namespace sennit::program
