/* SPDX-License-Identifier: Apache-2.0
 *
 * Operations that a function has started together and waits for once: the plug-in puts a batch on
 * the function's stack and calls these in place of MPI_Send and MPI_Recv. Handles come as long,
 * whatever the MPI makes of them: an integer of 32 bits, or a pointer.
 */
#pragma once

#include "moved.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
    sennit_pass_most = 32,     /* under way at a time */
    sennit_pass_most_early = 8 /* besides, receives that have been started before they stand */
};

struct sennit_pass_batch {
    /* The plug-in writes these seven. */
    int under_way;  /* 0 */
    int statuses;   /* of those, how many have one that is wanted: 0 */
    int compares;   /* buffers may overlap, or memory that is touched may be in one of them */
    int wide;       /* handles are pointers */
    int ranges;     /* that are compared, of what is under way: 0 */
    int coming;     /* behind them, of the next collective: 0 */
    unsigned taken; /* bits: of the early ones: 0 */

    long communicator; /* of the collectives that are under way */

    long requests[sennit_pass_most]; /* narrow ones lie close together */
    struct sennit_pass_operation {
        unsigned long first, behind; /* its buffer; all bytes where extents cannot be told */
        void *status;
        int receives;
    } operations[sennit_pass_most];

    struct sennit_pass_mark marks[sennit_pass_most]; /* of the requests, if a trace is taken */

    /* Where they stand, they become as the others. Nothing waits for them until then: what they
     * wait for may come only when the program has sent more. */
    struct sennit_pass_early {
        long request;
        struct sennit_pass_operation operation;
        struct sennit_pass_mark mark;
    } early[sennit_pass_most_early];
};

void sennit_pass_send(struct sennit_pass_batch *batch, const void *buffer, int count, long type,
                      int to, int tag, long communicator);
void sennit_pass_receive(struct sennit_pass_batch *batch, void *buffer, int count, long type,
                         int from, int tag, long communicator, void *status);
/* The same, before the call stands there: if it `may`, and nobody could tell. 0: it has not been
 * started. */
int sennit_pass_receive_early(struct sennit_pass_batch *batch, int may, void *buffer, int count,
                              long type, int from, int tag, long communicator, void *status);
/* Where the call stands. */
void sennit_pass_receive_late(struct sennit_pass_batch *batch, int started, void *buffer, int count,
                              long type, int from, int tag, long communicator, void *status);
/* Both, in place of MPI_Sendrecv. */
void sennit_pass_exchange(struct sennit_pass_batch *batch, const void *out, int out_count,
                          long out_type, int to, int out_tag, void *in, int in_count, long in_type,
                          int from, int in_tag, long communicator, void *status);
/* The program is about to read or to write memory: is it in a buffer of these? */
void sennit_pass_touch(struct sennit_pass_batch *batch, const void *memory, long bytes, int writes);
/* The same of loops: the bytes, and on from there by each stride that many times, all together. */
void sennit_pass_touch_rounds(struct sennit_pass_batch *batch, const void *memory, long bytes,
                              int writes, long stride, unsigned long rounds, long stride_2,
                              unsigned long rounds_2, long stride_3, unsigned long rounds_3);
/* Does a loop like that keep away from the buffer of a receive? */
int sennit_pass_apart(const void *buffer, int count, long type, const void *memory, long bytes,
                      long stride, unsigned long rounds, long stride_2, unsigned long rounds_2,
                      long stride_3, unsigned long rounds_3);
/* Does a message that is sent keep away from it? */
int sennit_pass_apart_from(const void *buffer, int count, long type, const void *sent,
                           int sent_count, long sent_type);
/* Does a number that goes on from `first` like that stay between these? */
int sennit_pass_stays(long first, long least, long greatest, long stride, unsigned long rounds,
                      long stride_2, unsigned long rounds_2, long stride_3, unsigned long rounds_3);
void sennit_pass_finish(struct sennit_pass_batch *batch);

/* For collectives.c. */
static inline void *sennit_pass_request(struct sennit_pass_batch *batch, int i) {
    return batch->wide ? (void *)&batch->requests[i] : (void *)((int *)batch->requests + i);
}
void sennit_pass_find_extent(struct sennit_pass_operation *operation, unsigned long buffer,
                             long count, long type);

/* The call whose operation is started next. */
static inline void sennit_pass_mark_next(struct sennit_pass_batch *batch, const char *call,
                                         const void *behind) {
    if (sennit_pass_is_traced())
        sennit_pass_set_mark(&batch->marks[batch->under_way], call, behind);
}
/* It has started another one, which it is told with. */
static inline void sennit_pass_pass_mark_on(struct sennit_pass_batch *batch) {
    if (sennit_pass_is_traced()) {
        batch->marks[batch->under_way] = batch->marks[batch->under_way - 1];
        batch->marks[batch->under_way - 1].call = 0;
    }
}

/* Could anybody tell that the next receive has been started before the last one was complete? */
int sennit_pass_is_watched(void);

#ifdef __cplusplus
}
#endif
