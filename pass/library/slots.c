/* SPDX-License-Identifier: Apache-2.0
 *
 * libsennit-pass.a: what programs that the plug-in has transformed are linked with. For each call a
 * slot holds its request-free form (TAMPI.h) where Sennit is in the process, else the blocking call
 * itself: a task that it ends waits in it then, as the source says.
 *
 * The signatures of both forms are the same, so the slots know none, and one library serves every
 * MPI. Hidden: each program and each library has slots of its own.
 */
#include <dlfcn.h>
#include <stddef.h>

typedef void function(void);

extern function MPI_Sendrecv __attribute__((weak));

#define SLOT(name, blocking)                                                                       \
    extern function blocking __attribute__((weak));                                                \
    __attribute__((visibility("hidden"))) function *sennit_pass_##name = blocking;
#include "slots.inc"
#undef SLOT

/* Does Sennit's runtime run the tasks, and its MPI library the calls? */
static function *request_free_form(const char *name) {
    void *found = dlsym(RTLD_DEFAULT, "sennit_task_self") ? dlsym(RTLD_DEFAULT, name) : NULL;
    return (function *)found;
}

/* MPI_Sendrecv has no request-free form of its own. */
__attribute__((visibility("hidden"))) function *sennit_pass_Isendrecv = MPI_Sendrecv;

static int start_both(const void *out, int out_count, long out_type, int to, int out_tag, void *in,
                      int in_count, long in_type, int from, int in_tag, long communicator,
                      void *status) {
    typedef int send(const void *, int, long, int, int, long);
    typedef int receive(void *, int, long, int, int, long, void *);
    const int error =
        ((send *)sennit_pass_Isend)(out, out_count, out_type, to, out_tag, communicator);
    return error ? error
                 : ((receive *)sennit_pass_Irecv)(in, in_count, in_type, from, in_tag, communicator,
                                                  status);
}

__attribute__((constructor)) static void choose(void) {
#define SLOT(name, blocking)                                                                       \
    {                                                                                              \
        function *found = request_free_form("TAMPI_" #name);                                       \
        if (found)                                                                                 \
            sennit_pass_##name = found;                                                            \
    }
#include "slots.inc"
#undef SLOT
    if (request_free_form("TAMPI_Isend") && request_free_form("TAMPI_Irecv"))
        sennit_pass_Isendrecv = (function *)start_both;
}
