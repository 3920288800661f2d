/* SPDX-License-Identifier: Apache-2.0
 *
 * The right-looking algorithm, a task for each block operation, a task for each message. A block of
 * L that other ranks need is sent to each of them once; a remote block that we need has a receive
 * buffer of its own for the whole factorization, so no receive waits for a buffer. MPI calls are
 * blocking: a runtime that gives a thread to every blocked receive runs out of threads.
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

struct state {
    const struct block_map *map;
    double **remote; /* receive buffers, by block */
    bool *wanted;    /* scratch: ranks that need a block */
    int failed;      /* order of the first bad minor, 0: none */
    struct counts *counts;
};

/* Which ranks other than the owner use block (i, k) of L? With i == k: the panel below it.
 * Otherwise: the row and the column of the trailing matrix that it updates. */
static void find_users(struct state *state, int i, int k) {
    const struct block_map *map = state->map;
    for (int r = 0; r < map->ranks; ++r)
        state->wanted[r] = false;
    if (i == k) {
        for (int m = k + 1; m < map->blocks; ++m)
            state->wanted[owner(map, m, k)] = true;
    } else {
        for (int j = k + 1; j <= i; ++j)
            state->wanted[owner(map, i, j)] = true;
        for (int m = i; m < map->blocks; ++m)
            state->wanted[owner(map, m, i)] = true;
    }
    state->wanted[owner(map, i, k)] = false;
}

static int size_of(const struct block_map *map, int i, int k) {
    return extent(map, i) * extent(map, k);
}

/* Where block (i, k) of L is on this rank. */
static double *l_block(const struct state *state, int i, int k) {
    const struct block_map *map = state->map;
    return mine(map, i, k) ? block_at(map, i, k)
                           : state->remote[(size_t)i * (size_t)map->blocks + (size_t)k];
}

/* One block, one tag: receives may be posted in any order. main() has made sure that tags go that
 * far. */
static int tag_of(const struct state *state, int i, int k) {
    return k * state->map->blocks + i;
}

static void send_block(struct state *state, int i, int k) {
    find_users(state, i, k);
    const int tag = tag_of(state, i, k), size = size_of(state->map, i, k);
    double *block = l_block(state, i, k);
    for (int rank = 0; rank < state->map->ranks; ++rank) {
        if (!state->wanted[rank])
            continue;
        ++state->counts->send;
#pragma omp task depend(in : block[0]) firstprivate(block, size, rank, tag)
        MPI_Send(block, size, MPI_DOUBLE, rank, tag, MPI_COMM_WORLD);
    }
}

static void receive_block(struct state *state, int i, int k) {
    find_users(state, i, k);
    if (!state->wanted[state->map->rank])
        return;
    const int tag = tag_of(state, i, k), size = size_of(state->map, i, k);
    const int source = owner(state->map, i, k);
    double *block = malloc((size_t)size * sizeof(double));
    if (!block) {
        fprintf(stderr, "cholesky: no memory for a received block of %d numbers\n", size);
        MPI_Abort(MPI_COMM_WORLD, 4);
    }
    state->remote[(size_t)i * (size_t)state->map->blocks + (size_t)k] = block;
    ++state->counts->receive;
#pragma omp task depend(out : block[0]) firstprivate(block, size, source, tag)
    MPI_Recv(block, size, MPI_DOUBLE, source, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void spread_block(struct state *state, int i, int k) {
    if (mine(state->map, i, k))
        send_block(state, i, k);
    else
        receive_block(state, i, k);
}

static void create_tasks(struct state *state) {
    const struct block_map *map = state->map;
    for (int k = 0; k < map->blocks; ++k) {
        const int nk = extent(map, k);
        if (mine(map, k, k)) {
            double *diagonal = block_at(map, k, k);
            ++state->counts->potrf;
#pragma omp task depend(inout : diagonal[0]) firstprivate(diagonal, k, nk)
            {
                int info = 0;
                dpotrf_("L", &nk, diagonal, &nk, &info, 1);
                if (info > 0) {
#pragma omp critical(failed)
                    if (state->failed == 0)
                        state->failed = k * map->block + info;
                }
            }
        }
        spread_block(state, k, k);
        for (int i = k + 1; i < map->blocks; ++i) {
            if (mine(map, i, k)) {
                const int mi = extent(map, i);
                double *diagonal = l_block(state, k, k), *panel = block_at(map, i, k);
                ++state->counts->trsm;
#pragma omp task depend(in : diagonal[0]) depend(inout : panel[0])                                 \
    firstprivate(diagonal, panel, mi, nk)
                dtrsm_("R", "L", "T", "N", &mi, &nk, &one, diagonal, &nk, panel, &mi, 1, 1, 1, 1);
            }
            spread_block(state, i, k);
        }
        for (int i = k + 1; i < map->blocks; ++i) {
            const int mi = extent(map, i);
            for (int j = k + 1; j < i; ++j) {
                if (!mine(map, i, j))
                    continue;
                const int nj = extent(map, j);
                double *left = l_block(state, i, k), *right = l_block(state, j, k);
                double *target = block_at(map, i, j);
                ++state->counts->gemm;
#pragma omp task depend(in : left[0], right[0]) depend(inout : target[0])                          \
    firstprivate(left, right, target, mi, nj, nk)
                dgemm_("N", "T", &mi, &nj, &nk, &minus_one, left, &mi, right, &nj, &one, target,
                       &mi, 1, 1);
            }
            if (mine(map, i, i)) {
                double *left = l_block(state, i, k), *target = block_at(map, i, i);
                ++state->counts->syrk;
#pragma omp task depend(in : left[0]) depend(inout : target[0]) firstprivate(left, target, mi, nk)
                dsyrk_("L", "N", &mi, &nk, &minus_one, left, &mi, &one, target, &mi, 1, 1);
            }
        }
    }
}

int factorize(const struct block_map *map, struct counts *counts) {
    *counts = (struct counts){0};
    const size_t blocks = (size_t)map->blocks * (size_t)map->blocks;
    struct state state = {.map = map, .counts = counts};
    state.remote = calloc(blocks, sizeof(double *));
    state.wanted = calloc((size_t)map->ranks, sizeof(bool));
    if (!state.remote || !state.wanted) {
        fprintf(stderr, "cholesky: no memory for the table of blocks\n");
        MPI_Abort(MPI_COMM_WORLD, 4);
    }
#pragma omp parallel
#pragma omp single
    create_tasks(&state);
    for (size_t k = 0; k < blocks; ++k)
        free(state.remote[k]);
    free(state.remote);
    free(state.wanted);
    return state.failed;
}
