/* SPDX-License-Identifier: Apache-2.0
 * test:
 * in_world: mpi=openmpi # children have a world that is not divided
 * Processes that meet inside tasks: by MPI_Comm_spawn and MPI_Comm_spawn_multiple, by port, by name
 * and by socket. Beside each such task another one sends to a third that was created before it:
 * with one thread none of them would come if a call kept its thread. What an MPI cannot do, it must
 * say, and the program says it too (MPICH over UCX makes no ports and no processes). */
#include "check.h"

#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* Over an intercommunicator: rank 0 of each side greets the other's. */
static void meet(MPI_Comm inter) {
    int mine = 7, theirs = -1, side_rank;
    MPI_Comm_rank(inter, &side_rank);
    if (side_rank == 0)
        MPI_Sendrecv(&mine, 1, MPI_INT, 0, 2, &theirs, 1, MPI_INT, 0, 2, inter, MPI_STATUS_IGNORE);
    CHECK(side_rank != 0 || theirs == 7);
}

static int can(const char *call, int error) {
    if (error != MPI_SUCCESS)
        printf("this MPI says that it cannot: %s\n", call);
    return error == MPI_SUCCESS;
}

/* A message between two tasks of this process, the receiver first. */
static void neighbours(int tag) {
#pragma omp task firstprivate(tag)
    {
        int got = -1;
        MPI_Recv(&got, 1, MPI_INT, 0, tag, MPI_COMM_SELF, MPI_STATUS_IGNORE);
        CHECK(got == tag);
    }
#pragma omp task firstprivate(tag)
    MPI_Ssend(&tag, 1, MPI_INT, 0, tag, MPI_COMM_SELF);
}

static int child(MPI_Comm parent) {
    int value = 0;
    MPI_Comm all;
    meet(parent);
    MPI_Recv(&value, 1, MPI_INT, 0, 1, parent, MPI_STATUS_IGNORE);
    CHECK(value == 42);
    MPI_Intercomm_merge(parent, 1, &all);
    MPI_Comm_free(&all);
    MPI_Comm_disconnect(&parent);
    /* Under Sennit, too: one thread, and the first task waits for the second. */
#pragma omp parallel num_threads(1)
#pragma omp single
    neighbours(51);
    MPI_Finalize();
    return 0;
}

static void greet(MPI_Comm inter, int children) {
    const int value = 42;
    meet(inter);
    for (int i = 0; i < children; ++i)
        MPI_Ssend(&value, 1, MPI_INT, i, 1, inter);
    MPI_Comm all;
    MPI_Intercomm_merge(inter, 0, &all);
    MPI_Comm_free(&all);
    MPI_Comm_disconnect(&inter);
}

static void spawn(char *self) {
#pragma omp task firstprivate(self)
    {
        MPI_Comm inter;
        int codes[1];
        char *arguments[] = {"child", NULL};
        if (can("MPI_Comm_spawn",
                MPI_Comm_spawn(self, arguments, 1, MPI_INFO_NULL, 0, MPI_COMM_SELF, &inter, codes)))
            greet(inter, 1);
    }
    neighbours(11);
#pragma omp taskwait
#pragma omp task firstprivate(self)
    {
        MPI_Comm inter;
        int codes[2], counts[2] = {1, 1};
        char *commands[2] = {self, self}, *child_arguments[] = {"child", NULL};
        char **arguments[2] = {child_arguments, child_arguments};
        MPI_Info infos[2] = {MPI_INFO_NULL, MPI_INFO_NULL};
        if (can("MPI_Comm_spawn_multiple",
                MPI_Comm_spawn_multiple(2, commands, arguments, counts, infos, 0, MPI_COMM_SELF,
                                        &inter, codes)))
            greet(inter, 2);
    }
    neighbours(12);
#pragma omp taskwait
}

