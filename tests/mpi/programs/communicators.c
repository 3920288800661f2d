/* SPDX-License-Identifier: Apache-2.0
 * test: # Open MPI 4.1 may deadlock in itself when more than two ranks make communicators at once
 *     in different order, with threads as with tasks
 * chaos: number=11
 * split:
 * Making and freeing communicators in tasks: Comm_dup by its non-blocking form, all others by a
 * helper thread. Many at a time, also on one communicator, where the order of the calls counts. */
#include "cases.h"

static void check_world(MPI_Comm comm) {
    int size = -1, me = -1, sum = -1;
    MPI_Comm_size(comm, &size);
    MPI_Comm_rank(comm, &me);
    CHECK(size == ranks && me == rank);
    MPI_Allreduce(&me, &sum, 1, MPI_INT, MPI_SUM, comm);
    CHECK(sum == ranks * (ranks - 1) / 2);
}

static void release(MPI_Comm comm) {
    CHECK(MPI_Comm_free(&comm) == MPI_SUCCESS && comm == MPI_COMM_NULL);
}

static void dup(MPI_Comm comm) {
    MPI_Comm made = MPI_COMM_NULL;
    CHECK(MPI_Comm_dup(comm, &made) == MPI_SUCCESS);
    check_world(made);
    release(made);
}
static void dup_with_info(MPI_Comm comm) {
    MPI_Comm made;
    CHECK(MPI_Comm_dup_with_info(comm, MPI_INFO_NULL, &made) == MPI_SUCCESS);
    check_world(made);
    release(made);
}
static void create(MPI_Comm comm) {
    MPI_Group group;
    MPI_Comm made;
    MPI_Comm_group(comm, &group);
    CHECK(MPI_Comm_create(comm, group, &made) == MPI_SUCCESS);
    check_world(made);
    release(made);
    CHECK(MPI_Comm_create_group(comm, group, 17, &made) == MPI_SUCCESS);
    check_world(made);
    MPI_Group_free(&group);
    release(made);
}
static void split(MPI_Comm comm) {
    MPI_Comm made;
    int size;
    CHECK(MPI_Comm_split(comm, rank % 2, -rank, &made) == MPI_SUCCESS);
    MPI_Comm_size(made, &size);
    CHECK(size == (ranks + 1 - rank % 2) / 2);
    release(made);
    CHECK(MPI_Comm_split(comm, rank ? MPI_UNDEFINED : 0, 0, &made) == MPI_SUCCESS);
    CHECK((made == MPI_COMM_NULL) == (rank != 0));
    if (made != MPI_COMM_NULL)
        release(made);
}
static void split_type(MPI_Comm comm) {
    MPI_Comm made;
    CHECK(MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &made) == MPI_SUCCESS);
    check_world(made);
    release(made);
}
static void set_info(MPI_Comm comm) {
    MPI_Info info;
    MPI_Info_create(&info);
    CHECK(MPI_Comm_set_info(comm, info) == MPI_SUCCESS);
    MPI_Info_free(&info);
}
static void disconnect(MPI_Comm comm) {
    MPI_Comm made;
    MPI_Comm_dup(comm, &made);
    CHECK(MPI_Comm_disconnect(&made) == MPI_SUCCESS && made == MPI_COMM_NULL);
}
static void intercommunicator(MPI_Comm comm) {
    if (ranks < 2)
        return;
    MPI_Comm half, inter, merged;
    MPI_Comm_split(comm, rank % 2, rank, &half);
    CHECK(MPI_Intercomm_create(half, 0, comm, 1 - rank % 2, 3, &inter) == MPI_SUCCESS);
    CHECK(MPI_Intercomm_merge(inter, rank % 2, &merged) == MPI_SUCCESS);
    int size;
    MPI_Comm_size(merged, &size);
    CHECK(size == ranks);
    release(merged);
    release(inter);
    release(half);
}
static void cartesian(MPI_Comm comm) {
    MPI_Comm grid, line;
    const int dims[2] = {1, ranks}, periods[2] = {0, 1}, keep[2] = {0, 1};
    int where = -1;
    CHECK(MPI_Cart_create(comm, 2, dims, periods, 0, &grid) == MPI_SUCCESS);
    CHECK(MPI_Cart_sub(grid, keep, &line) == MPI_SUCCESS);
    check_world(line);
    CHECK(MPI_Cart_map(comm, 2, dims, periods, &where) == MPI_SUCCESS && where >= 0);
    release(line);
    release(grid);
}
static void graphs(MPI_Comm comm) {
    int index[8], edges[8], where = -1;
    for (int i = 0; i < ranks; ++i) {
        index[i] = i + 1;
        edges[i] = (i + 1) % ranks;
    }
    MPI_Comm made;
    CHECK(MPI_Graph_create(comm, ranks, index, edges, 0, &made) == MPI_SUCCESS);
    check_world(made);
    release(made);
    CHECK(MPI_Graph_map(comm, ranks, index, edges, &where) == MPI_SUCCESS && where >= 0);
    const int one = 1, right = next(), left = previous();
    CHECK(MPI_Dist_graph_create(comm, 1, &rank, &one, &right, MPI_UNWEIGHTED, MPI_INFO_NULL, 0,
                                &made) == MPI_SUCCESS);
    check_world(made);
    release(made);
    CHECK(MPI_Dist_graph_create_adjacent(comm, 1, &left, MPI_UNWEIGHTED, 1, &right, MPI_UNWEIGHTED,
                                         MPI_INFO_NULL, 0, &made) == MPI_SUCCESS);
    check_world(made);
    release(made);
}

