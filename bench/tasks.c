/* SPDX-License-Identifier: Apache-2.0
 *
 * tasks.c - rows about explicit tasks without dependences.
 *
 * Tasks count themselves in a variable of the thread that runs them, so that counting neither
 * contends nor calls the runtime; the members of the team add the counts up at the end.
 */
#include "harness.h"
#include "omp-micro.h"

#include <omp.h>
#include <stdbool.h>
#include <string.h>

static _Thread_local long tasks_run;
static long tasks_total;

static void count_task(void) {
    ++tasks_run;
}

/* Called by every member of the team, after the last task has ended. */
static void add_counts(void) {
#pragma omp barrier
#pragma omp atomic
    tasks_total += tasks_run;
    tasks_run = 0;
}

static void check_counts(long expected) {
    bench_check(tasks_total == expected, "number of tasks that ran");
    tasks_total = 0;
}

static void produce(long tasks, long kind) {
    switch (kind) {
    case TASK_PLAIN:
        for (long i = 0; i < tasks; ++i) {
#pragma omp task
            count_task();
        }
        break;
    case TASK_UNDEFERRED:
        for (long i = 0; i < tasks; ++i) {
#pragma omp task if (0)
            count_task();
        }
        break;
    case TASK_UNTIED:
        for (long i = 0; i < tasks; ++i) {
#pragma omp task untied
            count_task();
        }
        break;
    case TASK_PRIORITY:
        for (long i = 0; i < tasks; ++i) {
#pragma omp task priority((int)(i % 8))
            count_task();
        }
        break;
    }
}

long bench_task_flat(long tasks, long kind) {
#pragma omp parallel
    {
#pragma omp single
        produce(tasks, kind);
        add_counts();
    }
    check_counts(tasks);
    return tasks;
}

long bench_task_all(long tasks, long unused) {
    (void)unused;
    const long each = tasks / omp_get_max_threads();
#pragma omp parallel
    {
        produce(each, TASK_PLAIN);
#pragma omp barrier
        add_counts();
    }
    check_counts(each * omp_get_max_threads());
    return each * omp_get_max_threads();
}

long bench_task_team1(long tasks, long unused) {
    (void)unused;
#pragma omp parallel num_threads(1)
    {
        produce(tasks, TASK_PLAIN);
#pragma omp taskwait
        add_counts();
    }
    check_counts(tasks);
    return tasks;
}

static long fib_serial(long n) {
    return n < 2 ? n : fib_serial(n - 1) + fib_serial(n - 2);
}

static long fib_tied(long n) {
    if (n < 2)
        return n;
    long a, b;
#pragma omp task shared(a)
    a = fib_tied(n - 1);
#pragma omp task shared(b)
    b = fib_tied(n - 2);
#pragma omp taskwait
    return a + b;
}

static long fib_untied(long n) {
    if (n < 2)
        return n;
    long a, b;
#pragma omp task shared(a) untied
    a = fib_untied(n - 1);
#pragma omp task shared(b) untied
    b = fib_untied(n - 2);
#pragma omp taskwait
    return a + b;
}

long bench_fib(long n, long untied) {
    static long known_n, expected, tasks;
    if (known_n != n) {
        known_n = n;
        expected = fib_serial(n);
        tasks = 2 * (fib_serial(n + 1) - 1); /* every call but the first is a task */
    }
    long result = 0;
#pragma omp parallel
#pragma omp single
    result = untied ? fib_untied(n) : fib_tied(n);
    bench_check(result == expected, "fib");
    return tasks;
}

enum { MAX_QUEENS = 16 };

static bool queen_fits(const char *columns, long row) {
    for (long other = 0; other < row; ++other) {
        const long distance = columns[row] - columns[other];
        if (distance == 0 || distance == row - other || distance == other - row)
            return false;
    }
    return true;
}

/* Places a queen in each column of `row`, one task a try, each with a copy of the board. */
static void place_queens(const char *board, long n, long row, long depth, long *solutions) {
    if (row == n) {
        *solutions = 1;
        return;
    }
    long found[MAX_QUEENS] = {0};
    for (long column = 0; column < n; ++column) {
#pragma omp task if (row < depth) shared(found) firstprivate(board, n, row, depth, column)
        {
            char mine[MAX_QUEENS];
            memcpy(mine, board, (size_t)row);
            mine[row] = (char)column;
            if (queen_fits(mine, row))
                place_queens(mine, n, row + 1, depth, &found[column]);
        }
    }
#pragma omp taskwait
    *solutions = 0;
    for (long column = 0; column < n; ++column)
        *solutions += found[column];
}

