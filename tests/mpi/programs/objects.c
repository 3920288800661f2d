/* SPDX-License-Identifier: Apache-2.0
 * build: if="not tsan" -- {balance} # a receive waits in TSan's own condition variable
 * test: shape=1x1|2x1|2x2|4x1
 * chaos: number=37
 * split:
 * sennit_balance.h: objects move, with what is under way to them; nothing is lost, nothing comes
 * twice, nothing overtakes; loads are measured; what cannot move stays. */
#define _GNU_SOURCE
#include "check.h"
#include "sennit_balance.h"

#include <math.h>
#include <omp.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { objects = 16, words = 100, tags = 3 };

/* What an object knows of itself, and of the messages of each neighbour. */
typedef struct {
    int number;
    int visits;
    int sent;
    int received[tags];
    int words[words];
} block;

static struct {
    int pack; /* the object whose pack() is to fail; -1: none */
    int unpack;
    int destroyed;
    int slow_us; /* that unpack() sleeps */
} control = {-1, -1, 0, 0};

static size_t size(int object, const void *data, void *argument) {
    CHECK(argument == &control && ((const block *)data)->number == object);
    return sizeof(block);
}
static int pack(int object, const void *data, void *buffer, void *argument) {
    CHECK(argument == &control);
    memcpy(buffer, data, sizeof(block));
    return object == control.pack;
}
static void *unpack(int object, const void *buffer, size_t bytes, void *argument) {
    CHECK(argument == &control && bytes == sizeof(block));
    if (object == control.unpack)
        return NULL;
    if (control.slow_us)
        usleep((useconds_t)control.slow_us);
    block *one = malloc(sizeof *one);
    memcpy(one, buffer, bytes);
    CHECK(one->number == object);
    return one;
}
static void destroy(int object, void *data, void *argument) {
    CHECK(argument == &control && ((block *)data)->number == object);
    ++control.destroyed;
    free(data);
}
static const sennit_object_type type = {size, pack, unpack, destroy, &control};

/* Each on the rank that `first` says. */
static sennit_objects *make(int (*first)(int)) {
    sennit_objects *set = NULL;
    CHECK(sennit_objects_create(MPI_COMM_WORLD, objects, &type, &set) == MPI_SUCCESS);
#pragma omp parallel for
    for (int i = 0; i < objects; ++i) {
        if (first(i) != rank)
            continue;
        block *one = calloc(1, sizeof *one);
        one->number = i;
        for (int k = 0; k < words; ++k)
            one->words[k] = i * words + k;
        CHECK(sennit_objects_add(set, i, one) == MPI_SUCCESS);
        CHECK(sennit_objects_position(set, i, i % 4, i / 4, 0) == MPI_SUCCESS);
    }
    CHECK(sennit_objects_commit(set) == MPI_SUCCESS);
    return set;
}
static int cyclic(int object) {
    return object % ranks;
}
static int all_on_the_first(int object) {
    (void)object;
    return 0;
}

