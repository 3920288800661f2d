/* SPDX-License-Identifier: Apache-2.0
 *
 * Part of libsennit-pass.a. What is started here completes at the latest in sennit_pass_finish, at
 * 32 operations, or when the program comes near its memory. All that it waits for had to be
 * complete by then in the program as it was written, so no wait is new.
 */
#include "batch.h"

#include <errno.h>
#include <limits.h>
#include <stddef.h>
#include <string.h>

#pragma GCC visibility push(hidden)

/* As each MPI has them, but for the types of handles. In registers a narrow handle is the lower
 * half of a long. */
#define WEAK __attribute__((weak, visibility("default")))
WEAK int MPI_Isend(const void *, int, long, int, int, long, void *);
WEAK int MPI_Irecv(void *, int, long, int, int, long, void *);
WEAK int MPI_Recv(void *, int, long, int, int, long, void *);
WEAK int MPI_Sendrecv(const void *, int, long, int, int, void *, int, long, int, int, long, void *);
WEAK int MPI_Wait(void *, void *);
WEAK int MPI_Waitall(int, void *, void *);
WEAK int MPI_Type_get_extent(long, long *, long *);
WEAK int MPI_Type_get_true_extent(long, long *, long *);

enum { success = 0, cannot_be_started = -1 };

/* MPI_STATUS_IGNORE and MPI_STATUSES_IGNORE: of MPICH; of Open MPI and the standard's ABI. */
static void *no_status(const struct sennit_pass_batch *batch) {
    return batch->wide ? NULL : (void *)1;
}

void sennit_pass_finish(struct sennit_pass_batch *batch) {
    const int count = batch->under_way, statuses = batch->statuses;
    const int error = errno; /* the program may have computed since, and look at it only now */
    const unsigned long waits = sennit_pass_time();
    batch->under_way = batch->statuses = batch->ranges = 0;
    if (count > 0 && statuses == 0)
        MPI_Waitall(count, batch->requests, no_status(batch));
    for (int i = 0; statuses && i < count; ++i) /* their length is not known here */
        MPI_Wait(sennit_pass_request(batch, i), batch->operations[i].status);
    if (sennit_pass_is_traced())
        sennit_pass_tell_later(batch->marks, count, waits);
    errno = error;
}

void sennit_pass_find_extent(struct sennit_pass_operation *operation, unsigned long buffer,
                             long count, long type) {
    long bound, extent, first, bytes, all;
    operation->first = operation->behind = buffer;
    if (count <= 0)
        return;
    if (MPI_Type_get_extent(type, &bound, &extent) != success || extent < 0 ||
        MPI_Type_get_true_extent(type, &first, &bytes) != success ||
        __builtin_mul_overflow(count - 1, extent, &all) ||
        __builtin_add_overflow(all, bytes, &all)) {
        operation->first = 0;
        operation->behind = ULONG_MAX;
        return;
    }
    operation->first = buffer + (unsigned long)first;
    operation->behind = operation->first + (unsigned long)all;
}

static int overlap(const struct sennit_pass_operation *one,
                   const struct sennit_pass_operation *other) {
    return one->first < other->behind && other->first < one->behind;
}

/* Operations that only read the same memory do not meet. */
static int meets(const struct sennit_pass_batch *batch, const struct sennit_pass_operation *next) {
    for (int i = 0; i < batch->ranges; ++i)
        if ((next->receives || batch->operations[i].receives) &&
            overlap(&batch->operations[i], next))
            return 1;
    return 0;
}

static struct sennit_pass_operation described(const struct sennit_pass_batch *batch,
                                              const void *buffer, int count, long type,
                                              int receives, void *status) {
    struct sennit_pass_operation one = {.status = status, .receives = receives};
    if (batch->compares)
        sennit_pass_find_extent(&one, (unsigned long)buffer, count, type);
    return one;
}

static int meets_early(const struct sennit_pass_batch *batch,
                       const struct sennit_pass_operation *next) {
    for (int i = 0; i < sennit_pass_most_early; ++i)
        if (batch->taken >> i & 1 && overlap(&batch->early[i].operation, next))
            return 1;
    return 0;
}

/* So that all of these can be started: what is in their way is waited for. Null: nothing is. */
static void make_room(struct sennit_pass_batch *batch, const struct sennit_pass_operation *next,
                      int count) {
    int waits = batch->under_way + count > sennit_pass_most;
    for (int i = 0; next && batch->compares && i < count; ++i)
        waits |= meets(batch, &next[i]);
    if (waits)
        sennit_pass_finish(batch);
}

