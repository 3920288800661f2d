/* SPDX-License-Identifier: Apache-2.0
 * rank: -fPIE -pie -I{include} -- {file('sennit-export')} -Wl,-rpath,{folder('sennit-export')}
 * What sennit_export.h promises, between the ranks of a job:
 *   exports all      three ranks: every call with every result
 *   exports plain    a process that is no virtual rank
 *   exports end HOW  exports "short" until somebody has seen it, then ends: exit, kill, return
 *   exports see      sees "short" end */
#include <sennit_export.h>

#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "%s:%d: rank %d: %s\n", __FILE__, __LINE__, rank, #condition);         \
            abort();                                                                               \
        }                                                                                          \
    } while (0)

static const int64_t a_minute = 60000000000;
static const int64_t some_ms = 5000000;
static int rank;

/* Rank 0 exports; 1 and 2 look. */
static void names_and_errors(void) {
    static int field[1000];
    char longest[SENNIT_EXPORT_LONGEST_NAME + 2];
    memset(longest, 'n', sizeof longest - 1);
    longest[sizeof longest - 1] = '\0';
    sennit_range range = 0, other = 0;
    struct sennit_range_state state;
    CHECK(sennit_export(NULL, field, 4, &range) == SENNIT_EXPORT_PARAMETER);
    CHECK(sennit_export("", field, 4, &range) == SENNIT_EXPORT_PARAMETER);
    CHECK(sennit_export("a", NULL, 4, &range) == SENNIT_EXPORT_PARAMETER);
    CHECK(sennit_export("a", field, 0, &range) == SENNIT_EXPORT_PARAMETER);
    CHECK(sennit_export("a", field, 4, NULL) == SENNIT_EXPORT_PARAMETER);
    CHECK(sennit_export(longest, field, 4, &range) == SENNIT_EXPORT_PARAMETER);
    CHECK(sennit_import(longest, 0, &range) == SENNIT_EXPORT_PARAMETER);
    CHECK(sennit_import("nobody's", 0, &range) == SENNIT_EXPORT_NOT_THERE);
    CHECK(sennit_import("nobody's", some_ms, &range) == SENNIT_EXPORT_NOT_THERE);
    CHECK(sennit_range_get(0, &state) == SENNIT_EXPORT_ENDED);
    CHECK(sennit_range_get(range, NULL) == SENNIT_EXPORT_PARAMETER);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
        field[999] = 4711;
        CHECK(sennit_export("field", field, sizeof field, &range) == SENNIT_EXPORT_SUCCESS);
        CHECK(sennit_export("field", field, sizeof field, &other) == SENNIT_EXPORT_EXISTS);
    } else { /* the name comes while they wait */
        CHECK(sennit_import("field", a_minute, &range) == SENNIT_EXPORT_SUCCESS);
        CHECK(sennit_export("field", field, sizeof field, &other) == SENNIT_EXPORT_EXISTS);
        CHECK(sennit_publish(range) == SENNIT_EXPORT_NOT_OWN);
        CHECK(sennit_unexport(range) == SENNIT_EXPORT_NOT_OWN);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK(sennit_range_get(range, &state) == SENNIT_EXPORT_SUCCESS);
    CHECK(state.bytes == sizeof field && state.version == 0);
    CHECK((state.address == (void *)field) == (rank == 0) && ((int *)state.address)[999] == 4711);
    CHECK((state.exporter == getpid()) == (rank == 0));
    uint64_t version = 77;
    CHECK(sennit_range_wait(range, 0, some_ms, &version) == SENNIT_EXPORT_UNCHANGED &&
          version == 0);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
        field[0] = 1;
        CHECK(sennit_publish(range) == SENNIT_EXPORT_SUCCESS);
    }
    CHECK(sennit_range_wait(range, 0, a_minute, &version) == SENNIT_EXPORT_SUCCESS && version == 1);
    CHECK(((int *)state.address)[0] == 1);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        CHECK(sennit_unexport(range) == SENNIT_EXPORT_SUCCESS);
    else /* the end comes while they wait */
        CHECK(sennit_range_wait(range, 1, a_minute, NULL) == SENNIT_EXPORT_ENDED);
    CHECK(sennit_range_get(range, &state) == SENNIT_EXPORT_ENDED);
    CHECK(sennit_publish(range) == SENNIT_EXPORT_ENDED);
    CHECK(sennit_unexport(range) == SENNIT_EXPORT_ENDED);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void a_forked_child_is_no_rank(void) {
    const pid_t child = fork();
    if (child == 0) {
        sennit_range range;
        _exit(sennit_import("field", 0, &range));
    }
    int status = 0;
    waitpid(child, &status, 0);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == SENNIT_EXPORT_NOT_VIRTUAL);
}

