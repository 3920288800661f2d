/* SPDX-License-Identifier: Apache-2.0
 * Tied tasks that may go on on another thread once they were suspended, and others, which use
 * something of their thread's. */
#include <errno.h>
#include <mpi.h>
#include <omp.h>
#include <pthread.h>
#include <stdio.h>

static _Thread_local int own;
static int shared_sum;
extern void unknown(int *value);

__attribute__((noinline)) static void get(int *value, int tag) {
    MPI_Recv(value, 1, MPI_INT, 1, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE); // missed: MPI_Recv is waited for where it stands: nothing is to be done before the function's end
}
__attribute__((noinline)) static int twice(int value) {
    return 2 * value;
}
__attribute__((noinline)) static int *place(void) {
    return &own;
}
void moves(int *value) {
#pragma omp task // noted: the task may go on on another thread: it uses nothing of its own one
    {
        int got;
        get(&got, 3);
#pragma omp critical
        value[0] += twice(got);
        printf("%d\n", got);
    }
}
void waits_for_children(int *value) {
#pragma omp task // noted: the task may go on on another thread: it uses nothing of its own one
    {
        int got;
#pragma omp task shared(got)
        got = 4;
#pragma omp taskwait
        get(&got, got);
        value[0] += got;
    }
}
void thread_local_variable(int *value) {
#pragma omp task // noted: the task goes on on its thread, for it uses own, which each thread has for itself
    {
        get(value, 3);
        own += *value;
    }
}
void address_of_one(int *value) {
#pragma omp task // noted: the task goes on on its thread, for it uses own, which each thread has for itself
    {
        int *at = place();
        get(value, 3);
        *at += *value;
    }
}
void number_of_thread(int *value) {
#pragma omp task // noted: the task goes on on its thread, for it uses a call of omp_get_thread_num (line +3)
    {
        get(value, 3);
        value[omp_get_thread_num()] = 1;
    }
}
void error_number(int *value) {
#pragma omp task // noted: the task goes on on its thread, for it uses a call of __errno_location (line +3)
    {
        get(value, 3);
        *value += errno;
    }
}
void self(int *value) {
#pragma omp task // noted: the task goes on on its thread, for it uses a call of pthread_self (line +3)
    {
        get(value, 3);
        *value += pthread_equal(pthread_self(), (pthread_t)0);
    }
}
void another_file(int *value) {
#pragma omp task // noted: the task goes on on its thread, for it uses a call of unknown (line +3)
    {
        get(value, 3);
        unknown(value);
    }
}
void pointer(int *value, void (*function)(int *)) {
#pragma omp task // noted: the task goes on on its thread, for it uses a call through a pointer (line +3)
    {
        get(value, 3);
        function(value);
    }
}
void assembly(int *value) {
#pragma omp task // noted: the task goes on on its thread, for it uses assembly code
    {
        get(value, 3);
        __asm__ volatile("nop" ::: "memory");
        *value += 1;
    }
}
void segment(int *value) {
#pragma omp task // noted: the task goes on on its thread, for it uses memory that a processor's register leads to
    {
        get(value, 3);
        *value += *(__seg_fs int *)0;
    }
}
/* The callee is looked at, whatever its name. */
static void looked_at(int *value, int depth) {
    if (depth == 0)
        *value += own;
    else
        looked_at(value, depth - 1);
}
void in_a_callee(int *value) {
#pragma omp task // noted: the task goes on on its thread, for it uses own, which each thread has for itself
    {
        get(value, 3);
        looked_at(value, *value);
    }
}
void main_thread(int *value) {
#pragma omp task // noted: the task goes on on its thread, for it uses a call of MPI_Is_thread_main (line +3)
    {
        get(value, 3);
        MPI_Is_thread_main(value);
    }
}
/* Nothing is said of those that wait for nothing. */
void computes(int *value) {
#pragma omp task
    shared_sum += *value;
}
