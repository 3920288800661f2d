/* SPDX-License-Identifier: Apache-2.0
 * Callgrind counts instructions between the two, started with --instr-atstart=no. */
#ifndef COUNTING_H
#define COUNTING_H

void start_counting(void);
void stop_counting(void);

#endif
