/* SPDX-License-Identifier: Apache-2.0 */
#include "graph.h"

#include <stdlib.h>

struct link {
    int vertex, next;
};

/* Of a datum: value[0] is who wrote it last, value[1] the newest link of those who read it since;
 * of a message: value[0] is who sends it. All from 1 on; 0: nobody. */
struct rank {
    struct plan *plan;
    struct table data;
    int next;
};

struct builder {
    struct graph *graph;
    struct rank *rank;
    int ranks;
    struct table messages;
    int links, room;
    struct link *link;
    double second_per_byte, eager;
};

static void *grow(void *memory, int count, int *room, size_t size) {
    if (count < *room)
        return memory;
    *room = *room ? 2 * *room : 1024;
    return need(realloc(memory, (size_t)*room * size), "the graph");
}

static void add_edge(struct graph *graph, double from) {
    graph->from = grow(graph->from, graph->edges, &graph->edge_room, sizeof *graph->from);
    graph->from[graph->edges++] = (int)from - 1;
}

static struct cell *find_message(struct builder *builder, int rank, const struct node *node) {
    const bool sends = node->kind == send_task;
    const uint64_t from = (uint64_t)(sends ? rank : node->peer);
    const uint64_t to = (uint64_t)(sends ? node->peer : rank);
    const uint64_t ranks = (uint64_t)builder->ranks;
    return look_up(&builder->messages, ((uint64_t)node->tag * ranks + from) * ranks + to);
}

static void add_edges(struct builder *builder, struct rank *rank, const struct node *node) {
    const struct access *access = rank->plan->access + node->first;
    for (int a = 0; a < node->count; ++a) {
        const struct cell *cell = look_up(&rank->data, (uint64_t)access[a].datum);
        if (cell->value[0] > 0.0)
            add_edge(builder->graph, cell->value[0]);
        if (access[a].writes)
            for (int l = (int)cell->value[1]; l > 0; l = builder->link[l - 1].next)
                add_edge(builder->graph, builder->link[l - 1].vertex);
    }
}

static void note_accesses(struct builder *builder, struct rank *rank, const struct node *node) {
    const struct access *access = rank->plan->access + node->first;
    const int self = builder->graph->vertices; /* from 1 on */
    for (int a = 0; a < node->count; ++a) {
        struct cell *cell = look_up(&rank->data, (uint64_t)access[a].datum);
        if (access[a].writes) {
            cell->value[0] = self;
            cell->value[1] = 0.0;
            continue;
        }
        builder->link = grow(builder->link, builder->links, &builder->room, sizeof *builder->link);
        builder->link[builder->links++] = (struct link){self, (int)cell->value[1]};
        cell->value[1] = builder->links;
    }
}

/* The next task of rank r; false: it receives what nobody is known to send so far. */
static bool add_vertex(struct builder *builder, int r) {
    struct graph *graph = builder->graph;
    struct rank *rank = &builder->rank[r];
    const struct node *node = &rank->plan->node[rank->next];
    struct vertex vertex = {.rank = r, .kind = node->kind, .first = graph->edges};
    if (node->kind == receive_task) {
        const struct cell *sent = find_message(builder, r, node);
        if (sent->value[0] <= 0.0)
            return false;
        add_edge(graph, sent->value[0]);
    } else if (node->kind == send_task) {
        vertex.duration = node->seconds * builder->second_per_byte;
        /* A question and its answer. */
        vertex.before = node->seconds > builder->eager ? 2 * graph->latency : 0.0;
    } else {
        vertex.duration = node->seconds;
    }
    add_edges(builder, rank, node);
    graph->vertex = grow(graph->vertex, graph->vertices + 1, &graph->room, sizeof *graph->vertex);
    graph->vertex[graph->vertices++] = vertex;
    graph->vertex[graph->vertices].first = graph->edges;
    if (node->kind == send_task)
        find_message(builder, r, node)->value[0] = graph->vertices;
    note_accesses(builder, rank, node);
    ++rank->next;
    return true;
}

struct graph make_graph(const struct options *options, const struct block_map *map, walk walk,
                        void *closure) {
    struct graph graph = {.latency = options->latency};
    struct builder builder = {.graph = &graph,
                              .ranks = map->ranks,
                              .eager = options->eager,
                              .second_per_byte =
                                  options->bandwidth > 0 ? 1.0 / options->bandwidth : 0.0};
    builder.rank = need(calloc((size_t)map->ranks, sizeof *builder.rank), "a plan");
    for (int r = 0; r < map->ranks; ++r) {
        struct block_map theirs = *map;
        theirs.rank = r;
        builder.rank[r].plan = record_plan(&theirs, walk, closure);
    }
    for (bool moved = true; moved;) {
        moved = false;
        for (int r = 0; r < map->ranks; ++r)
            while (builder.rank[r].next < builder.rank[r].plan->nodes && add_vertex(&builder, r))
                moved = true;
    }
    for (int r = 0; r < map->ranks; ++r) {
        free_plan(builder.rank[r].plan);
        free(builder.rank[r].data.cell);
    }
    free(builder.rank);
    free(builder.messages.cell);
    free(builder.link);
    return graph;
}

void free_graph(struct graph *graph) {
    free(graph->vertex);
    free(graph->from);
}

double edge_time(const struct graph *graph, int from, int to) {
    const struct vertex *later = &graph->vertex[to];
    const bool message = graph->vertex[from].rank != later->rank;
    return later->before + (message ? graph->latency : 0.0);
}
