/* SPDX-License-Identifier: Apache-2.0
 * Long messages between virtual ranks are copied without the kernel: they arrive though it refuses
 * to copy between processes. And the two calls keep their meaning for whoever else makes them.
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

enum { LONGEST = 5 << 20 };

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
    calls();
    child_reads_its_parent();
    if (strcmp(argv[1], "near") == 0)
        refuse_copies();
    messages();
    MPI_Finalize();
    return 0;
}
