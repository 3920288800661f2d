/* SPDX-License-Identifier: Apache-2.0
 * test: shape=2x1|2x2|4x1 # one rank alone: Open MPI 4.1 makes no windows
 * chaos: number=12
 * bells: number=45
 * split:
 * The synchronization of one-sided communication in tasks: fences, general active target, locks,
 * flushes; each case on a window of its own, all at a time. */
#include "cases.h"

static void fill(int *memory) {
    for (int i = 0; i < ranks; ++i)
        memory[i] = -1;
}
static void check(const int *memory, int from) {
    CHECK(memory[from] == 100 + from);
}
static void put(MPI_Win win, int to) {
    const int value = 100 + rank;
    CHECK(MPI_Put(&value, 1, MPI_INT, to, rank, 1, MPI_INT, win) == MPI_SUCCESS);
    MPI_Win_flush_local(to, win);
}

static void fence(MPI_Comm comm) {
    IN_WINDOW int memory[8];
    const int value = 100 + rank;
    MPI_Win win;
    fill(memory);
    CHECK(MPI_Win_create(memory, sizeof memory, sizeof(int), MPI_INFO_NULL, comm, &win) ==
          MPI_SUCCESS);
    CHECK(MPI_Win_fence(0, win) == MPI_SUCCESS);
    MPI_Put(&value, 1, MPI_INT, next(), rank, 1, MPI_INT, win);
    CHECK(MPI_Win_fence(0, win) == MPI_SUCCESS);
    check(memory, previous());
    MPI_Info info;
    MPI_Info_create(&info);
    CHECK(MPI_Win_set_info(win, info) == MPI_SUCCESS);
    MPI_Info_free(&info);
    CHECK(MPI_Win_free(&win) == MPI_SUCCESS && win == MPI_WIN_NULL);
}

static void active_target(MPI_Comm comm) {
    int *memory;
    const int value = 100 + rank, to = next(), from = previous();
    MPI_Win win;
    MPI_Group all, target, origin;
    CHECK(MPI_Win_allocate(8 * sizeof(int), sizeof(int), MPI_INFO_NULL, comm, &memory, &win) ==
          MPI_SUCCESS);
    fill(memory);
    MPI_Comm_group(comm, &all);
    MPI_Group_incl(all, 1, &to, &target);
    MPI_Group_incl(all, 1, &from, &origin);
    CHECK(MPI_Win_post(origin, 0, win) == MPI_SUCCESS);
    CHECK(MPI_Win_start(target, 0, win) == MPI_SUCCESS);
    MPI_Put(&value, 1, MPI_INT, to, rank, 1, MPI_INT, win);
    CHECK(MPI_Win_complete(win) == MPI_SUCCESS);
    CHECK(MPI_Win_wait(win) == MPI_SUCCESS);
    check(memory, from);
    MPI_Group_free(&all);
    MPI_Group_free(&target);
    MPI_Group_free(&origin);
    MPI_Win_free(&win);
}

static void lock(MPI_Comm comm) {
    int *memory;
    MPI_Win win;
    MPI_Win_allocate(8 * sizeof(int), sizeof(int), MPI_INFO_NULL, comm, &memory, &win);
    fill(memory);
    MPI_Barrier(comm);
    CHECK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, next(), 0, win) == MPI_SUCCESS);
    put(win, next());
    CHECK(MPI_Win_flush(next(), win) == MPI_SUCCESS);
    CHECK(MPI_Win_unlock(next(), win) == MPI_SUCCESS);
    MPI_Barrier(comm);
    MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, win);
    check(memory, previous());
    MPI_Win_unlock(rank, win);
    MPI_Win_free(&win);
}

/* Who promises that no other lock is in conflict waits for nobody. */
static void locks_without_conflict(MPI_Comm comm) {
    int *memory;
    MPI_Win win;
    MPI_Win_allocate(8 * sizeof(int), sizeof(int), MPI_INFO_NULL, comm, &memory, &win);
    fill(memory);
    MPI_Barrier(comm);
    CHECK(MPI_Win_lock(MPI_LOCK_SHARED, next(), MPI_MODE_NOCHECK, win) == MPI_SUCCESS);
    put(win, next());
    CHECK(MPI_Win_unlock(next(), win) == MPI_SUCCESS);
    MPI_Barrier(comm);
    CHECK(MPI_Win_lock_all(MPI_MODE_NOCHECK, win) == MPI_SUCCESS);
    check(memory, previous());
    CHECK(MPI_Win_unlock_all(win) == MPI_SUCCESS);
    MPI_Win_free(&win);
}

