/* SPDX-License-Identifier: Apache-2.0
 *
 * One run: options, the grid's start, iterations with checkpoints between them, what is asked for
 * at the end. docs/user/applications.md describes the program.
 */
#include "gauss_seidel.h"

#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

/* The grid at its start, and how many iterations were made before. */
static int begin(const struct options *options, int rank, struct grid *grid, int *done) {
    *done = 0;
    if (options->restart) {
        const int code = read_checkpoint(options->restart, grid, done);
        if (code || *done <= options->iterations)
            return code;
        say(rank, "%s has %d iterations already, --iterations asks for %d", options->restart, *done,
            options->iterations);
        return bad_input;
    }
    struct sources sources;
    int code = read_sources(options->sources, rank, &sources);
    if (!code)
        code = make_grid(grid, options->rows, options->columns);
    if (!code)
        set_border(grid, &sources);
    free(sources.list);
    return code;
}

/* A block of columns has a tag. */
static int check_tags(const struct grid *grid, int columns) {
    int *most = NULL, known = 0;
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &most, &known);
    const int blocks = (grid->columns + columns - 1) / columns;
    if (blocks - 1 <= (known ? *most : 32767))
        return 0;
    say(grid->rank, "%d blocks in a row need more message tags than this MPI has", blocks);
    return bad_input;
}

/* Returns an exit code; `seconds`: without checkpoints. */
static int iterate(const struct options *options, const struct exchange *exchange,
                   const struct grid *grid, int done, double *seconds) {
    *seconds = 0.0;
    do {
        const int left = options->iterations - done;
        const int now = options->every && options->every < left ? options->every : left;
        MPI_Barrier(MPI_COMM_WORLD);
        const double start = MPI_Wtime();
        options->version->solve(grid, &options->block, exchange, now);
        MPI_Barrier(MPI_COMM_WORLD);
        *seconds += MPI_Wtime() - start;
        done += now;
        const int code =
            options->checkpoint ? write_checkpoint(grid, options->checkpoint, done) : 0;
        if (code)
            return code;
    } while (done < options->iterations);
    return 0;
}

static void print_result(const struct options *options, const struct grid *grid, int iterations,
                         double seconds, uint64_t sum) {
    const double updates = (double)grid->all_rows * grid->columns * iterations;
    printf("gauss-seidel %s: %d x %d cells, blocks of %d x %d, %d iterations, %d ranks, "
           "%d threads: %.6f s, %.1f million cells/s, checksum %016llx%s\n",
           options->version->label.name, grid->all_rows, grid->columns, options->block.rows,
           options->block.columns, iterations, grid->ranks,
           options->version->level == MPI_THREAD_SINGLE ? 1 : omp_get_max_threads(), seconds,
           seconds > 0.0 ? updates / seconds * 1e-6 : 0.0, (unsigned long long)sum,
           options->arguments.check ? ", as the serial solver's" : "");
}

static int run(const struct options *options, int rank, int provided) {
    struct exchange exchange;
    struct grid grid = {.cells = NULL};
    int done = 0;
    double seconds = 0.0;
    int code = begin(options, rank, &grid, &done);
    if (!code)
        code = check_tags(&grid, options->block.columns);
    if (!code)
        code = check_version(options->version, provided, rank, &exchange);
    if (!code) {
        struct serial *serial = options->arguments.check ? remember_start(&grid) : NULL;
        code = iterate(options, &exchange, &grid, done, &seconds);
        if (serial && !same_as_serial(&grid, serial, options->iterations - done) && !code)
            code = wrong_result;
    }
    if (!code && options->picture)
        code = draw(&grid, options->picture);
    if (!code) {
        const uint64_t sum = checksum(&grid);
        if (rank == 0)
            print_result(options, &grid, options->iterations - done, seconds, sum);
    }
    free(grid.cells);
    return code;
}

const char program_name[] = "gauss-seidel";

int main(int argc, char **argv) {
    struct options options;
    read_options(argc, argv, &options);
    const int level = options.version ? level_to_ask(options.version) : MPI_THREAD_SINGLE;
    return run_program(&argc, &argv, &options.arguments, level, run, &options, print_usage);
}
