/* SPDX-License-Identifier: Apache-2.0
 * Four OpenMP programs that use a machine as four of the NAS benchmarks do, written from their
 * descriptions: what coscheduling.py runs where NPB is not installed.
 *
 *   bt  block-tridiagonal systems of 5 x 5 blocks along the lines of a cube: computes
 *   lu  a wavefront over the diagonals of planes: little work between barriers
 *   ft  Fourier transforms along the three dimensions of a cube, transposed in between: all to all
 *   mg  V-cycles of a 7-point stencil on ever coarser grids: memory, and grids too small for all
 *
 * usage: stand-ins bt|lu|ft|mg SIDE STEPS; prints its time and a checksum. No loop sums over
 * threads, so the checksum is the same for any number of them. ft and mg want a power of two.
 */
#define _GNU_SOURCE
#include <complex.h>
#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { B = 5, LONGEST = 512 };

static int side, steps;

static void *memory(size_t bytes) {
    void *found = calloc(1, bytes);
    if (!found) {
        fprintf(stderr, "stand-ins: no memory for %zu bytes\n", bytes);
        exit(1);
    }
    return found;
}

static double start_value(size_t i) {
    return 1 + (double)(i * 2654435761u % 1000) * 1e-3;
}

static size_t at(int x, int y, int z) {
    return ((size_t)x * (size_t)side + (size_t)y) * (size_t)side + (size_t)z;
}

static double sum_of(const double *values, size_t count) {
    double sum = 0;
    for (size_t i = 0; i < count; ++i)
        sum += values[i];
    return sum;
}

/* ---- bt ----------------------------------------------------------------------------------------
 */

/* x = (4 I + m)^-1 x, nearly: two steps of Jacobi, which is what the blocks cost. */
static void solve_block(const double m[B][B], double x[B]) {
    double y[B], z[B];
    for (int i = 0; i < B; ++i) {
        y[i] = x[i];
        for (int j = 0; j < B; ++j)
            y[i] -= 0.1 * m[i][j] * x[j];
    }
    for (int i = 0; i < B; ++i) {
        z[i] = x[i];
        for (int j = 0; j < B; ++j)
            z[i] -= 0.1 * m[i][j] * y[j];
    }
    for (int i = 0; i < B; ++i)
        x[i] = 0.25 * z[i];
}

/* Forward elimination and back substitution of one line. */
static void solve_line(double *field, size_t first, size_t stride) {
    double before[B] = {0}, matrix[LONGEST][B][B];
    for (int n = 0; n < side; ++n) {
        double *x = field + (first + (size_t)n * stride) * B;
        for (int i = 0; i < B; ++i)
            for (int j = 0; j < B; ++j) {
                double product = i == j;
                for (int k = 0; k < B && n > 0; ++k)
                    product -= 0.05 * matrix[n - 1][i][k] * matrix[n - 1][k][j];
                matrix[n][i][j] = product + 0.01 * x[i];
            }
        for (int i = 0; i < B; ++i)
            x[i] += 0.5 * before[i];
        solve_block((const double(*)[B])matrix[n], x);
        memcpy(before, x, sizeof before);
    }
    for (int n = side - 2; n >= 0; --n) {
        double *x = field + (first + (size_t)n * stride) * B;
        for (int i = 0; i < B; ++i)
            x[i] = 1 + 0.25 * (x[i] - x[i + (int)(stride * B)]);
    }
}

static double bt(void) {
    const size_t count = (size_t)side * (size_t)side * (size_t)side * B;
    double *field = memory(count * sizeof(double));
    for (size_t i = 0; i < count; ++i)
        field[i] = start_value(i);
    for (int step = 0; step < steps; ++step)
        for (int dimension = 0; dimension < 3; ++dimension) {
#pragma omp parallel for collapse(2)
            for (int a = 0; a < side; ++a)
                for (int b = 0; b < side; ++b) {
                    const size_t stride = dimension == 0   ? at(1, 0, 0)
                                          : dimension == 1 ? at(0, 1, 0)
                                                           : 1;
                    solve_line(field,
                               dimension == 0   ? at(0, a, b)
                               : dimension == 1 ? at(a, 0, b)
                                                : at(a, b, 0),
                               stride);
                }
        }
    const double sum = sum_of(field, count);
    free(field);
    return sum;
}

/* ---- lu ----------------------------------------------------------------------------------------
 */

static double lu(void) {
    const size_t count = (size_t)side * (size_t)side * (size_t)side;
    double *field = memory(count * sizeof(double));
    for (size_t i = 0; i < count; ++i)
        field[i] = start_value(i);
    for (int step = 0; step < steps; ++step) {
#pragma omp parallel
        for (int diagonal = 2; diagonal <= 2 * side - 2; ++diagonal) {
            const int least = diagonal < side ? 1 : diagonal - side + 1;
            const int most = diagonal < side ? diagonal - 1 : side - 1;
#pragma omp for schedule(static)
            for (int x = least; x <= most; ++x)
                for (int z = 1; z < side; ++z) {
                    double *here = &field[at(x, diagonal - x, z)];
                    *here = 0.4 * *here + 0.2 * (here[-1] + here[-side] + here[-side * side]);
                }
        }
    }
    const double sum = sum_of(field, count);
    free(field);
    return sum;
}

/* ---- ft ----------------------------------------------------------------------------------------
 */

