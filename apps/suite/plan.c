/* SPDX-License-Identifier: Apache-2.0
 *
 * The task graph without running it. The algorithm walks over its tasks once to record them; from
 * the record come the priorities that a diligent user would write into the clauses.
 */
#include "plan.h"

#include <omp.h>
#include <stdlib.h>
#include <string.h>

/* ---- a table from numbers to times ------------------------------------------------------------
 */

struct cell *look_up(struct table *table, uint64_t key) {
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

struct plan *record_plan(const struct block_map *map, walk walk, void *closure) {
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
    struct plan *plan = record_plan(map, walk, closure);
    prioritize(plan, options->marks);
    plan->recording = false;
    return plan;
}

void rewind_plan(struct plan *plan) {
    if (plan)
        plan->next = 0;
}
