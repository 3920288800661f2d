/* SPDX-License-Identifier: Apache-2.0
 *
 * The task graph without running it. The algorithm walks over its tasks once to record them; from
 * the record come the priorities that a diligent user would write into the clauses, and bounds that
 * no schedule can beat.
 */
#include "suite.h"

#include <omp.h>
#include <stdlib.h>
#include <string.h>

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

/* ---- a table from numbers to times ------------------------------------------------------------
 */

struct cell {
    uint64_t key; /* 0: free */
    double value[2];
};
struct table {
    struct cell *cell;
    size_t room, used;
};

static struct cell *look_up(struct table *table, uint64_t key) {
    if (2 * table->used >= table->room) {
        struct table larger = {.room = table->room ? 2 * table->room : 1024};
        larger.cell = need(calloc(larger.room, sizeof *larger.cell), "a plan");
        for (size_t i = 0; i < table->room; ++i)
            if (table->cell[i].key)
                *look_up(&larger, table->cell[i].key - 1) = table->cell[i];
        free(table->cell);
        larger.used = table->used;
        *table = larger;
    }
    size_t at = (key * 0x9E3779B97F4A7C15u >> 20) % table->room;
    while (table->cell[at].key && table->cell[at].key != key + 1)
        at = (at + 1) % table->room;
    if (!table->cell[at].key) {
        table->cell[at].key = key + 1;
        ++table->used;
    }
    return &table->cell[at];
}

/* ---- recording --------------------------------------------------------------------------------
 */

bool planning(const struct plan *plan) {
    return plan && plan->recording;
}

static int note(struct plan *plan, struct node node, int count, const struct access *accesses) {
    if (!plan)
        return 0;
    if (!plan->recording)
        return plan->node[plan->next++].priority;
    if (plan->nodes == plan->room) {
        plan->room = plan->room ? 2 * plan->room : 1024;
        plan->node = need(realloc(plan->node, (size_t)plan->room * sizeof *plan->node), "a plan");
    }
    if (plan->accesses + count > plan->access_room) {
        plan->access_room = 2 * plan->access_room + 1024;
        plan->access =
            need(realloc(plan->access, (size_t)plan->access_room * sizeof *plan->access), "a plan");
    }
    node.first = plan->accesses;
    node.count = count;
    plan->node[plan->nodes++] = node;
    memcpy(plan->access + plan->accesses, accesses, (size_t)count * sizeof *accesses);
    plan->accesses += count;
    return -1;
}

int note_task(struct plan *plan, double seconds, int count, const struct access *accesses) {
    return note(plan, (struct node){.kind = compute, .seconds = seconds}, count, accesses);
}

int note_message(struct plan *plan, bool receive, long datum, double bytes, int rank, int tag) {
    const struct node node = {
        .kind = receive ? receive_task : send_task, .peer = rank, .tag = tag, .seconds = bytes};
    return note(plan, node, 1, &(struct access){datum, receive});
}

static struct plan *record(const struct block_map *map, walk walk, void *closure) {
    struct plan *plan = need(calloc(1, sizeof *plan), "a plan");
    plan->recording = true;
    struct exchange nothing = {.variant = interop_blocking};
    walk(closure, map, &nothing, plan);
    return plan;
}

void free_plan(struct plan *plan) {
    if (!plan)
        return;
    free(plan->node);
    free(plan->access);
    free(plan);
}

/* ---- priorities -------------------------------------------------------------------------------
 */

/* Algorithm 1 of Pereira et al. from the last task to the first. A datum's later tasks up to the
 * next that writes it are successors of one that writes it; of one that reads it, the next that
 * writes is. value[0]: the highest priority of the former; value[1]: that of the latter. */
static void prioritize(struct plan *plan, enum marks marks) {
    const int most = omp_get_max_task_priority() > 0 ? omp_get_max_task_priority() : 1023;
    struct table table = {0};
    for (int i = plan->nodes; i-- > 0;) {
        struct node *node = &plan->node[i];
        const struct access *access = plan->access + node->first;
        int best = 0;
        for (int a = 0; a < node->count; ++a) {
            const struct cell *cell = look_up(&table, (uint64_t)access[a].datum);
            const int there = (int)cell->value[access[a].writes ? 0 : 1];
            best = there > best ? there : best;
        }
        const int priority = node->kind == send_task ? most : best > 0 ? best - 1 : 0;
        for (int a = 0; a < node->count; ++a) {
            struct cell *cell = look_up(&table, (uint64_t)access[a].datum);
            if (access[a].writes)
                cell->value[0] = cell->value[1] = priority;
            else if (priority > cell->value[0])
                cell->value[0] = priority;
        }
        node->priority = priority;
        if (marks == sends)
            node->priority = node->kind == send_task ? 1 : 0;
        else if (marks == path)
            node->priority = priority > 0;
    }
    free(table.cell);
}

