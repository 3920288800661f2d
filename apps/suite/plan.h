/* SPDX-License-Identifier: Apache-2.0
 *
 * What plan.c and bounds.c share: the record of an algorithm's tasks on one rank, and a table from
 * numbers to times.
 */
#ifndef PLAN_H
#define PLAN_H

#include "suite.h"

enum kind { compute, send_task, receive_task };

struct node {
    enum kind kind;
    int peer, tag;
    double seconds;   /* or bytes */
    int first, count; /* accesses */
    int priority;
};

struct plan {
    bool recording;
    int nodes, room;
    struct node *node;
    int accesses, access_room;
    struct access *access;
    int next; /* to be asked for */
};

/* What a rank is to do, without the memory for it. */
struct plan *record_plan(const struct block_map *map, walk walk, void *closure);

struct cell {
    uint64_t key; /* 0: free */
    double value[2];
};
struct table {
    struct cell *cell;
    size_t room, used;
};

/* The cell of a number, made at the first look. */
struct cell *look_up(struct table *table, uint64_t key);

#endif
