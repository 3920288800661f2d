/* SPDX-License-Identifier: Apache-2.0
 *
 * Part of libsennit-pass.a. A handle of MPICH is the same in C and in Fortran. Open MPI has a
 * function for each kind, and C's handles are pointers. Everything else is left to C's functions,
 * as the last thing that is done: so what these tell the trace is where Fortran's call stands
 * (moved.h).
 */
#include "fortran.h"

#include "slots.h"

#include <stddef.h>

#pragma GCC visibility push(hidden)

#define WEAK __attribute__((weak, visibility("default")))
/* Open MPI's: handles, and the variable that is MPI_BOTTOM. */
WEAK long MPI_Type_f2c(int);
WEAK long MPI_Comm_f2c(int);
WEAK extern int mpi_fortran_bottom_;
/* MPICH's: the address of that variable. */
WEAK extern void *MPIR_F_MPI_BOTTOM;
WEAK extern int *MPI_F_STATUS_IGNORE, *MPI_F_STATUSES_IGNORE;

static int is_mpich(void) {
    return &MPIR_F_MPI_BOTTOM != NULL || MPI_Type_f2c == NULL;
}
static long type_of(int type) {
    return is_mpich() ? type : MPI_Type_f2c(type);
}
static long communicator_of(int communicator) {
    return is_mpich() ? communicator : MPI_Comm_f2c(communicator);
}
static void *buffer_of(void *buffer) {
    const void *bottom =
        &MPIR_F_MPI_BOTTOM != NULL ? MPIR_F_MPI_BOTTOM : (const void *)&mpi_fortran_bottom_;
    return buffer == bottom ? NULL : buffer; /* MPI_BOTTOM */
}
static void *no_status(void) {
    return is_mpich() ? (void *)1 : NULL;
}
static void *status_of(void *status) {
    return status == (void *)1 ? no_status() : status;
}

void sennit_pass_fortran_send(struct sennit_pass_batch *batch, void *buffer, int count, int type,
                              int to, int tag, int communicator) {
    batch->wide = !is_mpich();
    sennit_pass_send(batch, buffer_of(buffer), count, type_of(type), to, tag,
                     communicator_of(communicator));
}

void sennit_pass_fortran_receive(struct sennit_pass_batch *batch, void *buffer, int count, int type,
                                 int from, int tag, int communicator, void *status) {
    batch->wide = !is_mpich();
    sennit_pass_receive(batch, buffer_of(buffer), count, type_of(type), from, tag,
                        communicator_of(communicator), status_of(status));
}

int sennit_pass_fortran_receive_early(struct sennit_pass_batch *batch, int may, void *buffer,
                                      int count, int type, int from, int tag, int communicator,
                                      void *status) {
    batch->wide = !is_mpich();
    return sennit_pass_receive_early(batch, may, buffer_of(buffer), count, type_of(type), from, tag,
                                     communicator_of(communicator), status_of(status));
}

void sennit_pass_fortran_receive_late(struct sennit_pass_batch *batch, int started, void *buffer,
                                      int count, int type, int from, int tag, int communicator,
                                      void *status) {
    batch->wide = !is_mpich();
    sennit_pass_receive_late(batch, started, buffer_of(buffer), count, type_of(type), from, tag,
                             communicator_of(communicator), status_of(status));
}

int sennit_pass_fortran_apart(void *buffer, int count, int type, const void *memory, long bytes,
                              long stride, unsigned long rounds, long stride_2,
                              unsigned long rounds_2, long stride_3, unsigned long rounds_3) {
    return sennit_pass_apart(buffer_of(buffer), count, type_of(type), memory, bytes, stride, rounds,
                             stride_2, rounds_2, stride_3, rounds_3);
}

int sennit_pass_fortran_apart_from(void *buffer, int count, int type, void *sent, int sent_count,
                                   int sent_type) {
    return sennit_pass_apart_from(buffer_of(buffer), count, type_of(type), buffer_of(sent),
                                  sent_count, type_of(sent_type));
}

