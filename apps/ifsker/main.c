/* SPDX-License-Identifier: Apache-2.0
 *
 * One run: options, the start, steps, checks. docs/user/applications.md describes the program.
 */
#include "ifsker.h"
#include "tampi.h"

#include <omp.h>
#include <stdio.h>

/* Where tasks may not wait in MPI, they would wait for each other. */
static const struct version *possible(const struct version *version, int provided, int rank) {
    if (!version->task_multiple || (provided >= task_multiple_level && can_bind()))
        return version;
    say(rank, "--version %s: no MPI_TASK_MULTIPLE here, so it runs as pure", version->label.name);
    return find_version("pure");
}

static int check_input(const struct options *options, int rank) {
    const struct shape *shape = &options->shape;
    int *most = NULL, known = 0, ranks;
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &most, &known);
    const double points = (double)shape->longitudes * shape->latitudes;
    const double tags = (double)shape->fields * options->pieces;
    if (shape->longitudes < ranks)
        say(rank, "%d longitudes cannot be dealt to %d ranks", shape->longitudes, ranks);
    else if (points > 1 << 30)
        say(rank, "%d x %d points are more than a message can have", shape->longitudes,
            shape->latitudes);
    else if (options->version->task_multiple && tags > (known ? *most : 32767))
        say(rank, "%d pieces of %d fields need more message tags than this MPI has",
            options->pieces, shape->fields);
    else
        return 0;
    return bad_input;
}

static void print_result(const struct options *options, const struct state *state, double seconds,
                         uint64_t sum) {
    const struct shape *shape = &state->shape;
    const double points = (double)shape->longitudes * shape->latitudes * options->steps;
    printf(
        "ifsker %s: %d x %d points, %d fields, %d pieces, %d steps, %d ranks, %d threads: %.6f s, "
        "%.2f million points/s, checksum %016llx%s\n",
        options->version->label.name, shape->longitudes, shape->latitudes, shape->fields,
        options->pieces, options->steps, state->ranks,
        options->version->task_multiple ? omp_get_max_threads() : 1, seconds,
        seconds > 0.0 ? points / seconds * 1e-6 : 0.0, (unsigned long long)sum,
        options->arguments.check ? ", checked" : "");
}

static int run(const struct options *options, int rank, int provided) {
    const int code = check_input(options, rank);
    if (code)
        return code;
    const struct version *version = possible(options->version, provided, rank);
    struct options chosen = *options;
    chosen.version = version;
    struct state state;
    make_state(&state, &options->shape, MPI_COMM_WORLD);
    bool right = !options->arguments.check || comes_back(&state, &chosen, version->way);
    struct start *start = options->arguments.check ? remember_start(&state) : NULL;
    MPI_Barrier(MPI_COMM_WORLD);
    const double begun = MPI_Wtime();
    version->make_steps(&state, (struct phases){true, true, true}, options->steps, options->pieces,
                        version->way);
    MPI_Barrier(MPI_COMM_WORLD);
    const double seconds = MPI_Wtime() - begun;
    const uint64_t sum = checksum(&state);
    if (start)
        right &= is_right(&state, start, options);
    if (rank == 0 && right)
        print_result(&chosen, &state, seconds, sum);
    free_state(&state);
    return right ? all_right : wrong_result;
}

const char program_name[] = "ifsker";

int main(int argc, char **argv) {
    struct options options;
    read_options(argc, argv, &options);
    const bool tasks = options.version && options.version->task_multiple;
    return run_program(&argc, &argv, &options.arguments,
                       tasks ? task_level_to_ask() : MPI_THREAD_SINGLE, run, &options, print_usage);
}
