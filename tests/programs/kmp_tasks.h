/* SPDX-License-Identifier: Apache-2.0
 *
 * Tasks as clang's code makes them, for programs that call LLVM's ABI themselves. */
#ifndef KMP_TASKS_H
#define KMP_TASKS_H

#include <stddef.h>
#include <stdint.h>

typedef struct Task { /* kmp_task_t, and a variable of the task's own */
    void *shareds;
    int (*routine)(int, struct Task *);
    int part;
    void *destructors;
    int priority;
    int *cell;
} Task;

typedef struct { /* kmp_depend_info_t */
    intptr_t address;
    size_t length;
    uint8_t flags;
} Depend;

int __kmpc_global_thread_num(void *);
Task *__kmpc_omp_task_alloc(void *, int, int, size_t, size_t, int (*)(int, Task *));
int __kmpc_omp_task(void *, int, Task *);
int __kmpc_omp_task_with_deps(void *, int, Task *, int, Depend *, int, Depend *);

#endif
