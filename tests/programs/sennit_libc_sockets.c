/* SPDX-License-Identifier: Apache-2.0
 * build: if="not tsan" # tasks wait in TSan's own functions
 * test:
 * docs/user/openmp.md, "Blocking calls of libc": tasks that connect to each other, send and
 * receive, on any number of threads. */
#define _GNU_SOURCE
#include "libc_calls.h"
#include "sennit_door.h"
#include <errno.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/un.h>

static int ends[2];

static void open_pair(int type) {
    CHECK_EQ(socketpair(AF_UNIX, type, 0, ends), 0);
}
static void close_pair(void) {
    CHECK_EQ(close(ends[0]), 0);
    CHECK_EQ(close(ends[1]), 0);
}

static void receive(void) {
    char bytes[4] = "";
    CHECK_EQ(recv(ends[0], bytes, sizeof bytes, 0), 2);
    CHECK_EQ(memcmp(bytes, "ab", 2), 0);
}
static void receive_from(void) {
    char bytes[4] = "";
    struct sockaddr_un from;
    socklen_t length = sizeof from;
    CHECK_EQ(recvfrom(ends[0], bytes, sizeof bytes, 0, (struct sockaddr *)&from, &length), 2);
    CHECK(length < sizeof from); /* it has no name */
}
static void receive_by_read(void) {
    char bytes[4] = "";
    CHECK_EQ(read(ends[0], bytes, sizeof bytes), 2);
}
static void receive_message(void) {
    char bytes[2] = "";
    struct iovec vector = {bytes, 1};
    struct msghdr message;
    memset(&message, 0, sizeof message);
    message.msg_iov = &vector;
    message.msg_iovlen = 1;
    CHECK_EQ(recvmsg(ends[0], &message, 0), 1);
    CHECK(message.msg_flags & MSG_TRUNC);
}
static void send_two(void) {
    CHECK_EQ(send(ends[1], "ab", 2, 0), 2);
}
static void packets(void) {
    open_pair(SOCK_DGRAM);
    one_after_the_other(receive, send_two);
    one_after_the_other(receive_from, send_two);
    one_after_the_other(receive_by_read, send_two);
    one_after_the_other(receive_message, send_two);
    close_pair();
}

/* The receiver's queue is full, though the sender's own socket says that it can be written to. */
enum { packets_sent = 400 };
static struct sockaddr_un name;
static const socklen_t name_length = sizeof(sa_family_t) + 7;
static void name_it(char last) {
    memset(&name, 0, sizeof name);
    name.sun_family = AF_UNIX;
    snprintf(name.sun_path + 1, sizeof name.sun_path - 1, "%05d%c", getpid() % 100000, last);
}
static void send_many(void) {
    for (int i = 0; i < packets_sent; ++i)
        CHECK_EQ(sendto(ends[1], &i, sizeof i, 0, (struct sockaddr *)&name, name_length), sizeof i);
}
static void receive_many(void) {
    for (int i = 0; i < packets_sent; ++i) {
        int number = -1;
        CHECK_EQ(recv(ends[0], &number, sizeof number, 0), sizeof number);
        CHECK_EQ(number, i);
    }
}
static void full_receiver(void) {
    name_it('a');
    ends[0] = socket(AF_UNIX, SOCK_DGRAM, 0);
    ends[1] = socket(AF_UNIX, SOCK_DGRAM, 0);
    CHECK_EQ(bind(ends[0], (struct sockaddr *)&name, name_length), 0);
    one_after_the_other(send_many, receive_many);
    close_pair();
}

/* More than a socket holds. */
enum { large = 1 << 21 };
static char sent[large], received[large];

static void send_large(void) {
    CHECK_EQ(send(ends[1], sent, large, 0), large);
}
static void write_large(void) {
    CHECK_EQ(write(ends[1], sent, large), large);
}
static void send_vectors(void) {
    struct iovec pieces[] = {{sent, 1000}, {sent + 1000, large - 1000}};
    struct msghdr message;
    memset(&message, 0, sizeof message);
    message.msg_iov = pieces;
    message.msg_iovlen = 2;
    CHECK_EQ(sendmsg(ends[1], &message, 0), large);
}
static void receive_all(void) {
    CHECK_EQ(recv(ends[0], received, large, MSG_WAITALL), large);
    CHECK_EQ(memcmp(sent, received, large), 0);
    memset(received, 0, large);
}
static void streams(void) {
    for (int i = 0; i < large; ++i)
        sent[i] = (char)(i * 7 + i / 251);
    open_pair(SOCK_STREAM);
    one_after_the_other(receive_all, send_large);
    one_after_the_other(write_large, receive_all);
    one_after_the_other(send_vectors, receive_all);
    close_pair();
}

