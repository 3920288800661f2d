/* SPDX-License-Identifier: Apache-2.0
 *
 * The papers' ways to exchange data between tasks of different ranks. The tasks are the same for
 * all algorithms. What TAMPI and MPI detach add to MPI is looked up: without them those variants
 * are refused, the others run.
 */
#include "suite.h"

#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int TAMPI_Iwait(MPI_Request *request, MPI_Status *status);
int MPIX_Detach(MPI_Request *request, void (*callback)(void *), void *data);
#pragma weak TAMPI_Iwait
#pragma weak MPIX_Detach

const char *const variant_names[variants] = {"interop-blocking", "blocking", "singlecom",
                                             "taskyield",        "detach",   "interop-nonblocking"};

int check_variant(enum variant variant, int rank) {
    const char *missing = NULL;
    if (variant == detach && !MPIX_Detach)
        missing = "MPIX_Detach";
    if (variant == interop_nonblocking && !TAMPI_Iwait)
        missing = "TAMPI_Iwait";
    if (missing && rank == 0)
        fprintf(stderr, "suite: --variant %s needs %s: start the program with 'sennit run'\n",
                variant_names[variant], missing);
    return missing ? 8 : 0;
}

/* ---- singlecom --------------------------------------------------------------------------------
 */

struct message {
    double *data;
    int count, rank, tag;
};

struct step {
    int sends, receives, capacity, priority;
    struct message *message[2]; /* to send, to receive */
};

static void add_message(struct exchange *exchange, bool receive, struct message message,
                        int priority) {
    if (!exchange->step)
        exchange->step = need(calloc(1, sizeof *exchange->step), "messages");
    struct step *step = exchange->step;
    if (step->sends + step->receives >= step->capacity) {
        step->capacity = step->capacity ? 2 * step->capacity : 64;
        for (int i = 0; i < 2; ++i)
            step->message[i] =
                need(realloc(step->message[i], (size_t)step->capacity * sizeof(struct message)),
                     "messages");
    }
    int *count = receive ? &step->receives : &step->sends;
    step->message[receive][(*count)++] = message;
    if (priority > step->priority)
        step->priority = priority;
}

static void exchange_step(struct step *step) {
    const int all = step->sends + step->receives;
    MPI_Request *requests = need(calloc((size_t)all + 1, sizeof *requests), "requests");
    int count = 0;
    for (int i = 0; i < step->receives; ++i) {
        const struct message *m = &step->message[1][i];
        MPI_Irecv(m->data, m->count, MPI_DOUBLE, m->rank, m->tag, MPI_COMM_WORLD,
                  &requests[count++]);
    }
    for (int i = 0; i < step->sends; ++i) {
        const struct message *m = &step->message[0][i];
        MPI_Isend(m->data, m->count, MPI_DOUBLE, m->rank, m->tag, MPI_COMM_WORLD,
                  &requests[count++]);
    }
    MPI_Waitall(all, requests, MPI_STATUSES_IGNORE);
    free(requests);
    free(step->message[0]);
    free(step->message[1]);
    free(step);
}

void end_step(struct exchange *exchange) {
    struct step *step = exchange->step;
    if (!step)
        return;
    exchange->step = NULL;
    struct message *out = step->message[0], *in = step->message[1];
    const int sends = step->sends, receives = step->receives, priority = step->priority;
    (void)sends, (void)receives, (void)priority, (void)out, (void)in; /* GCC 12 sees no use */
#pragma omp task depend(iterator(int i = 0 : sends), in : out[i].data[0])                          \
    depend(iterator(int i = 0 : receives), out : in[i].data[0]) depend(inout : exchange -> turn)   \
    firstprivate(step) priority(priority)
    exchange_step(step);
}

/* ---- a task a message -------------------------------------------------------------------------
 */

static void fulfil(void *event) {
    omp_fulfill_event((omp_event_handle_t)(uintptr_t)event);
}

static void test_and_yield(MPI_Request *request) {
    for (int done = 0; !done;) {
        MPI_Test(request, &done, MPI_STATUS_IGNORE);
        if (!done) {
#pragma omp taskyield
        }
    }
}

