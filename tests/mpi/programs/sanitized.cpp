// SPDX-License-Identifier: Apache-2.0
// simple: out={bin}/{program}-{compiler}-{mpi} compiler=all
//     if="can(compiler, 'address') and (compiler, mpi) != ('clang', 'mpich')"
//     compile='{wrapped_cxx} -O1 -g -std=c++17 -x c++ -Wall -Wextra -Werror {skip_cxx} -fopenmp
//     -fsanitize=address'
//     -- -lstdc++
// once: mpi.{program}.{compiler}.{mpi} compiler=all exe={bin}/{program}-{compiler}-{mpi} shape=2x2
//     fail='Sanitizer|ASan' ASAN_OPTIONS=detect_leaks=0:detect_stack_use_after_return=1
// once: mpi.{program}.{compiler}.{mpi}.finds compiler=all exe={bin}/{program}-{compiler}-{mpi}
//     shape=2x2 pass='ERROR: AddressSanitizer: stack-buffer-overflow[^#]*#0 [^\n]*check_receive'
//     ASAN_OPTIONS=detect_leaks=0:detect_stack_use_after_return=1 -- fault
// Built with a sanitizer, for the program's own sake: tasks with arrays on their stacks are
// suspended in MPI in the midst of a call chain, throw and catch before and after it, and yield.
// The sanitizer knows on which stack it is all the time. With an argument, a task writes behind its
// array, which is to be found.
#include "check.h"

#include <memory>
#include <stdexcept>
#include <vector>

namespace {

constexpr int kTasks = 100;

[[gnu::noinline]] int risky(int task) {
    int array[32];
    for (int i = 0; i < 32; ++i)
        array[i] = task + i;
    const std::vector<int> values(10, task);
    if (task % 2 != 0)
        throw std::runtime_error("odd");
    return array[task % 32] + values[3];
}

int caught(int task) {
    try {
        return risky(task) * 0;
    } catch (const std::runtime_error &) {
        return 1;
    }
}

[[gnu::noinline]] int receive(const int *outer, int task) {
    int inner[50];
    for (int i = 0; i < 50; ++i)
        inner[i] = outer[i];
    MPI_Recv(inner, 50, MPI_INT, previous(), task, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return inner[49] + outer[99];
}

void check_receive(int task, bool at_fault) {
    int array[100];
    for (int i = 0; i < 100; ++i)
        array[i] = i;
    const auto memory = std::make_unique<int[]>(50);
    memory[1] = caught(task);
    const int sum = receive(array, task);
#pragma omp taskyield
    CHECK(sum == task + 49 + 99);
    CHECK(memory[1] + caught(task + 1) == 1);
    if (at_fault && task == kTasks / 2) {
        volatile int behind = 100;
        array[behind] = 1;
    }
}

void send(int task) {
    int array[50];
    for (int i = 0; i < 50; ++i)
        array[i] = task + i;
    MPI_Send(array, 50, MPI_INT, next(), task, MPI_COMM_WORLD);
}

} // namespace

int main(int argc, char **argv) {
    begin(&argc, &argv);
    const bool at_fault = argc > 1;
#pragma omp parallel
#pragma omp single
    for (int task = 0; task < kTasks; ++task) {
#pragma omp task firstprivate(task, at_fault)
        check_receive(task, at_fault);
#pragma omp task firstprivate(task)
        send(task);
    }
    MPI_Finalize();
    return 0;
}
