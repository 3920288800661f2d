/* SPDX-License-Identifier: Apache-2.0
 * build:
 * test: shape=2x1 SENNIT_FREE_AGENTS=2 with_assertions=2x1
 * paired: mpi.{program}.fibers.{mpi} if="loader and x86" labels=mpi,virtual SENNIT_FREE_AGENTS=2
 *     run='{sennit} run --virtual=fibers --mpi {mpi} -n 2 --threads 1 {exe}'
 * Tasks that wait for messages on free agents (OpenMP 6.0, threadset(omp_pool)): they are resumed
 * where they were, their team waits for them, and what depends on them runs afterwards. */
#define _GNU_SOURCE
#include "check.h"
#include "sennit.h"

#include <dlfcn.h>
#include <omp.h>
#include <sched.h>

enum { count = 12 };

static int (*is_free_agent)(void);
static int (*set_threadset)(enum sennit_threadset);
static int by_agents;

static void offer(enum sennit_threadset set) {
    CHECK(set_threadset(set) == SENNIT_SUCCESS);
}

/* A child has the other half of the message. */
static void receive(int tag, int *values) {
    const int agent = is_free_agent();
    __atomic_fetch_add(&by_agents, agent, __ATOMIC_RELAXED);
    offer(SENNIT_THREADSET_POOL);
#pragma omp task
    CHECK(MPI_Recv(&values[1], 1, MPI_INT, next(), count + tag, MPI_COMM_WORLD,
                   MPI_STATUS_IGNORE) == MPI_SUCCESS);
    CHECK(MPI_Recv(&values[0], 1, MPI_INT, next(), tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE) ==
          MPI_SUCCESS);
    CHECK(is_free_agent() == agent);
#pragma omp taskwait
    CHECK(is_free_agent() == agent);
    CHECK(values[0] == tag && values[1] == -tag);
}

/* The last one first: no receive can end before all of them are made. */
static void send(int tag) {
    const int other = -tag;
    CHECK(MPI_Ssend(&tag, 1, MPI_INT, next(), tag, MPI_COMM_WORLD) == MPI_SUCCESS);
    CHECK(MPI_Ssend(&other, 1, MPI_INT, next(), count + tag, MPI_COMM_WORLD) == MPI_SUCCESS);
}

static void exchange(void) {
    int values[count][2] = {{0}}, sums[count] = {0}, sum = 0;
#pragma omp parallel
#pragma omp single
    {
        offer(SENNIT_THREADSET_POOL);
        for (int i = 0; i < count; ++i) {
            if (i % 2) {
#pragma omp task firstprivate(i) shared(values, sums, sum)
                {
                    receive(i, values[i]);
#pragma omp atomic
                    sum += i;
                }
                continue;
            }
#pragma omp task depend(out : sums[i]) firstprivate(i) shared(values, sums)
            {
                receive(i, values[i]);
                sums[i] = i;
            }
#pragma omp task depend(in : sums[i]) firstprivate(i) shared(sums, sum)
            {
                CHECK(sums[i] == i);
#pragma omp atomic
                sum += i;
            }
        }
        for (int i = count - 1; i >= 0; --i) {
#pragma omp task firstprivate(i)
            send(i);
        }
        offer(SENNIT_THREADSET_TEAM);
        /* Agents come first. Not for ever: they may be on no processor. */
        const double end = omp_get_wtime() + 0.05;
        while (!__atomic_load_n(&by_agents, __ATOMIC_RELAXED) && omp_get_wtime() < end)
            sched_yield();
    }
    CHECK(sum == count * (count - 1) / 2);
}

/* Have both ranks seen agents at work? */
static int both(void) {
    int least = by_agents;
    MPI_Allreduce(MPI_IN_PLACE, &least, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    return least > 0;
}

int main(int argc, char **argv) {
    begin(&argc, &argv);
    *(void **)&is_free_agent = dlsym(RTLD_DEFAULT, "omp_is_free_agent");
    *(void **)&set_threadset = dlsym(RTLD_DEFAULT, "sennit_task_threadset");
    CHECK(is_free_agent && set_threadset);
    int seen = 0;
    for (int round = 0; round < 10 || (!seen && round < 100); ++round) {
        exchange();
        seen = both();
    }
    CHECK(seen);
    MPI_Finalize();
    return 0;
}
