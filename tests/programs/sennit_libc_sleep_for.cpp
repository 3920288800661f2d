// SPDX-License-Identifier: Apache-2.0
// build: if="not tsan" # tasks wait in TSan's own functions
// test:
// docs/user/openmp.md, "Blocking calls of libc": std::this_thread's sleeps in a task let the others
// of its thread run. They are in a loop until a later task has run.
#include "check.h"

#include <chrono>
#include <thread>

static volatile int begun, done;

template <class Sleep>
static void until_a_later_task_has_run(Sleep sleep) {
    begun = done = 0;
#pragma omp parallel
#pragma omp single
    {
#pragma omp task firstprivate(sleep)
        {
            begun = 1;
            do
                sleep();
            while (!done);
        }
        while (!begun) {
#pragma omp taskyield
        }
#pragma omp task
        done = 1;
    }
}

int main() {
    constexpr std::chrono::milliseconds moment(1);
    until_a_later_task_has_run([=] { std::this_thread::sleep_for(moment); });
    until_a_later_task_has_run(
        [=] { std::this_thread::sleep_until(std::chrono::steady_clock::now() + moment); });
    puts("ok");
    return 0;
}
