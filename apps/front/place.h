/* SPDX-License-Identifier: Apache-2.0
 * Which rank has which domains, and which of its threads. */
#ifndef PLACE_H
#define PLACE_H

#include "front.h"

typedef struct {
    int rank, thread;
} place;
/* At first: ranks have blocks of the mesh, and their threads blocks of these, as square as can be.
 */
place first_place(const front_options *options, int ranks, int threads, int domain);
/* After the balancer has moved domains: the heaviest first, each to the thread that has least. As
 * GreedyLB does with PEs. */
void deal(domain **domains, int count, int threads);

#endif
