/* SPDX-License-Identifier: Apache-2.0
 * build: compiler=gcc # clang calls nothing that is weak and undefined
 * test: threads=1 SENNIT_POLICY=fa
 * A file of this program has marks (src/tasks/program/marks.h), those with the tasks have none. So
 * the tasks' code is looked at: the task that calls a send is known before it has run.
 */
#include "sennit_door.h"

int chains[2]; /* what the depend clauses name */
static int order[8], ran;

int MPI_Send(void) __attribute__((weak)); /* nobody defines it */

static void create(void) {
    for (int i = 0; i < 2; ++i) {
#pragma omp task firstprivate(i) depend(inout : chains[0])
        order[ran++] = i;
    }
#pragma omp task depend(inout : chains[1])
    order[ran++] = 2;
#pragma omp task depend(inout : chains[1])
    {
        if (MPI_Send)
            MPI_Send();
        DOOR(sennit_notify)(SENNIT_NOTICE_SEND, 1, 8);
        order[ran++] = 3;
    }
#pragma omp taskwait
}

__asm__(".pushsection .note.sennit, \"a\", @note\n"
        ".balign 4\n"
        ".long 7, 4, 0x53454e44\n"
        ".asciz \"Sennit\"\n"
        ".balign 4\n"
        ".long main - .\n"
        ".popsection\n");

int main(void) {
#pragma omp parallel num_threads(1)
    create();
    CHECK_EQ(ran, 4);
    CHECK_EQ(order[0], 2); /* of the others nothing is known: they are as good as the second */
    return 0;
}