/* Cooley-Tukey in place; `roots` has e^(-2 pi i n / side). */
static void transform(double complex *line, const double complex *roots) {
    for (int i = 1, j = 0; i < side; ++i) {
        int bit = side >> 1;
        for (; j & bit; bit >>= 1)
            j ^= bit;
        j ^= bit;
        if (i < j) {
            const double complex other = line[i];
            line[i] = line[j];
            line[j] = other;
        }
    }
    for (int length = 2; length <= side; length *= 2)
        for (int first = 0; first < side; first += length)
            for (int n = 0; n < length / 2; ++n) {
                double complex *low = &line[first + n], *high = low + length / 2;
                const double complex product = *high * roots[n * (side / length)];
                *high = *low - product;
                *low += product;
            }
}

static double ft(void) {
    const size_t count = (size_t)side * (size_t)side * (size_t)side;
    double complex *field = memory(count * sizeof *field), *other = memory(count * sizeof *other);
    double complex roots[LONGEST];
    for (int n = 0; n < side; ++n)
        roots[n] = cexp(-2 * 3.14159265358979323846 * I * n / side);
    for (size_t i = 0; i < count; ++i)
        field[i] = start_value(i);
    for (int step = 0; step < steps; ++step)
        for (int dimension = 0; dimension < 3; ++dimension) {
#pragma omp parallel for collapse(2)
            for (int x = 0; x < side; ++x)
                for (int y = 0; y < side; ++y) {
                    transform(&field[at(x, y, 0)], roots);
                    for (int z = 0; z < side; ++z)
                        other[at(z, x, y)] = field[at(x, y, z)] / sqrt(side);
                }
            double complex *const last = field;
            field = other;
            other = last;
        }
    double sum = 0;
    for (size_t i = 0; i < count; ++i)
        sum += cabs(field[i]);
    free(field);
    free(other);
    return sum;
}

/* ---- mg ----------------------------------------------------------------------------------------
 */

static size_t on(int n, int x, int y, int z) {
    return ((size_t)x * (size_t)n + (size_t)y) * (size_t)n + (size_t)z;
}

static void smooth(int n, const double *from, double *to) {
#pragma omp parallel for
    for (int x = 1; x < n - 1; ++x)
        for (int y = 1; y < n - 1; ++y)
            for (int z = 1; z < n - 1; ++z) {
                const double *here = &from[on(n, x, y, z)];
                const size_t row = (size_t)n, plane = row * row;
                to[on(n, x, y, z)] =
                    0.4 * here[0] + 0.1 * (here[-1] + here[1] + *(here - row) + here[row] +
                                           *(here - plane) + here[plane]);
            }
}

/* From the grid of 2n to that of n. */
static void restrict_to(int n, const double *fine, double *coarse) {
#pragma omp parallel for
    for (int x = 0; x < n; ++x)
        for (int y = 0; y < n; ++y)
            for (int z = 0; z < n; ++z)
                coarse[on(n, x, y, z)] = fine[on(2 * n, 2 * x, 2 * y, 2 * z)];
}

static void prolong_from(int n, const double *coarse, double *fine) {
#pragma omp parallel for
    for (int x = 0; x < 2 * n; ++x)
        for (int y = 0; y < 2 * n; ++y)
            for (int z = 0; z < 2 * n; ++z)
                fine[on(2 * n, x, y, z)] =
                    0.9 * fine[on(2 * n, x, y, z)] + 0.1 * coarse[on(n, x / 2, y / 2, z / 2)];
}

static double mg(void) {
    enum { LEVELS = 10, COARSEST = 4 };
    double *grid[LEVELS], *scratch[LEVELS];
    int levels = 0;
    for (int n = side; n >= COARSEST && levels < LEVELS; n /= 2, ++levels) {
        const size_t bytes = on(n, n, 0, 0) * sizeof(double);
        grid[levels] = memory(bytes);
        scratch[levels] = memory(bytes);
    }
    const size_t count = on(side, side, 0, 0);
    for (size_t i = 0; i < count; ++i)
        grid[0][i] = scratch[0][i] = start_value(i);
    for (int step = 0; step < steps; ++step) {
        for (int level = 0; level < levels; ++level) {
            smooth(side >> level, grid[level], scratch[level]);
            if (level + 1 < levels)
                restrict_to(side >> (level + 1), scratch[level], grid[level + 1]);
        }
        for (int level = levels - 1; level >= 0; --level) {
            smooth(side >> level, scratch[level], grid[level]);
            if (level > 0)
                prolong_from(side >> level, grid[level], scratch[level - 1]);
        }
    }
    const double sum = sum_of(grid[0], count);
    for (int level = 0; level < levels; ++level) {
        free(grid[level]);
        free(scratch[level]);
    }
    return sum;
}

int main(int argc, char **argv) {
    static const struct {
        const char *name;
        double (*run)(void);
        int power_of_two;
    } kernels[] = {{"bt", bt, 0}, {"lu", lu, 0}, {"ft", ft, 1}, {"mg", mg, 1}};
    side = argc == 4 ? atoi(argv[2]) : 0;
    steps = argc == 4 ? atoi(argv[3]) : 0;
    for (size_t i = 0; argc == 4 && i < sizeof kernels / sizeof *kernels; ++i) {
        if (strcmp(argv[1], kernels[i].name) != 0 || side < 4 || side > LONGEST || steps < 1 ||
            (kernels[i].power_of_two && (side & (side - 1))))
            continue;
        const double begin = omp_get_wtime(), sum = kernels[i].run();
        printf("%s of %d, %d steps: %.6f s, checksum %a\n", argv[1], side, steps,
               omp_get_wtime() - begin, sum);
        return 0;
    }
    fprintf(stderr,
            "usage: stand-ins bt|lu|ft|mg SIDE STEPS; SIDE is 4 to %d, and for ft and mg a power "
            "of two\n",
            LONGEST);
    return 2;
}
