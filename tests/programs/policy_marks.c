/* SPDX-License-Identifier: Apache-2.0
 * build: compiler=gcc # its asm names the function that gcc makes of a task
 * test: threads=1 SENNIT_POLICY=fa
 * FA starts with the compiler's marks (src/tasks/program/marks.h): the first send-task is known
 * before it has run, and that others only compute. So the path to it goes first from the start.
 */
#include "sennit_door.h"

int chains[2]; /* what the depend clauses name */
static int order[8], ran;

static void create(void) {
    for (int i = 0; i < 2; ++i) {
#pragma omp task firstprivate(i) depend(inout : chains[0])
        order[ran++] = i;
    }
#pragma omp task depend(inout : chains[1])
    order[ran++] = 2;
#pragma omp task depend(inout : chains[1])
    {
        DOOR(sennit_notify)(SENNIT_NOTICE_SEND, 1, 8);
        order[ran++] = 3;
    }
#pragma omp taskwait
}

__asm__(".pushsection .note.sennit, \"a\", @note\n"
        ".balign 4\n"
        ".long 7, 6 * 4, 0x4d41524b\n"
        ".asciz \"Sennit\"\n"
        ".balign 4\n"
        ".long create._omp_fn.0 - ., 0\n"
        ".long create._omp_fn.1 - ., 0\n"
        ".long create._omp_fn.2 - ., 1\n"
        ".popsection\n");

int main(void) {
#pragma omp parallel num_threads(1)
    create();
    CHECK_EQ(ran, 4);
    CHECK_EQ(order[0], 2);
    CHECK_EQ(order[1], 3);
    CHECK_EQ(order[2], 0);
    return 0;
}
