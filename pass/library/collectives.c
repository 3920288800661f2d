/* SPDX-License-Identifier: Apache-2.0
 *
 * Part of libsennit-pass.a. Whether a call blocks is decided by what is alike on all ranks: the
 * objects that were loaded when the program began, and the communicator.
 */
#include "collectives.h"

#include <dlfcn.h>
#include <limits.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#pragma GCC visibility push(hidden)

#define WEAK __attribute__((weak, visibility("default")))
WEAK int MPI_Wait(void *, void *);
WEAK int MPI_Comm_rank(long, int *);
WEAK int MPI_Comm_size(long, int *);
WEAK int MPI_Comm_test_inter(long, int *);
WEAK int MPI_Type_get_extent(long, long *, long *);
WEAK int MPI_Type_size(long, int *);

extern const int sennit_pass_wide; /* handles are pointers; the plug-in defines it */
extern int (*sennit_pass_untold_Iwait)(void *request, void *status); /* slots.c */

enum { success = 0 };

static void *no_status(void) {
    return sennit_pass_wide ? NULL : (void *)1;
}

/* A message of one of the ranks. */
static void say(long communicator, const char *what, const char *object) {
    int rank = 0;
    if (MPI_Comm_rank(communicator, &rank) == success && rank == 0)
        fprintf(stderr, what, *object ? object : "the program");
}

/* Blocking between two groups: MPICH's non-blocking MPI_Bcast receives garbage there if a type has
 * gaps. */
static int moves(long communicator) {
    const int all = sennit_pass_moves_collectives();
    int between_groups = 0;
    const char *caller = sennit_pass_new_blocking_caller();
    if (caller)
        say(communicator,
            all ? "sennit: %s has been opened too late: its collective calls block, and match none "
                  "of "
                  "the program's; link it, or compile it with -sennit-collectives\n"
                : "sennit: collective calls stay blocking: some of %s are not compiled with "
                  "-sennit-collectives\n",
            caller);
    return all && MPI_Comm_test_inter(communicator, &between_groups) == success && !between_groups;
}

typedef void function(void);

/* Found by name: an import of it would say that this object calls it. */
static function *blocking_form(const char *name) {
    function *found = (function *)dlsym(RTLD_DEFAULT, name);
    if (!found) {
        fprintf(stderr,
                "sennit: %s is not in a shared library: link MPI dynamically, or compile "
                "without -sennit-collectives\n",
                name);
        abort();
    }
    return found;
}

/* --- What memory is in use --- */

/* But what is known of the next one stays. */
static void finish_others(struct sennit_pass_batch *batch) {
    const struct sennit_pass_operation *from = &batch->operations[batch->ranges];
    sennit_pass_finish(batch);
    for (int i = 0; i < batch->coming; ++i)
        batch->operations[i] = from[i];
}

static void add(struct sennit_pass_batch *batch, struct sennit_pass_operation range) {
    if (batch->ranges + batch->coming == sennit_pass_most)
        finish_others(batch);
    batch->operations[batch->ranges + batch->coming++] = range;
}

static int is_nobodys(const void *memory, int root, long communicator) {
    const long in_place = sennit_pass_wide ? 1 : -1;
    int rank = root, between_groups = 0;
    return (long)memory == in_place ||
           (MPI_Comm_test_inter(communicator, &between_groups) == success && between_groups) ||
           (root != -1 && MPI_Comm_rank(communicator, &rank) == success && rank != root);
}

void sennit_pass_part(struct sennit_pass_batch *batch, const void *memory, int count, long type,
                      int by_rank, int root, int receives, long communicator) {
    struct sennit_pass_operation range = {.receives = receives};
    int ranks = 1;
    if (is_nobodys(memory, root, communicator) ||
        (by_rank && MPI_Comm_size(communicator, &ranks) != success))
        return;
    sennit_pass_find_extent(&range, (unsigned long)memory, (long)count * ranks, type);
    add(batch, range);
}

static void add_numbers(struct sennit_pass_batch *batch, const int *numbers, int ranks) {
    const unsigned long first = (unsigned long)numbers;
    add(batch, (struct sennit_pass_operation){
                   .first = first, .behind = first + (unsigned long)ranks * sizeof *numbers});
}

void sennit_pass_parts(struct sennit_pass_batch *batch, const void *memory, const int *counts,
                       const int *places, long type, int root, int receives, long communicator) {
    struct sennit_pass_operation range = {.receives = receives};
    int ranks;
    if (is_nobodys(memory, root, communicator) || MPI_Comm_size(communicator, &ranks) != success)
        return;
    long first = LONG_MAX, behind = LONG_MIN, bound, extent, before;
    for (int i = 0; i < ranks; ++i)
        if (counts[i] > 0) {
            const long end = (long)places[i] + counts[i];
            first = places[i] < first ? places[i] : first;
            behind = end > behind ? end : behind;
        }
    if (behind < first)
        return;
    sennit_pass_find_extent(&range, (unsigned long)memory, behind - first, type);
    if (MPI_Type_get_extent(type, &bound, &extent) == success &&
        !__builtin_mul_overflow(first, extent, &before) && range.behind != ULONG_MAX) {
        range.first += (unsigned long)before;
        range.behind += (unsigned long)before;
    }
    add(batch, range);
    add_numbers(batch, counts, ranks);
    add_numbers(batch, places, ranks);
}

