/* SPDX-License-Identifier: Apache-2.0
 * build: -- {balance}
 * test: shape=1x1|2x1|2x2|4x1
 * chaos: number=38
 * Objects that send each other messages of plain MPI: strategies that look at who talks to whom
 * know of them, in whatever way the calls are made, if both sides work for their objects. */
#include "check.h"
#include "sennit_balance.h"

#include <omp.h>
#include <string.h>

enum { objects = 16, large = 100000, small = 50, most_requests = 8 * objects };

static sennit_objects *set;
static MPI_Comm backwards; /* has all ranks, the last one first */
static char outgoing[large];
static char incoming[2 * objects][large];

/* Object i tells the one as far from the end much, and the next one little. */
static int partner(int object) {
    return objects - 1 - object;
}
static int after(int object) {
    return (object + 1) % objects;
}
static int before(int object) {
    return (object + objects - 1) % objects;
}
static int tag(int from, int to) {
    return from * objects + to;
}

static struct {
    MPI_Request all[most_requests];
    int count;
} requests;

static MPI_Request *new_request(void) {
    CHECK(requests.count < most_requests);
    return &requests.all[requests.count++];
}

static void wait_for_all(void) {
    MPI_Waitall(requests.count, requests.all, MPI_STATUSES_IGNORE);
    requests.count = 0;
}

/* What an object does in a step: it sends both messages and receives both. */
typedef void step(int object);

