/* SPDX-License-Identifier: Apache-2.0
 * build: compiler=all
 * test: shape=2x1|2x2 sample="shape == '2x2'" # as one_sided.c
 * chaos: number=40
 * Tasks that communicate, in the forms that papers on task-aware MPI draw: tasks in crossed order,
 * of which none ends before all have begun; a task that sends what its children have made; and
 * one-sided operations, in tasks that follow each other and in tasks that do not. */
#include "check.h"

enum { tiles = 8, elements = 16, children = 16, operations = 60, places = 16 };

/* One rank's first message is another one's last. */
static void crossed(void) {
    static double out[tiles][elements], in[tiles][elements];
    int begun = 0, checked = 0;
    for (int i = 0; i < tiles; ++i)
        for (int k = 0; k < elements; ++k) {
            out[i][k] = 1000 * rank + elements * i + k;
            in[i][k] = -1;
        }
#pragma omp parallel
#pragma omp single
    for (int i = 0; i < tiles; ++i) {
        const int last = tiles - 1 - i;
#pragma omp task shared(out, begun) firstprivate(i) depend(inout : out[i])
        {
#pragma omp atomic
            ++begun;
            MPI_Ssend(out[i], elements, MPI_DOUBLE, next(), i, MPI_COMM_WORLD);
        }
#pragma omp task shared(in) firstprivate(last) depend(inout : in[last])
        MPI_Recv(in[last], elements, MPI_DOUBLE, previous(), last, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
#pragma omp task shared(in, checked) firstprivate(last) depend(in : in[last])
        {
            for (int k = 0; k < elements; ++k)
                CHECK(in[last][k] == 1000 * previous() + elements * last + k);
#pragma omp atomic
            ++checked;
        }
    }
    CHECK(begun == tiles && checked == tiles);
}

/* The send needs all of its children, whatever else is ready. */
static void children_first(void) {
    for (int round = 0; round < 10; ++round) {
        int made = 0, others = 0, got = -1;
        static char order[100];
#pragma omp parallel
#pragma omp single
        {
#pragma omp task depend(out : made) priority(1) shared(made) firstprivate(round)
            {
                for (int i = 0; i < children; ++i) {
#pragma omp task shared(made)
                    {
#pragma omp atomic
                        made += i + 1;
                    }
                }
#pragma omp taskwait
                CHECK(made == children * (children + 1) / 2);
                made += 1000 * round;
                MPI_Send(&made, 1, MPI_INT, next(), round, MPI_COMM_WORLD);
            }
            for (int i = 0; i < (int)sizeof order; ++i) {
#pragma omp task depend(out : order[i]) shared(others, order)
                {
#pragma omp atomic
                    ++others;
                }
            }
#pragma omp task shared(got) firstprivate(round)
            MPI_Recv(&got, 1, MPI_INT, previous(), round, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        }
        CHECK(got == 1000 * round + children * (children + 1) / 2);
        CHECK(others == (int)sizeof order);
    }
}

enum form { put_flush, rput_wait, rget_wait, lock_put_unlock, forms };

/* Two numbers to a place of the next rank, or from there. */
static void operate(enum form form, MPI_Win window, const int *numbers, int place) {
    MPI_Request request;
    const int to = next(), at = 2 * place;
    if (form == put_flush) {
        MPI_Put(numbers, 2, MPI_INT, to, at, 2, MPI_INT, window);
        CHECK(MPI_Win_flush(to, window) == MPI_SUCCESS);
    } else if (form == rput_wait) {
        MPI_Rput(numbers, 2, MPI_INT, to, at, 2, MPI_INT, window, &request);
        CHECK(MPI_Wait(&request, MPI_STATUS_IGNORE) == MPI_SUCCESS);
    } else if (form == rget_wait) {
        int got[2] = {-1, -1};
        MPI_Rget(got, 2, MPI_INT, to, at, 2, MPI_INT, window, &request);
        CHECK(MPI_Wait(&request, MPI_STATUS_IGNORE) == MPI_SUCCESS);
        CHECK(got[0] == 100 * to + place && got[1] == place);
    } else {
        CHECK(MPI_Win_lock(MPI_LOCK_SHARED, to, 0, window) == MPI_SUCCESS);
        MPI_Put(numbers, 2, MPI_INT, to, at, 2, MPI_INT, window);
        CHECK(MPI_Win_unlock(to, window) == MPI_SUCCESS);
    }
}

static void set(int *memory) {
    for (int place = 0; place < places; ++place) {
        memory[2 * place] = 100 * rank + place;
        memory[2 * place + 1] = place;
    }
}

/* `in_order`: each task waits for the one before. So those have to that lock: a rank has one lock
 * of a window and a target at a time. The other ranks wait in a barrier meanwhile. */
static void operate_in_tasks(enum form form, MPI_Win window, int in_order) {
    int sources[places][2];
    for (int place = 0; place < places; ++place) {
        sources[place][0] = 7000 + rank;
        sources[place][1] = place;
    }
#pragma omp parallel
#pragma omp single
    for (int i = 0; i < operations; ++i) {
        if (in_order) {
#pragma omp task firstprivate(i) shared(sources) depend(inout : sources[0])
            operate(form, window, sources[i % places], i % places);
        } else {
#pragma omp task firstprivate(i) shared(sources)
            operate(form, window, sources[i % places], i % places);
        }
    }
}

static void one_sided(enum form form, int in_order) {
    int *memory;
    MPI_Win window;
    MPI_Win_allocate(2 * places * (int)sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD,
                     &memory, &window);
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, rank, 0, window);
    set(memory);
    MPI_Win_unlock(rank, window);
    MPI_Barrier(MPI_COMM_WORLD);
    if (form != lock_put_unlock)
        MPI_Win_lock_all(0, window);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        operate_in_tasks(form, window, in_order);
    if (form == rput_wait)
        MPI_Win_flush_all(window);
    MPI_Barrier(MPI_COMM_WORLD);
    if (form != lock_put_unlock)
        MPI_Win_unlock_all(window);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, window);
    const int written = previous() == 0 && form != rget_wait;
    for (int place = 0; place < places; ++place) {
        CHECK(memory[2 * place] == (written ? 7000 : 100 * rank + place));
        CHECK(memory[2 * place + 1] == place);
    }
    MPI_Win_unlock(rank, window);
    MPI_Win_free(&window);
}

int main(int argc, char **argv) {
    begin(&argc, &argv);
    for (int round = 0; round < 10; ++round)
        crossed();
    children_first();
    for (int form = 0; form < forms; ++form)
        for (int in_order = form == lock_put_unlock; in_order < 2; ++in_order)
            one_sided((enum form)form, in_order);
    MPI_Finalize();
    return 0;
}
