/* SPDX-License-Identifier: Apache-2.0
 *
 * The right-looking algorithm, a task for each block operation. A block of L that other ranks need
 * is sent to each of them once. A remote block that we need has a receive buffer of its own for the
 * whole factorization, so no receive waits for a buffer; or, with --buffers, a row of blocks has a
 * few and the diagonal too, which the steps use in turn, as in the program that the papers
 * measured. With blocking receives a runtime that gives a thread to every one runs out of threads.
 */
#include "cholesky.h"

#include <stdio.h>
#include <stdlib.h>

void dpotrf_(const char *uplo, const int *n, double *a, const int *lda, int *info, size_t);
void dtrsm_(const char *side, const char *uplo, const char *trans, const char *diag, const int *m,
            const int *n, const double *alpha, const double *a, const int *lda, double *b,
            const int *ldb, size_t, size_t, size_t, size_t);
void dsyrk_(const char *uplo, const char *trans, const int *n, const int *k, const double *alpha,
            const double *a, const int *lda, const double *beta, double *c, const int *ldc, size_t,
            size_t);
void dgemm_(const char *transa, const char *transb, const int *m, const int *n, const int *k,
            const double *alpha, const double *a, const int *lda, const double *b, const int *ldb,
            const double *beta, double *c, const int *ldc, size_t, size_t);

static const double one = 1.0, minus_one = -1.0;

static struct {
    double **remote; /* receive buffers: [blocks + 1][blocks], the last row for diagonal blocks */
    size_t count;
    int each;   /* of a row; 0: as many as it has blocks */
    int failed; /* order of the first bad minor, 0: none */
} g;

struct walker {
    const struct block_map *map;
    struct exchange *exchange;
    struct plan *plan;
    bool *wanted; /* scratch: ranks that need a block */
};

void begin_factorization(const struct block_map *factorized, int buffers) {
    g.count = (size_t)(factorized->blocks + 1) * (size_t)factorized->blocks;
    g.remote = need(calloc(g.count, sizeof(double *)), "the table of received blocks");
    g.each = buffers;
}

void end_factorization(void) {
    for (size_t k = 0; k < g.count; ++k)
        free(g.remote[k]);
    free(g.remote);
}

int bad_minor(void) {
    const int order = g.failed;
    g.failed = 0;
    return order;
}

/* Which ranks other than the owner use block (i, k) of L? With i == k: the panel below it.
 * Otherwise: the row and the column of the trailing matrix that it updates. */
static void find_users(struct walker *walker, int i, int k) {
    const struct block_map *map = walker->map;
    for (int r = 0; r < map->ranks; ++r)
        walker->wanted[r] = false;
    if (i == k) {
        for (int m = k + 1; m < map->blocks; ++m)
            walker->wanted[owner(map, m, k)] = true;
    } else {
        for (int j = k + 1; j <= i; ++j)
            walker->wanted[owner(map, i, j)] = true;
        for (int m = i; m < map->blocks; ++m)
            walker->wanted[owner(map, m, i)] = true;
    }
    walker->wanted[owner(map, i, k)] = false;
}

/* The number of what block (i, k) is in on this rank: the block itself, or a buffer. */
static long datum(const struct block_map *map, int i, int k) {
    const long own = (long)map->blocks * map->blocks;
    if (mine(map, i, k))
        return (long)i * map->blocks + k;
    const int row = i == k ? map->blocks : i;
    return own + (long)row * map->blocks + (g.each ? k % g.each : k);
}

/* Where block (i, k) of L is on this rank. */
static double *l_block(const struct walker *walker, int i, int k) {
    const struct block_map *map = walker->map;
    if (planning(walker->plan))
        return NULL;
    if (mine(map, i, k))
        return block_at(map, i, k);
    double **buffer = &g.remote[datum(map, i, k) - (long)map->blocks * map->blocks];
    if (!*buffer) {
        const size_t size = (size_t)map->block * (size_t)map->block;
        *buffer = need(malloc(size * sizeof(double)), "a received block");
    }
    return *buffer;
}

/* One block, one tag: receives may be posted in any order. main() has made sure that tags go that
 * far. */
static void spread_block(struct walker *walker, int i, int k) {
    const struct block_map *map = walker->map;
    const int tag = k * map->blocks + i, size = extent(map, i) * extent(map, k);
    const long id = datum(map, i, k);
    find_users(walker, i, k);
    if (mine(map, i, k)) {
        for (int rank = 0; rank < map->ranks; ++rank)
            if (walker->wanted[rank])
                send_data(walker->exchange, walker->plan, id, l_block(walker, i, k), size, rank,
                          tag);
    } else if (walker->wanted[map->rank]) {
        receive_data(walker->exchange, walker->plan, id, l_block(walker, i, k), size,
                     owner(map, i, k), tag);
    }
}

