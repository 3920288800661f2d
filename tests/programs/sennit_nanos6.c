/* SPDX-License-Identifier: Apache-2.0
 * build: -- -lpthread
 * test:
 * nanos6.h: the eight routines of section 4 of the task-aware MPI paper, as a task-aware library
 * finds and uses them (dlsym from global scope). A polling service is called as long as it is
 * registered, whether anything is pending or not, and never again once it has returned true.
 */
#include "sennit_door.h"

#include "nanos6.h"
#include <pthread.h>
#include <stdbool.h>

static int load(const int *word) {
    return __atomic_load_n(word, __ATOMIC_ACQUIRE);
}
static void store(int *word, int value) {
    __atomic_store_n(word, value, __ATOMIC_RELEASE);
}
static void wait_for(const int *word, int least) {
    while (load(word) < least)
        usleep(100);
}

static void add(nanos6_polling_service_t function, void *data) {
    DOOR(nanos6_register_polling_service)("a service of the test", function, data);
}
static void take(nanos6_polling_service_t function, void *data) {
    DOOR(nanos6_unregister_polling_service)("a service of the test", function, data);
}

struct service {
    int calls, last; /* the call that returns true, 0: none */
};
static int inside;

static int count(void *data) {
    struct service *const service = data;
    CHECK_EQ(__atomic_exchange_n(&inside, 1, __ATOMIC_ACQ_REL), 0);
    const int calls = load(&service->calls) + 1;
    store(&service->calls, calls);
    store(&inside, 0);
    return calls == service->last;
}

/* While the thread computes, and while all wait; the same function with several data. */
static void called_while_registered(void) {
    struct service first = {0, 0}, second = {0, 3};
    add(count, &first);
    add(count, &second);
    wait_for(&first.calls, 20);
    CHECK_EQ(load(&second.calls), 3);
#pragma omp parallel
    {
        const int before = load(&first.calls);
#pragma omp barrier
        wait_for(&first.calls, before + 5);
    }
    CHECK_EQ(load(&second.calls), 3);
    take(count, &second); /* gone already */
    take(count, &first);
    const int calls = load(&first.calls);
    second.last = 0;
    add(count, &second);
    wait_for(&second.calls, 20);
    CHECK_EQ(load(&first.calls), calls);
    take(count, &second);
    take(count, &second);
}

/* Registers another one, and takes itself back without returning true. */
static struct service other = {0, 0};
static int once(void *data) {
    take(once, data);
    add(count, &other);
    store(data, load(data) + 1);
    return 0;
}

static void services_change_services(void) {
    int calls = 0;
    add(once, &calls);
    wait_for(&other.calls, 20);
    take(count, &other);
    CHECK_EQ(load(&calls), 1);
}

/* Who takes a service back has it to itself afterwards. */
static int slow(void *data) {
    int *const calls = data;
    store(calls, load(calls) + 1);
    usleep(2000);
    store(calls, load(calls) + 1);
    return 0;
}
static void taken_back_while_called(void) {
    for (int i = 0; i < 20; ++i) {
        int calls = 0;
        add(slow, &calls);
        wait_for(&calls, 1);
        take(slow, &calls);
        CHECK_EQ(load(&calls) % 2, 0);
        calls = -1;
    }
}

/* Figure 1: an operation that is over at some time, and a service that unblocks its task then. */
struct operation {
    int over;
    void *context, *counter;
};
static int test(void *data) {
    struct operation *const operation = data;
    if (!load(&operation->over))
        return 0;
    if (operation->context)
        DOOR(nanos6_unblock_task)(operation->context);
    else
        DOOR(nanos6_decrease_task_event_counter)(operation->counter, 2);
    return 1;
}

static void blocked_tasks(void) {
    enum { tasks = 50 };
    static struct operation operations[tasks];
    int resumed = 0;
#pragma omp parallel
#pragma omp single
    {
        for (int i = 0; i < tasks; ++i) {
#pragma omp task firstprivate(i) shared(resumed)
            {
                operations[i].context = DOOR(nanos6_get_current_blocking_context)();
                CHECK(operations[i].context != NULL);
                add(test, &operations[i]);
                DOOR(nanos6_block_current_task)(operations[i].context);
                CHECK(load(&operations[i].over));
                __atomic_add_fetch(&resumed, 1, __ATOMIC_ACQ_REL);
            }
        }
#pragma omp task /* the tasks before it have suspended themselves, or will not have to */
        for (int i = tasks - 1; i >= 0; --i)
            store(&operations[i].over, 1);
    }
    CHECK_EQ(resumed, tasks);
}

/* Figure 2: the task ends; what depends on it waits for its events. */
static void events(void) {
    static struct operation operation;
    int x = 0;
#pragma omp parallel
#pragma omp single
    {
#pragma omp task depend(out : x) shared(x)
        {
            x = 1;
            operation.counter = DOOR(nanos6_get_current_event_counter)();
            DOOR(nanos6_increase_current_task_event_counter)(operation.counter, 3);
            DOOR(nanos6_decrease_task_event_counter)(operation.counter, 1);
            add(test, &operation);
        }
#pragma omp task depend(in : x) shared(x)
        CHECK(x == 1 && load(&operation.over));
#pragma omp task
        {
            usleep(5000);
            store(&operation.over, 1);
        }
    }
}

static void *outside(void *unused) {
    CHECK(DOOR(nanos6_get_current_blocking_context)() == NULL);
    CHECK(DOOR(nanos6_get_current_event_counter)() == NULL);
    DOOR(nanos6_block_current_task)(NULL);
    DOOR(nanos6_unblock_task)(NULL);
    DOOR(nanos6_increase_current_task_event_counter)(NULL, 1);
    DOOR(nanos6_decrease_task_event_counter)(NULL, 1);
    return unused;
}

int main(void) {
    pthread_t thread;
    called_while_registered();
    services_change_services();
    taken_back_while_called();
    blocked_tasks();
    events();
    CHECK_EQ(pthread_create(&thread, NULL, outside, NULL), 0);
    CHECK_EQ(pthread_join(thread, NULL), 0);
    return 0;
}
