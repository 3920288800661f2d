/* SPDX-License-Identifier: Apache-2.0
 * test:
 * LU factorisation of a sparse blocked matrix with dependent tasks (BOTS shape): fill-in blocks are
 * allocated by the creator, the result equals the sequential factorisation bit for bit.
 */
#include "check.h"
#include <string.h>

enum { blocks = 10, block = 12 };
typedef double tile[block][block];

static tile *make(int i, int j) {
    uint64_t random = 1 + (uint64_t)(i * blocks + j);
    tile *t = malloc(sizeof(tile));
    CHECK(t != NULL);
    for (int r = 0; r < block; ++r)
        for (int c = 0; c < block; ++c)
            (*t)[r][c] = (double)(check_random(&random) % 1000) / 1000 +
                         (i == j && r == c ? blocks * block : 0);
    return t;
}

static void factor(tile *d) {
    for (int k = 0; k < block; ++k)
        for (int i = k + 1; i < block; ++i) {
            (*d)[i][k] /= (*d)[k][k];
            for (int j = k + 1; j < block; ++j)
                (*d)[i][j] -= (*d)[i][k] * (*d)[k][j];
        }
}

static void solve_row(const tile *d, tile *b) {
    for (int k = 0; k < block; ++k)
        for (int i = k + 1; i < block; ++i)
            for (int j = 0; j < block; ++j)
                (*b)[i][j] -= (*d)[i][k] * (*b)[k][j];
}

static void solve_column(const tile *d, tile *b) {
    for (int i = 0; i < block; ++i)
        for (int k = 0; k < block; ++k) {
            (*b)[i][k] /= (*d)[k][k];
            for (int j = k + 1; j < block; ++j)
                (*b)[i][j] -= (*b)[i][k] * (*d)[k][j];
        }
}

static void update(const tile *a, const tile *b, tile *c) {
    for (int i = 0; i < block; ++i)
        for (int j = 0; j < block; ++j)
            for (int k = 0; k < block; ++k)
                (*c)[i][j] -= (*a)[i][k] * (*b)[k][j];
}

/* if(parallel) false makes every task undeferred: the sequential program. */
static void sparselu(tile *m[blocks][blocks], int parallel) {
    for (int i = 0; i < blocks; ++i)
        for (int j = 0; j < blocks; ++j)
            m[i][j] = i == j || (i * 7 + j * 3) % 5 < 2 ? make(i, j) : NULL;
#pragma omp parallel if (parallel)
#pragma omp single
    for (int k = 0; k < blocks; ++k) {
#pragma omp task depend(inout : m[k][k]) if (parallel)
        factor(m[k][k]);
        for (int j = k + 1; j < blocks; ++j) {
            if (m[k][j]) {
#pragma omp task depend(in : m[k][k]) depend(inout : m[k][j]) if (parallel)
                solve_row(m[k][k], m[k][j]);
            }
            if (m[j][k]) {
#pragma omp task depend(in : m[k][k]) depend(inout : m[j][k]) if (parallel)
                solve_column(m[k][k], m[j][k]);
            }
        }
        for (int i = k + 1; i < blocks; ++i)
            for (int j = k + 1; j < blocks; ++j)
                if (m[i][k] && m[k][j]) {
                    if (!m[i][j])
                        m[i][j] = calloc(1, sizeof(tile));
#pragma omp task depend(in : m[i][k], m[k][j]) depend(inout : m[i][j]) if (parallel)
                    update(m[i][k], m[k][j], m[i][j]);
                }
    }
}

int main(void) {
    static tile *sequential[blocks][blocks], *tasks[blocks][blocks];
    sparselu(sequential, 0);
    sparselu(tasks, 1);
    for (int i = 0; i < blocks; ++i)
        for (int j = 0; j < blocks; ++j) {
            CHECK_EQ(tasks[i][j] != NULL, sequential[i][j] != NULL);
            CHECK(!tasks[i][j] || memcmp(tasks[i][j], sequential[i][j], sizeof(tile)) == 0);
            free(tasks[i][j]);
            free(sequential[i][j]);
        }
    return 0;
}