static int note_kernel(const struct walker *walker, enum kernel kernel, int m, int n, int k,
                       long left, long right, long target) {
    const struct access accesses[] = {{target, true}, {left, false}, {right, false}};
    const int count = right >= 0 ? 3 : left >= 0 ? 2 : 1;
    const int priority = note_task(walker->plan, kernel_seconds(kernel, m, n, k), count, accesses);
    if (priority >= 0)
        ++g_counts.kernel[kernel];
    return priority;
}

static void factorize_diagonal(const struct walker *walker, int k) {
    const struct block_map *map = walker->map;
    const int nk = extent(map, k), before = k * map->block;
    const int priority = note_kernel(walker, potrf, nk, nk, nk, -1, -1, datum(map, k, k));
    if (priority < 0)
        return;
    double *diagonal = block_at(map, k, k);
#pragma omp task depend(inout : diagonal[0]) firstprivate(diagonal, before, nk) priority(priority)
    {
        int info = 0;
        if (emulated())
            hold(potrf, nk, nk, nk);
        else
            dpotrf_("L", &nk, diagonal, &nk, &info, 1);
        if (info > 0) {
#pragma omp critical(failed)
            if (g.failed == 0)
                g.failed = before + info;
        }
    }
}

static void solve_panel(const struct walker *walker, int i, int k) {
    const struct block_map *map = walker->map;
    const int mi = extent(map, i), nk = extent(map, k);
    const int priority =
        note_kernel(walker, trsm, mi, nk, nk, datum(map, k, k), -1, datum(map, i, k));
    if (priority < 0)
        return;
    double *diagonal = l_block(walker, k, k), *panel = block_at(map, i, k);
#pragma omp task depend(in : diagonal[0]) depend(inout : panel[0])                                 \
    firstprivate(diagonal, panel, mi, nk) priority(priority)
    {
        if (emulated())
            hold(trsm, mi, nk, nk);
        else
            dtrsm_("R", "L", "T", "N", &mi, &nk, &one, diagonal, &nk, panel, &mi, 1, 1, 1, 1);
    }
}

static void update(const struct walker *walker, int i, int j, int k) {
    const struct block_map *map = walker->map;
    const int mi = extent(map, i), nj = extent(map, j), nk = extent(map, k);
    const int priority =
        note_kernel(walker, gemm, mi, nj, nk, datum(map, i, k), datum(map, j, k), datum(map, i, j));
    if (priority < 0)
        return;
    double *left = l_block(walker, i, k), *right = l_block(walker, j, k);
    double *target = block_at(map, i, j);
#pragma omp task depend(in : left[0], right[0]) depend(inout : target[0])                          \
    firstprivate(left, right, target, mi, nj, nk) priority(priority)
    {
        if (emulated())
            hold(gemm, mi, nj, nk);
        else
            dgemm_("N", "T", &mi, &nj, &nk, &minus_one, left, &mi, right, &nj, &one, target, &mi, 1,
                   1);
    }
}

static void update_diagonal(const struct walker *walker, int i, int k) {
    const struct block_map *map = walker->map;
    const int mi = extent(map, i), nk = extent(map, k);
    const int priority =
        note_kernel(walker, syrk, mi, mi, nk, datum(map, i, k), -1, datum(map, i, i));
    if (priority < 0)
        return;
    double *left = l_block(walker, i, k), *target = block_at(map, i, i);
#pragma omp task depend(in : left[0]) depend(inout : target[0]) firstprivate(left, target, mi, nk) \
    priority(priority)
    {
        if (emulated())
            hold(syrk, mi, mi, nk);
        else
            dsyrk_("L", "N", &mi, &nk, &minus_one, left, &mi, &one, target, &mi, 1, 1);
    }
}

void factorize(void *options, const struct block_map *map, struct exchange *exchange,
               struct plan *plan) {
    (void)options;
    struct walker walker = {map, exchange, plan, NULL};
    walker.wanted = need(calloc((size_t)map->ranks, sizeof(bool)), "a list of ranks");
    for (int k = 0; k < map->blocks; ++k) {
        if (mine(map, k, k))
            factorize_diagonal(&walker, k);
        spread_block(&walker, k, k);
        end_step(exchange);
        for (int i = k + 1; i < map->blocks; ++i) {
            if (mine(map, i, k))
                solve_panel(&walker, i, k);
            spread_block(&walker, i, k);
        }
        end_step(exchange);
        for (int i = k + 1; i < map->blocks; ++i) {
            for (int j = k + 1; j < i; ++j)
                if (mine(map, i, j))
                    update(&walker, i, j, k);
            if (mine(map, i, i))
                update_diagonal(&walker, i, k);
        }
    }
    free(walker.wanted);
}