static void time_out(void) {
    char byte;
    errno = 0;
    CHECK_EQ(recv(ends[0], &byte, 1, 0), -1);
    CHECK_EQ(errno, EAGAIN);
    errno = 0;
    CHECK_EQ(recv(ends[0], &byte, 1, MSG_DONTWAIT), -1);
    CHECK_EQ(errno, EAGAIN);
}
static void look_ahead(void) {
    char bytes[2];
    CHECK_EQ(recv(ends[0], bytes, 2, MSG_PEEK), 2);
}
static void time_limits(void) {
    const struct timeval soon = {0, 10000};
    open_pair(SOCK_STREAM);
    CHECK_EQ(setsockopt(ends[0], SOL_SOCKET, SO_RCVTIMEO, &soon, sizeof soon), 0);
    one_after_the_other(time_out, time_out);
    CHECK_EQ(setsockopt(ends[0], SOL_SOCKET, SO_RCVTIMEO, &(struct timeval){0, 0}, sizeof soon), 0);
    one_after_the_other(look_ahead, send_two);
    close_pair();
}

/* One task accepts, another one connects. */
static int listener;
static struct sockaddr_in address;

static void serve(void) {
    struct sockaddr_in from;
    socklen_t length = sizeof from;
    int served = 0;
    for (int i = 0; i < 3; ++i) {
        const int client = i % 2 ? accept(listener, (struct sockaddr *)&from, &length)
                                 : accept4(listener, NULL, NULL, SOCK_CLOEXEC);
        CHECK(client >= 0);
        char byte = 0;
        CHECK_EQ(recv(client, &byte, 1, 0), 1);
        ++byte;
        CHECK_EQ(send(client, &byte, 1, 0), 1);
        CHECK_EQ(close(client), 0);
        ++served;
    }
    CHECK_EQ(served, 3);
}
static void ask(void) {
    for (int i = 0; i < 3; ++i) {
        const int server = socket(AF_INET, SOCK_STREAM, 0);
        CHECK_EQ(connect(server, (struct sockaddr *)&address, sizeof address), 0);
        char byte = 'a';
        CHECK_EQ(send(server, &byte, 1, 0), 1);
        CHECK_EQ(recv(server, &byte, 1, 0), 1);
        CHECK_EQ(byte, 'b');
        CHECK_EQ(close(server), 0);
    }
}
static void refused(void) {
    const int server = socket(AF_INET, SOCK_STREAM, 0);
    errno = 0;
    CHECK_EQ(connect(server, (struct sockaddr *)&address, sizeof address), -1);
    CHECK_EQ(errno, ECONNREFUSED);
    CHECK_EQ(close(server), 0);
}
static void connections(void) {
    socklen_t length = sizeof address;
    listener = socket(AF_INET, SOCK_STREAM, 0);
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    CHECK_EQ(bind(listener, (struct sockaddr *)&address, sizeof address), 0);
    CHECK_EQ(getsockname(listener, (struct sockaddr *)&address, &length), 0);
    CHECK_EQ(listen(listener, 8), 0);
    one_after_the_other(serve, ask);
    CHECK_EQ(close(listener), 0);
    one_after_the_other(refused, refused);
}

/* The queue of a local socket that nobody has accepted from yet is full. */
static void connect_three(void) {
    for (int i = 0; i < 3; ++i) {
        const int server = socket(AF_UNIX, SOCK_STREAM, 0);
        CHECK_EQ(connect(server, (struct sockaddr *)&name, name_length), 0);
        CHECK_EQ(close(server), 0);
    }
}
static void accept_three(void) {
    for (int i = 0; i < 3; ++i) {
        const int client = accept(listener, NULL, NULL);
        CHECK(client >= 0);
        CHECK_EQ(close(client), 0);
    }
}
static void full_queue(void) {
    name_it('b');
    listener = socket(AF_UNIX, SOCK_STREAM, 0);
    CHECK_EQ(bind(listener, (struct sockaddr *)&name, name_length), 0);
    CHECK_EQ(listen(listener, 0), 0);
    one_after_the_other(connect_three, accept_three);
    CHECK_EQ(close(listener), 0);
}

int main(void) {
    packets();
    full_receiver();
    streams();
    time_limits();
    connections();
    full_queue();
    puts("ok");
    return 0;
}
