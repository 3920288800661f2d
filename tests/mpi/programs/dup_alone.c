/* SPDX-License-Identifier: Apache-2.0
 * build_once: mpi=mpich -D_DEFAULT_SOURCE -pthread # threads that make communicators at once: Open
 *     MPI 4.1 may deadlock there, bare too
 * once: mpi.{program}.{mpi} shape=4x1 SENNIT_DOORBELLS=on pass='^made\n$'
 * Threads of each rank make communicators with the other ranks, and duplicate one that is their
 * rank's alone. Ranks outnumber cores. MPICH's MPI_Comm_idup would do that for ever, and take more
 * and more memory, while another thread makes a communicator: MPI_Comm_dup must not become it.
 */
#include "check.h"

#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/resource.h>

enum { threads = 4, times = 10 };
static MPI_Comm worlds[threads];
static pthread_mutex_t one_at_a_time = PTHREAD_MUTEX_INITIALIZER; /* on MPI_COMM_SELF */

static void *make_communicators(void *argument) {
    const int thread = *(const int *)argument;
    for (int i = 0; i < times; ++i) {
        MPI_Group group = MPI_GROUP_NULL;
        MPI_Comm all = MPI_COMM_NULL, own = MPI_COMM_NULL;
        MPI_Comm_group(worlds[thread], &group);
        CHECK(MPI_Comm_create_group(worlds[thread], group, thread, &all) == MPI_SUCCESS);
        MPI_Group_free(&group);
        pthread_mutex_lock(&one_at_a_time);
        CHECK(MPI_Comm_dup(MPI_COMM_SELF, &own) == MPI_SUCCESS);
        pthread_mutex_unlock(&one_at_a_time);
        int size = 0;
        MPI_Comm_size(own, &size);
        CHECK(size == 1);
        MPI_Barrier(all);
        MPI_Comm_free(&own);
        MPI_Comm_free(&all);
    }
    return NULL;
}

int main(int argc, char **argv) {
    int numbers[threads], rank = 0, provided = 0;
    pthread_t others[threads];
    /* Far more than it needs, and far less than the machine has. */
    const struct rlimit most = {.rlim_cur = 2UL << 30, .rlim_max = 2UL << 30};
    setrlimit(RLIMIT_DATA, &most);
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    CHECK(provided == MPI_THREAD_MULTIPLE);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < threads; ++i)
        MPI_Comm_dup(MPI_COMM_WORLD, &worlds[i]);
    for (int i = 0; i < threads; ++i) {
        numbers[i] = i;
        pthread_create(&others[i], NULL, make_communicators, &numbers[i]);
    }
    for (int i = 0; i < threads; ++i)
        pthread_join(others[i], NULL);
    for (int i = 0; i < threads; ++i)
        MPI_Comm_free(&worlds[i]);
    if (rank == 0)
        printf("made\n");
    MPI_Finalize();
    return 0;
}
