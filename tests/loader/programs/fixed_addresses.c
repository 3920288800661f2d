/* SPDX-License-Identifier: Apache-2.0
 * build: compiler=gcc -fPIE -pie
 * Memory at addresses of the program's choice (MAP_FIXED and its kind). What is the rank's own it
 * may replace; what may be another's it may not, and goes on.
 *
 * Usage: fixed_addresses own | hold ADDRESS | meet ADDRESS, without MPI
 *        fixed_addresses all, with MPI (WITH_MPI), 2 ranks or more */
#define _GNU_SOURCE
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <sys/wait.h>
#include <unistd.h>
#ifdef WITH_MPI
#include <mpi.h>
#endif
#include "check.h"

enum { page = 4096, pages = 16, bytes = pages * page };
static const int readable = PROT_READ | PROT_WRITE;
static const int anonymous = MAP_PRIVATE | MAP_ANONYMOUS;
static char in_the_program[4 * page] __attribute__((aligned(4096)));

static char *map(void *at, size_t size, int flags) {
    return mmap(at, size, readable, anonymous | flags, -1, 0);
}

static void fill(char *at, size_t size, int with) {
    memset(at, with, size);
}

static void is_filled(const char *at, size_t size, int with) {
    for (size_t i = 0; i < size; ++i)
        CHECK(at[i] == (char)with);
}

/* To a place of its choice. Not under MPICH on UCX, whose own mremap forgets the place, bare too.
 */
static void *move(char *from, size_t old_size, size_t size, char *to) {
#ifdef WITH_MPI
    CHECK(munmap(to, size) == 0);
    return mremap(from, old_size, size, MREMAP_MAYMOVE);
#else
    return mremap(from, old_size, size, MREMAP_MAYMOVE | MREMAP_FIXED, to);
#endif
}

/* All that a process may do to its own memory. */
static void own(void) {
    char *const all = map(NULL, bytes, 0);
    CHECK(all != MAP_FAILED);
    fill(all, bytes, 1);
    /* In its middle, twice. */
    for (int round = 2; round < 4; ++round) {
        char *const part = all + 4 * page;
        CHECK(map(part, 2 * page, MAP_FIXED) == part);
        is_filled(part, 2 * page, 0);
        fill(part, 2 * page, round);
        is_filled(all, 4 * page, 1);
        is_filled(part + 2 * page, bytes - 6 * page, 1);
    }
    /* A hole, and more than the hole. Another may have it meanwhile. */
    CHECK(munmap(all + 8 * page, 2 * page) == 0);
    char *const filled = map(all + 7 * page, 4 * page, MAP_FIXED);
    CHECK(filled == all + 7 * page || errno == EEXIST);
    is_filled(all + 7 * page, page, filled == MAP_FAILED ? 1 : 0);
    /* Growth of a heap that was reserved, by protection and by mapping. */
    char *const heap = mmap(NULL, bytes, PROT_NONE, anonymous | MAP_NORESERVE, -1, 0);
    CHECK(heap != MAP_FAILED && mprotect(heap, page, readable) == 0);
    CHECK(map(heap, 3 * page, MAP_FIXED) == heap);
    fill(heap, 3 * page, 5);
    /* Moved by mremap, to a place of its choice. */
    char *const small = map(NULL, page, 0);
    fill(small, page, 6);
    char *const moved = move(small, page, 2 * page, heap + 8 * page);
    CHECK(moved != MAP_FAILED);
    is_filled(moved, page, 6);
    char *const grown = mremap(moved, 2 * page, 64 * page, MREMAP_MAYMOVE);
    CHECK(grown != MAP_FAILED && map(grown + 60 * page, page, MAP_FIXED) == grown + 60 * page);
    is_filled(grown, page, 6);
    CHECK(mremap(grown, 64 * page, page, 0) == grown && munmap(grown, page) == 0);
    /* Its program's. */
    fill(in_the_program, sizeof in_the_program, 7);
    CHECK(map(in_the_program + page, page, MAP_FIXED) == in_the_program + page);
    is_filled(in_the_program + page, page, 0);
    is_filled(in_the_program + 2 * page, page, 7);
    /* A file twice in a row: rings are made so. */
    const int file = memfd_create("ring", 0);
    CHECK(file >= 0 && ftruncate(file, page) == 0);
    char *const ring = mmap(NULL, 2 * page, PROT_NONE, anonymous, -1, 0);
    for (int half = 0; half < 2; ++half)
        CHECK(mmap(ring + half * page, page, readable, MAP_SHARED | MAP_FIXED, file, 0) ==
              ring + half * page);
    ring[3] = 8;
    CHECK(ring[page + 3] == 8);
    CHECK(mmap(ring, page, readable, MAP_SHARED_VALIDATE | MAP_FIXED, file, 0) == ring);
    CHECK(ring[3] == 8);
    close(file);
    /* A segment in a place that it has reserved. */
    const int segment = shmget(IPC_PRIVATE, 2 * page, IPC_CREAT | 0600);
    CHECK(segment >= 0);
    char *const attached = shmat(segment, heap + 4 * page, SHM_REMAP);
    CHECK(attached == heap + 4 * page);
    attached[0] = 9;
    char *const elsewhere = shmat(segment, NULL, 0);
    CHECK(elsewhere != MAP_FAILED && elsewhere[0] == 9);
    CHECK(shmctl(segment, IPC_RMID, NULL) == 0);
    CHECK(shmdt(attached) == 0 && shmdt(elsewhere) == 0);
    /* Not the holes: what this rank has mapped since may be there. */
    CHECK(munmap(heap, 4 * page) == 0 && munmap(heap + 6 * page, 2 * page) == 0);
    CHECK(munmap(heap + 10 * page, 6 * page) == 0);
    CHECK(munmap(all, 8 * page) == 0 && munmap(all + 10 * page, 6 * page) == 0);
    CHECK(filled == MAP_FAILED || munmap(all + 8 * page, 2 * page) == 0);
    CHECK(munmap(ring, 2 * page) == 0);
    /* What the kernel refuses it refuses as ever. */
    CHECK(map((void *)(uintptr_t)12345, page, MAP_FIXED) == MAP_FAILED && errno == EINVAL);
    CHECK(mmap(NULL, 0, readable, anonymous, -1, 0) == MAP_FAILED && errno == EINVAL);
    char *const kept = map(NULL, page, 0);
    CHECK(mmap(kept, page, readable, MAP_PRIVATE | MAP_FIXED, -1, 0) == MAP_FAILED &&
          errno == EBADF);
    CHECK(munmap(kept, page) == 0);
}

