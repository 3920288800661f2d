/* SPDX-License-Identifier: Apache-2.0
 *
 * How a program that is not linked against Sennit finds it, as a third party's task-aware library
 * would: DOOR(name) is the function `name` of sennit.h or alpi.h, looked up in the global scope.
 */
#ifndef SENNIT_DOOR_H
#define SENNIT_DOOR_H

#include "alpi.h"
#include "check.h"
#include "sennit.h"
#include <dlfcn.h>

#define DOOR(name) ((__typeof__(name) *)door_symbol(#name))

static inline void *door_symbol(const char *name) {
    void *symbol = dlsym(RTLD_DEFAULT, name);
    if (!symbol) {
        fprintf(stderr, "%s is not there: this program tests what only Sennit does\n", name);
        _exit(1);
    }
    return symbol;
}

/* The task that runs on the calling thread. */
static inline sennit_task *door_self(void) {
    sennit_task *self = NULL;
    CHECK_EQ(DOOR(sennit_task_self)(&self), SENNIT_SUCCESS);
    return self;
}

#endif
