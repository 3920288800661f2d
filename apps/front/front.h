/* SPDX-License-Identifier: Apache-2.0
 * A domain of the mesh, and what happens in it. Lengths are in cells, times in cells at speed 1. */
#ifndef FRONT_H
#define FRONT_H

#include <stddef.h>

enum front_loops {
    loops_serial,
    loops_taskloop, /* pieces of a loop are tasks: who has nothing to do takes some */
    loops_parallel  /* `parallel for`: in a task or a thread's own domain it is a region in a region
                     */
};
enum front_domains {
    domains_tasks,   /* each domain is a task in each step */
    domains_threads, /* each thread has its own domains, as Charm++'s PEs have */
    domains_serial   /* one after the other, outside of all regions: all threads are in a `parallel
                        for` */
};

typedef struct {
    int side;  /* domains, in each direction */
    int cells; /* of a domain, in each direction */
    int steps;
    int count_from; /* times and balance are of this step and those after it */
    int period;     /* steps between two calls of the balancer; 0: never */
    double speed;   /* cells in a step; at most 1, for a border travels one cell in a step */
    enum front_loops loops;
    enum front_domains domains;
    const char *strategy; /* null: as SENNIT_BALANCE says */
    const char *loads;    /* a file for what each domain costs in each step; null: none */
    double emulate_s;     /* what a cell outside of the band takes; 0: nothing is emulated */
    double ratio;         /* emulated: a cell in the band takes so many times as long */
} front_options;

extern const char front_usage[];
int asks_for_help(int argc, char **argv);
/* Null, or what is wrong. */
const char *read_options(int argc, char **argv, front_options *options);

/* What its cells have cost. */
typedef struct {
    double outside_s;
    double band_s; /* in the loops over the band, on top of that */
    long outside;  /* cells, of all steps */
    long band;
} front_cost;

/* One range of memory, so that it can move as it is. */
typedef struct {
    int cells;
    int x, y;   /* of its first cell, in the mesh */
    int thread; /* domains_threads: whose it is */
    /* Since the last call of the balancer. Emulated work: what it stands for. How late the machine
     * wakes its threads is no property of the domain. */
    double spent_s;
    double burnt; /* cells, by now */
    double slope; /* sum over cells of how far the front's slope is from 1, when it was measured */
    long slopes;  /* how many */
    front_cost cost;
    double arrival[]; /* (cells + 2)^2: with a halo; INFINITY: not known */
} domain;

size_t domain_bytes(int cells);
/* The domain in that column and row of domains; the cells next to the source know their time. Null:
 * no memory. */
domain *make_domain(const front_options *options, int column, int row);

static inline double *cell(domain *one, int x, int y) {
    return &one->arrival[(size_t)y * (size_t)(one->cells + 2) + (size_t)x];
}

/* The front is at this time now. */
void advance(domain *one, const front_options *options, double now);

typedef struct {
    double worst; /* difference from the exact time, of cells where the front has been */
    long arrived;
    long missed;       /* cells where it should have been */
    unsigned long sum; /* of all bits */
} outcome;
void look_at(const domain *one, const front_options *options, outcome *found);
double front_tolerance(const front_options *options); /* of `worst` */

#endif
