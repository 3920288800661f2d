/* SPDX-License-Identifier: Apache-2.0
 * build: if="not tsan" # tasks wait in TSan's own functions
 * test:
 * docs/user/openmp.md, "Blocking calls of libc": tasks that read from a FILE on a pipe or a
 * terminal, run commands and ask for names, on any number of threads: what one waits for, another
 * task of the thread does. Results and errors are those of blocking calls. */
#define _GNU_SOURCE
#include "libc_calls.h"

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

static FILE *in, *out;
static int ends[2];

static void open_streams(void) {
    CHECK_EQ(pipe(ends), 0);
    in = fdopen(ends[0], "r");
    out = fdopen(ends[1], "w");
    CHECK(in && out);
}
static void close_streams(void) {
    CHECK_EQ(fclose(in), 0);
    CHECK_EQ(fclose(out), 0);
}

/* ---- reading ------------------------------------------------------------------------ */

static void put(const char *text) {
    const size_t size = strlen(text);
    CHECK_EQ(write(ends[1], text, size), (ssize_t)size);
}
static void put_line(void) {
    put("one line\n");
}
static void by_fgets(void) {
    char line[32] = "";
    errno = 0;
    CHECK(fgets(line, sizeof line, in) == line);
    CHECK_EQ(strcmp(line, "one line\n"), 0);
    CHECK_EQ(errno, 0);
}
static void by_getline(void) {
    char *line = NULL;
    size_t size = 0;
    CHECK_EQ(getline(&line, &size, in), 9);
    CHECK_EQ(strcmp(line, "one line\n"), 0);
    free(line);
}
static void by_getc(void) {
    for (const char *at = "one line\n"; *at; ++at)
        CHECK_EQ(getc(in), *at);
}
static void by_fread(void) {
    char line[9];
    CHECK_EQ(fread(line, 3, 3, in), 3);
    CHECK_EQ(memcmp(line, "one line\n", 9), 0);
}
static void by_fscanf(void) {
    char one[8], line[8];
    CHECK_EQ(fscanf(in, "%7s%7s", one, line), 2);
    CHECK_EQ(strcmp(one, "one"), 0);
    CHECK_EQ(strcmp(line, "line"), 0);
    CHECK_EQ(fgetc(in), '\n');
}
static void (*const readers[])(void) = {by_fgets, by_getline, by_getc, by_fread, by_fscanf};
enum { kinds = sizeof readers / sizeof *readers };

/* The rest of a line comes when its reader is in the middle of it. */
static void put_halves(void) {
    put("one");
    for (int i = 0; i < 3; ++i)
        usleep(1000);
    put(" line\n");
}
/* In one piece: the next reader finds it in the buffer. */
static void put_many(void) {
    char text[9 * kinds + 1] = "";
    for (int i = 0; i < kinds; ++i)
        strcat(text, "one line\n");
    put(text);
}
static void read_many(void) {
    for (int i = 0; i < kinds; ++i)
        readers[i]();
}

static void reading(void) {
    open_streams();
    for (int i = 0; i < kinds; ++i) {
        one_after_the_other(readers[i], put_line);
        one_after_the_other(readers[i], put_halves);
    }
    one_after_the_other(read_many, put_many);
    CHECK_EQ(setvbuf(in, NULL, _IONBF, 0), 0);
    for (int i = 0; i < kinds; ++i)
        one_after_the_other(readers[i], put_halves);
    close_streams();
}

/* Many tasks read one FILE: each gets a line of its own. */
static void many_readers(void) {
    enum { lines = 40 };
    int seen[lines] = {0};
    open_streams();
#pragma omp parallel
#pragma omp single
    {
        for (int i = 0; i < lines; ++i) {
#pragma omp task shared(seen)
            {
                int number = -1;
                char line[32] = "";
                CHECK(fgets(line, sizeof line, in) == line);
                CHECK_EQ(sscanf(line, "line %d\n", &number), 1);
                CHECK(number >= 0 && number < lines);
#pragma omp atomic
                ++seen[number];
            }
        }
#pragma omp task
        for (int i = 0; i < lines; ++i) {
            char line[32];
            sprintf(line, "line %d\n", i);
            put("line");
            if (i % 8 == 0)
                usleep(100);
            put(line + 4);
        }
    }
    for (int i = 0; i < lines; ++i)
        CHECK_EQ(seen[i], 1);
    close_streams();
}

static void read_end(void) {
    char line[8];
    CHECK(!fgets(line, sizeof line, in));
    CHECK(feof(in) && !ferror(in));
    CHECK_EQ(getc(in), EOF);
}
static void close_writer(void) {
    CHECK_EQ(fclose(out), 0);
}
static void end_of_the_other(void) {
    open_streams();
    one_after_the_other(read_end, close_writer);
    CHECK_EQ(fclose(in), 0);
}

