/* SPDX-License-Identifier: Apache-2.0
 *
 * Bounds that no schedule can beat, from the graph of all ranks' tasks. Of each task: its head,
 * before which it cannot start, and its tail, which passes at the least after its end. The longest
 * paths say so, messages included; and where much of a rank's work has to come before a task, or
 * after it, that rank's threads. What threads and cards add to heads and tails is in shared_time().
 */
#include "graph.h"

#include <stdlib.h>

static void keep_greatest(double *most, double value) {
    if (value > *most)
        *most = value;
}

static void keep_least(double *least, double value) {
    if (value < *least)
        *least = value;
}

/* ---- heads and tails --------------------------------------------------------------------------
 */

/* Hand on what is known of `first` and of later ones. */
static void spread_heads(struct graph *graph, int first) {
    for (int v = first; v < graph->vertices; ++v) {
        struct vertex *vertex = &graph->vertex[v];
        keep_greatest(&vertex->head, vertex->before);
        for (int e = vertex->first; e < vertex[1].first; ++e) {
            const struct vertex *from = &graph->vertex[graph->from[e]];
            keep_greatest(&vertex->head,
                          from->head + from->duration + edge_time(graph, graph->from[e], v));
        }
    }
}

/* The same of `last` and of earlier ones. */
static void spread_tails(struct graph *graph, int last) {
    for (int v = last; v >= 0; --v) {
        const struct vertex *vertex = &graph->vertex[v];
        for (int e = vertex->first; e < vertex[1].first; ++e)
            keep_greatest(&graph->vertex[graph->from[e]].tail,
                          edge_time(graph, graph->from[e], v) + vertex->duration + vertex->tail);
    }
}

/* Of the tasks that have to come before one, or after it, those that share something: the threads
 * of a rank, or its card. */
struct share {
    int count;
    double work, near, far; /* least distances to it and to the other end of the run */
};

static double least_time(const struct share *share, int servers) {
    return share->count ? share->near + share->work / servers + share->far : 0.0;
}

static void add_to(struct share *shares, const struct vertex *vertex, double near, double far) {
    if (vertex->kind == receive_task)
        return;
    struct share *share = &shares[2 * vertex->rank + (vertex->kind == send_task)];
    if (share->count++ == 0) {
        share->near = near;
        share->far = far;
    }
    share->work += vertex->duration;
    keep_least(&share->near, near);
    keep_least(&share->far, far);
}

static double greatest_time(const struct share *shares, int ranks, int threads) {
    double time = 0.0;
    for (int r = 0; r < ranks; ++r) {
        keep_greatest(&time, least_time(&shares[2 * r], threads));
        keep_greatest(&time, least_time(&shares[2 * r + 1], 1));
    }
    return time;
}

/* Before task `v` can start its predecessors' ranks have to do all that leads to it. `distance` and
 * `shares` are room for them. */
static void raise_head(struct graph *graph, int v, int ranks, int threads, double *distance,
                       struct share *shares) {
    for (int i = 0; i <= v; ++i)
        distance[i] = -1.0;
    for (int r = 0; r < 2 * ranks; ++r)
        shares[r] = (struct share){0};
    for (int i = v; i >= 0; --i) { /* distance: from its end to the start of v */
        const struct vertex *vertex = &graph->vertex[i];
        double rest = 0.0;
        if (i < v) {
            if (distance[i] < 0.0)
                continue;
            add_to(shares, vertex, distance[i], vertex->head);
            rest = vertex->duration + distance[i];
        }
        for (int e = vertex->first; e < vertex[1].first; ++e)
            keep_greatest(&distance[graph->from[e]], edge_time(graph, graph->from[e], i) + rest);
    }
    keep_greatest(&graph->vertex[v].head, greatest_time(shares, ranks, threads));
}

/* The same of what follows it. */
static void raise_tail(struct graph *graph, int v, int ranks, int threads, double *distance,
                       struct share *shares) {
    for (int r = 0; r < 2 * ranks; ++r)
        shares[r] = (struct share){0};
    for (int i = v + 1; i < graph->vertices; ++i) { /* distance: from the end of v to its start */
        const struct vertex *vertex = &graph->vertex[i];
        distance[i] = -1.0;
        for (int e = vertex->first; e < vertex[1].first; ++e) {
            const int from = graph->from[e];
            if (from == v)
                keep_greatest(&distance[i], edge_time(graph, from, i));
            else if (from > v && distance[from] >= 0.0)
                keep_greatest(&distance[i], distance[from] + graph->vertex[from].duration +
                                                edge_time(graph, from, i));
        }
        if (distance[i] >= 0.0)
            add_to(shares, vertex, distance[i], vertex->tail);
    }
    keep_greatest(&graph->vertex[v].tail, greatest_time(shares, ranks, threads));
}

/* Returns the longest path. What ranks add to it, not for all tasks, that would take long: for some
 * of each rank, its first and its last among them. */
