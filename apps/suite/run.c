/* SPDX-License-Identifier: Apache-2.0
 *
 * Exit codes: 0 done; 2 bad command line; 3 bad matrix file; 4 no memory; 5 not positive definite;
 * 6 the result is wrong; 7 MPI cannot be called from several threads; 8 the variant needs what is
 * not there.
 */
#include "hold.h"
#include "suite.h"

#include <float.h>
#include <omp.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

struct counts g_counts;

void openblas_set_num_threads(int threads);
#pragma weak openblas_set_num_threads

struct result {
    double seconds, error;
    double cpu, late; /* of all ranks in the fastest round: processor time, late_seconds() */
    struct bounds bounds;
    struct counts counts;
};

static double cpu_seconds(void) {
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
           (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1e-6;
}

static void print_json(const struct program *program, const struct options *options,
                       const struct block_map *map, const struct result *result) {
    FILE *out = strcmp(options->json, "-") == 0 ? stdout : fopen(options->json, "w");
    if (!out) {
        fprintf(stderr, "%s: cannot write %s\n", program->name, options->json);
        return;
    }
    static const char *const marks[] = {"none", "sends", "path", "depth"};
    const struct counts *counts = &result->counts;
    fprintf(out,
            "{\"program\":\"%s\",\"variant\":\"%s\",\"priorities\":\"%s\",\"emulated\":%s,"
            "\"n\":%d,\"block\":%d,\"ranks\":%d,\"threads\":%d,\"seconds\":%.6f,\"cpu\":%.6f,"
            "\"late\":%.6f,"
            "\"bound_work\":%.6f,\"bound_path\":%.6f,\"bound_card\":%.6f,\"bound\":%.6f,"
            "\"residual\":%.3e,"
            "\"potrf\":%ld,\"trsm\":%ld,\"syrk\":%ld,\"gemm\":%ld,\"sweep\":%ld,\"send\":%ld,"
            "\"receive\":%ld}\n",
            program->name, variant_names[options->variant], marks[options->marks],
            options->emulate ? "true" : "false", map->n, options->block, map->ranks,
            omp_get_max_threads(), result->seconds, result->cpu, result->late, result->bounds.work,
            result->bounds.path, result->bounds.card, result->bounds.least, result->error,
            counts->kernel[potrf], counts->kernel[trsm], counts->kernel[syrk], counts->kernel[gemm],
            counts->kernel[sweep], counts->send, counts->receive);
    if (out != stdout)
        fclose(out);
}

static void print_line(const struct program *program, const struct options *options,
                       const struct block_map *map, const struct result *result) {
    long tasks = 0;
    for (int kernel = 0; kernel < kernels; ++kernel)
        tasks += result->counts.kernel[kernel];
    printf("%s n=%d block=%d ranks=%d threads=%d: %.4f s, %ld compute and %ld communication tasks",
           program->name, map->n, options->block, map->ranks, omp_get_max_threads(),
           result->seconds, tasks, result->counts.send + result->counts.receive);
    if (options->emulate)
        printf(", emulated: work %.4f s, longest path %.4f s, busiest card %.4f s, bound %.4f s, "
               "used %.4f s of "
               "processors",
               result->bounds.work, result->bounds.path, result->bounds.card, result->bounds.least,
               result->cpu);
    else if (options->check)
        printf(", residual %.3e", result->error);
    printf("\n");
}

/* One round; returns what `failed` says, on all ranks. */
static int run_round(const struct program *program, const struct options *options,
                     const struct block_map *map, struct plan *plan, struct result *result) {
    if (!options->emulate)
        program->restart(options);
    g_counts = (struct counts){0};
    rewind_plan(plan);
    struct exchange exchange = {.variant = options->variant};
    void *closure = (void *)(uintptr_t)options;
    MPI_Barrier(MPI_COMM_WORLD);
    double spent[] = {cpu_seconds(), late_seconds()};
    const double start = MPI_Wtime();
#pragma omp parallel
#pragma omp single
    program->walk(closure, map, &exchange, plan);
    MPI_Barrier(MPI_COMM_WORLD);
    const double took = MPI_Wtime() - start;
    spent[0] = cpu_seconds() - spent[0];
    spent[1] = late_seconds() - spent[1];
    MPI_Allreduce(MPI_IN_PLACE, spent, 2, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    if (took < result->seconds) {
        result->seconds = took;
        result->cpu = spent[0];
        result->late = spent[1];
    }
    /* The first bad minor of all ranks; what follows it is noise. */
    const int own = options->emulate ? 0 : program->failed();
    int order = own ? own : map->n + 1;
    MPI_Allreduce(MPI_IN_PLACE, &order, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    return order <= map->n ? order : 0;
}

static int run(const struct program *program, const struct options *options, int rank, int ranks) {
    struct block_map map;
    int code = program->prepare(options, rank, ranks, &map);
    if (code)
        return code;
    struct result result = {.seconds = DBL_MAX, .error = -1.0};
    void *closure = (void *)(uintptr_t)options;
    struct plan *plan = make_plan(options, &map, program->walk, closure);
    if (options->emulate && rank == 0)
        result.bounds = find_bounds(options, &map, omp_get_max_threads(), program->walk, closure);
    int failed = 0;
    for (int round = 0; round < options->repeat && !failed; ++round)
        failed = run_round(program, options, &map, plan, &result);
    if (failed) {
        if (rank == 0)
            fprintf(stderr,
                    "%s: the matrix is not positive definite: its leading minor of order %d\n",
                    program->name, failed);
        code = 5;
    } else if (options->check && !options->emulate) {
        result.error = program->verify(options);
        if (!(result.error < 1e-10)) {
            if (rank == 0)
                fprintf(stderr, "%s: the result is wrong: its error is %.3e\n", program->name,
                        result.error);
            code = 6;
        }
    }
    MPI_Reduce(&g_counts, &result.counts, (int)(sizeof g_counts / sizeof(long)), MPI_LONG, MPI_SUM,
               0, MPI_COMM_WORLD);
    if (rank == 0 && !failed) {
        print_line(program, options, &map, &result);
        if (options->json)
            print_json(program, options, &map, &result);
    }
    free_plan(plan);
    program->finish();
    return code;
}

int run_program(int argc, char **argv, const struct program *program) {
    int provided = 0, rank = 0, ranks = 1;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (openblas_set_num_threads)
        openblas_set_num_threads(1);
    struct options options = program->defaults;
    int code = read_options(argc, argv, rank, &options);
    if (code < 0 && provided < MPI_THREAD_MULTIPLE) {
        if (rank == 0)
            fprintf(stderr, "%s: this MPI does not provide MPI_THREAD_MULTIPLE\n", program->name);
        code = 7;
    }
    if (code < 0 && options.rows != 0 && options.rows * options.columns != ranks) {
        if (rank == 0)
            fprintf(stderr, "%s: a grid of %dx%d does not match %d ranks\n", program->name,
                    options.rows, options.columns, ranks);
        code = 2;
    }
    if (code < 0) {
        const int missing = check_variant(options.variant, rank);
        code = missing ? missing : -1;
    }
    if (code < 0) {
        set_rates(&options);
        code = run(program, &options, rank, ranks);
    }
    MPI_Finalize();
    return code;
}
