/* SPDX-License-Identifier: Apache-2.0
 * build: if="not tsan" # tasks wait in TSan's own functions
 * test:
 * docs/user/openmp.md, "Blocking calls of libc": tasks that wait for queues, semaphores, locks on
 * files, several messages and the other end of a named pipe, on any number of threads: what one
 * waits for, another task of the thread does. Results and errors are those of blocking calls. */
#define _GNU_SOURCE
#include "libc_calls.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <mqueue.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/prctl.h>
#include <sys/sem.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static volatile int alarms;
static void on_alarm(int signal) {
    (void)signal;
    ++alarms;
}

/* ---- POSIX message queues ----------------------------------------------------------- */

static mqd_t queue;
static void take(void) {
    char text[8] = "";
    unsigned priority = 0;
    errno = 0;
    CHECK_EQ(mq_receive(queue, text, sizeof text, &priority), 4);
    CHECK_EQ(memcmp(text, "word", 4), 0);
    CHECK_EQ(priority, 3);
}
static void give(void) {
    CHECK_EQ(mq_send(queue, "word", 4, 3), 0);
}
static void give_three(void) {
    for (int i = 0; i < 3; ++i)
        give();
}
static void take_three(void) {
    for (int i = 0; i < 3; ++i)
        take();
}
static struct timespec soon(void) {
    struct timespec time;
    clock_gettime(CLOCK_REALTIME, &time);
    time.tv_nsec += 5000000;
    if (time.tv_nsec >= 1000000000) {
        time.tv_nsec -= 1000000000;
        ++time.tv_sec;
    }
    return time;
}
static void take_late(void) {
    char text[8];
    const struct timespec time = soon(), wrong = {0, -1};
    CHECK_EQ(mq_timedreceive(queue, text, sizeof text, NULL, &time), -1);
    CHECK_EQ(errno, ETIMEDOUT);
    CHECK_EQ(mq_timedreceive(queue, text, sizeof text, NULL, &wrong), -1);
    CHECK_EQ(errno, EINVAL);
    CHECK_EQ(mq_receive(queue, text, 2, NULL), -1);
    CHECK_EQ(errno, EMSGSIZE);
}
static void give_late(void) {
    const struct timespec time = soon();
    give();
    give();
    CHECK_EQ(mq_timedsend(queue, "word", 4, 0, &time), -1);
    CHECK_EQ(errno, ETIMEDOUT);
}
static void take_none(void) {
    char text[8];
    CHECK_EQ(mq_receive(queue, text, sizeof text, NULL), -1);
    CHECK_EQ(errno, EAGAIN);
}
static void take_interrupted(void) {
    char text[8];
    CHECK_EQ(mq_receive(queue, text, sizeof text, NULL), -1);
    CHECK_EQ(errno, EINTR);
}
static void nothing(void) {}
static void message_queues(void) {
    char name[32];
    struct mq_attr shape = {.mq_maxmsg = 2, .mq_msgsize = 8};
    sprintf(name, "/sennit-%d", (int)getpid());
    queue = mq_open(name, O_CREAT | O_RDWR, 0600, &shape);
    if (queue == (mqd_t)-1) {
        printf("no message queues here: %s\n", strerror(errno));
        return;
    }
    CHECK_EQ(mq_unlink(name), 0);
    one_after_the_other(take, give);
    one_after_the_other(give_three, take_three);
    one_after_the_other(take_late, nothing);
    one_after_the_other(give_late, nothing);
    take();
    take();
    if (omp_get_max_threads() == 1)
        under_alarms(on_alarm, take_interrupted);
    shape.mq_flags = O_NONBLOCK;
    CHECK_EQ(mq_setattr(queue, &shape, NULL), 0);
    one_after_the_other(take_none, nothing);
    CHECK_EQ(mq_close(queue), 0);
}

/* ---- System V ------------------------------------------------------------------------ */

