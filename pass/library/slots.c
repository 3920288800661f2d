/* SPDX-License-Identifier: Apache-2.0
 *
 * libsennit-pass.a: what programs that the plug-in has transformed are linked with. For each call a
 * slot holds its request-free form (TAMPI.h) where Sennit is in the process, else the blocking call
 * itself: a task that it ends waits in it then, as the source says.
 *
 * The signatures of both forms are the same, so the slots know none, and one library serves every
 * MPI. Hidden: each program and each library has slots of its own.
 */
#include "slots.h"

#include <dlfcn.h>
#include <stddef.h>

extern function MPI_Sendrecv __attribute__((weak));

/* By its other name: an import of MPI_Ssend would say that the program calls it (watched.cpp). */
#define SLOT(name, blocking)                                                                       \
    extern function P##blocking __attribute__((weak));                                             \
    function *sennit_pass_##name = P##blocking;
#include "slots.inc"
#undef SLOT

function *sennit_pass_request_free_form(const char *name) {
    void *found = dlsym(RTLD_DEFAULT, "sennit_task_self") ? dlsym(RTLD_DEFAULT, name) : NULL;
    return (function *)found;
}

/* MPI_Sendrecv has no request-free form in TAMPI.h. The library decides: TAMPI_Isend and
 * TAMPI_Irecv one after the other would block each by itself where tasks are not suspended. */
function *sennit_pass_Isendrecv = MPI_Sendrecv;

__attribute__((constructor)) static void choose(void) {
#define SLOT(name, blocking)                                                                       \
    {                                                                                              \
        function *found = sennit_pass_request_free_form("TAMPI_" #name);                           \
        if (!found)                                                                                \
            found = (function *)dlsym(RTLD_DEFAULT, #blocking);                                    \
        if (found)                                                                                 \
            sennit_pass_##name = found;                                                            \
    }
#include "slots.inc"
#undef SLOT
    function *both = sennit_pass_request_free_form("sennit_mpi_sendrecv_bound");
    if (both)
        sennit_pass_Isendrecv = both;
}