/* Every object is where the table says, whole, and once. */
static void check_all(sennit_objects *set) {
    const int *local;
    const int count = sennit_objects_local(set, &local);
    int here[objects] = {0}, times[objects];
    for (int i = 0; i < count; ++i) {
        const block *one = sennit_object_data(set, local[i]);
        CHECK(one && one->number == local[i] && (i == 0 || local[i - 1] < local[i]));
        for (int k = 0; k < words; ++k)
            CHECK(one->words[k] == local[i] * words + k);
        here[local[i]] = 1;
    }
    for (int i = 0; i < objects; ++i)
        CHECK((sennit_object_rank(set, i) == rank) == here[i] &&
              (sennit_object_data(set, i) != NULL) == here[i]);
    MPI_Allreduce(here, times, objects, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    for (int i = 0; i < objects; ++i)
        CHECK(times[i] == 1);
    CHECK(sennit_object_rank(set, -1) == -1 && sennit_object_rank(set, objects) == -1);
}

/* Each object sends to the next one, and receives from the one before what that one sent three
 * rounds ago: so some messages are always under way while their receiver moves. */
static void moves_with_messages_under_way(int rounds) {
    enum { lag = 3 };
    sennit_objects *set = make(cyclic);
    CHECK(sennit_balance_strategy(set, "rotate") == MPI_SUCCESS);
    for (int round = 0; round < rounds + lag; ++round) {
        const int *local;
        const int count = sennit_objects_local(set, &local);
#pragma omp parallel
#pragma omp single
        for (int i = 0; i < count; ++i) {
#pragma omp task firstprivate(i)
            {
                const int me = local[i];
                block *one = sennit_object_data(set, me);
                if (round < rounds) {
                    const int message[3] = {me, one->sent, one->visits};
                    CHECK(sennit_object_send(set, me, (me + 1) % objects, one->sent % tags, message,
                                             sizeof message) == MPI_SUCCESS);
                    ++one->sent;
                }
                if (round >= lag) {
                    int message[3];
                    sennit_object_status status;
                    const int tag = (round - lag) % tags;
                    CHECK(sennit_object_recv(set, me,
                                             round % 2 ? SENNIT_ANY : (me + objects - 1) % objects,
                                             tag, message, sizeof message, &status) == MPI_SUCCESS);
                    CHECK(status.from == (me + objects - 1) % objects && status.tag == tag &&
                          status.bytes == sizeof message);
                    CHECK(message[0] == status.from && message[1] == round - lag &&
                          message[2] == message[1]);
                    ++one->received[tag];
                }
                ++one->visits;
            }
        }
        sennit_balance_info info;
        CHECK(sennit_balance(set, &info) == MPI_SUCCESS);
        CHECK(info.failed == 0 && info.moved == (ranks > 1 ? objects : 0) && !info.declined);
    }
    check_all(set);
    const int *local;
    const int count = sennit_objects_local(set, &local);
    for (int i = 0; i < count; ++i) {
        const block *one = sennit_object_data(set, local[i]);
        CHECK(one->sent == rounds && one->visits == rounds + lag);
        CHECK(one->received[0] + one->received[1] + one->received[2] == rounds);
    }
    CHECK(sennit_objects_free(&set) == MPI_SUCCESS && !set);
}

/* Several tasks wait for each object before anything is sent: some for whatever comes, some for one
 * tag. Each message ends one wait, and each wait gets a message that it wants. */
static void many_tasks_wait(void) {
    enum { each = 12 };
    sennit_objects *set = make(cyclic);
    const int *local;
    const int count = sennit_objects_local(set, &local);
    int seen[objects][each] = {0};
#pragma omp parallel
#pragma omp single
    {
        for (int i = 0; i < count * each; ++i) {
#pragma omp task firstprivate(i) shared(seen)
            {
                const int me = local[i / each], tag = i % 3;
                int number;
                sennit_object_status status;
                CHECK(sennit_object_recv(set, me, i % 2 ? SENNIT_ANY : (me + 1) % objects, tag,
                                         &number, sizeof number, &status) == MPI_SUCCESS);
                CHECK(status.tag == tag && number % 3 == tag && status.from == (me + 1) % objects);
#pragma omp atomic
                ++seen[me][number];
            }
        }
        MPI_Barrier(MPI_COMM_WORLD);
        for (int number = each - 1; number >= 0; --number)
            for (int i = 0; i < count; ++i)
                CHECK(sennit_object_send(set, local[i], (local[i] + objects - 1) % objects,
                                         number % 3, &number, sizeof number) == MPI_SUCCESS);
    }
    for (int i = 0; i < count; ++i)
        for (int number = 0; number < each; ++number)
            CHECK(seen[local[i]][number] == 1);
    CHECK(sennit_objects_free(&set) == MPI_SUCCESS);
}

/* Each thread has some objects, and waits for one message at a time. So threads take messages for
 * each other, also for the one that waits in MPI. */
static void threads_take_for_each_other(void) {
    enum { rounds = 300 };
    sennit_objects *set = make(cyclic);
    const int *local;
    const int count = sennit_objects_local(set, &local);
#pragma omp parallel
    for (int round = 0; round < rounds; ++round) {
        for (int i = omp_get_thread_num(); i < count; i += omp_get_num_threads()) {
            const int to = (local[i] + 1 + round % (objects - 1)) % objects;
            CHECK(sennit_object_send(set, local[i], to, round, &round, sizeof round) ==
                  MPI_SUCCESS);
        }
        for (int i = omp_get_thread_num(); i < count; i += omp_get_num_threads()) {
            const int from = (local[i] + objects - 1 - round % (objects - 1)) % objects;
            int told = -1;
            CHECK(sennit_object_recv(set, local[i], from, round, &told, sizeof told, NULL) ==
                  MPI_SUCCESS);
            CHECK(told == round);
        }
    }
    CHECK(sennit_objects_free(&set) == MPI_SUCCESS);
}

static void loads_are_balanced(void) {
    sennit_objects *set = make(all_on_the_first);
    const int *local;
    const int count = sennit_objects_local(set, &local);
    CHECK(count == (rank == 0 ? objects : 0));
    for (int i = 0; i < count; ++i)
        CHECK(sennit_object_load(set, local[i], 10) == MPI_SUCCESS);
    sennit_balance_info info;
    CHECK(sennit_balance_strategy(set, "greedy") == MPI_SUCCESS);
    CHECK(sennit_balance(set, &info) == MPI_SUCCESS);
    CHECK(fabs(info.imbalance - (ranks - 1)) < 1e-9 && fabs(info.promised) < 1e-9);
    CHECK(info.moved == objects - objects / ranks &&
          sennit_objects_local(set, NULL) == objects / ranks);
    CHECK(info.bytes == info.moved * (int64_t)sizeof(block) && info.seconds > 0);
    check_all(set);
    /* What would cost more than it gains is left. */
    CHECK(sennit_object_load(set, 0, 1e-9) ==
          (sennit_object_rank(set, 0) == rank ? MPI_SUCCESS : MPI_ERR_ARG));
    CHECK(sennit_balance(set, &info) == MPI_SUCCESS);
    CHECK(info.moved == 0);
    CHECK(sennit_objects_free(&set) == MPI_SUCCESS);
}

/* Balance would be perfect, but a nanosecond of work is not worth a message. Then the work is worth
 * it, and nothing of the refusal is left. */
static void what_does_not_pay_is_declined(void) {
    sennit_objects *set = make(all_on_the_first);
    CHECK(sennit_balance_strategy(set, "greedy") == MPI_SUCCESS);
    for (int round = 0; round < 2; ++round) {
        for (int i = 0; rank == 0 && i < objects; ++i)
            CHECK(sennit_object_load(set, i, round ? 10 : 1e-9) == MPI_SUCCESS);
        sennit_balance_info info;
        CHECK(sennit_balance(set, &info) == MPI_SUCCESS);
        CHECK(fabs(info.imbalance - (ranks - 1)) < 1e-9 && fabs(info.promised) < 1e-9);
        CHECK(!info.declined == (round || ranks == 1));
        CHECK(info.moved == (round ? objects - objects / ranks : 0) && info.failed == 0);
        check_all(set);
    }
    CHECK(sennit_objects_free(&set) == MPI_SUCCESS);
}

/* Rank 0 waits for the others in the first call. That is no cost of moving, so the second call
 * moves work that takes less time than the wait. */
static void a_late_rank_does_not_make_moves_dear(void) {
    sennit_objects *set = make(all_on_the_first);
    CHECK(sennit_balance_strategy(set, "greedy") == MPI_SUCCESS);
    if (rank > 0)
        usleep(300000);
    sennit_balance_info info;
    CHECK(sennit_balance(set, &info) == MPI_SUCCESS && info.moved == 0);
    for (int i = 0; rank == 0 && i < objects; ++i)
        CHECK(sennit_object_load(set, i, 0.002) == MPI_SUCCESS);
    CHECK(sennit_balance(set, &info) == MPI_SUCCESS);
    CHECK(!info.declined && info.moved == objects - objects / ranks);
    check_all(set);
    CHECK(sennit_objects_free(&set) == MPI_SUCCESS);
}

/* Moves took long for a while. Then work is out of balance, and stays so. What is lost by that adds
 * up, so one day things move, and it is seen that moves are cheap again. */
static void dear_moves_do_not_shut_the_gate(void) {
    sennit_objects *set = make(cyclic);
    CHECK(sennit_balance_strategy(set, "rotate") == MPI_SUCCESS);
    control.slow_us = 2000;
    for (int round = 0; round < 16; ++round)
        CHECK(sennit_balance(set, NULL) == MPI_SUCCESS);
    control.slow_us = 0;
    CHECK(sennit_balance_strategy(set, "greedy") == MPI_SUCCESS);
    int moved = 0;
    for (int call = 0; call < 100000 && !moved; ++call) {
        for (int i = 0; i < objects; ++i)
            if (sennit_object_rank(set, i) == rank)
                CHECK(sennit_object_load(set, i, rank == 0 ? 1e-5 : 0) == MPI_SUCCESS);
        sennit_balance_info info;
        CHECK(sennit_balance(set, &info) == MPI_SUCCESS);
        moved = info.moved > 0;
    }
    CHECK(moved || ranks == 1);
    check_all(set);
    CHECK(sennit_objects_free(&set) == MPI_SUCCESS);
}

/* Objects of equal loads are put with whom they talk to, whether they talk by messages or the
 * program says so. Object i talks to the one as far from the end; greedy puts no such two together.
 */
static void talkers_are_together(const char *strategy, int by_messages) {
    sennit_objects *set = make(cyclic);
    CHECK(sennit_balance_strategy(set, strategy) == MPI_SUCCESS);
    static char bytes[100000];
    for (int i = 0; i < objects; ++i) {
        const int other = objects - 1 - i;
        if (sennit_object_rank(set, i) != rank)
            continue;
        CHECK(sennit_object_load(set, i, 10) == MPI_SUCCESS);
        CHECK((by_messages ? sennit_object_send(set, i, other, 0, bytes, sizeof bytes)
                           : sennit_object_traffic(set, i, other, 4000000000u)) == MPI_SUCCESS);
    }
    sennit_balance_info info;
    CHECK(sennit_balance(set, &info) == MPI_SUCCESS);
    CHECK(fabs(info.promised) < 1e-9);
    int apart = 0;
    for (int i = 0; i < objects / 2; ++i)
        apart += sennit_object_rank(set, i) != sennit_object_rank(set, objects - 1 - i);
    const int comm_aware = strcmp(strategy, "greedycomm") == 0;
    CHECK(apart == (comm_aware || ranks == 1 ? 0 : objects / 2));
    CHECK(comm_aware || info.moved == 0);
    /* A period later nobody has said anything, and all stay. */
    CHECK(sennit_balance(set, &info) == MPI_SUCCESS && info.moved == 0);
    check_all(set);
    CHECK(sennit_objects_free(&set) == MPI_SUCCESS);
}

/* A front passes over rows of objects, one row in a period. The row that it will be in next is
 * dealt to all ranks. */
static void a_front_is_followed(void) {
    sennit_objects *set = make(all_on_the_first);
    CHECK(sennit_balance_strategy(set, "follow") == MPI_SUCCESS);
    for (int period = 0; period < 3; ++period) {
        for (int i = 0; i < objects; ++i)
            if (sennit_object_rank(set, i) == rank)
                CHECK(sennit_object_load(set, i, i / 4 == period ? 100 : 1) == MPI_SUCCESS);
        sennit_balance_info info;
        CHECK(sennit_balance(set, &info) == MPI_SUCCESS && !info.declined);
        check_all(set);
        if (period < 2)
            continue; /* nobody knows yet what moves */
        int of_next[objects] = {0};
        for (int i = 4 * (period + 1); i < 4 * (period + 2); ++i)
            ++of_next[sennit_object_rank(set, i)];
        for (int one = 0; one < ranks; ++one)
            CHECK(of_next[one] == 4 / ranks);
    }
    CHECK(sennit_objects_free(&set) == MPI_SUCCESS);
}

static void work_for(double seconds) {
    struct timespec start, now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &start);
    do
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    while ((double)(now.tv_sec - start.tv_sec) + (double)(now.tv_nsec - start.tv_nsec) * 1e-9 <
           seconds);
}