/* A child's memory is a copy: there it may do anything. */
static void child(void) {
    char *const held = malloc(bytes);
    char *const within = (char *)(((uintptr_t)held + page) & ~(uintptr_t)(page - 1));
    fill(held, bytes, 1);
    const pid_t pid = fork();
    if (pid == 0) {
        CHECK(map(within, page, MAP_FIXED) == within);
        _exit(within[0] == 0 ? 3 : 4);
    }
    int status;
    CHECK(waitpid(pid, &status, 0) == pid && WEXITSTATUS(status) == 3);
    is_filled(held, bytes, 1);
    free(held);
}

static void hold(char *at) {
    CHECK(map(at, bytes, MAP_FIXED) == at);
    fill(at, bytes, 42);
}

/* Another rank has mapped `at`. */
static void meet(char *at) {
    errno = 0;
    CHECK(map(at, bytes, MAP_FIXED) == MAP_FAILED && errno == EEXIST);
    CHECK(map(at + page, page, MAP_FIXED) == MAP_FAILED && errno == EEXIST);
    CHECK(map(at, bytes, MAP_FIXED_NOREPLACE) == MAP_FAILED && errno == EEXIST);
    /* More than it, with memory of one's own beside it: that stays. */
    char *const before = at - 4 * page;
    CHECK(map(before, 2 * page, MAP_FIXED) == before);
    fill(before, 2 * page, 7);
    CHECK(map(before, bytes, MAP_FIXED) == MAP_FAILED && errno == EEXIST);
    is_filled(before, 2 * page, 7);
    CHECK(map(before + 2 * page, 2 * page, MAP_FIXED_NOREPLACE) == before + 2 * page);
    char *const mine = map(NULL, bytes, 0);
    fill(mine, bytes, 8);
    CHECK(mremap(mine, bytes, bytes, MREMAP_MAYMOVE | MREMAP_FIXED, at) == MAP_FAILED &&
          errno == EEXIST);
    is_filled(mine, bytes, 8);
    const int segment = shmget(IPC_PRIVATE, bytes, IPC_CREAT | 0600);
    CHECK(segment >= 0);
    CHECK(shmat(segment, at, SHM_REMAP) == MAP_FAILED && errno == EEXIST);
    CHECK(shmat(segment, at, 0) == MAP_FAILED && errno == EINVAL);
    CHECK(shmctl(segment, IPC_RMID, NULL) == 0);
    /* A wish is none. */
    char *const elsewhere = map(at, bytes, 0);
    CHECK(elsewhere != MAP_FAILED && elsewhere != at);
    CHECK(munmap(elsewhere, bytes) == 0 && munmap(mine, bytes) == 0);
    /* Nor does it go when the rank gives back all around it. */
    CHECK(map(at + bytes, 2 * page, MAP_FIXED) == at + bytes);
    CHECK(munmap(before, 4 * page + bytes + 2 * page) == 0);
    CHECK(map(before, 4 * page, MAP_FIXED_NOREPLACE) == before && munmap(before, 4 * page) == 0);
}

#ifdef WITH_MPI
static int with_mpi(char *at) {
    int rank, size;
    MPI_Init(NULL, NULL); /* MPI libraries change libc's functions for memory */
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    own();
    if (rank == 0)
        hold(at);
    for (int next = 1; next < size; ++next) {
        MPI_Barrier(MPI_COMM_WORLD);
        if (rank == next)
            meet(at);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        is_filled(at, bytes, 42);
    own();
    child();
    MPI_Finalize();
    return 0;
}
#endif

int main(int count, char **words) {
    const char *const what = count > 1 ? words[1] : "";
    char *const at = (char *)(uintptr_t)(count > 2 ? strtoul(words[2], NULL, 0) : 0x123400000000);
#ifdef WITH_MPI
    if (strcmp(what, "all") == 0)
        return with_mpi(at);
#endif
    if (strcmp(what, "own") == 0) {
        for (int round = 0; round < 50; ++round)
            own();
        child();
    } else if (strcmp(what, "hold") == 0) {
        hold(at);
        printf("rank 0 of 1 pid %d\n", (int)getpid());
        fflush(stdout);
        char line[16];
        CHECK(fgets(line, sizeof line, stdin)); /* another has tried */
        is_filled(at, bytes, 42);
    } else if (strcmp(what, "meet") == 0) {
        meet(at);
        own();
    } else {
        return 2;
    }
    return 0;
}
