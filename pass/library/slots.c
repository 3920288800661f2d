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

#include "moved.h"

#include <dlfcn.h>
#include <stddef.h>

extern function MPI_Sendrecv __attribute__((weak));

/* What fills the slot; and what does the same, and tells the trace. The blocking call by its other
 * name: an import of MPI_Ssend would say that the program calls it (watched.cpp). Handles come as
 * in batch.h. */
#define SLOT(name, blocking, parameters, arguments)                                                \
    extern function P##blocking __attribute__((weak));                                             \
    TELLS(name, blocking, P##blocking, parameters, arguments)
#define TELLS(name, blocking, fallback, parameters, arguments)                                     \
    function *sennit_pass_##name = fallback;                                                       \
    __attribute__((visibility("hidden"))) function *sennit_pass_untold_##name = fallback;          \
    static int told_##name parameters {                                                            \
        const struct sennit_pass_mark mark =                                                       \
            sennit_pass_begin(#blocking, __builtin_return_address(0));                             \
        const int error = ((int(*) parameters)sennit_pass_untold_##name)arguments;                 \
        sennit_pass_tell_bound(&mark);                                                             \
        return error;                                                                              \
    }
#include "slots.inc"
#undef SLOT
/* MPI_Sendrecv has no request-free form in TAMPI.h. The library decides: TAMPI_Isend and
 * TAMPI_Irecv one after the other would block each by itself where tasks are not suspended. */
TELLS(Isendrecv, MPI_Sendrecv, MPI_Sendrecv,
      (const void *out, int out_count, long out_type, int to, int out_tag, void *in, int in_count,
       long in_type, int from, int in_tag, long communicator, void *status),
      (out, out_count, out_type, to, out_tag, in, in_count, in_type, from, in_tag, communicator,
       status))

function *sennit_pass_request_free_form(const char *name) {
    void *found = dlsym(RTLD_DEFAULT, "sennit_task_self") ? dlsym(RTLD_DEFAULT, name) : NULL;
    return (function *)found;
}

static void fill(function **slot, function **untold, function *found, function *told) {
    if (!found)
        return;
    *untold = found;
    *slot = sennit_pass_is_traced() ? told : found;
}

__attribute__((constructor)) static void choose(void) {
    sennit_pass_look_for_trace();
#define FILL(name, found)                                                                          \
    fill(&sennit_pass_##name, &sennit_pass_untold_##name, found, (function *)told_##name);
#define SLOT(name, blocking, parameters, arguments)                                                \
    {                                                                                              \
        function *found = sennit_pass_request_free_form("TAMPI_" #name);                           \
        FILL(name, found ? found : (function *)dlsym(RTLD_DEFAULT, #blocking))                     \
    }
#include "slots.inc"
#undef SLOT
    FILL(Isendrecv, sennit_pass_request_free_form("sennit_mpi_sendrecv_bound"))
}
