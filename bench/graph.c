/* SPDX-License-Identifier: Apache-2.0
 *
 * graph.c - an irregular code: three kernels of the kind that the GAP benchmark has, written anew,
 * on a graph of the R-MAT kind (Chakrabarti, Zhan, Faloutsos, 2004), in which few vertices have
 * most of the edges. Vertices keep the generator's order, so work is dense at the low numbers.
 *
 * graph triangles|pagerank|distances static|runtime SCALE ROUNDS: 2^SCALE vertices, 16 edges for
 * each; prints "seconds=MEDIAN checksum=X". static: schedule(static), as most programs have it;
 * runtime: OMP_SCHEDULE's. graph.py compares runtimes. */
#include <omp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    int vertices;
    long *first; /* of each vertex's edges, ascending; one more at the end */
    int *target;
    double *space; /* for two numbers a vertex */
} graph;

#define SCHEDULE static
#define KERNEL(name) name##_static
#include "graph-kernels.h"
#undef SCHEDULE
#undef KERNEL
#define SCHEDULE runtime
#define KERNEL(name) name##_runtime
#include "graph-kernels.h"

enum { edges_of_vertex = 16, most_rounds = 1000 };

static void *memory(size_t count, size_t size) {
    void *found = calloc(count ? count : 1, size);
    if (!found) {
        fprintf(stderr, "graph: no memory\n");
        exit(1);
    }
    return found;
}

/* SplitMix64 (Steele, Lea, Flood, 2014). */
static uint64_t next_random(uint64_t *state) {
    uint64_t z = *state += 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
}

/* In each of `scale` halvings of the matrix a quarter is chosen: 57%, 19%, 19%, 5%. */
static void make_edge(int scale, uint64_t *state, int *from, int *to) {
    *from = *to = 0;
    for (int bit = 0; bit < scale; ++bit) {
        const int percent = (int)(next_random(state) >> 33) % 100;
        *from = *from * 2 + (percent >= 76);
        *to = *to * 2 + ((percent >= 57 && percent < 76) || percent >= 95);
    }
}

static int by_number(const void *a, const void *b) {
    const int x = *(const int *)a, y = *(const int *)b;
    return (x > y) - (x < y);
}

/* Both directions of each edge, without loops and doubles. */
static graph make_graph(int scale) {
    const int vertices = 1 << scale;
    const long edges = (long)vertices * edges_of_vertex;
    graph g = {vertices, memory((size_t)vertices + 1, sizeof(long)),
               memory(2 * (size_t)edges, sizeof(int)),
               memory(2 * (size_t)vertices, sizeof(double))};
    long *end = memory((size_t)vertices + 1, sizeof *end);
    for (int pass = 0; pass < 2; ++pass) {
        uint64_t state = 1;
        for (long e = 0; e < edges; ++e) {
            int from, to;
            make_edge(scale, &state, &from, &to);
            if (from == to)
                continue;
            if (pass == 0) {
                ++g.first[from + 1];
                ++g.first[to + 1];
            } else {
                g.target[end[from]++] = to;
                g.target[end[to]++] = from;
            }
        }
        if (pass == 1)
            break;
        for (int v = 0; v < vertices; ++v) {
            g.first[v + 1] += g.first[v];
            end[v] = g.first[v];
        }
    }
    long kept = 0;
    for (int v = 0; v < vertices; ++v) {
        const long begin = g.first[v];
        qsort(g.target + begin, (size_t)(end[v] - begin), sizeof(int), by_number);
        g.first[v] = kept;
        for (long e = begin; e < end[v]; ++e)
            if (e == begin || g.target[e] != g.target[e - 1])
                g.target[kept++] = g.target[e];
    }
    g.first[vertices] = kept;
    free(end);
    return g;
}

static int by_size(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

int main(int argc, char **argv) {
    static const struct {
        const char *name, *schedule;
        double (*run)(const graph *);
    } kernels[] = {
        {"triangles", "static", triangles_static}, {"triangles", "runtime", triangles_runtime},
        {"pagerank", "static", pagerank_static},   {"pagerank", "runtime", pagerank_runtime},
        {"distances", "static", distances_static}, {"distances", "runtime", distances_runtime}};
    const int scale = argc == 5 ? atoi(argv[3]) : 0, rounds = argc == 5 ? atoi(argv[4]) : 0;
    for (size_t i = 0; i < sizeof kernels / sizeof *kernels; ++i) {
        if (scale < 1 || scale > 26 || rounds < 1 || rounds > most_rounds ||
            strcmp(argv[1], kernels[i].name) != 0 || strcmp(argv[2], kernels[i].schedule) != 0)
            continue;
        const graph g = make_graph(scale);
        double seconds[most_rounds], checksum = kernels[i].run(&g); /* once, to warm up */
        for (int round = 0; round < rounds; ++round) {
            const double begin = omp_get_wtime();
            checksum = kernels[i].run(&g);
            seconds[round] = omp_get_wtime() - begin;
        }
        qsort(seconds, (size_t)rounds, sizeof *seconds, by_size);
        printf("seconds=%.6f checksum=%.9g\n", seconds[rounds / 2], checksum);
        return 0;
    }
    fprintf(stderr, "usage: %s triangles|pagerank|distances static|runtime SCALE ROUNDS\n",
            argv[0]);
    return 2;
}