struct message {
    long type;
    char text[1024];
};
static int messages, semaphores;
static void receive(void) {
    struct message message;
    CHECK_EQ(msgrcv(messages, &message, sizeof message.text, 7, 0), 4);
    CHECK(message.type == 7 && memcmp(message.text, "word", 4) == 0);
}
static void send_two(void) {
    const struct message message = {8, "word"};
    CHECK_EQ(msgsnd(messages, &message, 4, 0), 0);
    const struct message wanted = {7, "word"};
    CHECK_EQ(msgsnd(messages, &wanted, 4, 0), 0);
}
/* More than a queue holds. */
enum { letters = 40 };
static void send_many(void) {
    const struct message message = {9, "word"};
    for (int i = 0; i < letters; ++i)
        CHECK_EQ(msgsnd(messages, &message, sizeof message.text, 0), 0);
}
static void receive_many(void) {
    struct message message;
    for (int i = 0; i < letters; ++i)
        CHECK_EQ(msgrcv(messages, &message, sizeof message.text, 9, 0), sizeof message.text);
}
/* Of what is removed during the wait. On several threads it may be removed before. */
static int removed(void) {
    return omp_get_num_threads() > 1 && errno == EINVAL ? EINVAL : EIDRM;
}
static void receive_removed(void) {
    struct message message;
    CHECK_EQ(msgrcv(messages, &message, sizeof message.text, 7, 0), -1);
    CHECK_EQ(errno, removed());
}
static void remove_queue(void) {
    CHECK_EQ(msgctl(messages, IPC_RMID, NULL), 0);
}
static void down(void) {
    struct sembuf both[] = {{0, -1, 0}, {1, -2, 0}};
    CHECK_EQ(semop(semaphores, both, 2), 0);
}
static void up(void) {
    struct sembuf one = {0, 1, 0}, two = {1, 2, 0};
    CHECK_EQ(semop(semaphores, &one, 1), 0);
    CHECK_EQ(semop(semaphores, &two, 1), 0);
}
static void down_late(void) {
    const struct timespec time = {0, 5000000};
    struct sembuf one = {0, -1, 0};
    CHECK_EQ(semtimedop(semaphores, &one, 1, &time), -1);
    CHECK_EQ(errno, EAGAIN);
    one.sem_flg = IPC_NOWAIT;
    CHECK_EQ(semop(semaphores, &one, 1), -1);
    CHECK_EQ(errno, EAGAIN);
}
static void down_interrupted(void) {
    struct sembuf one = {0, -1, 0};
    CHECK_EQ(semop(semaphores, &one, 1), -1);
    CHECK_EQ(errno, EINTR);
}
static void await_zero(void) {
    struct sembuf zero = {1, 0, 0};
    CHECK_EQ(semop(semaphores, &zero, 1), 0);
}
/* Who waits for zero goes on, although it is none any more when its thread runs again. */
static void zero_for_an_instant(void) {
    struct sembuf less = {1, -1, 0}, more = {1, 1, 0};
    for (int i = 0; i < 2000 && semctl(semaphores, 1, GETZCNT) == 0; ++i)
        usleep(1000);
    CHECK_EQ(semctl(semaphores, 1, GETZCNT), 1);
    CHECK_EQ(semop(semaphores, &less, 1), 0);
    CHECK_EQ(semop(semaphores, &more, 1), 0);
}
static void down_removed(void) {
    struct sembuf one = {0, -1, 0};
    CHECK_EQ(semop(semaphores, &one, 1), -1);
    CHECK_EQ(errno, removed());
}
static void remove_them(void) {
    CHECK_EQ(semctl(semaphores, 0, IPC_RMID), 0);
}
static void system_v(void) {
    messages = msgget(IPC_PRIVATE, 0600);
    semaphores = semget(IPC_PRIVATE, 2, 0600);
    if (messages < 0 || semaphores < 0) {
        printf("no queues of System V here: %s\n", strerror(errno));
        return;
    }
    one_after_the_other(receive, send_two);
    one_after_the_other(send_many, receive_many);
    one_after_the_other(receive_removed, remove_queue);
    one_after_the_other(down, up);
    one_after_the_other(down_late, nothing);
    if (omp_get_max_threads() == 1)
        under_alarms(on_alarm, down_interrupted);
    struct sembuf more = {1, 1, 0};
    CHECK_EQ(semop(semaphores, &more, 1), 0);
    one_after_the_other(await_zero, zero_for_an_instant);
    one_after_the_other(down_removed, remove_them);
}

/* ---- locks on files ------------------------------------------------------------------ */

