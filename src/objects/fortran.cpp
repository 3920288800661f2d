// SPDX-License-Identifier: Apache-2.0
// Functions that include/sennit_objects.f90 cannot call as they are in C, for Fortran's
// communicators are numbers.
#include "sennit_balance.h"

#define SENNIT_API extern "C" [[gnu::visibility("default")]]

SENNIT_API int sennit_objects_create_f(MPI_Fint comm, int count, const sennit_object_type *type,
                                       sennit_objects **set) {
    return sennit_objects_create(MPI_Comm_f2c(comm), count, type, set);
}

SENNIT_API int sennit_objects_create_memory_f(MPI_Fint comm, int count, sennit_objects **set) {
    return sennit_objects_create(MPI_Comm_f2c(comm), count, SENNIT_OBJECT_MEMORY, set);
}