/* Rank 0 accepts, rank 1 connects; who they are they learn by a message or by the name service. */
static void port(void) {
    char name[MPI_MAX_PORT_NAME] = "";
#pragma omp task shared(name)
    {
        MPI_Comm inter = MPI_COMM_NULL;
        if (rank == 0) {
            if (!can("MPI_Open_port", MPI_Open_port(MPI_INFO_NULL, name)))
                name[0] = 0;
            MPI_Send(name, MPI_MAX_PORT_NAME, MPI_CHAR, 1, 21, MPI_COMM_WORLD);
            if (name[0])
                CHECK(MPI_Comm_accept(name, MPI_INFO_NULL, 0, MPI_COMM_SELF, &inter) ==
                      MPI_SUCCESS);
        } else {
            MPI_Recv(name, MPI_MAX_PORT_NAME, MPI_CHAR, 0, 21, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            if (name[0])
                CHECK(MPI_Comm_connect(name, MPI_INFO_NULL, 0, MPI_COMM_SELF, &inter) ==
                      MPI_SUCCESS);
        }
        if (name[0]) {
            meet(inter);
            MPI_Comm_disconnect(&inter);
        } else { /* the calls must return, and the task with them */
            CHECK((rank == 0 ? MPI_Comm_accept : MPI_Comm_connect)(
                      name, MPI_INFO_NULL, 0, MPI_COMM_SELF, &inter) != MPI_SUCCESS);
        }
        if (rank == 0 && name[0])
            MPI_Close_port(name);
    }
    neighbours(22);
#pragma omp taskwait
}

static void names(void) {
    int served = 1;
#pragma omp task shared(served)
    {
        char name[MPI_MAX_PORT_NAME] = "a-port", found[MPI_MAX_PORT_NAME] = "";
        if (rank == 0) {
            served = can("MPI_Publish_name", MPI_Publish_name("sennit-test", MPI_INFO_NULL, name));
            MPI_Send(&served, 1, MPI_INT, 1, 31, MPI_COMM_WORLD);
            MPI_Recv(NULL, 0, MPI_INT, 1, 32, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            CHECK(!served || MPI_Unpublish_name("sennit-test", MPI_INFO_NULL, name) == MPI_SUCCESS);
        } else {
            MPI_Recv(&served, 1, MPI_INT, 0, 31, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            if (served) {
                CHECK(MPI_Lookup_name("sennit-test", MPI_INFO_NULL, found) == MPI_SUCCESS);
                CHECK(strcmp(found, "a-port") == 0);
            } else /* still a call that must return */
                MPI_Lookup_name("sennit-test", MPI_INFO_NULL, found);
            MPI_Send(NULL, 0, MPI_INT, 0, 32, MPI_COMM_WORLD);
        }
    }
    neighbours(33);
#pragma omp taskwait
}

/* Both ends in one process: each in a task that must not keep the thread. */
static void join(void) {
    int ends[2];
    CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
    for (int i = 0; i < 2; ++i) {
#pragma omp task firstprivate(i) shared(ends)
        {
            MPI_Comm inter = MPI_COMM_NULL;
            if (MPI_Comm_join(ends[i], &inter) == MPI_SUCCESS && inter != MPI_COMM_NULL)
                MPI_Comm_disconnect(&inter);
        }
    }
    neighbours(41);
#pragma omp taskwait
    close(ends[0]);
    close(ends[1]);
}

int main(int argc, char **argv) {
    begin(&argc, &argv);
    MPI_Comm parent;
    MPI_Comm_get_parent(&parent);
    if (parent != MPI_COMM_NULL)
        return child(parent);
    CHECK(ranks <= 2);
    const char *only = argc > 1 ? argv[1] : "spawn port names join";
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
#pragma omp parallel
#pragma omp single
    {
        if (rank == 0 && strstr(only, "spawn"))
            spawn(argv[0]);
        if (ranks == 2 && strstr(only, "port"))
            port();
        if (ranks == 2 && strstr(only, "names"))
            names();
        if (rank == 0 && strstr(only, "join"))
            join();
    }
    MPI_Finalize();
    return 0;
}