static int file, ends[2];
static void by_fcntl(void) {
    struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    CHECK_EQ(fcntl(file, F_SETLKW, &whole), 0);
    whole.l_type = F_UNLCK;
    CHECK_EQ(fcntl(file, F_SETLKW, &whole), 0);
}
static void by_open_file(void) {
    struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    CHECK_EQ(fcntl(file, F_OFD_SETLKW, &whole), 0);
    whole.l_type = F_UNLCK;
    CHECK_EQ(fcntl(file, F_OFD_SETLK, &whole), 0);
}
static void by_lockf(void) {
    CHECK_EQ(lockf(file, F_LOCK, 0), 0);
    CHECK_EQ(lockf(file, F_ULOCK, 0), 0);
}
static void lock_interrupted(void) {
    struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    CHECK_EQ(fcntl(file, F_SETLKW, &whole), -1);
    CHECK_EQ(errno, EINTR);
}
static void let_go(void) {
    CHECK_EQ(write(ends[1], "x", 1), 1);
}
static void held_by_a_child(void (*lock)(void)) {
    int ready[2];
    char byte;
    CHECK_EQ(pipe(ends), 0);
    CHECK_EQ(pipe(ready), 0);
    const pid_t child = fork();
    if (child == 0) {
        if (lockf(file, F_LOCK, 0) == 0 && write(ready[1], "x", 1) == 1)
            _exit(read(ends[0], &byte, 1) != 1);
        _exit(1);
    }
    CHECK_EQ(read(ready[0], &byte, 1), 1);
    if (lock == by_fcntl && omp_get_max_threads() == 1)
        under_alarms(on_alarm, lock_interrupted);
    one_after_the_other(lock, let_go);
    int status = -1;
    CHECK_EQ(waitpid(child, &status, 0), child);
    CHECK_EQ(status, 0);
    for (int i = 0; i < 2; ++i) {
        CHECK_EQ(close(ends[i]), 0);
        CHECK_EQ(close(ready[i]), 0);
    }
}

/* All threads from here on: tries fail with EACCES. So do all calls of flock. */
static void refuse_tries(void) {
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_flock, 3, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_fcntl, 0, 3),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[1])),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, F_SETLK, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EACCES),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
    struct sock_fprog program = {sizeof code / sizeof *code, code};
    CHECK_EQ(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
    CHECK_EQ(syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program), 0);
}
static void lock_refused(void) {
    CHECK_EQ(flock(file, LOCK_EX), -1);
    CHECK_EQ(errno, EACCES);
}
static void by_call_alone(void) {
    by_fcntl();
}

/* ---- several messages, and copies ---------------------------------------------------- */

static int pair[2];
enum { many = 4 };
static void receive_all(void) {
    char text[many][8];
    struct iovec vectors[many];
    struct mmsghdr all[many];
    memset(all, 0, sizeof all);
    for (int i = 0; i < many; ++i) {
        vectors[i] = (struct iovec){text[i], sizeof text[i]};
        all[i].msg_hdr.msg_iov = &vectors[i];
        all[i].msg_hdr.msg_iovlen = 1;
    }
    CHECK_EQ(recvmmsg(pair[0], all, many, 0, NULL), many);
    for (int i = 0; i < many; ++i) {
        CHECK_EQ(all[i].msg_len, i + 1);
        CHECK_EQ(memcmp(text[i], "word", i + 1), 0);
    }
    CHECK_EQ(recvmmsg(pair[0], all, many, MSG_WAITFORONE, NULL), 1);
}
static void send_all(void) {
    struct iovec vectors[many];
    struct mmsghdr all[many];
    memset(all, 0, sizeof all);
    for (int i = 0; i < many; ++i) {
        vectors[i] = (struct iovec){"word", i + 1};
        all[i].msg_hdr.msg_iov = &vectors[i];
        all[i].msg_hdr.msg_iovlen = 1;
    }
    CHECK_EQ(sendmmsg(pair[1], all, 1, 0), 1);
    usleep(1000);
    CHECK_EQ(sendmmsg(pair[1], all + 1, many - 1, 0), many - 1);
    usleep(1000);
    CHECK_EQ(send(pair[1], "last", 4, 0), 4);
}
enum { flood = 2000 };
static void send_flood(void) {
    static char text[1000];
    struct iovec vector = {text, sizeof text};
    static struct mmsghdr all[flood];
    for (int i = 0; i < flood; ++i) {
        all[i].msg_hdr.msg_iov = &vector;
        all[i].msg_hdr.msg_iovlen = 1;
    }
    for (int done = 0; done < flood;) {
        const int sent_now = sendmmsg(pair[1], all + done, flood - done, 0);
        CHECK(sent_now > 0);
        done += sent_now;
    }
}
static void receive_flood(void) {
    char text[1000];
    for (int i = 0; i < flood; ++i)
        CHECK_EQ(recv(pair[0], text, sizeof text, 0), sizeof text);
}

