// SPDX-License-Identifier: Apache-2.0
#include "runtime/names.h"

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <cstring>
#include <initializer_list>
#include <string_view>

namespace sennit::runtime {

bool is_send(const char *symbol) {
    const int initial = std::tolower(static_cast<unsigned char>(symbol[0]));
    if (initial != 'm' && initial != 'p' && initial != 't') // of many symbols nearly all
        return false;
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

namespace {

using Beginnings = std::initializer_list<std::string_view>;

bool begins_with_any(std::string_view text, Beginnings beginnings) {
    return std::ranges::any_of(beginnings,
                               [=](std::string_view known) { return text.starts_with(known); });
}

std::string_view file_name(std::string_view path) {
    return path.substr(path.rfind('/') + 1); // npos + 1 is 0
}

} // namespace

bool passes_messages(const char *path) {
    return begins_with_any(file_name(path),
                           {"libmpi.", "libmpich.", "libmpi_", "libopen-", "libpmpi", "mca_",
                            "libucp.", "libuct", "libucs", "libucm", "libfabric.", "libpsm",
                            "libpmix", "libevent"});
}

namespace {

// They may be installed anywhere.
bool is_runtime_library(const char *path) {
    return passes_messages(path) ||
           begins_with_any(file_name(path),
                           {"libmpi",     "libpmi",    "libprrte",    "libuc",       "libhwloc",
                            "libsennit",  "libgomp.",  "libgomp-",    "libomp.",     "libomp-",
                            "libiomp5",   "libasan.",  "libtsan.",    "libubsan.",   "libstdc++",
                            "libc++",     "libgcc_s.", "libgfortran", "libquadmath", "libflang",
                            "libFortran", "ld-linux",  "linux-vdso",  "libc.so",     "libm.so",
                            "libdl.so",   "librt.so",  "libpthread"});
}

bool is_the_programs(const char *path) {
    return !begins_with_any(path, {"/lib", "/usr/lib"}) && !is_runtime_library(path);
}

bool is_on_file(const char *call) {
    return std::string_view(call).starts_with("MPI_File_");
}

// A generalized request.
bool ends_by_program(const char *call) {
    return std::strcmp(call, "MPI_Grequest_start") == 0;
}

bool makes_tasks(const char *symbol) {
    for (const char *name :
         {"GOMP_task", "GOMP_taskloop", "GOMP_taskloop_ull", "__kmpc_omp_task_alloc"})
        if (std::strcmp(symbol, name) == 0)
            return true;
    return false;
}

// MPI, sennit.h, alpi.h, omp_fulfill_event, taskyield, or dlsym, by which any of these could be
// reached.
bool suspends(const char *symbol) {
    for (const char *name : {"dlsym", "dlvsym", "omp_fulfill_event", "GOMP_taskyield",
                             "__kmpc_omp_taskyield", "MPI_Init", "MPI_Init_thread"})
        if (std::strcmp(symbol, name) == 0)
            return true;
    const std::string_view name(symbol);
    return (name.starts_with("sennit_") && name != "sennit_version") || name.starts_with("alpi_");
}

} // namespace

constinit const program::Names kNames = {
    .sends = is_send,
    .makes_tasks = makes_tasks,
    .suspends = suspends,
    .is_the_programs = is_the_programs,
};
constinit const watch::Names kHangNames = {
    .is_on_file = is_on_file,
    .ends_by_program = ends_by_program,
    .is_runtime_library = is_runtime_library,
};

} // namespace sennit::runtime