/* fread() asks again after the end, as libc's does: here more has come. */
static void read_after_end(void) {
    char room[8192];
    CHECK_EQ(fread(room, 1, sizeof room, in), 8);
    CHECK(feof(in));
}
static void put_eight(void) {
    put("one line");
    CHECK_EQ(fclose(out), 0);
}
static void whole_datagram(void) {
    static char packet[8192], room[8192];
    int sockets[2];
    CHECK_EQ(socketpair(AF_UNIX, SOCK_DGRAM, 0, sockets), 0);
    memset(packet, 'x', sizeof packet);
    FILE *const stream = fdopen(sockets[0], "r");
#pragma omp parallel
#pragma omp single
    {
#pragma omp task
        CHECK_EQ(fread(room, 1, sizeof room, stream), sizeof room);
#pragma omp task
        CHECK_EQ(write(sockets[1], packet, sizeof packet), (ssize_t)sizeof packet);
    }
    CHECK_EQ(memcmp(packet, room, sizeof room), 0);
    CHECK_EQ(fclose(stream), 0);
    CHECK_EQ(close(sockets[1]), 0);
}

/* A handler ends the calls of tasks whose thread sleeps. */
static volatile int alarms;
static void on_alarm(int signal) {
    (void)signal;
    ++alarms;
}
static void read_interrupted(void) {
    char line[8];
    errno = 0;
    CHECK(!fgets(line, sizeof line, in));
    CHECK_EQ(errno, EINTR);
    CHECK(ferror(in) && !feof(in));
}
static void interrupted(void) {
    open_streams();
    under_alarms(on_alarm, read_interrupted);
    CHECK(alarms > 0);
    close_streams();
}

/* What a task has locked is its thread's, which blocks for the rest of the line. */
static void read_locked(void) {
    flockfile(in);
    by_fgets();
    funlockfile(in);
}
static void locked(void) {
    open_streams();
    put("one");
    const pid_t child = fork();
    if (child == 0) {
        usleep(20000);
        put(" line\n");
        _exit(0);
    }
#pragma omp parallel
#pragma omp single
    {
#pragma omp task
        read_locked();
#pragma omp task
        usleep(1000);
    }
    CHECK_EQ(waitpid(child, NULL, 0), child);
    close_streams();
}

static void non_blocking_read(void) {
    errno = 0;
    CHECK_EQ(fgetc(in), EOF);
    CHECK_EQ(errno, EAGAIN);
    clearerr(in);
}
static void nothing(void) {}
static void non_blocking(void) {
    open_streams();
    CHECK_EQ(fcntl(ends[0], F_SETFL, O_NONBLOCK), 0);
    one_after_the_other(non_blocking_read, nothing);
    close_streams();
}

/* ---- commands and names ------------------------------------------------------------- */

static char command[64];
static void by_system(void) {
    sprintf(command, "exec </proc/self/fd/%d; read x; exit 3", ends[0]);
    const int status = system(command);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 3);
}
static void by_popen(void) {
    sprintf(command, "exec </proc/self/fd/%d; read x; echo $x; exit 4", ends[0]);
    FILE *const process = popen(command, "r");
    char line[32] = "";
    CHECK(process && fgets(line, sizeof line, process) == line);
    CHECK_EQ(strcmp(line, "one line\n"), 0);
    const int status = pclose(process);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 4);
}
static void by_pclose(void) {
    sprintf(command, "exec </proc/self/fd/%d; read x; exit 5", ends[0]);
    FILE *const process = popen(command, "r");
    const int status = pclose(process);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 5);
}
/* A wait for any child does not take the command's end. */
static void wait_for_any(void) {
    errno = 0;
    CHECK_EQ(waitpid(-1, NULL, WNOHANG), 0);
    CHECK_EQ(waitpid(-1, NULL, 0), -1);
    CHECK_EQ(errno, ECHILD);
}
static void let_it_end_and_wait(void) {
    put_line();
    wait_for_any();
}
static void commands(void) {
    open_streams();
    one_after_the_other(by_system, put_line);
    one_after_the_other(by_popen, put_line);
    one_after_the_other(by_pclose, put_line);
    if (omp_get_max_threads() == 1)
        one_after_the_other(by_system, let_it_end_and_wait);
    close_streams();
}

static void ask(void) {
    struct addrinfo hints = {.ai_family = AF_INET, .ai_socktype = SOCK_STREAM}, *found = NULL;
    CHECK_EQ(getaddrinfo("127.0.0.1", NULL, &hints, &found), 0);
    CHECK_EQ(found->ai_family, AF_INET);
    char host[64];
    CHECK_EQ(
        getnameinfo(found->ai_addr, found->ai_addrlen, host, sizeof host, NULL, 0, NI_NUMERICHOST),
        0);
    CHECK_EQ(strcmp(host, "127.0.0.1"), 0);
    freeaddrinfo(found);
    hints.ai_flags = AI_NUMERICHOST;
    CHECK_EQ(getaddrinfo("no number", NULL, &hints, &found), EAI_NONAME);
    char room[1024];
    struct hostent entry, *one = NULL;
    int error = 0;
    CHECK_EQ(gethostbyname_r("127.0.0.1", &entry, room, sizeof room, &one, &error), 0);
    CHECK(one == &entry && entry.h_length == 4);
}

int main(void) {
    reading();
    many_readers();
    end_of_the_other();
    open_streams();
    one_after_the_other(read_after_end, put_eight);
    CHECK_EQ(fclose(in), 0);
    whole_datagram();
    if (omp_get_max_threads() == 1)
        interrupted();
    locked();
    non_blocking();
    commands();
    one_after_the_other(ask, nothing);
    puts("ok");
    return 0;
}