/* Rank 0's objects work four times as long as others. */
static void check_loads(sennit_objects *set) {
    sennit_balance_info info;
    CHECK(sennit_balance(set, &info) == MPI_SUCCESS);
    const double expected = 4. * ranks / (4 + ranks - 1) - 1;
    CHECK(fabs(info.imbalance - expected) < 0.3 * (1 + expected));
    CHECK(info.moved == 0);
}

/* A task that waits for a message works not, though its thread does. */
static void work_is_measured(void) {
    sennit_objects *set = make(cyclic);
    CHECK(sennit_balance_strategy(set, "none") == MPI_SUCCESS);
    const int *local;
    const int count = sennit_objects_local(set, &local);
#pragma omp parallel
#pragma omp single
    {
        for (int i = 0; i < count; ++i) {
#pragma omp task firstprivate(i)
            {
                char byte;
                CHECK(sennit_object_begin(set, local[i]) == MPI_SUCCESS);
                CHECK(sennit_object_recv(set, local[i], local[i], 0, &byte, 1, NULL) ==
                      MPI_SUCCESS);
                work_for(rank == 0 ? 4e-3 : 1e-3);
                CHECK(sennit_object_end(set, local[i]) == MPI_SUCCESS);
            }
        }
        for (int i = 0; i < count; ++i)
            CHECK(sennit_object_send(set, local[i], local[i], 0, "x", 1) == MPI_SUCCESS);
    }
    check_loads(set);
    CHECK(sennit_objects_free(&set) == MPI_SUCCESS);
}

