/* SPDX-License-Identifier: Apache-2.0
 *
 * What the suite's programs share: distributed algorithms on tiles, a dependent OpenMP task for
 * each operation on tiles and for each message.
 *
 *     options.c    the command line
 *     block_map.c  which rank owns which tile
 *     exchange.c   messages between tasks, in each of the papers' ways
 *     kernel.c     what a tile operation costs; emulation of it
 *     plan.c       the graph without running it: user priorities
 *     bounds.c     what no schedule can beat
 *     run.c        main(): rounds, times, the result as a line and as JSON
 */
#ifndef SUITE_H
#define SUITE_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- options ----------------------------------------------------------------------------------
 */

/* How messages are exchanged. */
enum variant {
    interop_blocking,    /* a task each, blocking calls: the runtime has to suspend it */
    blocking,            /* blocking calls where tasks are created */
    singlecom,           /* all messages of a step in one task (Schuchart et al.) */
    taskyield,           /* a task each, that tests and yields (Schuchart et al.) */
    detach,              /* a task each, completed by MPIX_Detach (Protze et al.) */
    interop_nonblocking, /* a task each, completed by TAMPI_Iwait (Sala et al.) */
    variants
};

/* What the priority clauses say (Pereira et al., section 3.2). */
enum marks {
    no_marks,
    sends, /* MA-1, SA: send-tasks have a priority */
    path,  /* MA-2: and all tasks from which a path leads to one */
    depth, /* MA-3: the shorter the path, the higher */
};

enum kernel { potrf, trsm, syrk, gemm, sweep, kernels };

struct options {
    int n;
    int block;
    int rows, columns; /* the grid; 0: chosen from the number of ranks */
    int repeat;
    enum variant variant;
    enum marks marks;
    bool check;
    bool emulate;
    double rate[kernels]; /* GFLOP/s of a core, for the emulation */
    double latency,
        bandwidth,    /* of the network, for the bound: seconds, bytes per second (0: any) */
        eager;        /* bytes; before a longer message its sender asks, and is answered */
    const char *json; /* where the result goes, "-" for stdout, or null */
    /* cholesky */
    uint64_t seed;
    const char *matrix; /* a Matrix Market file, or null */
    int buffers;        /* for receives, of each row of blocks; 0: one for each block */
    /* wavefront */
    int sweeps;
};

extern const char *const variant_names[variants];

/* Read the command line; on an error or --help the caller ends with the returned code (>= 0); -1:
 * go on. Rank 0 prints. `options` holds the defaults. */
int read_options(int argc, char **argv, int rank, struct options *options);

/* ---- tiles ------------------------------------------------------------------------------------
 */

/* Which rank owns which tile, and where ours are. */
struct block_map {
    int n, block, blocks; /* blocks in a row */
    int rank, ranks, rows, columns;
    bool contiguous; /* a rank's tiles lie together; not so: dealt out cyclically */
    double **local;  /* [blocks * blocks], null where another rank owns it */
};

int owner(const struct block_map *map, int i, int j);
bool mine(const struct block_map *map, int i, int j);
int extent(const struct block_map *map, int i); /* rows of block row i */
double *block_at(const struct block_map *map, int i, int j);
/* The map without memory for tiles. */
void plan_map(struct block_map *map, const struct options *options, int n, int rank, int ranks);
/* Memory for our tiles; of the lower triangle only, or of all. */
void make_tiles(struct block_map *map, bool lower);
void free_map(struct block_map *map);
void *need(void *memory, const char *what); /* not null, or the end */

/* ---- plan -------------------------------------------------------------------------------------
 */

/* A task reads some data and writes some. A datum is known by a number, on each rank that has it.
 */
struct access {
    long datum;
    bool writes;
};

struct plan;

/* Are tasks only counted, not created? Then there is no memory either. */
bool planning(const struct plan *plan);
/* A task is about to be created. Its priority (>= 0), or -1: when planning. */
int note_task(struct plan *plan, double seconds, int count, const struct access *accesses);
int note_message(struct plan *plan, bool receive, long datum, double bytes, int rank, int tag);

/* The algorithm: walks over all tasks, creates those of the map's rank unless note_...() says no.
 */
struct exchange;
typedef void (*walk)(void *closure, const struct block_map *map, struct exchange *exchange,
                     struct plan *plan);

/* A plan that gives the tasks of this rank the priorities which the options ask for. */
struct plan *make_plan(const struct options *options, const struct block_map *map, walk walk,
                       void *closure);
void rewind_plan(struct plan *plan); /* before the algorithm walks for real */
void free_plan(struct plan *plan);

struct bounds {
    double work;  /* of the busiest rank / its threads */
    double path;  /* the longest path, with its messages' times */
    double card;  /* what the busiest rank sends, one message after the other */
    double least; /* the greatest: of these, and of each rank's and card's work with what has to
                     come before it and after it */
};
/* Lower bounds of the time. */
struct bounds find_bounds(const struct options *options, const struct block_map *map, int threads,
                          walk walk, void *closure);

/* ---- exchange ---------------------------------------------------------------------------------
 */

struct exchange {
    enum variant variant;
    struct step *step; /* singlecom: what the next task is to exchange */
    char turn;         /* singlecom: the tasks' order */
};

/* 0, or an exit code after a line on rank 0's stderr: the variant needs what is not there. */
int check_variant(enum variant variant, int rank);
/* Send `data` when the tasks that write it are done, or receive it. */
void send_data(struct exchange *exchange, struct plan *plan, long datum, double *data, int count,
               int rank, int tag);
void receive_data(struct exchange *exchange, struct plan *plan, long datum, double *data, int count,
                  int rank, int tag);
/* All messages of a step are named: ranks have to agree on the order of steps. */
void end_step(struct exchange *exchange);

/* ---- kernels ----------------------------------------------------------------------------------
 */

void set_rates(const struct options *options);
bool emulated(void);
/* How long it takes by the given rates. */
double kernel_seconds(enum kernel kernel, int m, int n, int k);
/* Keep the calling thread for that time without using its core. */
void hold(enum kernel kernel, int m, int n, int k);

/* ---- the program ------------------------------------------------------------------------------
 */

struct counts {
    long kernel[kernels];
    long send, receive;
};
extern struct counts g_counts; /* of tasks that were created */

struct program {
    const char *name;
    struct options defaults;
    /* Make the data; 0, or an exit code. */
    int (*prepare)(const struct options *options, int rank, int ranks, struct block_map *map);
    void (*restart)(const struct options *options); /* the data as they were, before each round */
    walk walk;                                      /* in the team's single thread */
    /* After a round: 0, or k > 0, the order of the first bad minor; known on one rank. */
    int (*failed)(void);
    /* The result's error; on all ranks. */
    double (*verify)(const struct options *options);
    void (*finish)(void);
};

int run_program(int argc, char **argv, const struct program *program);

#endif