static void lock_all(MPI_Comm comm) {
    int *memory;
    MPI_Win win;
    MPI_Win_allocate_shared(8 * sizeof(int), sizeof(int), MPI_INFO_NULL, comm, &memory, &win);
    CHECK(MPI_Win_lock_all(0, win) == MPI_SUCCESS);
    fill(memory);
    MPI_Win_sync(win);
    MPI_Barrier(comm);
    for (int i = 0; i < ranks; ++i)
        put(win, i);
    CHECK(MPI_Win_flush_local_all(win) == MPI_SUCCESS);
    CHECK(MPI_Win_flush_all(win) == MPI_SUCCESS);
    MPI_Barrier(comm);
    MPI_Win_sync(win);
    for (int i = 0; i < ranks; ++i)
        check(memory, i);
    CHECK(MPI_Win_unlock_all(win) == MPI_SUCCESS);
    MPI_Win_free(&win);
}

static void dynamic(MPI_Comm comm) {
    MPI_Win win;
    CHECK(MPI_Win_create_dynamic(MPI_INFO_NULL, comm, &win) == MPI_SUCCESS);
    MPI_Win_free(&win);
}

/* Requests of one-sided communication, waited for in a task. */
static void requests(MPI_Comm comm) {
    int *memory, got = -1;
    const int value = 100 + rank;
    MPI_Win win;
    MPI_Request request;
    MPI_Win_allocate(8 * sizeof(int), sizeof(int), MPI_INFO_NULL, comm, &memory, &win);
    fill(memory);
    MPI_Barrier(comm);
    MPI_Win_lock_all(0, win);
    MPI_Rput(&value, 1, MPI_INT, next(), rank, 1, MPI_INT, win, &request);
    CHECK(MPI_Wait(&request, MPI_STATUS_IGNORE) == MPI_SUCCESS);
    MPI_Win_flush(next(), win);
    MPI_Barrier(comm);
    MPI_Rget(&got, 1, MPI_INT, next(), rank, 1, MPI_INT, win, &request);
    CHECK(MPI_Waitall(1, &request, MPI_STATUSES_IGNORE) == MPI_SUCCESS && got == value);
    MPI_Win_unlock_all(win);
    MPI_Win_free(&win);
}

/* Many tasks flush at a time: one call may serve several, but none that has put its value later. */
static void flushes(MPI_Comm comm) {
    enum { TASKS = 60 };
    int *memory;
    MPI_Win win;
    MPI_Win_allocate(TASKS * sizeof(int), sizeof(int), MPI_INFO_NULL, comm, &memory, &win);
    MPI_Win_lock_all(0, win);
    for (int i = 0; i < TASKS; ++i) {
#pragma omp task firstprivate(i)
        {
            const int value = 1000 * rank + i, to = i % 3 == 0 ? rank : next();
            int got = -1;
            MPI_Put(&value, 1, MPI_INT, to, i, 1, MPI_INT, win);
            CHECK((i % 4 == 0 ? MPI_Win_flush_all(win) : MPI_Win_flush(to, win)) == MPI_SUCCESS);
            MPI_Get(&got, 1, MPI_INT, to, i, 1, MPI_INT, win);
            CHECK((i % 5 == 0 ? MPI_Win_flush_local_all(win) : MPI_Win_flush_local(to, win)) ==
                  MPI_SUCCESS);
            CHECK(got == value);
        }
    }
#pragma omp taskwait
    MPI_Win_unlock_all(win);
    MPI_Barrier(comm);
    for (int i = 0; i < TASKS; ++i)
        CHECK(memory[i] == 1000 * (i % 3 == 0 ? rank : previous()) + i);
    MPI_Win_free(&win);
}

int main(int argc, char **argv) {
    static const struct test_case cases[] = {
        CASE(fence),   CASE(active_target), CASE(lock),    CASE(lock_all),
        CASE(dynamic), CASE(requests),      CASE(flushes), CASE(locks_without_conflict)};
    begin(&argc, &argv);
    CHECK(ranks <= 8);
    run_cases(cases, COUNT_OF(cases), 2);
    MPI_Finalize();
    return 0;
}