/* What tasks work that an object creates is the object's, though they run when others have begun,
 * or nobody, on any thread, and wait for a message in their middle. */
static void work_of_tasks_is_the_objects(void) {
    const double unit = rank == 0 ? 4e-3 : 1e-3;
    sennit_objects *set = make(cyclic);
    CHECK(sennit_balance_strategy(set, "none") == MPI_SUCCESS);
    const int *local;
    const int count = sennit_objects_local(set, &local);
#pragma omp parallel
#pragma omp single
    {
        for (int i = 0; i < count; ++i) {
            CHECK(sennit_object_begin(set, local[i]) == MPI_SUCCESS);
            for (int half = 0; half < 2; ++half) {
#pragma omp task firstprivate(i, half)
                {
                    char byte;
                    work_for(unit / 4);
                    CHECK(sennit_object_recv(set, local[i], local[i], half, &byte, 1, NULL) ==
                          MPI_SUCCESS);
#pragma omp task
                    work_for(unit / 4);
                }
            }
            CHECK(sennit_object_end(set, local[i]) == MPI_SUCCESS);
        }
        work_for(5e-3); /* no object's */
        for (int i = 0; i < count; ++i)
            for (int half = 0; half < 2; ++half)
                CHECK(sennit_object_send(set, local[i], local[i], half, "x", 1) == MPI_SUCCESS);
    }
    check_loads(set);
    CHECK(sennit_objects_free(&set) == MPI_SUCCESS);
}