static void note(struct sennit_pass_batch *batch, const struct sennit_pass_operation *started) {
    batch->operations[batch->under_way++] = *started;
    batch->ranges = batch->under_way;
    batch->statuses += started->receives && started->status != no_status(batch);
}

/* One that cannot be started has no request: the next takes its place. */
void sennit_pass_send(struct sennit_pass_batch *batch, const void *buffer, int count, long type,
                      int to, int tag, long communicator) {
    const struct sennit_pass_operation next =
        described(batch, buffer, count, type, 0, no_status(batch));
    make_room(batch, &next, 1);
    sennit_pass_mark_next(batch, "MPI_Send", __builtin_return_address(0));
    if (MPI_Isend(buffer, count, type, to, tag, communicator,
                  sennit_pass_request(batch, batch->under_way)) == success)
        note(batch, &next);
}

static void receive(struct sennit_pass_batch *batch, void *buffer, int count, long type, int from,
                    int tag, long communicator, void *status, const void *behind, int watched) {
    const struct sennit_pass_operation next = described(batch, buffer, count, type, 1, status);
    make_room(batch, &next, 1);
    sennit_pass_mark_next(batch, "MPI_Recv", behind);
    if (watched) {
        MPI_Recv(buffer, count, type, from, tag, communicator, status);
        sennit_pass_tell_at_once(&batch->marks[batch->under_way]);
    } else if (MPI_Irecv(buffer, count, type, from, tag, communicator,
                         sennit_pass_request(batch, batch->under_way)) == success) {
        note(batch, &next);
    }
}

void sennit_pass_receive(struct sennit_pass_batch *batch, void *buffer, int count, long type,
                         int from, int tag, long communicator, void *status) {
    receive(batch, buffer, count, type, from, tag, communicator, status,
            __builtin_return_address(0), sennit_pass_is_watched());
}

int sennit_pass_receive_early(struct sennit_pass_batch *batch, int may, void *buffer, int count,
                              long type, int from, int tag, long communicator, void *status) {
    if (!may || batch->taken == (1U << sennit_pass_most_early) - 1 || sennit_pass_is_watched())
        return 0;
    const int error = errno;
    const int place = __builtin_ctz(~batch->taken);
    const struct sennit_pass_operation next = described(batch, buffer, count, type, 1, status);
    struct sennit_pass_early *one = &batch->early[place];
    int started = 0;
    if (!meets(batch, &next) && !meets_early(batch, &next)) {
        one->operation = next;
        if (sennit_pass_is_traced())
            sennit_pass_set_mark(&one->mark, "MPI_Recv", __builtin_return_address(0));
        started = cannot_be_started;
        if (MPI_Irecv(buffer, count, type, from, tag, communicator, &one->request) == success) {
            batch->taken |= 1U << place;
            started = place + 1;
        }
    }
    errno = error;
    return started;
}

void sennit_pass_receive_late(struct sennit_pass_batch *batch, int started, void *buffer, int count,
                              long type, int from, int tag, long communicator, void *status) {
    if (started == 0)
        receive(batch, buffer, count, type, from, tag, communicator, status,
                __builtin_return_address(0), sennit_pass_is_watched());
    if (started <= 0)
        return;
    const struct sennit_pass_early *one = &batch->early[started - 1];
    make_room(batch, NULL, 1);
    memcpy(sennit_pass_request(batch, batch->under_way), &one->request,
           batch->wide ? sizeof(long) : sizeof(int));
    if (sennit_pass_is_traced())
        batch->marks[batch->under_way] = one->mark;
    note(batch, &one->operation);
    batch->taken &= ~(1U << (started - 1));
}

