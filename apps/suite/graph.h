/* SPDX-License-Identifier: Apache-2.0
 *
 * The tasks of all ranks and what follows what, for bounds. Vertices stand in an order in which
 * each follows its predecessors.
 */
#ifndef GRAPH_H
#define GRAPH_H

#include "plan.h"

struct vertex {
    int rank;
    enum kind kind;
    int first; /* of its edges; the next vertex's is the end */
    double
        before; /* from its predecessors' ends until it can start: the questions of a long send */
    double duration;
    double head; /* it cannot start before */
    double tail; /* from its end to the end of all */
};

struct graph {
    int vertices, room;
    struct vertex *vertex; /* one more than there are */
    int edges, edge_room;
    int *from; /* of each edge */
    double latency;
};

struct graph make_graph(const struct options *options, const struct block_map *map, walk walk,
                        void *closure);
void free_graph(struct graph *graph);

/* What passes at the least between the end of `from` and the moment when `to` could start. */
double edge_time(const struct graph *graph, int from, int to);

#endif