/* Each rank writes in turn, and reads what the one before has written. */
static void ranges_in_both_directions(int ranks) {
    static long value;
    char name[32];
    sennit_range own, before;
    snprintf(name, sizeof name, "turn.%d", rank);
    CHECK(sennit_export(name, &value, sizeof value, &own) == SENNIT_EXPORT_SUCCESS);
    snprintf(name, sizeof name, "turn.%d", (rank + ranks - 1) % ranks);
    CHECK(sennit_import(name, a_minute, &before) == SENNIT_EXPORT_SUCCESS);
    struct sennit_range_state state;
    CHECK(sennit_range_get(before, &state) == SENNIT_EXPORT_SUCCESS);
    const long *theirs = state.address;
    for (int round = 1; round <= 300; ++round) {
        if (rank != 0)
            CHECK(sennit_range_wait(before, round - 1, a_minute, NULL) == SENNIT_EXPORT_SUCCESS);
        value = rank == 0 ? round : *theirs + 1;
        CHECK(sennit_publish(own) == SENNIT_EXPORT_SUCCESS);
        if (rank == 0) {
            CHECK(sennit_range_wait(before, round - 1, a_minute, NULL) == SENNIT_EXPORT_SUCCESS);
            CHECK(*theirs == round + ranks - 1);
        }
    }
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK(sennit_unexport(own) == SENNIT_EXPORT_SUCCESS);
}

static void exports_end(const char *how) {
    static int field;
    sennit_range range, seen;
    CHECK(sennit_export("short", &field, sizeof field, &range) == SENNIT_EXPORT_SUCCESS);
    CHECK(sennit_import("seen", a_minute, &seen) == SENNIT_EXPORT_SUCCESS);
    if (strcmp(how, "kill") == 0)
        raise(SIGKILL);
    if (strcmp(how, "exit") == 0)
        _exit(5);
}

static void exports_see(void) {
    static int field;
    sennit_range range, seen;
    struct sennit_range_state state;
    CHECK(sennit_import("short", a_minute, &range) == SENNIT_EXPORT_SUCCESS);
    CHECK(sennit_range_get(range, &state) == SENNIT_EXPORT_SUCCESS);
    CHECK(sennit_export("seen", &field, sizeof field, &seen) == SENNIT_EXPORT_SUCCESS);
    CHECK(sennit_range_wait(range, 0, a_minute, NULL) == SENNIT_EXPORT_ENDED);
    CHECK(sennit_import("short", 0, &range) == SENNIT_EXPORT_NOT_THERE);
    CHECK(*(int *)state.address == 0); /* its memory is still there */
    puts("seen to end");
}

int main(int argc, char **argv) {
    int ranks;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    const char *what = argc > 1 ? argv[1] : "";
    if (strcmp(what, "plain") == 0) {
        sennit_range range;
        static int field;
        CHECK(sennit_export("field", &field, sizeof field, &range) == SENNIT_EXPORT_NOT_VIRTUAL);
        CHECK(sennit_import("field", 0, &range) == SENNIT_EXPORT_NOT_VIRTUAL);
        CHECK(sennit_publish(1) == SENNIT_EXPORT_NOT_VIRTUAL);
        puts("well");
    } else if (strcmp(what, "all") == 0) {
        names_and_errors();
        a_forked_child_is_no_rank();
        ranges_in_both_directions(ranks);
        if (rank == 0)
            puts("well");
    } else if (strcmp(what, "end") == 0) {
        exports_end(argc > 2 ? argv[2] : "");
    } else {
        exports_see();
    }
    MPI_Finalize();
    return 0;
}
