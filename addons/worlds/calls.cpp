// SPDX-License-Identifier: Apache-2.0
// The calls of MPI that this library stands in front of: all that are given a communicator, and
// those of MPI_Init. Some are left as they are:
//
// - MPI_Comm_c2f and the like: they are about the handle.
// - MPI_Abort: the standard asks for the end of the communicator's processes, and all of the job's
//   are connected. The other programs would wait for this one in their next common call, or in
//   MPI_Finalize. So the job ends, whichever MPI it is.
// - MPI_Comm_call_errhandler: MPI_COMM_WORLD of the job has the handler of the program's, too, and
//   the handler is then told the handle that the program knows.
#include "worlds/newer_calls.h"
#include "worlds/worlds.h"

#include "sennit_worlds.h"

#include "base/compiler.h"

#include <mpi-ext.h>

#include <cstdio>
#include <cstring>

using namespace sennit::worlds;

// MPI's own attributes say so of calls that a program should not make any more.
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

#define DEFINE(name, ...) SENNIT_INTERPOSE(worlds_##name, name, P##name, __VA_ARGS__)
#define DEFINE_MPI(name, ...) DEFINE(name, __VA_ARGS__)
#define DEFINE_MPIX(name, ...) DEFINE(name, __VA_ARGS__)
#define DEFINE_TAMPI(name, ...) extern "C" SENNIT_EXPORT int name(__VA_ARGS__)
#define WORLD_CALL(prefix, name, ...) DEFINE_##prefix(name, __VA_ARGS__)
#include "world-calls.inc" // generated
#undef WORLD_CALL

extern "C" SENNIT_EXPORT const char sennit_stands_in_front = 1; // interpose::kInFront

DEFINE(MPI_Init, int *argc, char ***argv) {
    const int error = BEHIND_MPI(MPI_Init)(argc, argv);
    return error == MPI_SUCCESS ? g_worlds.begin() : error;
}

DEFINE(MPI_Init_thread, int *argc, char ***argv, int required, int *provided) {
    const int error = BEHIND_MPI(MPI_Init_thread)(argc, argv, required, provided);
    return error == MPI_SUCCESS ? g_worlds.begin() : error;
}

extern "C" SENNIT_EXPORT MPI_Comm sennit_comm_all() {
    return g_worlds.all();
}

extern "C" SENNIT_EXPORT MPI_Fint sennit_comm_all_() {
    return MPI_Comm_c2f(g_worlds.all());
}

DEFINE(MPI_Comm_get_attr, MPI_Comm comm, int key, void *value, int *flag) {
    return BEHIND_MPI(MPI_Comm_get_attr)(attributes_of(comm, key), key, value, flag);
}

DEFINE(MPI_Attr_get, MPI_Comm comm, int key, void *value, int *flag) {
    return BEHIND_MPI(MPI_Attr_get)(attributes_of(comm, key), key, value, flag);
}

// An error that belongs to no communicator goes to the handler of MPI's own MPI_COMM_WORLD, which
// is therefore that of the program's world.
#undef MPI_Errhandler_get
#undef MPI_Errhandler_set

namespace {

using SetHandler = int(MPI_Comm, MPI_Errhandler);

template <class Set>
int set_handler(Set behind, MPI_Comm comm, MPI_Errhandler handler) {
    const int error = behind(own_world(comm), handler);
    return error == MPI_SUCCESS && own_world(comm) != comm ? behind(comm, handler) : error;
}

} // namespace

DEFINE(MPI_Comm_set_errhandler, MPI_Comm comm, MPI_Errhandler handler) {
    return set_handler(BEHIND_MPI(MPI_Comm_set_errhandler), comm, handler);
}

// Headers of today do not declare them; libraries have them, and Fortran calls them.
DEFINE(MPI_Errhandler_set, MPI_Comm comm, MPI_Errhandler handler) {
    return set_handler(BEHIND_AS("PMPI_Errhandler_set", SetHandler), comm, handler);
}

DEFINE(MPI_Errhandler_get, MPI_Comm comm, MPI_Errhandler *handler) {
    return BEHIND_AS("PMPI_Errhandler_get", int(MPI_Comm, MPI_Errhandler *))(own_world(comm),
                                                                             handler);
}

// What reports call the program's world has more to it (Worlds::name).
DEFINE(MPI_Comm_get_name, MPI_Comm comm, char *name, int *length) {
    constexpr const char *of_standard = "MPI_COMM_WORLD";
    const int error = BEHIND_MPI(MPI_Comm_get_name)(own_world(comm), name, length);
    if (error == MPI_SUCCESS && own_world(comm) != comm && std::strcmp(name, g_worlds.name()) == 0)
        *length = std::snprintf(name, MPI_MAX_OBJECT_NAME, "%s", of_standard);
    return error;
}

DEFINE(MPI_Comm_get_info, MPI_Comm comm, MPI_Info *info) {
    const int error = BEHIND_MPI(MPI_Comm_get_info)(own_world(comm), info);
    if (error != MPI_SUCCESS || own_world(comm) == comm)
        return error;
    const long handle = MPI_Comm_c2f(g_worlds.all());
    char value[24];
    std::snprintf(value, sizeof value, "%ld", handle);
    return BEHIND_MPI(MPI_Info_set)(*info, kAllKey, value);
}
