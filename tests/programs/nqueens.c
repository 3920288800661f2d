/* SPDX-License-Identifier: Apache-2.0
 * test, policies, tool:
 * All placements of n queens, a task a branch (BOTS shape): boards are firstprivate, counts meet in
 * an atomic, a task_reduction and a threadprivate variable; all agree.
 */
#include "check.h"

enum { n = 8, solutions = 92 };

struct board {
    int row[n];
};

static int in_thread;
#pragma omp threadprivate(in_thread)
static int total;

static int safe(const struct board *board, int column) {
    for (int c = 0; c < column; ++c) {
        const int distance = board->row[column] - board->row[c];
        if (distance == 0 || distance == column - c || distance == c - column)
            return 0;
    }
    return 1;
}

static int place(struct board board, int column) {
    int found = 0;
    if (column == n) {
#pragma omp atomic
        total += 1;
        in_thread += 1;
        return 1;
    }
#pragma omp taskgroup task_reduction(+ : found)
    {
        for (int row = 0; row < n; ++row) {
            board.row[column] = row;
            if (safe(&board, column)) {
#pragma omp task in_reduction(+ : found) firstprivate(board)
                found += place(board, column + 1);
            }
        }
    }
    return found;
}

int main(void) {
    int found = 0, over_threads = 0;
#pragma omp parallel
    {
#pragma omp single
        found = place((struct board){{0}}, 0);
#pragma omp atomic
        over_threads += in_thread;
    }
    CHECK_EQ(found, solutions);
    CHECK_EQ(total, solutions);
    CHECK_EQ(over_threads, solutions);
    return 0;
}
