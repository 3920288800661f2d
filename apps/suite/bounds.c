/* SPDX-License-Identifier: Apache-2.0
 *
 * Bounds that no schedule can beat, from the record of all ranks' tasks. Of each task: its head,
 * the longest path that has to end before it can start, and its tail, the longest path that can
 * only start when it has ended, messages included. Neither needs to know about threads or cards;
 * what these add is in shared_time().
 */
#include "plan.h"

#include <stdlib.h>

struct times {
    double head, duration, tail;
};

struct rank {
    struct plan *plan;
    struct times *times; /* of each node */
    struct table data;
    int next;
};

struct job {
    struct rank *rank;
    int ranks;
    double latency, second_per_byte, eager;
};

/* What passes from a send's call until its message may leave, at the least: a question and its
 * answer. */
static double handshake(const struct job *job, const struct node *node) {
    return node->kind == send_task && node->seconds > job->eager ? 2 * job->latency : 0.0;
}

static void keep_greatest(double *most, double value) {
    if (value > *most)
        *most = value;
}

static struct cell *find_message(struct job *job, struct table *messages, int rank,
                                 const struct node *node) {
    const bool sends = node->kind == send_task;
    const uint64_t from = (uint64_t)(sends ? rank : node->peer);
    const uint64_t to = (uint64_t)(sends ? node->peer : rank);
    const uint64_t ranks = (uint64_t)job->ranks;
    return look_up(messages, ((uint64_t)node->tag * ranks + from) * ranks + to);
}

/* ---- heads: from the first task to the last ---------------------------------------------------
 */

/* Of a datum: when it is written (value[0]) and was last read (value[1]) at the earliest. Of a
 * message: is the time known (value[0]) when it has come (value[1])? False: not yet. */
static bool find_head(struct job *job, int r, struct table *messages) {
    struct rank *rank = &job->rank[r];
    const struct node *node = &rank->plan->node[rank->next];
    const struct access *access = rank->plan->access + node->first;
    struct times *times = &rank->times[rank->next];
    for (int a = 0; a < node->count; ++a) {
        const struct cell *cell = look_up(&rank->data, (uint64_t)access[a].datum);
        keep_greatest(&times->head, cell->value[0]);
        if (access[a].writes)
            keep_greatest(&times->head, cell->value[1]);
    }
    times->duration = node->seconds;
    times->head += handshake(job, node);
    if (node->kind == send_task) {
        times->duration *= job->second_per_byte;
        struct cell *sent = find_message(job, messages, r, node);
        sent->value[0] = 1.0;
        sent->value[1] = times->head + times->duration + job->latency;
    } else if (node->kind == receive_task) {
        const struct cell *sent = find_message(job, messages, r, node);
        if (sent->value[0] == 0.0)
            return false;
        times->duration = 0.0;
        keep_greatest(&times->head, sent->value[1]);
    }
    const double end = times->head + times->duration;
    for (int a = 0; a < node->count; ++a) {
        struct cell *cell = look_up(&rank->data, (uint64_t)access[a].datum);
        if (access[a].writes)
            cell->value[0] = end;
        else
            keep_greatest(&cell->value[1], end);
    }
    ++rank->next;
    return true;
}

/* ---- tails: from the last task to the first ---------------------------------------------------
 */

/* Of a datum: the longest time from the start of a task that follows one which writes it
 * (value[0]), or which reads it (value[1]). Of a message: as above. */
static bool find_tail(struct job *job, int r, struct table *messages) {
    struct rank *rank = &job->rank[r];
    const struct node *node = &rank->plan->node[rank->next - 1];
    const struct access *access = rank->plan->access + node->first;
    struct times *times = &rank->times[rank->next - 1];
    if (node->kind == send_task) {
        const struct cell *received = find_message(job, messages, r, node);
        if (received->value[0] == 0.0)
            return false;
        keep_greatest(&times->tail, job->latency + received->value[1]);
    }
    for (int a = 0; a < node->count; ++a) {
        const struct cell *cell = look_up(&rank->data, (uint64_t)access[a].datum);
        keep_greatest(&times->tail, cell->value[access[a].writes ? 0 : 1]);
    }
    const double rest = handshake(job, node) + times->duration + times->tail;
    if (node->kind == receive_task) {
        struct cell *received = find_message(job, messages, r, node);
        received->value[0] = 1.0;
        received->value[1] = rest;
    }
    for (int a = 0; a < node->count; ++a) {
        struct cell *cell = look_up(&rank->data, (uint64_t)access[a].datum);
        if (access[a].writes)
            cell->value[0] = cell->value[1] = rest;
        else
            keep_greatest(&cell->value[0], rest);
    }
    --rank->next;
    return true;
}

