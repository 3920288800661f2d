/* SPDX-License-Identifier: Apache-2.0
 * build: if="not tsan" # tasks wait in TSan's own functions
 * test:
 * docs/user/openmp.md, "Blocking calls of libc": what calls return that libc would not block in
 * either, or that a signal ends, and tasks that want the same connection. Beside each task another
 * one waits, so that its thread has something else to run. */
#define _GNU_SOURCE
#include "libc_calls.h"
#include "sennit_door.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <string.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <termios.h>

static void beside_others(void (*body)(void)) {
#pragma omp parallel
#pragma omp single
    for (int i = 0; i < 2 * omp_get_num_threads(); ++i) {
#pragma omp task
        CHECK_EQ(DOOR(sennit_task_wait_ns)(1000000, NULL), SENNIT_SUCCESS);
        if (i == 0) {
#pragma omp task
            body();
        }
    }
}

/* ---- a file that poll() calls not ready, and that read() does not block on ------------------- */

static int file;

static void read_nothing(void) {
    char byte;
    CHECK_EQ(read(file, &byte, 1), 0);
}

/* Nobody has opened it to write. */
static void named_pipe(void) {
    char folder[] = "/tmp/sennit-edges-XXXXXX", path[64];
    CHECK(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/pipe", folder);
    CHECK_EQ(mkfifo(path, 0600), 0);
    file = open(path, O_RDONLY | O_NONBLOCK);
    CHECK(file >= 0);
    beside_others(read_nothing);
    close(file);
    unlink(path);
    rmdir(folder);
}

/* It gives what there is. */
static void timed_terminal(void) {
    const int master = posix_openpt(O_RDWR | O_NOCTTY);
    if (master < 0)
        return; /* the system has none */
    CHECK_EQ(grantpt(master), 0);
    CHECK_EQ(unlockpt(master), 0);
    file = open(ptsname(master), O_RDWR | O_NOCTTY);
    CHECK(file >= 0);
    struct termios settings;
    CHECK_EQ(tcgetattr(file, &settings), 0);
    cfmakeraw(&settings);
    settings.c_cc[VMIN] = settings.c_cc[VTIME] = 0;
    CHECK_EQ(tcsetattr(file, TCSANOW, &settings), 0);
    beside_others(read_nothing);
    close(file);
    close(master);
}

/* ---- how long the next message is --------------------------------------------------------- */

static int ends[2];

static void ask_for_length(void) {
    CHECK_EQ(recv(ends[0], NULL, 0, MSG_PEEK | MSG_TRUNC), 10);
}

static void truncated(void) {
    CHECK_EQ(socketpair(AF_UNIX, SOCK_DGRAM, 0, ends), 0);
    CHECK_EQ(send(ends[1], "0123456789", 10, 0), 10);
    beside_others(ask_for_length);
    close(ends[0]);
    close(ends[1]);
}

/* ---- select() that a signal ends ------------------------------------------------------------- */

static void on_alarm(int number) {
    (void)number;
}

static void selected(void) {
    fd_set wanted;
    FD_ZERO(&wanted);
    FD_SET(ends[0], &wanted);
    CHECK_EQ(select(ends[0] + 1, &wanted, NULL, NULL, NULL), -1);
    CHECK_EQ(errno, EINTR);
    CHECK(FD_ISSET(ends[0], &wanted)); /* as it was: the program calls again */
}

static void interrupted(void) {
    CHECK_EQ(pipe(ends), 0);
    under_alarms(on_alarm, selected);
    close(ends[0]);
    close(ends[1]);
}

/* ---- more tasks accept than there are connections -------------------------------------------- */

enum { acceptors = 8 };

/* One connection after the other: each answer comes before the next one. */
static void connect_often(const struct sockaddr_in *to) {
    for (int i = 0; i < acceptors; ++i) {
        char byte = (char)i;
        const int connection = socket(AF_INET, SOCK_STREAM, 0);
        CHECK_EQ(connect(connection, (const struct sockaddr *)to, sizeof *to), 0);
        usleep(2000);
        CHECK_EQ(write(connection, &byte, 1), 1);
        CHECK_EQ(read(connection, &byte, 1), 1);
        CHECK_EQ(byte, i + 1);
        close(connection);
    }
}

static void serve(int listener) {
    char byte;
    const int connection = accept(listener, NULL, NULL);
    CHECK(connection >= 0);
    CHECK_EQ(read(connection, &byte, 1), 1);
    ++byte;
    CHECK_EQ(write(connection, &byte, 1), 1);
    close(connection);
}

static void many_accept(void) {
    const int listener = socket(AF_INET, SOCK_STREAM, 0);
    struct sockaddr_in here = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    socklen_t length = sizeof here;
    CHECK_EQ(bind(listener, (struct sockaddr *)&here, sizeof here), 0);
    CHECK_EQ(getsockname(listener, (struct sockaddr *)&here, &length), 0);
    CHECK_EQ(listen(listener, acceptors), 0);
    const pid_t client = fork();
    CHECK(client >= 0);
    if (client == 0) {
        alarm(30);
        connect_often(&here);
        _exit(0);
    }
#pragma omp parallel
#pragma omp single
    for (int i = 0; i < acceptors; ++i) {
#pragma omp task
        serve(listener);
    }
    int status = -1;
    CHECK_EQ(waitpid(client, &status, 0), client);
    CHECK_EQ(status, 0);
    close(listener);
}

int main(void) {
    alarm(60);
    named_pipe();
    timed_terminal();
    truncated();
    many_accept();
    alarm(0);
    interrupted();
    return 0;
}