static char path[64], other_path[64];
static void splice_in(void) {
    loff_t to = 0;
    CHECK_EQ(splice(ends[0], NULL, file, &to, 4, 0), 4);
    char text[4];
    struct iovec vector = {text, 4};
    CHECK_EQ(preadv2(file, &vector, 1, 0, 0), 4);
    CHECK_EQ(memcmp(text, "word", 4), 0);
}
static void put_word(void) {
    CHECK_EQ(write(ends[1], "word", 4), 4);
}
/* More than fits into a pipe. */
enum { big = 1 << 18 };
static void send_file(void) {
    off_t from = 0;
    size_t sum = 0;
    CHECK_EQ(posix_fallocate(file, 0, big), 0);
    while (sum < big) {
        const ssize_t moved = sendfile(ends[1], file, &from, big - sum);
        CHECK(moved > 0);
        sum += (size_t)moved;
    }
    CHECK_EQ(from, big);
}
static void drain(void) {
    static char room[big];
    for (size_t sum = 0; sum < big;) {
        const ssize_t got = read(ends[0], room, big - sum);
        CHECK(got > 0);
        sum += (size_t)got;
    }
}
static void on_disk(void) {
    struct iovec vector = {"word", 4};
    off_t from = 0, to = 100;
    CHECK_EQ(pwritev2(file, &vector, 1, 0, RWF_DSYNC), 4);
    const ssize_t moved = copy_file_range(file, &from, file, &to, 4, 0);
    CHECK(moved == 4 || (moved < 0 && (errno == EXDEV || errno == EOPNOTSUPP)));
    CHECK_EQ(sync_file_range(file, 0, 0, SYNC_FILE_RANGE_WRITE), 0);
    CHECK_EQ(posix_fallocate(file, 0, 0), EINVAL);
    CHECK_EQ(fallocate(file, 0, 0, 4096), 0);
    char *const bytes = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    CHECK(bytes != MAP_FAILED);
    bytes[0] = 'W';
    CHECK_EQ(msync(bytes, 4096, MS_SYNC), 0);
    CHECK_EQ(munmap(bytes, 4096), 0);
}
static void read_event(void) {
    eventfd_t value = 0;
    CHECK_EQ(eventfd_read(pair[0], &value), 0);
    CHECK_EQ(value, 5);
}
static void write_event(void) {
    CHECK_EQ(eventfd_write(pair[0], 5), 0);
}

/* ---- a FILE on a named pipe ----------------------------------------------------------- */

static void read_pipe(void) {
    char line[16] = "";
    FILE *const stream = fopen(path, "r");
    CHECK(stream && fgets(line, sizeof line, stream) == line);
    CHECK_EQ(strcmp(line, "one line\n"), 0);
    CHECK(freopen(other_path, "r", stream) == stream);
    CHECK(fgets(line, sizeof line, stream) == line);
    CHECK_EQ(strcmp(line, "another\n"), 0);
    CHECK_EQ(fclose(stream), 0);
}
static void write_pipe(void) {
    FILE *const stream = fopen(path, "w");
    CHECK(stream && fputs("one line\n", stream) >= 0);
    CHECK_EQ(fclose(stream), 0);
    FILE *const another = fopen(other_path, "w");
    CHECK(another && fputs("another\n", another) >= 0);
    CHECK_EQ(fclose(another), 0);
}
static void open_nothing(void) {
    errno = 0;
    CHECK(!fopen("no such file", "r"));
    CHECK_EQ(errno, ENOENT);
}

int main(void) {
    char folder[] = "/tmp/sennit-libc-XXXXXX";
    CHECK(mkdtemp(folder));
    message_queues();
    system_v();

    sprintf(path, "%s/file", folder);
    file = open(path, O_CREAT | O_RDWR, 0600);
    CHECK(file >= 0);
    held_by_a_child(by_fcntl);
    held_by_a_child(by_open_file);
    held_by_a_child(by_lockf);
    CHECK_EQ(pipe(ends), 0);
    one_after_the_other(splice_in, put_word);
    one_after_the_other(send_file, drain);
    one_after_the_other(on_disk, nothing);
    CHECK_EQ(unlink(path), 0);

    CHECK_EQ(socketpair(AF_UNIX, SOCK_DGRAM, 0, pair), 0);
    one_after_the_other(receive_all, send_all);
    one_after_the_other(send_flood, receive_flood);
    CHECK_EQ(close(pair[0]), 0);
    CHECK((pair[0] = eventfd(0, 0)) >= 0);
    one_after_the_other(read_event, write_event);

    sprintf(path, "%s/pipe", folder);
    sprintf(other_path, "%s/other", folder);
    CHECK_EQ(mkfifo(path, 0600), 0);
    CHECK_EQ(mkfifo(other_path, 0600), 0);
    one_after_the_other(read_pipe, write_pipe);
    one_after_the_other(open_nothing, nothing);
    CHECK_EQ(unlink(path), 0);
    CHECK_EQ(unlink(other_path), 0);
    CHECK_EQ(rmdir(folder), 0);

    refuse_tries();
    one_after_the_other(lock_refused, nothing);
    held_by_a_child(by_call_alone);
    puts("ok");
    return 0;
}
