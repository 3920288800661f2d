/* SPDX-License-Identifier: Apache-2.0
 * Emulated work: a thread is held for as long as the work would take, without using a core. */
#ifndef HOLD_H
#define HOLD_H

#include <time.h>

struct timespec hold_begin(void);
/* Until so many seconds are over since then; what was computed meanwhile is part of them. */
void hold_since(struct timespec begun, double seconds);
/* By how much all of these ended too late. */
double late_seconds(void);

#endif