static void find_times(struct job *job) {
    struct table sent = {0}, received = {0};
    for (bool moved = true; moved;) {
        moved = false;
        for (int r = 0; r < job->ranks; ++r)
            while (job->rank[r].next < job->rank[r].plan->nodes && find_head(job, r, &sent))
                moved = true;
    }
    for (int r = 0; r < job->ranks; ++r) {
        free(job->rank[r].data.cell);
        job->rank[r].data = (struct table){0};
    }
    for (bool moved = true; moved;) {
        moved = false;
        for (int r = 0; r < job->ranks; ++r)
            while (job->rank[r].next > 0 && find_tail(job, r, &received))
                moved = true;
    }
    free(sent.cell);
    free(received.cell);
}

/* ---- what tasks share -------------------------------------------------------------------------
 */

static int by_head(const void *left, const void *right) {
    const double a = ((const struct times *)left)->head, b = ((const struct times *)right)->head;
    return (a > b) - (a < b);
}

static int by_tail(const void *left, const void *right) {
    const double a = ((const struct times *)left)->tail, b = ((const struct times *)right)->tail;
    return (a < b) - (a > b);
}

/* Tasks that share `servers`: of any set of them, the time is at least their least head, all their
 * work / servers, and their least tail. The sets that count are those of all with at least some
 * head and at least some tail. Of heads at most a few hundred are tried. */
static double shared_time(struct times *task, int count, int servers) {
    enum { tried = 256 };
    double heads[tried + 1];
    int kinds = 0;
    qsort(task, (size_t)count, sizeof *task, by_head);
    for (int i = 0; i < tried && count > 0; ++i)
        heads[kinds++] = task[(size_t)count * (size_t)i / tried].head;
    qsort(task, (size_t)count, sizeof *task, by_tail);
    double longest = 0.0;
    for (int k = 0; k < kinds; ++k) {
        if (k > 0 && heads[k] == heads[k - 1])
            continue;
        double work = 0.0;
        for (int i = 0; i < count; ++i) {
            if (task[i].head < heads[k])
                continue;
            work += task[i].duration;
            keep_greatest(&longest, heads[k] + work / servers + task[i].tail);
        }
    }
    return longest;
}

/* Of those tasks of a rank that compute, or that send. */
static double rank_time(const struct rank *rank, enum kind kind, int servers, double *work) {
    struct times *some =
        need(calloc((size_t)rank->plan->nodes + 1, sizeof *some), "the bounds of a plan");
    int count = 0;
    *work = 0.0;
    for (int i = 0; i < rank->plan->nodes; ++i) {
        if (rank->plan->node[i].kind != kind)
            continue;
        some[count++] = rank->times[i];
        *work += rank->times[i].duration;
    }
    const double time = shared_time(some, count, servers);
    free(some);
    return time;
}

struct bounds find_bounds(const struct options *options, const struct block_map *map, int threads,
                          walk walk, void *closure) {
    struct job job = {.ranks = map->ranks,
                      .latency = options->latency,
                      .eager = options->eager,
                      .second_per_byte = options->bandwidth > 0 ? 1.0 / options->bandwidth : 0.0};
    job.rank = need(calloc((size_t)map->ranks, sizeof *job.rank), "a plan");
    for (int r = 0; r < map->ranks; ++r) {
        struct block_map theirs = *map;
        theirs.rank = r;
        job.rank[r].plan = record_plan(&theirs, walk, closure);
        job.rank[r].times =
            need(calloc((size_t)job.rank[r].plan->nodes + 1, sizeof(struct times)), "a plan");
    }
    find_times(&job);
    struct bounds bounds = {0};
    for (int r = 0; r < map->ranks; ++r) {
        struct rank *rank = &job.rank[r];
        double work, bytes;
        keep_greatest(&bounds.least, rank_time(rank, compute, threads, &work));
        keep_greatest(&bounds.least, rank_time(rank, send_task, 1, &bytes));
        keep_greatest(&bounds.work, work / threads);
        keep_greatest(&bounds.card, bytes);
        for (int i = 0; i < rank->plan->nodes; ++i)
            keep_greatest(&bounds.path, rank->times[i].head + rank->times[i].duration);
        free_plan(rank->plan);
        free(rank->times);
        free(rank->data.cell);
    }
    keep_greatest(&bounds.least, bounds.path);
    free(job.rank);
    return bounds;
}