/* If nothing can be sent, nobody waits for an answer. */
void sennit_pass_exchange(struct sennit_pass_batch *batch, const void *out, int out_count,
                          long out_type, int to, int out_tag, void *in, int in_count, long in_type,
                          int from, int in_tag, long communicator, void *status) {
    const struct sennit_pass_operation next[] = {
        described(batch, out, out_count, out_type, 0, no_status(batch)),
        described(batch, in, in_count, in_type, 1, status)};
    make_room(batch, next, 2);
    sennit_pass_mark_next(batch, "MPI_Sendrecv", __builtin_return_address(0));
    if (sennit_pass_is_watched()) {
        MPI_Sendrecv(out, out_count, out_type, to, out_tag, in, in_count, in_type, from, in_tag,
                     communicator, status);
        sennit_pass_tell_at_once(&batch->marks[batch->under_way]);
        return;
    }
    if (MPI_Isend(out, out_count, out_type, to, out_tag, communicator,
                  sennit_pass_request(batch, batch->under_way)) != success)
        return;
    note(batch, &next[0]);
    sennit_pass_pass_mark_on(batch);
    if (MPI_Irecv(in, in_count, in_type, from, in_tag, communicator,
                  sennit_pass_request(batch, batch->under_way)) == success)
        note(batch, &next[1]);
}

/* Goes on by `stride` bytes, `rounds` times. */
static void go_on(struct sennit_pass_operation *range, long stride, unsigned long rounds) {
    long way;
    int far = __builtin_mul_overflow(stride, rounds, &way);
    if (!far && way < 0)
        far = __builtin_sub_overflow(range->first, 0UL - (unsigned long)way, &range->first);
    else if (!far)
        far = __builtin_add_overflow(range->behind, (unsigned long)way, &range->behind);
    if (far) {
        range->first = 0;
        range->behind = ULONG_MAX;
    }
}

static void go_on_by_all(struct sennit_pass_operation *range, long bytes, long stride,
                         unsigned long rounds, long stride_2, unsigned long rounds_2, long stride_3,
                         unsigned long rounds_3) {
    go_on(range, bytes, 1);
    go_on(range, stride, rounds);
    go_on(range, stride_2, rounds_2);
    go_on(range, stride_3, rounds_3);
}

void sennit_pass_touch_rounds(struct sennit_pass_batch *batch, const void *memory, long bytes,
                              int writes, long stride, unsigned long rounds, long stride_2,
                              unsigned long rounds_2, long stride_3, unsigned long rounds_3) {
    if (batch->under_way == 0)
        return;
    struct sennit_pass_operation touch = {.first = (unsigned long)memory, .receives = writes};
    touch.behind = touch.first;
    go_on_by_all(&touch, bytes, stride, rounds, stride_2, rounds_2, stride_3, rounds_3);
    if (meets(batch, &touch))
        sennit_pass_finish(batch);
}

int sennit_pass_apart(const void *buffer, int count, long type, const void *memory, long bytes,
                      long stride, unsigned long rounds, long stride_2, unsigned long rounds_2,
                      long stride_3, unsigned long rounds_3) {
    const int error = errno;
    struct sennit_pass_operation touch = {.first = (unsigned long)memory}, received = {0};
    touch.behind = touch.first;
    go_on_by_all(&touch, bytes, stride, rounds, stride_2, rounds_2, stride_3, rounds_3);
    sennit_pass_find_extent(&received, (unsigned long)buffer, count, type);
    errno = error;
    return !overlap(&touch, &received);
}

int sennit_pass_apart_from(const void *buffer, int count, long type, const void *sent,
                           int sent_count, long sent_type) {
    const int error = errno;
    struct sennit_pass_operation other = {0}, received = {0};
    sennit_pass_find_extent(&other, (unsigned long)sent, sent_count, sent_type);
    sennit_pass_find_extent(&received, (unsigned long)buffer, count, type);
    errno = error;
    return !overlap(&other, &received);
}

/* How far it comes below and above `first`. */
static int reach(long *below, long *above, long stride, unsigned long rounds) {
    long way;
    if (__builtin_mul_overflow(stride, rounds, &way))
        return 0;
    return way < 0 ? !__builtin_add_overflow(*below, way, below)
                   : !__builtin_add_overflow(*above, way, above);
}

int sennit_pass_stays(long first, long least, long greatest, long stride, unsigned long rounds,
                      long stride_2, unsigned long rounds_2, long stride_3,
                      unsigned long rounds_3) {
    long below = first, above = first;
    return reach(&below, &above, stride, rounds) && reach(&below, &above, stride_2, rounds_2) &&
           reach(&below, &above, stride_3, rounds_3) && below >= least && above <= greatest;
}

void sennit_pass_touch(struct sennit_pass_batch *batch, const void *memory, long bytes,
                       int writes) {
    sennit_pass_touch_rounds(batch, memory, bytes, writes, 0, 0, 0, 0, 0, 0);
}
