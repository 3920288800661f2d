/* SPDX-License-Identifier: Apache-2.0
 * build: -- {balance}
 * test: shape=2x1|4x1
 * chaos: number=39
 * sennit_balance.h: where an object is. Every rank knows it of every object, also of those that it
 * never had nor talked to, and asks nobody: each rank in turn makes no call of MPI until the others
 * have found all objects, and have had answers of those that are elsewhere. What was sent before
 * objects moved is there behind them, once. */
#define _DEFAULT_SOURCE
#include "check.h"
#include "sennit_balance.h"

#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

enum { objects = 96, rounds = 12 };
enum { before_moves, question, answer };

static sennit_objects *set;
static int place[objects]; /* as their ranks say */

/* In memory of all ranks. */
static struct shared {
    _Atomic int done; /* ranks, in all rounds */
} *shared;

static void share_memory(MPI_Win *window) {
    int unit;
    MPI_Aint bytes = rank == 0 ? sizeof *shared : 0;
    MPI_Win_allocate_shared(bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, (void *)&shared, window);
    MPI_Win_shared_query(*window, 0, &bytes, &unit, (void *)&shared);
    if (rank == 0)
        atomic_store(&shared->done, 0);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void ask_all_where_they_are(void) {
    const int *local;
    const int count = sennit_objects_local(set, &local);
    int mine[objects], times[objects], all = 0;
    memset(mine, 0, sizeof mine);
    memset(times, 0, sizeof times);
    for (int i = 0; i < count; ++i) {
        mine[local[i]] = rank;
        times[local[i]] = 1;
    }
    MPI_Allreduce(mine, place, objects, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Allreduce(MPI_IN_PLACE, times, objects, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    for (int i = 0; i < objects; ++i)
        all += times[i] == 1;
    CHECK(all == objects);
}

/* Another one in each round, so that few have talked to each other before. */
static int partner(int object, int round) {
    return (object + 1 + 7 * round) % objects;
}
static int asks(int object, int round) {
    return (object + objects - (1 + 7 * round) % objects) % objects;
}

static void send(int from, int to, int what, int round) {
    const int message[3] = {from, to, round};
    CHECK(sennit_object_send(set, from, to, what, message, sizeof message) == MPI_SUCCESS);
}
static void receive(int to, int from, int what, int round) {
    int message[3];
    sennit_object_status status;
    CHECK(sennit_object_recv(set, to, from, what, message, sizeof message, &status) == MPI_SUCCESS);
    CHECK(message[0] == from && message[1] == to && message[2] == round && status.from == from &&
          status.bytes == sizeof message);
}

/* What the objects of this rank send, or receive, from and to those of `there`, or of all but it.
 */
static void exchange(int round, int there, int is_there, int receives) {
    const int *local;
    const int count = sennit_objects_local(set, &local);
    for (int what = question; what <= answer; ++what)
        for (int i = 0; i < count; ++i) {
            const int me = local[i];
            const int other =
                (what == question) == !receives ? partner(me, round) : asks(me, round);
            if ((sennit_object_rank(set, other) == there) != is_there)
                continue;
            if (receives)
                receive(me, other, what, round);
            else
                send(me, other, what, round);
        }
}

static void find_all_without(int absent, int round) {
    if (rank == absent) {
        while (atomic_load(&shared->done) < (round + 1) * (ranks - 1))
            usleep(200);
    } else {
        for (int i = 0; i < objects; ++i)
            CHECK(sennit_object_rank(set, i) == place[i]);
        exchange(round, absent, 0, 0);
        exchange(round, absent, 0, 1);
        exchange(round, absent, 1, 0); /* nobody waits for these to be taken */
        atomic_fetch_add(&shared->done, 1);
    }
    if (rank == absent) {
        exchange(round, -1, 0, 0);
        exchange(round, -1, 0, 1);
    } else {
        exchange(round, absent, 1, 1);
    }
}

int main(int argc, char **argv) {
    begin(&argc, &argv);
    MPI_Win window;
    share_memory(&window);
    CHECK(sennit_objects_create(MPI_COMM_WORLD, objects, SENNIT_OBJECT_MEMORY, &set) ==
          MPI_SUCCESS);
    for (int i = rank; i < objects; i += ranks)
        CHECK(sennit_objects_add_memory(set, i, malloc(8), 8) == MPI_SUCCESS);
    CHECK(sennit_objects_commit(set) == MPI_SUCCESS);
    CHECK(sennit_balance_strategy(set, "random") == MPI_SUCCESS);
    for (int round = 0; round < rounds; ++round) {
        const int *local;
        int count = sennit_objects_local(set, &local);
        for (int i = 0; i < count; ++i)
            send(local[i], partner(local[i], round + 1), before_moves, round);
        CHECK(sennit_balance(set, NULL) == MPI_SUCCESS);
        ask_all_where_they_are();
        find_all_without(round % ranks, round);
        count = sennit_objects_local(set, &local);
        for (int i = 0; i < count; ++i)
            receive(local[i], asks(local[i], round + 1), before_moves, round);
    }
    CHECK(sennit_objects_free(&set) == MPI_SUCCESS);
    MPI_Win_free(&window);
    MPI_Finalize();
    return 0;
}
