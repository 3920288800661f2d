/* SPDX-License-Identifier: Apache-2.0
 *
 * One run: options, steps, the outcome of all ranks. docs/user/applications.md describes the
 * program.
 */
#include "stencil.h"

#include <mpi.h>
#include <omp.h>
#include <stdio.h>

static void print_result(const struct options *options, int ranks, const struct outcome *all) {
    const double updates = (double)options->rows * options->columns * options->steps;
    printf("stencil %s: %d x %d cells, %d strips, %d steps, %d ranks, %d threads: %.6f s, "
           "%.1f million cells/s, moved %ld, checksum %016llx%s\n",
           options->version->label.name, options->rows, options->columns, options->strips,
           options->steps, ranks, omp_get_max_threads(), all->seconds,
           all->seconds > 0.0 ? updates / all->seconds * 1e-6 : 0.0, all->moved,
           (unsigned long long)all->sum, options->arguments.check ? ", as the exact solution" : "");
}

static int run(const struct options *options, int rank, int provided) {
    int ranks;
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (ranks > 1 && !options->version->ranks) {
        say(rank, "--version %s has one rank, not %d", options->version->label.name, ranks);
        return bad_input;
    }
    if (provided < MPI_THREAD_MULTIPLE) {
        say(rank,
            "this MPI does not provide MPI_THREAD_MULTIPLE, which messages between objects need");
        return not_here;
    }
    struct outcome all = {0};
    options->version->run(options, &all);
    MPI_Allreduce(MPI_IN_PLACE, &all.sum, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
    MPI_Allreduce(MPI_IN_PLACE, &all.error, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    if (!(all.error <= error_limit(options))) {
        say(rank, "the cells differ from the exact solution by %g, at most %g is rounding",
            all.error, error_limit(options));
        return wrong_result;
    }
    if (rank == 0)
        print_result(options, ranks, &all);
    return all_right;
}

const char program_name[] = "stencil";

int main(int argc, char **argv) {
    struct options options;
    read_options(argc, argv, &options);
    return run_program(&argc, &argv, &options.arguments, MPI_THREAD_MULTIPLE, run, &options,
                       print_usage);
}