void send_data(struct exchange *exchange, struct plan *plan, long datum, double *data, int count,
               int rank, int tag) {
    const int priority =
        note_message(plan, false, datum, (double)count * sizeof(double), rank, tag);
    if (priority < 0)
        return;
    ++g_counts.send;
    switch (exchange->variant) {
    case blocking:
#pragma omp task if (0) depend(in : data[0])
        MPI_Send(data, count, MPI_DOUBLE, rank, tag, MPI_COMM_WORLD);
        break;
    case singlecom:
        add_message(exchange, false, (struct message){data, count, rank, tag}, priority);
        break;
    case taskyield:
#pragma omp task depend(in : data[0]) firstprivate(data, count, rank, tag) priority(priority)
    {
        MPI_Request request;
        MPI_Isend(data, count, MPI_DOUBLE, rank, tag, MPI_COMM_WORLD, &request);
        test_and_yield(&request);
    } break;
    case detach: {
        omp_event_handle_t event = (omp_event_handle_t)0;
#pragma omp task depend(in : data[0]) firstprivate(data, count, rank, tag) priority(priority)      \
    detach(event)
        {
            MPI_Request request;
            MPI_Isend(data, count, MPI_DOUBLE, rank, tag, MPI_COMM_WORLD, &request);
            MPIX_Detach(&request, fulfil, (void *)(uintptr_t)event);
        }
        break;
    }
    case interop_nonblocking:
#pragma omp task depend(in : data[0]) firstprivate(data, count, rank, tag) priority(priority)
    {
        MPI_Request request;
        MPI_Isend(data, count, MPI_DOUBLE, rank, tag, MPI_COMM_WORLD, &request);
        TAMPI_Iwait(&request, MPI_STATUS_IGNORE);
    } break;
    default:
#pragma omp task depend(in : data[0]) firstprivate(data, count, rank, tag) priority(priority)
        MPI_Send(data, count, MPI_DOUBLE, rank, tag, MPI_COMM_WORLD);
    }
}

void receive_data(struct exchange *exchange, struct plan *plan, long datum, double *data, int count,
                  int rank, int tag) {
    const int priority = note_message(plan, true, datum, (double)count * sizeof(double), rank, tag);
    if (priority < 0)
        return;
    ++g_counts.receive;
    switch (exchange->variant) {
    case blocking:
#pragma omp task if (0) depend(out : data[0])
        MPI_Recv(data, count, MPI_DOUBLE, rank, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        break;
    case singlecom:
        add_message(exchange, true, (struct message){data, count, rank, tag}, priority);
        break;
    case taskyield:
#pragma omp task depend(out : data[0]) firstprivate(data, count, rank, tag) priority(priority)
    {
        MPI_Request request;
        MPI_Irecv(data, count, MPI_DOUBLE, rank, tag, MPI_COMM_WORLD, &request);
        test_and_yield(&request);
    } break;
    case detach: {
        omp_event_handle_t event = (omp_event_handle_t)0;
#pragma omp task depend(out : data[0]) firstprivate(data, count, rank, tag) priority(priority)     \
    detach(event)
        {
            MPI_Request request;
            MPI_Irecv(data, count, MPI_DOUBLE, rank, tag, MPI_COMM_WORLD, &request);
            MPIX_Detach(&request, fulfil, (void *)(uintptr_t)event);
        }
        break;
    }
    case interop_nonblocking:
#pragma omp task depend(out : data[0]) firstprivate(data, count, rank, tag) priority(priority)
    {
        MPI_Request request;
        MPI_Irecv(data, count, MPI_DOUBLE, rank, tag, MPI_COMM_WORLD, &request);
        TAMPI_Iwait(&request, MPI_STATUS_IGNORE);
    } break;
    default:
#pragma omp task depend(out : data[0]) firstprivate(data, count, rank, tag) priority(priority)
        MPI_Recv(data, count, MPI_DOUBLE, rank, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
}
