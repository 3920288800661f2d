/* SPDX-License-Identifier: Apache-2.0
 * For test programs of rank fibers: how often the calling thread has come home, which takes two
 * wake-ups by the kernel. The code alone decides that: a thread that is interrupted, or gets no
 * processor for a while, does not come home. -1: the thread is no fiber. */
#ifndef HOMECOMINGS_H
#define HOMECOMINGS_H

#ifdef __cplusplus
extern "C" {
#endif

long homecomings(void);
/* Does the calling thread run on a worker just now? */
int is_away(void);

#ifdef __cplusplus
}
#endif

#endif