static double find_times(struct graph *graph, int ranks, int threads) {
    enum { tried = 128 };
    double *distance = need(malloc(((size_t)graph->vertices + 1) * sizeof *distance), "the bounds");
    struct share *shares = need(malloc(2 * (size_t)ranks * sizeof *shares), "the bounds");
    int *number = need(calloc((size_t)ranks, sizeof *number), "the bounds"); /* of tasks seen */
    int *all = need(calloc((size_t)ranks, sizeof *all), "the bounds");
    for (int v = 0; v < graph->vertices; ++v)
        all[graph->vertex[v].rank] += graph->vertex[v].kind == compute;
    bool *chosen = need(calloc((size_t)graph->vertices + 1, sizeof *chosen), "the bounds");
    for (int v = 0; v < graph->vertices; ++v) {
        const int r = graph->vertex[v].rank;
        if (graph->vertex[v].kind != compute)
            continue;
        const int step = all[r] / (tried / ranks + 1) + 1;
        chosen[v] = number[r] % step == 0 || number[r] == all[r] - 1;
        ++number[r];
    }
    spread_heads(graph, 0);
    spread_tails(graph, graph->vertices - 1);
    double path = 0.0;
    for (int v = 0; v < graph->vertices; ++v)
        keep_greatest(&path, graph->vertex[v].head + graph->vertex[v].duration);
    for (int v = 0; v < graph->vertices; ++v)
        if (chosen[v]) {
            raise_head(graph, v, ranks, threads, distance, shares);
            spread_heads(graph, v);
        }
    for (int v = graph->vertices - 1; v >= 0; --v)
        if (chosen[v]) {
            raise_tail(graph, v, ranks, threads, distance, shares);
            spread_tails(graph, v);
        }
    free(distance);
    free(shares);
    free(number);
    free(all);
    free(chosen);
    return path;
}

/* ---- what tasks share -------------------------------------------------------------------------
 */

struct times {
    double head, duration, tail;
};

static int by_head(const void *left, const void *right) {
    const double a = ((const struct times *)left)->head, b = ((const struct times *)right)->head;
    return (a > b) - (a < b);
}

static int by_tail(const void *left, const void *right) {
    const double a = ((const struct times *)left)->tail, b = ((const struct times *)right)->tail;
    return (a < b) - (a > b);
}

/* The sum of the `servers` least values so far, of which `least` holds those. */
static double add_to_least(double *least, int servers, int seen, double value) {
    int at = seen < servers ? seen : servers - 1;
    if (seen < servers || value < least[at]) {
        for (; at > 0 && least[at - 1] > value; --at)
            least[at] = least[at - 1];
        least[at] = value;
    }
    double sum = 0.0;
    for (int i = 0; i < servers && i <= seen; ++i)
        sum += least[i];
    return sum;
}

/* Tasks that share `servers`: each server's first task of any set of them has a head, its last one
 * a tail. So for a set of at least as many as servers the time is at least: all their work, the
 * least heads, one a server, and the least tails, divided by the servers (Carlier 1987). The sets
 * that count are those of all with at least some head and at least some tail. Of heads at most a
 * few hundred are tried. */
static double shared_time(struct times *task, int count, int servers) {
    enum { tried = 256 };
    double heads[tried + 1];
    int kinds = 0;
    qsort(task, (size_t)count, sizeof *task, by_head);
    for (int i = 0; i < tried && count > 0; ++i)
        heads[kinds++] = task[(size_t)count * (size_t)i / tried].head;
    qsort(task, (size_t)count, sizeof *task, by_tail);
    double *least = need(malloc(2 * (size_t)servers * sizeof *least), "the bounds");
    double longest = 0.0;
    for (int k = 0; k < kinds; ++k) {
        if (k > 0 && heads[k] == heads[k - 1])
            continue;
        double work = 0.0;
        int seen = 0;
        for (int i = 0; i < count; ++i) {
            if (task[i].head < heads[k])
                continue;
            work += task[i].duration;
            const double before = add_to_least(least, servers, seen, task[i].head);
            const double after = add_to_least(least + servers, servers, seen, task[i].tail);
            if (++seen >= servers)
                keep_greatest(&longest, (before + work + after) / servers);
        }
    }
    free(least);
    return longest;
}

/* Of those tasks of a rank that compute, or that send. */
static double rank_time(const struct graph *graph, int rank, enum kind kind, int servers,
                        double *work) {
    struct times *some =
        need(calloc((size_t)graph->vertices + 1, sizeof *some), "the bounds of a plan");
    int count = 0;
    *work = 0.0;
    for (int v = 0; v < graph->vertices; ++v) {
        const struct vertex *vertex = &graph->vertex[v];
        if (vertex->rank != rank || vertex->kind != kind)
            continue;
        some[count++] = (struct times){vertex->head, vertex->duration, vertex->tail};
        *work += vertex->duration;
    }
    const double time = shared_time(some, count, servers);
    free(some);
    return time;
}

struct bounds find_bounds(const struct options *options, const struct block_map *map, int threads,
                          walk walk, void *closure) {
    struct graph graph = make_graph(options, map, walk, closure);
    struct bounds bounds = {.path = find_times(&graph, map->ranks, threads)};
    for (int v = 0; v < graph.vertices; ++v)
        keep_greatest(&bounds.least,
                      graph.vertex[v].head + graph.vertex[v].duration + graph.vertex[v].tail);
    for (int r = 0; r < map->ranks; ++r) {
        double work, bytes;
        keep_greatest(&bounds.least, rank_time(&graph, r, compute, threads, &work));
        keep_greatest(&bounds.least, rank_time(&graph, r, send_task, 1, &bytes));
        keep_greatest(&bounds.work, work / threads);
        keep_greatest(&bounds.card, bytes);
    }
    free_graph(&graph);
    return bounds;
}