/* The same search without tasks; counts the tries, which are the tasks of place_queens. */
static long search_queens(char *board, long n, long row, long *tries) {
    if (row == n)
        return 1;
    long solutions = 0;
    for (long column = 0; column < n; ++column) {
        ++*tries;
        board[row] = (char)column;
        if (queen_fits(board, row))
            solutions += search_queens(board, n, row + 1, tries);
    }
    return solutions;
}

long bench_nqueens(long n, long depth) {
    static long known_n, expected, tasks;
    bench_check(n <= MAX_QUEENS, "at most 16 queens");
    char board[MAX_QUEENS] = {0};
    if (known_n != n) {
        known_n = n;
        tasks = 0;
        expected = search_queens(board, n, 0, &tasks);
    }
    long solutions = 0;
#pragma omp parallel
#pragma omp single
    place_queens(board, n, 0, depth, &solutions);
    bench_check(solutions == expected, "nqueens");
    return tasks;
}

/* A graph that is searched: a task for every edge, and most find their node visited. */
enum { MAX_NODES = 1 << 12, EDGES = 16 };
static int neighbours[MAX_NODES][EDGES];
static char visited[MAX_NODES];

static void visit(int node) {
    if (__atomic_exchange_n(&visited[node], 1, __ATOMIC_RELAXED))
        return;
    for (int edge = 0; edge < EDGES; ++edge) {
        const int next = neighbours[node][edge];
#pragma omp task firstprivate(next)
        visit(next);
    }
}

long bench_graph(long nodes, long unused) {
    (void)unused;
    static long known_nodes;
    bench_check(nodes <= MAX_NODES, "at most 4096 nodes");
    if (known_nodes != nodes) {
        known_nodes = nodes;
        unsigned random = 1;
        for (long node = 0; node < nodes; ++node) {
            neighbours[node][0] = (int)((node + 1) % nodes); /* all nodes are reached */
            for (int edge = 1; edge < EDGES; ++edge) {
                random = random * 1664525u + 1013904223u;
                neighbours[node][edge] = (int)((random >> 8) % (unsigned long)nodes);
            }
        }
    }
    memset(visited, 0, sizeof visited);
#pragma omp parallel
#pragma omp single
    visit(0);
    long seen = 0;
    for (long node = 0; node < nodes; ++node)
        seen += visited[node];
    bench_check(seen == nodes, "all nodes of the graph");
    return nodes * EDGES;
}

long bench_taskgroup(long groups, long unused) {
    (void)unused;
#pragma omp parallel
    {
#pragma omp single
        for (long i = 0; i < groups; ++i) {
#pragma omp taskgroup
            {
#pragma omp task
                count_task();
            }
        }
        add_counts();
    }
    check_counts(groups);
    return groups;
}

long bench_taskwait(long waits, long unused) {
    (void)unused;
#pragma omp parallel
    {
#pragma omp single
        for (long i = 0; i < waits; ++i) {
#pragma omp task
            count_task();
#pragma omp taskwait
        }
        add_counts();
    }
    check_counts(waits);
    return waits;
}

long bench_taskloop_grain1(long loops, long iterations) {
    /* Unsigned, as the taskloop ABI is: clang warns about its own comparisons otherwise. */
    const size_t count = (size_t)iterations;
#pragma omp parallel
    {
#pragma omp single
        for (long loop = 0; loop < loops; ++loop) {
#pragma omp taskloop grainsize(1)
            for (size_t i = 0; i < count; ++i)
                count_task();
        }
        add_counts();
    }
    check_counts(loops * iterations);
    return loops * iterations;
}

long bench_taskloop_default(long loops, long iterations) {
    const size_t count = (size_t)iterations;
#pragma omp parallel
    {
#pragma omp single
        for (long loop = 0; loop < loops; ++loop) {
#pragma omp taskloop
            for (size_t i = 0; i < count; ++i)
                count_task();
        }
        add_counts();
    }
    check_counts(loops * iterations);
    return loops;
}