static void posts(int object, int from, int to, int bytes, MPI_Comm comm, int is_any) {
    const int source = sennit_object_rank(set, from), dest = sennit_object_rank(set, to);
    const int is_back = comm == backwards;
    MPI_Irecv(incoming[2 * object + (bytes == small)], bytes, MPI_CHAR,
              is_any    ? MPI_ANY_SOURCE
              : is_back ? ranks - 1 - source
                        : source,
              tag(from, object), comm, new_request());
    MPI_Isend(outgoing, bytes, MPI_CHAR, is_back ? ranks - 1 - dest : dest, tag(object, to), comm,
              new_request());
}
static void by_requests(int object) {
    posts(object, partner(object), partner(object), large, MPI_COMM_WORLD, 0);
    posts(object, before(object), after(object), small, MPI_COMM_WORLD, 0);
}
static void from_any_source(int object) {
    posts(object, partner(object), partner(object), large, MPI_COMM_WORLD, 1);
    posts(object, before(object), after(object), small, MPI_COMM_WORLD, 1);
}
static void on_another_communicator(int object) {
    posts(object, partner(object), partner(object), large, backwards, 0);
    posts(object, before(object), after(object), small, backwards, 0);
}
static void by_sendrecv(int object) {
    const int other = sennit_object_rank(set, partner(object));
    MPI_Sendrecv(outgoing, large, MPI_CHAR, other, tag(object, partner(object)),
                 incoming[2 * object], large, MPI_CHAR, other, tag(partner(object), object),
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Sendrecv(outgoing, small, MPI_CHAR, sennit_object_rank(set, after(object)),
                 tag(object, after(object)), incoming[2 * object + 1], small, MPI_CHAR,
                 sennit_object_rank(set, before(object)), tag(before(object), object),
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}
static void by_probe(int object) {
    const int other = sennit_object_rank(set, partner(object));
    MPI_Request request;
    MPI_Message message;
    MPI_Isend(outgoing, large, MPI_CHAR, other, tag(object, partner(object)), MPI_COMM_WORLD,
              &request);
    MPI_Mprobe(MPI_ANY_SOURCE, tag(partner(object), object), MPI_COMM_WORLD, &message,
               MPI_STATUS_IGNORE);
    MPI_Mrecv(incoming[2 * object], large, MPI_CHAR, &message, MPI_STATUS_IGNORE);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}
static void persistent(int object) {
    const int other = sennit_object_rank(set, partner(object));
    MPI_Request both[2];
    MPI_Recv_init(incoming[2 * object], large, MPI_CHAR, other, tag(partner(object), object),
                  MPI_COMM_WORLD, &both[0]);
    MPI_Send_init(outgoing, large, MPI_CHAR, other, tag(object, partner(object)), MPI_COMM_WORLD,
                  &both[1]);
    MPI_Startall(2, both);
    MPI_Waitall(2, both, MPI_STATUSES_IGNORE);
    MPI_Request_free(&both[0]);
    MPI_Request_free(&both[1]);
}
/* The tag says who receives, not who sends. */
static void with_one_tag(int object) {
    const int other = partner(object);
    MPI_Irecv(incoming[2 * object], large, MPI_CHAR, sennit_object_rank(set, other), object,
              MPI_COMM_WORLD, new_request());
    MPI_Isend(outgoing, large, MPI_CHAR, sennit_object_rank(set, other), other, MPI_COMM_WORLD,
              new_request());
}

/* Objects with work, all on the first rank; and their partners, on all ranks. */
static int has_work(int object) {
    return object < objects / 2;
}
static int first_rank(int object) {
    return has_work(object) ? 0 : partner(object) % ranks;
}

static void make(const char *strategy) {
    CHECK(sennit_objects_create(MPI_COMM_WORLD, objects, SENNIT_OBJECT_MEMORY, &set) ==
          MPI_SUCCESS);
    for (int i = 0; i < objects; ++i)
        if (first_rank(i) == rank)
            CHECK(sennit_objects_add_memory(set, i, malloc(1), 1) == MPI_SUCCESS);
    CHECK(sennit_objects_commit(set) == MPI_SUCCESS);
    CHECK(sennit_balance_strategy(set, strategy) == MPI_SUCCESS);
}

/* The work is divided evenly. To do so, each object may go where the other one is. How many do not?
 */
static int apart_after_balancing(int (*other)(int)) {
    sennit_balance_info info;
    for (int i = 0; i < objects; ++i)
        if (has_work(i) && sennit_object_rank(set, i) == rank)
            CHECK(sennit_object_load(set, i, 10) == MPI_SUCCESS);
    CHECK(sennit_balance(set, &info) == MPI_SUCCESS);
    CHECK(info.promised < 0.02);
    int apart = 0;
    for (int i = 0; i < objects / 2; ++i)
        apart += sennit_object_rank(set, i) != sennit_object_rank(set, other(i));
    return apart;
}

enum way { in_tasks, outside_tasks, in_regions };

/* The step of each object of this rank. */
static void run(step *make_step, enum way way) {
    const int *local;
    const int count = sennit_objects_local(set, &local);
    if (way == in_tasks) {
#pragma omp parallel
#pragma omp single
        for (int i = 0; i < count; ++i) {
#pragma omp task firstprivate(i)
            {
                CHECK(sennit_object_begin(set, local[i]) == MPI_SUCCESS);
                make_step(local[i]);
                CHECK(sennit_object_end(set, local[i]) == MPI_SUCCESS);
            }
        }
    } else {
        for (int i = 0; i < count; ++i) {
            CHECK(sennit_object_begin(set, local[i]) == MPI_SUCCESS);
            if (way == outside_tasks)
                make_step(local[i]);
#pragma omp parallel num_threads(2) if (way == in_regions)
            if (way == in_regions && omp_get_thread_num() == omp_get_num_threads() - 1)
                make_step(local[i]);
            CHECK(sennit_object_end(set, local[i]) == MPI_SUCCESS);
        }
    }
    wait_for_all();
}

static void talkers_are_together(const char *name, step *make_step, enum way way) {
    make("refinecomm");
    run(make_step, way);
    const int apart = apart_after_balancing(partner);
    if (apart != 0)
        fprintf(stderr, "%s: %d pairs are apart\n", name, apart);
    CHECK(apart == 0);
    /* Where they are now, they talk again, and stay. */
    run(make_step, way);
    CHECK(apart_after_balancing(partner) == 0);
    CHECK(sennit_objects_free(&set) == MPI_SUCCESS);
}

/* Messages of nobody are nobody's: the work is divided, and that is all. */
static void messages_of_nobody_do_not_count(void) {
    make("refinecomm");
    for (int i = 0; i < objects; ++i)
        if (sennit_object_rank(set, i) == rank)
            by_requests(i);
    wait_for_all();
    const int apart = apart_after_balancing(partner);
    CHECK((apart > 0) == (ranks > 1));
    CHECK(sennit_objects_free(&set) == MPI_SUCCESS);
}

/* If the program says what two objects tell each other, their messages do not count on top. Here it
 * says that partners tell nothing, and others much. */
static int friend_of(int object) {
    return partner((object + 1) % (objects / 2));
}
static void what_is_said_counts(void) {
    make("refinecomm");
    run(by_requests, outside_tasks);
    for (int i = 0; i < objects / 2; ++i)
        if (sennit_object_rank(set, i) == rank) {
            CHECK(sennit_object_traffic(set, i, partner(i), 0) == MPI_SUCCESS);
            CHECK(sennit_object_traffic(set, i, friend_of(i), large) == MPI_SUCCESS);
        }
    CHECK(apart_after_balancing(friend_of) == 0);
    CHECK(sennit_objects_free(&set) == MPI_SUCCESS);
}

/* A strategy that does not look at messages is chosen, and then one that does. */
static void counting_begins_with_the_strategy(void) {
    make("greedy");
    run(by_requests, outside_tasks);
    CHECK(sennit_balance_strategy(set, "refinecomm") == MPI_SUCCESS);
    run(by_requests, outside_tasks);
    CHECK(apart_after_balancing(partner) == 0);
    CHECK(sennit_objects_free(&set) == MPI_SUCCESS);
}

int main(int argc, char **argv) {
    begin(&argc, &argv);
    MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &backwards);
    talkers_are_together("requests", by_requests, outside_tasks);
    talkers_are_together("requests in regions", by_requests, in_regions);
    talkers_are_together("any source", from_any_source, outside_tasks);
    talkers_are_together("another communicator", on_another_communicator, outside_tasks);
    talkers_are_together("sendrecv", by_sendrecv, in_tasks);
    talkers_are_together("probe", by_probe, in_tasks);
    talkers_are_together("persistent", persistent, in_tasks);
    talkers_are_together("one tag for each receiver", with_one_tag, outside_tasks);
    messages_of_nobody_do_not_count();
    what_is_said_counts();
    counting_begins_with_the_strategy();
    MPI_Comm_free(&backwards);
    MPI_Finalize();
    return 0;
}