/* What the threads of a region work that an object encounters is the object's, not only what its
 * first thread does, and what they wait at its barrier is not. */
static void work_of_regions_is_the_objects(void) {
    sennit_objects *set = make(cyclic);
    CHECK(sennit_balance_strategy(set, "none") == MPI_SUCCESS);
    const int *local;
    const int count = sennit_objects_local(set, &local);
    for (int i = 0; i < count; ++i) {
        CHECK(sennit_object_begin(set, local[i]) == MPI_SUCCESS);
#pragma omp parallel for num_threads(2) schedule(static, 1)
        for (int thread = 0; thread < 2; ++thread)
            work_for(thread == 0 ? 1e-4 : rank == 0 ? 4e-3 : 1e-3);
        CHECK(sennit_object_end(set, local[i]) == MPI_SUCCESS);
    }
    check_loads(set);
    CHECK(sennit_objects_free(&set) == MPI_SUCCESS);
}

/* What this process writes to stderr from here to there. */
static FILE *g_written;
static int g_stderr;

static void begin_listening(void) {
    g_written = tmpfile();
    g_stderr = dup(2);
    CHECK(g_written && g_stderr >= 0 && dup2(fileno(g_written), 2) == 2);
}

static void end_listening(char *text, size_t bytes) {
    CHECK(dup2(g_stderr, 2) == 2 && close(g_stderr) == 0);
    rewind(g_written);
    text[fread(text, 1, bytes - 1, g_written)] = 0;
    fclose(g_written);
}

