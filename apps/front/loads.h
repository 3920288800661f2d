/* SPDX-License-Identifier: Apache-2.0
 * What each domain's cells cost in each step, for who wants to know how well they could have been
 * balanced. Written to a file: steps x domains floats, in seconds. */
#ifndef LOADS_H
#define LOADS_H

/* 0: there is no memory. */
int loads_setup(int steps, int domains);
/* Any thread, each for another domain. Does nothing without loads_setup(). */
void loads_note(int step, int domain, double seconds);
/* Collective. Of all ranks, by rank 0. 0, there: it cannot be written. */
int loads_write(const char *path);

#endif
