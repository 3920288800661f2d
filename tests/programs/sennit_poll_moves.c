/* SPDX-License-Identifier: Apache-2.0
 * test: threads=2
 *
 * A service that has something to do in each call, as an MPI library that moves a long message
 * piece by piece, is called again at once. Idle threads nap between calls that find nothing.
 */
#define _GNU_SOURCE
#include "sennit_door.h"
#include <sys/resource.h>

/* Beside other programs each call is followed by a yield, which takes as long as they compute. */
enum { PIECE_US = 50, PIECES = 1000, NAPS = PIECES / 4 };

static sennit_poll_service *service;
static sennit_task *waiter;
static int pieces;

static int move_a_piece(void *argument) {
    (void)argument;
    for (const double end = omp_get_wtime() + PIECE_US * 1e-6; omp_get_wtime() < end;)
        ;
    if (++pieces < PIECES)
        return 0;
    CHECK_EQ(DOOR(sennit_poll_pending)(service, -1), SENNIT_SUCCESS);
    CHECK_EQ(DOOR(sennit_task_resume)(waiter), SENNIT_SUCCESS);
    return 1;
}

/* Of the thread that calls the service; the ticker sleeps, too. */
static long switches(void) {
    struct rusage usage;
    CHECK_EQ(getrusage(RUSAGE_THREAD, &usage), 0);
    return usage.ru_nvcsw;
}

int main(void) {
    CHECK_EQ(DOOR(sennit_poll_register)("moves", move_a_piece, NULL, &service), SENNIT_SUCCESS);
    const long before = switches();
#pragma omp parallel num_threads(1)
    {
#pragma omp task
        {
            waiter = door_self();
            CHECK_EQ(DOOR(sennit_poll_pending)(service, 1), SENNIT_SUCCESS);
            CHECK_EQ(DOOR(sennit_task_suspend)(waiter), SENNIT_SUCCESS);
        }
    }
    const long naps = switches() - before;
    if (naps > NAPS)
        fprintf(stderr, "%ld of %d calls were followed by a nap\n", naps, PIECES);
    CHECK(naps <= NAPS);
    CHECK_EQ(DOOR(sennit_poll_unregister)(service), SENNIT_SUCCESS);
    return 0;
}