/* Who fails says so: one line, with the object and where it stays. */
static void check_complaints(const char *text) {
    char packed[100] = "", unpacked[100] = "";
    if (ranks > 1 && rank == 5 % ranks)
        snprintf(packed, sizeof packed,
                 "sennit_balance: object 5 cannot be packed; it stays on rank %d\n", rank);
    if (ranks > 1 && rank == (6 + 1) % ranks)
        snprintf(unpacked, sizeof unpacked,
                 "sennit_balance: object 6 cannot be unpacked on rank %d; it stays on rank %d\n",
                 rank, 6 % ranks);
    int lines = 0;
    for (const char *at = text; (at = strchr(at, '\n')); ++at)
        ++lines;
    CHECK(strstr(text, packed) && strstr(text, unpacked));
    CHECK(lines == (*packed != 0) + (*unpacked != 0));
}

/* An object that cannot be packed, and one that cannot be unpacked: they stay, and with them what
 * they have not received. */
static void what_cannot_move_stays(void) {
    sennit_objects *set = make(cyclic);
    CHECK(sennit_balance_strategy(set, "rotate") == MPI_SUCCESS);
    for (int i = 0; i < objects; ++i)
        if (sennit_object_rank(set, i) == rank)
            CHECK(sennit_object_send(set, i, 5, 7, &i, sizeof i) == MPI_SUCCESS);
    control.pack = 5;
    control.unpack = 6;
    sennit_balance_info info;
    char complaints[1000];
    begin_listening();
    const int code = sennit_balance(set, &info);
    end_listening(complaints, sizeof complaints);
    check_complaints(complaints);
    control.pack = control.unpack = -1;
    if (ranks > 1) {
        CHECK(code == MPI_ERR_OTHER && info.failed == 2 && info.moved == objects - 2);
        CHECK(sennit_object_rank(set, 5) == 5 % ranks && sennit_object_rank(set, 6) == 6 % ranks);
        CHECK(sennit_object_rank(set, 7) == 8 % ranks);
    }
    check_all(set);
    CHECK(sennit_balance(set, &info) == MPI_SUCCESS);
    check_all(set);
    if (sennit_object_rank(set, 5) == rank) {
        int seen[objects] = {0};
        for (int i = 0; i < objects; ++i) {
            int from = -1;
            sennit_object_status status;
            CHECK(sennit_object_recv(set, 5, SENNIT_ANY, SENNIT_ANY, &from, sizeof from, &status) ==
                  MPI_SUCCESS);
            CHECK(status.from == from && status.tag == 7 && !seen[from]++);
        }
    }
    CHECK(sennit_objects_free(&set) == MPI_SUCCESS);
}

