/* SPDX-License-Identifier: Apache-2.0 */
#include "program.h"

#include <mpi.h>
#include <stdarg.h>
#include <stdio.h>

void say(int rank, const char *format, ...) {
    if (rank != 0)
        return;
    char text[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    fprintf(stderr, "%s: %s\n", program_name, text);
}

void *need(void *memory, const char *what) {
    if (!memory) {
        say(0, "no memory for %s", what);
        MPI_Abort(MPI_COMM_WORLD, no_memory);
    }
    return memory;
}

int run_program(int *argc, char ***argv, const struct arguments *arguments, int level,
                int (*run)(const struct options *options, int rank, int provided),
                const struct options *options, void (*print_usage)(void)) {
    int provided = 0, rank = 0, code = all_right;
    MPI_Init_thread(argc, argv, level, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (arguments->problem[0]) {
        say(rank, "%s", arguments->problem);
        code = bad_input;
    } else if (!arguments->help) {
        code = run(options, rank, provided);
    } else if (rank == 0) {
        print_usage();
    }
    MPI_Finalize();
    return code;
}
