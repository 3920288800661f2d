/* SPDX-License-Identifier: Apache-2.0
 *
 * A task for each message. What MPI detach adds to MPI is looked up at start, as is TAMPI: this
 * program runs without them, too. The sentinel of the paper's figure 6 is a pointer that is NULL
 * where MPI_TASK_MULTIPLE is provided; in OpenMP that is a list of dependences of 1 or 0 elements.
 */
#include "gauss_seidel.h"
#include "tampi.h"

#include <omp.h>

int MPIX_Detach(MPI_Request *request, void (*callback)(void *), void *data);
#pragma weak MPIX_Detach

static char sentinel[1];

bool can_detach(void) {
    return MPIX_Detach != NULL;
}

static void fulfil(void *event) {
    omp_fulfill_event((omp_event_handle_t)(uintptr_t)event);
}

static MPI_Request begin_send(struct message m) {
    MPI_Request request;
    MPI_Isend(m.cells, m.count, MPI_DOUBLE, m.peer, m.tag, MPI_COMM_WORLD, &request);
    return request;
}

static MPI_Request begin_receive(struct message m) {
    MPI_Request request;
    MPI_Irecv(m.cells, m.count, MPI_DOUBLE, m.peer, m.tag, MPI_COMM_WORLD, &request);
    return request;
}

void send_in_task(const struct exchange *exchange, char *token, struct message m) {
    const int sentinels = exchange->sentinels;
    omp_event_handle_t event = (omp_event_handle_t)0;
    (void)token, (void)sentinels; /* GCC 12 sees no use */
    switch (exchange->way) {
    case blocking:
#pragma omp task depend(in : token[0]) depend(iterator(int k = 0 : sentinels), inout : sentinel[k])
        MPI_Send(m.cells, m.count, MPI_DOUBLE, m.peer, m.tag, MPI_COMM_WORLD);
        break;
    case bound:
#pragma omp task depend(in : token[0])
    {
        MPI_Request request = begin_send(m);
        TAMPI_Iwait(&request, MPI_STATUS_IGNORE);
    } break;
    case detached:
#pragma omp task depend(in : token[0]) detach(event)
    {
        MPI_Request request = begin_send(m);
        MPIX_Detach(&request, fulfil, (void *)(uintptr_t)event);
    } break;
    }
}

void receive_in_task(const struct exchange *exchange, char *token, struct message m) {
    const int sentinels = exchange->sentinels;
    omp_event_handle_t event = (omp_event_handle_t)0;
    (void)token, (void)sentinels; /* GCC 12 sees no use */
    switch (exchange->way) {
    case blocking:
#pragma omp task depend(out : token[0]) depend(iterator(int k = 0 : sentinels), inout : sentinel[k])
        MPI_Recv(m.cells, m.count, MPI_DOUBLE, m.peer, m.tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        break;
    case bound:
#pragma omp task depend(out : token[0])
    {
        MPI_Request request = begin_receive(m);
        TAMPI_Iwait(&request, MPI_STATUS_IGNORE);
    } break;
    case detached:
#pragma omp task depend(out : token[0]) detach(event)
    {
        MPI_Request request = begin_receive(m);
        MPIX_Detach(&request, fulfil, (void *)(uintptr_t)event);
    } break;
    }
}