void sennit_pass_fortran_exchange(struct sennit_pass_batch *batch, void *out, int out_count,
                                  int out_type, int to, int out_tag, void *in, int in_count,
                                  int in_type, int from, int in_tag, int communicator,
                                  void *status) {
    batch->wide = !is_mpich();
    sennit_pass_exchange(batch, buffer_of(out), out_count, type_of(out_type), to, out_tag,
                         buffer_of(in), in_count, type_of(in_type), from, in_tag,
                         communicator_of(communicator), status_of(status));
}

typedef int send_function(void *, int, long, int, int, long);
typedef int receive_function(void *, int, long, int, int, long, void *);
typedef int exchange_function(void *, int, long, int, int, void *, int, long, int, int, long,
                              void *);
typedef void wait_function(int *, int *, int *);
typedef void wait_for_all_function(int *, int *, int *, int *);

int sennit_pass_fortran_Isend(void *buffer, int count, int type, int to, int tag,
                              int communicator) {
    return ((send_function *)sennit_pass_Isend)(buffer_of(buffer), count, type_of(type), to, tag,
                                                communicator_of(communicator));
}

int sennit_pass_fortran_Issend(void *buffer, int count, int type, int to, int tag,
                               int communicator) {
    return ((send_function *)sennit_pass_Issend)(buffer_of(buffer), count, type_of(type), to, tag,
                                                 communicator_of(communicator));
}

int sennit_pass_fortran_Irsend(void *buffer, int count, int type, int to, int tag,
                               int communicator) {
    return ((send_function *)sennit_pass_Irsend)(buffer_of(buffer), count, type_of(type), to, tag,
                                                 communicator_of(communicator));
}

int sennit_pass_fortran_Irecv(void *buffer, int count, int type, int from, int tag,
                              int communicator, void *status) {
    return ((receive_function *)sennit_pass_Irecv)(buffer_of(buffer), count, type_of(type), from,
                                                   tag, communicator_of(communicator),
                                                   status_of(status));
}

int sennit_pass_fortran_Isendrecv(void *out, int out_count, int out_type, int to, int out_tag,
                                  void *in, int in_count, int in_type, int from, int in_tag,
                                  int communicator, void *status) {
    return ((exchange_function *)sennit_pass_Isendrecv)(
        buffer_of(out), out_count, type_of(out_type), to, out_tag, buffer_of(in), in_count,
        type_of(in_type), from, in_tag, communicator_of(communicator), status_of(status));
}

/* Requests are integers of Fortran's, which are to be given back: its own functions do that. */
WEAK function mpi_wait_, mpi_waitall_;
static function *wait_form = mpi_wait_;
static function *wait_for_all_form = mpi_waitall_;

__attribute__((constructor)) static void choose(void) {
    function *one = sennit_pass_request_free_form("tampi_iwait_");
    function *all = sennit_pass_request_free_form("tampi_iwaitall_");
    if (one && all) {
        wait_form = one;
        wait_for_all_form = all;
    }
}

int sennit_pass_fortran_Iwait(int *request, void *status) {
    const struct sennit_pass_mark mark = sennit_pass_begin("MPI_Wait", __builtin_return_address(0));
    int error = 0;
    (void)status;
    ((wait_function *)wait_form)(request, MPI_F_STATUS_IGNORE, &error);
    sennit_pass_tell_bound(&mark);
    return error;
}

int sennit_pass_fortran_Iwaitall(int count, int *requests, void *statuses) {
    const struct sennit_pass_mark mark =
        sennit_pass_begin("MPI_Waitall", __builtin_return_address(0));
    int error = 0;
    (void)statuses;
    ((wait_for_all_function *)wait_for_all_form)(&count, requests, MPI_F_STATUSES_IGNORE, &error);
    sennit_pass_tell_bound(&mark);
    return error;
}
