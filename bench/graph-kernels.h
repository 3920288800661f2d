/* SPDX-License-Identifier: Apache-2.0
 *
 * The loops of graph.c, with SCHEDULE for their schedule and KERNEL(name) for their names. Included
 * once for each schedule: how compilers translate a loop depends on it. No include guard. */

/* Triangles, each counted at its least vertex: what two sorted lists have in common. */
static double KERNEL(triangles)(const graph *g) {
    long found = 0;
#pragma omp parallel for schedule(SCHEDULE) reduction(+ : found)
    for (int v = 0; v < g->vertices; ++v)
        for (long e = g->first[v]; e < g->first[v + 1]; ++e) {
            const int other = g->target[e];
            if (other <= v)
                continue;
            long a = e + 1, b = g->first[other];
            while (a < g->first[v + 1] && b < g->first[other + 1]) {
                const int x = g->target[a], y = g->target[b];
                if (x == y)
                    found += y > other;
                a += x <= y;
                b += y <= x;
            }
        }
    return (double)found;
}

/* Ranks of vertices: each pulls from its neighbours. */
static double KERNEL(pagerank)(const graph *g) {
    double *rank = g->space, *share = g->space + g->vertices;
    double sum = 0;
    for (int v = 0; v < g->vertices; ++v)
        rank[v] = 1.0 / g->vertices;
    for (int round = 0; round < 20; ++round) {
        sum = 0;
#pragma omp parallel for schedule(SCHEDULE)
        for (int v = 0; v < g->vertices; ++v) {
            const long degree = g->first[v + 1] - g->first[v];
            share[v] = degree ? rank[v] / (double)degree : 0;
        }
#pragma omp parallel for schedule(SCHEDULE) reduction(+ : sum)
        for (int v = 0; v < g->vertices; ++v) {
            double pulled = 0;
            for (long e = g->first[v]; e < g->first[v + 1]; ++e)
                pulled += share[g->target[e]];
            rank[v] = 0.15 / g->vertices + 0.85 * pulled;
            sum += rank[v];
        }
    }
    return sum;
}

/* Distances from the vertex with the most neighbours, level by level: who has none yet looks for a
 * neighbour of the last level. */
static double KERNEL(distances)(const graph *g) {
    double *level = g->space;
    long reached = 1, sum = 0;
    int start = 0;
    for (int v = 0; v < g->vertices; ++v) {
        level[v] = -1;
        if (g->first[v + 1] - g->first[v] > g->first[start + 1] - g->first[start])
            start = v;
    }
    level[start] = 0;
    for (int depth = 1; reached > 0; ++depth) {
        reached = 0;
#pragma omp parallel for schedule(SCHEDULE) reduction(+ : reached)
        for (int v = 0; v < g->vertices; ++v) {
            if (level[v] != -1)
                continue;
            for (long e = g->first[v]; e < g->first[v + 1]; ++e) {
                double of;
#pragma omp atomic read
                of = level[g->target[e]];
                if (of != depth - 1)
                    continue;
#pragma omp atomic write
                level[v] = depth;
                ++reached;
                break;
            }
        }
        sum += reached * depth;
    }
    return (double)sum;
}
