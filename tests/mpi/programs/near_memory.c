/* SPDX-License-Identifier: Apache-2.0
 * build_once: if=loader -fPIE -pie
 * near: mpi.near_memory.{mpi}.virtual how=--virtual -- near
 * near: mpi.near_memory.{mpi}.far how= -- far
 * near: mpi.near_memory.{mpi}.fibers if=x86 how=--virtual=fibers -- near
 * Long messages between virtual ranks are copied without the kernel: they arrive though it refuses
 * to copy between processes. What a message is stays the MPI library's: probes, truncation,
 * cancelled receives, addresses, requests that are started again. And the two calls keep their
 * meaning for whoever else makes them.
 *
 *   near_memory near|far    the ranks are in one address space, or not; two ranks */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

enum { LONGEST = 5 << 20, LONG = 1 << 20 };

/* Of this thread, which makes all calls of MPI. */
static void refuse_copies(void) {
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_process_vm_readv, 1, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_process_vm_writev, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
    struct sock_fprog program = {sizeof code / sizeof *code, code};
    CHECK(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0);
    CHECK(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0);
}

static void messages(void) {
    static unsigned char out[LONGEST], in[LONGEST];
    for (int round = 0; round < 4; ++round)
        for (int length = 1000; length <= LONGEST; length *= 17) {
            for (int i = 0; i < length; ++i)
                out[i] = (unsigned char)(i * 7 + rank + round);
            memset(in, 0, sizeof in);
            MPI_Status status;
            MPI_Sendrecv(out, length, MPI_BYTE, !rank, 0, in, LONGEST, MPI_BYTE, !rank, 0,
                         MPI_COMM_WORLD, &status);
            int got;
            MPI_Get_count(&status, MPI_BYTE, &got);
            CHECK(got == length);
            for (int i = 0; i < length; ++i)
                CHECK(in[i] == (unsigned char)(i * 7 + !rank + round));
            CHECK(length == LONGEST || in[length] == 0);
        }
    /* Every other word of a long one. */
    enum { WORDS = LONGEST / 8 };
    int *const from = (int *)out, *const to = (int *)in;
    for (int i = 0; i < 2 * WORDS; ++i) {
        from[i] = i + rank;
        to[i] = -1;
    }
    MPI_Datatype apart;
    MPI_Type_vector(WORDS, 1, 2, MPI_INT, &apart);
    MPI_Type_commit(&apart);
    MPI_Sendrecv(from, 1, apart, !rank, 1, to, 1, apart, !rank, 1, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    MPI_Type_free(&apart);
    for (int i = 0; i < 2 * WORDS; ++i)
        CHECK(to[i] == (i % 2 == 0 ? i + !rank : -1));
}

/* ---- what a long message is, from rank 0 to rank 1 ----------------------------------------- */

static unsigned char sent[LONG], got[LONG + 1];

static void fill(int seed) {
    for (int i = 0; i < LONG; ++i)
        sent[i] = (unsigned char)(i * 13 + i / 251 + seed);
    memset(got, 0xee, sizeof got);
}

/* `sent` is filled alike by both. */
static void check_got(void) {
    CHECK(memcmp(got, sent, LONG) == 0 && got[LONG] == 0xee);
}

static void probed(void) {
    enum { WAYS = 4 };
    for (int way = 0; way < WAYS; ++way) {
        fill(way);
        if (rank == 0) {
            MPI_Send(sent, LONG, MPI_BYTE, 1, 40 + way, MPI_COMM_WORLD);
            continue;
        }
        MPI_Status status;
        MPI_Message message = MPI_MESSAGE_NULL;
        int flag = 1;
        if (way == 0)
            MPI_Probe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
        else if (way == 1)
            MPI_Mprobe(0, MPI_ANY_TAG, MPI_COMM_WORLD, &message, &status);
        else
            do
                if (way == 2)
                    MPI_Iprobe(0, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, &status);
                else
                    MPI_Improbe(MPI_ANY_SOURCE, 40 + way, MPI_COMM_WORLD, &flag, &message, &status);
            while (!flag);
        int count = 0;
        MPI_Get_count(&status, MPI_BYTE, &count);
        CHECK(count == LONG && status.MPI_SOURCE == 0 && status.MPI_TAG == 40 + way);
        if (message == MPI_MESSAGE_NULL)
            MPI_Recv(got, LONG, MPI_BYTE, 0, 40 + way, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        else
            MPI_Mrecv(got, LONG, MPI_BYTE, &message, MPI_STATUS_IGNORE);
        check_got();
    }
}

/* The receiver hears of it, nothing behind what it has named is touched, and the next message
 * comes. */
static void truncated(void) {
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    fill(1);
    if (rank == 0) {
        MPI_Send(sent, LONG, MPI_BYTE, 1, 0, comm); /* may fail, too */
        MPI_Send(sent, LONG, MPI_BYTE, 1, 1, comm);
    } else {
        int class = MPI_SUCCESS;
        const int error = MPI_Recv(got, LONG / 2, MPI_BYTE, 0, 0, comm, MPI_STATUS_IGNORE);
        MPI_Error_class(error, &class);
        CHECK(class == MPI_ERR_TRUNCATE);
#ifndef OPEN_MPI /* 4.1, bare, lets the kernel copy all that was sent */
        for (int i = LONG / 2; i <= LONG; ++i)
            CHECK(got[i] == 0xee);
#endif
        CHECK(MPI_Recv(got, LONG, MPI_BYTE, 0, 1, comm, MPI_STATUS_IGNORE) == MPI_SUCCESS);
        check_got();
    }
    MPI_Comm_free(&comm);
}

static void cancelled(void) {
    static unsigned char never[LONG];
    fill(2);
    memset(never, 0x11, sizeof never);
    if (rank == 1) {
        MPI_Request request;
        MPI_Status status;
        int flag = 0;
        MPI_Irecv(never, LONG, MPI_BYTE, 0, 50, MPI_COMM_WORLD, &request);
        MPI_Cancel(&request);
        MPI_Wait(&request, &status);
        MPI_Test_cancelled(&status, &flag);
        CHECK(flag);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
        MPI_Send(sent, LONG, MPI_BYTE, 1, 50, MPI_COMM_WORLD);
        return;
    }
    MPI_Recv(got, LONG, MPI_BYTE, 0, 50, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    check_got();
    for (int i = 0; i < LONG; ++i)
        CHECK(never[i] == 0x11);
}

/* Two pieces by their addresses, the second one first. */
static void from_bottom(void) {
    fill(3);
    unsigned char *const base = rank == 0 ? sent : got;
    MPI_Aint addresses[2];
    int lengths[2] = {LONG / 2, LONG / 2};
    MPI_Get_address(base + LONG / 2, &addresses[0]);
    MPI_Get_address(base, &addresses[1]);
    MPI_Datatype pieces;
    MPI_Type_create_hindexed(2, lengths, addresses, MPI_BYTE, &pieces);
    MPI_Type_commit(&pieces);
    if (rank == 0) {
        MPI_Send(MPI_BOTTOM, 1, pieces, 1, 60, MPI_COMM_WORLD);
    } else {
        MPI_Recv(MPI_BOTTOM, 1, pieces, 0, 60, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        check_got();
    }
    MPI_Type_free(&pieces);
}

static void in_place(void) {
    enum { WORDS = LONG / 4 };
    static int words[2 * WORDS];
    for (int i = 0; i < WORDS; ++i)
        words[i] = i * (rank + 1);
    MPI_Allreduce(MPI_IN_PLACE, words, WORDS, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    for (int i = 0; i < WORDS; ++i)
        CHECK(words[i] == 3 * i);
    for (int i = 0; i < WORDS; ++i)
        words[rank * WORDS + i] = i + rank;
    MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, words, WORDS, MPI_INT, MPI_COMM_WORLD);
    for (int i = 0; i < 2 * WORDS; ++i)
        CHECK(words[i] == i % WORDS + i / WORDS);
    for (int i = 0; i < WORDS; ++i)
        words[i] = i ^ rank;
    MPI_Sendrecv_replace(words, WORDS, MPI_INT, !rank, 70, !rank, 70, MPI_COMM_WORLD,
                         MPI_STATUS_IGNORE);
    for (int i = 0; i < WORDS; ++i)
        CHECK(words[i] == (i ^ !rank));
}

static void started_again(void) {
    MPI_Request request;
    if (rank == 0)
        MPI_Send_init(sent, LONG, MPI_BYTE, 1, 80, MPI_COMM_WORLD, &request);
    else
        MPI_Recv_init(got, LONG, MPI_BYTE, 0, 80, MPI_COMM_WORLD, &request);
    for (int i = 0; i < 5; ++i) {
        fill(i);
        MPI_Start(&request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        if (rank == 1)
            check_got();
    }
    MPI_Request_free(&request);
}

static void in_parts(void) {
#if MPI_VERSION >= 4
    enum { PARTS = 4 };
    MPI_Request request;
    if (rank == 0)
        MPI_Psend_init(sent, PARTS, LONG / PARTS, MPI_BYTE, 1, 90, MPI_COMM_WORLD, MPI_INFO_NULL,
                       &request);
    else
        MPI_Precv_init(got, PARTS, LONG / PARTS, MPI_BYTE, 0, 90, MPI_COMM_WORLD, MPI_INFO_NULL,
                       &request);
    for (int i = 0; i < 3; ++i) {
        fill(i);
        MPI_Start(&request);
        for (int part = PARTS - 1; rank == 0 && part >= 0; --part)
            MPI_Pready(part, request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        if (rank == 1)
            check_got();
    }
    MPI_Request_free(&request);
#endif
}

static void meanings(void) {
    probed();
    truncated();
    cancelled();
    from_bottom();
    in_place();
    started_again();
    in_parts();
}

/* ---- the system's calls ---------------------------------------------------------------------- */

static struct iovec piece(void *address, size_t bytes) {
    return (struct iovec){address, bytes};
}

/* Of the other rank. */
static void calls(void) {
    static char mine[64] = "0123456789abcdef", got[64];
    mine[0] = (char)('A' + rank);
    struct {
        long process;
        char *address;
    } own = {getpid(), mine}, other;
    MPI_Sendrecv(&own, sizeof own, MPI_BYTE, !rank, 0, &other, sizeof other, MPI_BYTE, !rank, 0,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    const pid_t process = (pid_t)other.process;
    char first[4] = "", rest[16] = "";
    struct iovec local[] = {piece(first, 3), piece(NULL, 0), piece(rest, 7)};
    struct iovec remote[] = {piece(other.address, 1), piece(other.address + 4, 2),
                             piece(other.address + 10, 6)};
    CHECK(process_vm_readv(process, local, 3, remote, 3, 0) == 9);
    CHECK(first[0] == 'A' + !rank && memcmp(first + 1, "45", 2) == 0);
    CHECK(memcmp(rest, "abcdef", 7) == 0);
    local[0] = piece("written", 8);
    remote[0] = piece(other.address + 32, 32);
    CHECK(process_vm_writev(process, local, 1, remote, 1, 0) == 8);
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK(strcmp(mine + 32, "written") == 0);
    remote[0] = piece(other.address, 1);
    local[0] = piece(got, 1);
    CHECK(process_vm_readv(process, local, 1, remote, 1, 1) == -1 && errno == EINVAL);
    /* Is there memory of one's own? */
    remote[0] = piece((void *)8, 1);
    CHECK(process_vm_readv(getpid(), local, 1, remote, 1, 0) == -1 && errno == EFAULT);
}

/* Its memory is its own, whatever it has inherited. */
static void child_reads_its_parent(void) {
    static volatile char value = 'a';
    int go[2];
    CHECK(pipe(go) == 0);
    const pid_t parent = getpid();
    const pid_t child = fork();
    if (child == 0) {
        char got = 0;
        struct iovec local = piece(&got, 1), remote = piece((void *)&value, 1);
        const int told = read(go[0], &got, 1) == 1;
        _exit(told && process_vm_readv(parent, &local, 1, &remote, 1, 0) == 1 && got == 'b' ? 0
                                                                                            : 1);
    }
    value = 'b';
    CHECK(write(go[1], "", 1) == 1);
    int status = -1;
    CHECK(waitpid(child, &status, 0) == child && status == 0);
    const int gone = process_vm_readv(child, &(struct iovec){&status, 1}, 1,
                                      &(struct iovec){&status, 1}, 1, 0) == -1;
    CHECK(gone && errno == ESRCH);
}

int main(int argc, char **argv) {
    begin(&argc, &argv);
    CHECK(ranks == 2 && argc == 2);
    messages();
    meanings();
    calls();
    child_reads_its_parent();
    if (strcmp(argv[1], "near") == 0)
        refuse_copies();
    messages();
    meanings();
    MPI_Finalize();
    return 0;
}
