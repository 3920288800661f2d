// SPDX-License-Identifier: Apache-2.0
// test, valgrind, sanitizers:
// Each fiber has its own C++ exception state (__cxa_get_globals). Tasks of one thread are suspended
// inside catch blocks. Each rethrows its own exception, whatever the order in which they are
// resumed. So does a task that is suspended during stack unwinding, in a destructor.
#include "sennit_door.h"
#include <exception>
#include <stdexcept>
#include <string>
#include <vector>

enum { tasks = 20 };
static std::vector<sennit_task *> sleeper(tasks, nullptr);
static volatile int asleep; // volatile: gcc thinks that taskyield changes no static variable

static void sleep_as(int id) {
    sleeper[static_cast<size_t>(id)] = door_self();
    asleep = asleep + 1;
    CHECK_EQ(DOOR(sennit_task_suspend)(door_self()), SENNIT_SUCCESS);
}

struct SleepsWhenDestroyed {
    int id;
    ~SleepsWhenDestroyed() {
        CHECK_EQ(std::uncaught_exceptions(), 1);
        sleep_as(id);
        CHECK_EQ(std::uncaught_exceptions(), 1);
    }
};

static void rethrow_own(int id) {
    try {
        try {
            if (id % 2) {
                SleepsWhenDestroyed guard{id};
                throw std::runtime_error(std::to_string(id));
            }
            throw std::runtime_error(std::to_string(id));
        } catch (...) {
            if (id % 2 == 0)
                sleep_as(id);
            throw;
        }
    } catch (const std::runtime_error &error) {
        CHECK(error.what() == std::to_string(id));
        CHECK_EQ(std::uncaught_exceptions(), 0);
    }
}

int main() {
#pragma omp parallel num_threads(1)
    {
        for (int id = 0; id < tasks; ++id) {
#pragma omp task firstprivate(id)
            rethrow_own(id);
        }
        while (asleep < tasks) {
#pragma omp taskyield
        }
        for (int k = 0; k < tasks; ++k)
            CHECK_EQ(DOOR(sennit_task_resume)(sleeper[static_cast<size_t>(k * 7 % tasks)]),
                     SENNIT_SUCCESS);
    }
    return 0;
}