static void ranges_of_memory(void) {
    sennit_objects *set = NULL;
    CHECK(sennit_objects_create(MPI_COMM_WORLD, objects, SENNIT_OBJECT_MEMORY, &set) ==
          MPI_SUCCESS);
    for (int i = 0; i < objects; ++i) {
        if (cyclic(i) != rank)
            continue;
        const size_t bytes = 1 + (size_t)i * i * i * 100;
        char *memory = malloc(bytes);
        memset(memory, 'a' + i, bytes);
        CHECK(sennit_objects_add_memory(set, i, memory, bytes) == MPI_SUCCESS);
    }
    CHECK(sennit_objects_commit(set) == MPI_SUCCESS);
    for (int round = 0; round < 5; ++round) {
        CHECK(sennit_balance_strategy(set, round % 2 ? "random" : "rotate") == MPI_SUCCESS);
        CHECK(sennit_balance(set, NULL) == MPI_SUCCESS);
    }
    for (int i = 0; i < objects; ++i) {
        const char *memory = sennit_object_data(set, i);
        for (size_t k = 0; memory && k < 1 + (size_t)i * i * i * 100; ++k)
            CHECK(memory[k] == 'a' + i);
    }
    CHECK(sennit_objects_free(&set) == MPI_SUCCESS);
}

static void mistakes(void) {
    sennit_objects *set = NULL;
    CHECK(sennit_objects_create(MPI_COMM_WORLD, 0, &type, &set) == MPI_ERR_ARG && !set);
    CHECK(sennit_objects_create(MPI_COMM_WORLD, 2, &type, &set) == MPI_SUCCESS);
    CHECK(sennit_balance(set, NULL) == MPI_ERR_ARG);
    block *one = calloc(1, sizeof *one);
    CHECK(sennit_objects_add(set, 2, one) == MPI_ERR_ARG);
    CHECK(sennit_objects_add(set, 0, NULL) == MPI_ERR_ARG);
    CHECK(sennit_objects_position(set, 0, 1, 2, 3) == MPI_ERR_ARG);
    CHECK(sennit_objects_add_memory(set, 0, one, 1) == MPI_ERR_ARG);
    CHECK(sennit_objects_add(set, 0, one) == MPI_SUCCESS); /* on every rank, and 1 on none */
    CHECK(sennit_objects_commit(set) == MPI_ERR_ARG);
    CHECK(sennit_balance_strategy(set, "greedyy") == MPI_ERR_ARG);
    CHECK(sennit_object_traffic(set, 0, 2, 1) == MPI_ERR_ARG);
    CHECK(sennit_object_end(set, 0) == MPI_ERR_ARG);
    CHECK(sennit_objects_free(&set) == MPI_SUCCESS);
    CHECK(sennit_objects_free(&set) == MPI_ERR_ARG);

    set = make(cyclic);
    for (int i = 0; i < objects; ++i) {
        if (sennit_object_rank(set, i) == rank) {
            int value = 1;
            CHECK(sennit_object_send(set, i, i, -1, &value, sizeof value) == MPI_ERR_TAG);
            CHECK(sennit_object_send(set, i, objects, 0, &value, sizeof value) == MPI_ERR_ARG);
            CHECK(sennit_object_send(set, i, i, 0, &value, sizeof value) == MPI_SUCCESS);
            CHECK(sennit_object_recv(set, i, i, 0, &value, 1, NULL) == MPI_ERR_TRUNCATE);
        } else {
            CHECK(sennit_object_begin(set, i) == MPI_ERR_ARG);
        }
    }
    CHECK(sennit_objects_speed(set, 0) == MPI_ERR_ARG);
    CHECK(sennit_objects_free(&set) == MPI_SUCCESS);
}

int main(int argc, char **argv) {
    begin(&argc, &argv);
    const int rounds = argc > 1 ? atoi(argv[1]) : 650; /* x 16 objects: 10,000 moves */
    moves_with_messages_under_way(rounds);
    many_tasks_wait();
    threads_take_for_each_other();
    loads_are_balanced();
    what_does_not_pay_is_declined();
    a_late_rank_does_not_make_moves_dear();
    dear_moves_do_not_shut_the_gate();
    talkers_are_together("greedy", 0);
    talkers_are_together("greedycomm", 0);
    talkers_are_together("greedycomm", 1);
    a_front_is_followed();
    work_is_measured();
    work_of_tasks_is_the_objects();
    work_of_regions_is_the_objects();
    what_cannot_move_stays();
    ranges_of_memory();
    mistakes();
    MPI_Finalize();
    return 0;
}
