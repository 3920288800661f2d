/* SPDX-License-Identifier: Apache-2.0
 *
 * look() has tool_checker.c look at the frames of the calling task and of those that it runs in;
 * the result is how many these are. gcc 12 and its runtime lack omp_control_tool.
 */
#ifndef TOOL_LOOK_H
#define TOOL_LOOK_H

#include "check.h"
#include <dlfcn.h>

static inline int look(void) {
    typedef int control_tool(int command, int modifier, void *argument);
    control_tool *const control = (control_tool *)dlsym(RTLD_DEFAULT, "omp_control_tool");
    CHECK(control != NULL);
    return control(1 << 6, 0, NULL);
}

#endif