#if MPI_VERSION >= 4
static void from_groups(MPI_Comm comm) {
    MPI_Group all, own, others;
    MPI_Comm made;
    MPI_Comm_group(comm, &all);
    CHECK(MPI_Comm_create_from_group(all, "sennit/all", MPI_INFO_NULL, MPI_ERRORS_RETURN, &made) ==
          MPI_SUCCESS);
    check_world(made);
    release(made);
    if (ranks == 2) {
        const int other = 1 - rank;
        MPI_Group_incl(all, 1, &rank, &own);
        MPI_Group_incl(all, 1, &other, &others);
        CHECK(MPI_Intercomm_create_from_groups(own, 0, others, 0, "sennit/halves", MPI_INFO_NULL,
                                               MPI_ERRORS_RETURN, &made) == MPI_SUCCESS);
        release(made);
        MPI_Group_free(&own);
        MPI_Group_free(&others);
    }
    MPI_Group_free(&all);
}
#endif

/* Tasks that the program does not order make their calls on one communicator in the order in which
 * they run: with one thread all ranks in the same, also where started and delegated calls mix. So
 * does MPI_Comm_dup, beside itself and others. (Two of Open MPI's MPI_Comm_idup on one communicator
 * may hang.) */
static void in_order(void) {
    enum { rounds = 8 };
    MPI_Comm made[rounds], twins[rounds];
    int sums[rounds];
    for (int i = 0; i < rounds; ++i) {
#pragma omp task firstprivate(i) shared(made)
        MPI_Comm_split(MPI_COMM_WORLD, i % 3 == 0 ? rank : 0, 0, &made[i]);
#pragma omp task firstprivate(i) shared(sums)
        MPI_Allreduce(&i, &sums[i], 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
#pragma omp task firstprivate(i) shared(twins)
        MPI_Comm_dup(MPI_COMM_WORLD, &twins[i]);
    }
#pragma omp taskwait
    for (int i = 0; i < rounds; ++i) {
        int size;
        MPI_Comm_size(made[i], &size);
        CHECK(size == (i % 3 == 0 ? 1 : ranks) && sums[i] == i * ranks);
        MPI_Comm_free(&made[i]);
        check_world(twins[i]);
        release(twins[i]);
    }
}

int main(int argc, char **argv) {
    static const struct test_case cases[] = {
        CASE(dup),        CASE(dup_with_info), CASE(create),     CASE(split),
        CASE(split_type), CASE(set_info),      CASE(disconnect), CASE(intercommunicator),
        CASE(cartesian),  CASE(graphs),
    };
    begin(&argc, &argv);
    CHECK(ranks <= 8);
    run_cases(cases, COUNT_OF(cases), 3);
#if MPI_VERSION >= 4
    static const struct test_case newer[] = {CASE(from_groups)};
    run_cases(newer, COUNT_OF(newer), 1);
#endif
#pragma omp parallel num_threads(1)
#pragma omp single
    in_order();
    MPI_Finalize();
    return 0;
}