/* --- To be waited for later --- */

static int meets(const struct sennit_pass_batch *batch) {
    const struct sennit_pass_operation *next = &batch->operations[batch->ranges];
    for (int i = 0; i < batch->coming; ++i)
        for (int k = 0; k < batch->ranges; ++k)
            if ((next[i].receives || batch->operations[k].receives) &&
                next[i].first < batch->operations[k].behind &&
                batch->operations[k].first < next[i].behind)
                return 1;
    return 0;
}

/* May the next one be under way behind this call? What is in its way is waited for. */
static int may_start(struct sennit_pass_batch *batch, long communicator) {
    if (batch->under_way == sennit_pass_most ||
        (batch->under_way > 0 && batch->communicator != communicator) || meets(batch))
        finish_others(batch);
    batch->communicator = communicator;
    if (moves(communicator) && !sennit_pass_is_watched())
        return 1;
    batch->coming = 0;
    return 0;
}

static void note_start(struct sennit_pass_batch *batch, int error) {
    if (error == success) { /* else it has no request: the next takes its place */
        ++batch->under_way;
        batch->ranges += batch->coming;
    }
    batch->coming = 0;
}

/* --- The calls --- */

static int wait_for(int error, long *request) {
    return error == success ? MPI_Wait(request, no_status()) : error;
}

static int bind(int error, long *request) {
    return error == success ? sennit_pass_untold_Iwait(request, no_status()) : error;
}

static int told(int error, const struct sennit_pass_mark *mark) {
    sennit_pass_tell_bound(mark);
    return error;
}

/* Open MPI's MPI_Ialltoallv sends nothing where the count is zero, yet receives where it is not,
 * even if the type has no data: for ever. So such counts become zero. They live as long as the
 * operation. For more ranks they stay. */
static const int *counts_of_data(const void *memory, const int *counts, long type,
                                 long communicator) {
    enum { most = 1 << 16 };
    static int none[most];
    const void *const in_place = (void *)1; /* type and counts mean nothing */
    int bytes = -1, ranks = 0;
    return sennit_pass_wide && memory != in_place &&
                   MPI_Comm_size(communicator, &ranks) == success && ranks <= most &&
                   MPI_Type_size(type, &bytes) == success && bytes == 0
               ? none
               : counts;
}

#define LIST(...) __VA_ARGS__
#define COMMA ,
#define CALLS(name, begin, parameters, arguments)                                                  \
    WEAK int begin(parameters long, void *);                                                       \
    static int block_in_##name(parameters long communicator) {                                     \
        return ((int (*)(parameters long))blocking_form("MPI_" #name))(arguments communicator);    \
    }                                                                                              \
    int sennit_pass_##name(parameters long communicator) {                                         \
        long request;                                                                              \
        return moves(communicator) ? wait_for(begin(arguments communicator, &request), &request)   \
                                   : block_in_##name(arguments communicator);                      \
    }                                                                                              \
    int sennit_pass_bound_##name(parameters long communicator) {                                   \
        const struct sennit_pass_mark mark =                                                       \
            sennit_pass_begin("MPI_" #name, __builtin_return_address(0));                          \
        long request;                                                                              \
        return told(moves(communicator) ? bind(begin(arguments communicator, &request), &request)  \
                                        : block_in_##name(arguments communicator),                 \
                    &mark);                                                                        \
    }                                                                                              \
    void sennit_pass_start_##name(struct sennit_pass_batch *batch, parameters long communicator) { \
        const int may = may_start(batch, communicator);                                            \
        sennit_pass_mark_next(batch, "MPI_" #name, __builtin_return_address(0));                   \
        if (may) {                                                                                 \
            note_start(batch, begin(arguments communicator,                                        \
                                    sennit_pass_request(batch, batch->under_way)));                \
        } else {                                                                                   \
            sennit_pass_##name(arguments communicator);                                            \
            sennit_pass_tell_at_once(&batch->marks[batch->under_way]);                             \
        }                                                                                          \
    }
#define COLLECTIVE(name, begin, parameters, arguments)                                             \
    CALLS(name, begin, LIST(parameters COMMA), LIST(arguments COMMA))

CALLS(Barrier, MPI_Ibarrier, , )
#include "collectives.inc"