struct plan *make_plan(const struct options *options, const struct block_map *map, walk walk,
                       void *closure) {
    if (options->marks == no_marks)
        return NULL;
    struct plan *plan = record(map, walk, closure);
    prioritize(plan, options->marks);
    plan->recording = false;
    return plan;
}

void rewind_plan(struct plan *plan) {
    if (plan)
        plan->next = 0;
}

/* ---- bounds -----------------------------------------------------------------------------------
 */

/* Of one rank: when each datum is written (value[0]) and was last read (value[1]) at the earliest.
 */
struct progress {
    struct plan *plan;
    struct table data;
    int next;
};

static uint64_t message_key(int ranks, int from, int to, int tag) {
    return ((uint64_t)tag * (uint64_t)ranks + (uint64_t)from) * (uint64_t)ranks + (uint64_t)to;
}

/* One task of rank `rank`; false: its message has not been sent yet. */
static bool advance(struct progress *progress, int rank, int ranks, const struct options *options,
                    struct table *messages, double *longest) {
    const struct node *node = &progress->plan->node[progress->next];
    const struct access *access = progress->plan->access + node->first;
    double start = 0.0;
    for (int a = 0; a < node->count; ++a) {
        const struct cell *cell = look_up(&progress->data, (uint64_t)access[a].datum);
        if (cell->value[0] > start)
            start = cell->value[0];
        if (access[a].writes && cell->value[1] > start)
            start = cell->value[1];
    }
    double end = start;
    if (node->kind == receive_task) {
        const struct cell *sent =
            look_up(messages, message_key(ranks, node->peer, rank, node->tag));
        if (sent->value[0] == 0.0)
            return false;
        if (sent->value[1] > end)
            end = sent->value[1];
    } else if (node->kind == send_task) {
        if (options->bandwidth > 0)
            end += node->seconds / options->bandwidth;
        struct cell *sent = look_up(messages, message_key(ranks, rank, node->peer, node->tag));
        sent->value[0] = 1.0;
        sent->value[1] = end + options->latency;
    } else {
        end += node->seconds;
    }
    for (int a = 0; a < node->count; ++a) {
        struct cell *cell = look_up(&progress->data, (uint64_t)access[a].datum);
        if (access[a].writes)
            cell->value[0] = end;
        else if (end > cell->value[1])
            cell->value[1] = end;
    }
    if (end > *longest)
        *longest = end;
    ++progress->next;
    return true;
}

struct bounds find_bounds(const struct options *options, const struct block_map *map, int threads,
                          walk walk, void *closure) {
    struct bounds bounds = {0};
    struct progress *ranks = need(calloc((size_t)map->ranks, sizeof *ranks), "a plan");
    for (int r = 0; r < map->ranks; ++r) {
        struct block_map theirs = *map;
        theirs.rank = r;
        ranks[r].plan = record(&theirs, walk, closure);
        double work = 0.0, bytes = 0.0;
        for (int i = 0; i < ranks[r].plan->nodes; ++i) {
            const struct node *node = &ranks[r].plan->node[i];
            work += node->kind == compute ? node->seconds : 0.0;
            bytes += node->kind == send_task ? node->seconds : 0.0;
        }
        if (work / threads > bounds.work)
            bounds.work = work / threads;
        if (options->bandwidth > 0 && bytes / options->bandwidth > bounds.card)
            bounds.card = bytes / options->bandwidth;
    }
    struct table messages = {0};
    for (bool moved = true; moved;) {
        moved = false;
        for (int r = 0; r < map->ranks; ++r)
            while (ranks[r].next < ranks[r].plan->nodes &&
                   advance(&ranks[r], r, map->ranks, options, &messages, &bounds.path))
                moved = true;
    }
    for (int r = 0; r < map->ranks; ++r) {
        free_plan(ranks[r].plan);
        free(ranks[r].data.cell);
    }
    free(messages.cell);
    free(ranks);
    return bounds;
}
