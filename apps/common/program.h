/* SPDX-License-Identifier: Apache-2.0
 *
 * One run of a program: MPI begins, what is wrong with the command line is said once, the run, MPI
 * ends. And what may end it early.
 */
#ifndef COMMON_PROGRAM_H
#define COMMON_PROGRAM_H

#include "arguments.h"

/* Exit codes. */
enum { all_right = 0, wrong_result = 1, bad_input = 2, not_here = 3, no_memory = 4 };

/* The program has it: lines on stderr begin with it. */
extern const char program_name[];

/* One line by rank 0. */
void say(int rank, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* The memory; the program ends where there is none. */
void *need(void *memory, const char *what);

/* `level`: of MPI's threads, to ask for. Returns the exit code: that of run(), which gets the level
 * that is provided. */
struct options;
int run_program(int *argc, char ***argv, const struct arguments *arguments, int level,
                int (*run)(const struct options *options, int rank, int provided),
                const struct options *options, void (*print_usage)(void));

#endif
