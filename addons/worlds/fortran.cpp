// SPDX-License-Identifier: Apache-2.0
// Attributes from Fortran. Its other calls end in calls of C (calls.cpp). For attributes both MPIs
// have functions of their own between their libraries; Open MPI's take what a communicator has
// inside, so there the calls of Fortran are exchanged.
#include "worlds/worlds.h"

#include "base/compiler.h"

using namespace sennit::worlds;

#ifdef OPEN_MPI

namespace {

// As own_world and attributes_of. `key`: null if a program's own attribute is set.
MPI_Fint exchanged(const MPI_Fint *comm, const MPI_Fint *key) {
    const MPI_Comm given = MPI_Comm_f2c(*comm);
    const MPI_Comm wanted = key ? attributes_of(given, *key) : own_world(given);
    return wanted == given ? *comm : MPI_Comm_c2f(wanted);
}

} // namespace

// The value is an integer or an address; `mpi` calls, `pmpi` as a tool does and use mpi_f08 for
// some, `ompi` use mpi_f08 for others.
#define GETS(name)                                                                                 \
    extern "C" SENNIT_EXPORT void name(MPI_Fint *comm, MPI_Fint *key, void *value, MPI_Fint *flag, \
                                       MPI_Fint *error) {                                          \
        MPI_Fint world = exchanged(comm, key);                                                     \
        BEHIND_AS(#name, decltype(name))(&world, key, value, flag, error);                         \
    }
#define SETS(name)                                                                                 \
    extern "C" SENNIT_EXPORT void name(MPI_Fint *comm, MPI_Fint *key, void *value,                 \
                                       MPI_Fint *error) {                                          \
        MPI_Fint world = exchanged(comm, nullptr);                                                 \
        BEHIND_AS(#name, decltype(name))(&world, key, value, error);                               \
    }
GETS(mpi_comm_get_attr_)
GETS(pmpi_comm_get_attr_)
GETS(ompi_comm_get_attr_f)
GETS(mpi_attr_get_)
GETS(pmpi_attr_get_)
SETS(mpi_comm_set_attr_)
SETS(pmpi_comm_set_attr_)
SETS(ompi_comm_set_attr_f)
SETS(mpi_attr_put_)
SETS(pmpi_attr_put_)

#else

// `type`: of the value, an enumeration of MPICH's. Attributes that MPI has set are on any
// communicator. `_fort` is newer than MPICH 4.0.
#define GETS(name)                                                                                 \
    extern "C" SENNIT_EXPORT int name(MPI_Comm comm, int key, void *value, int *flag, int type) {  \
        return BEHIND_AS(#name, decltype(name))(own_world(comm), key, value, flag, type);          \
    }
GETS(MPII_Comm_get_attr)
GETS(MPII_Comm_get_attr_fort)

extern "C" SENNIT_EXPORT int MPII_Comm_set_attr(MPI_Comm comm, int key, void *value, int type) {
    using Set = int(MPI_Comm, int, void *, int);
    return BEHIND_AS("MPII_Comm_set_attr", Set)(own_world(comm), key, value, type);
}

#endif
