/* SPDX-License-Identifier: Apache-2.0
 * build: -g # reports name source lines
 * Programs that hang, and programs that only look like it: hang_victim <case>. Run by hang.py. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <linux/futex.h>
#include <omp.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static omp_lock_t first, second;
static volatile int taken;

static void wait_until_taken(int count) {
    while (taken < count) {
#pragma omp taskyield
    }
}

static void take(omp_lock_t *one, omp_lock_t *other) {
    omp_set_lock(one);
#pragma omp atomic
    ++taken;
    wait_until_taken(2);
    omp_set_lock(other);
    ++taken; /* a call that ends a function leaves no trace of it on the stack */
}

/* Two tasks take two locks in different order. */
static void lock_order(void) {
    omp_init_lock(&first);
    omp_init_lock(&second);
#pragma omp parallel num_threads(2)
#pragma omp single
    {
#pragma omp task
        take(&first, &second);
#pragma omp task
        take(&second, &first);
    }
}

/* A task waits for a child that wants the lock that the task holds. */
static void lock_and_taskwait(void) {
    omp_init_lock(&first);
#pragma omp parallel num_threads(2)
#pragma omp single
#pragma omp task
    {
        omp_set_lock(&first);
#pragma omp task
        {
            omp_set_lock(&first);
            omp_unset_lock(&first);
        }
#pragma omp taskwait
        omp_unset_lock(&first);
    }
}

/* Three tasks of one thread wait for the lock that their parent holds. */
__attribute__((noinline)) static void want_lock(void) {
    omp_set_lock(&first);
    ++taken;
}
static void three_want_lock(void) {
    omp_init_lock(&first);
#pragma omp parallel num_threads(1)
    {
        omp_set_lock(&first);
        for (int i = 0; i < 3; ++i) {
#pragma omp task
            {
                want_lock();
                ++taken;
            }
        }
#pragma omp taskwait
        ++taken;
    }
}

/* A lock that is taken twice by the same task. */
static void lock_twice(void) {
    omp_init_lock(&first);
#pragma omp parallel num_threads(2)
#pragma omp single
    {
        omp_set_lock(&first);
        omp_set_lock(&first);
    }
}

/* A lock whose holder has ended. */
static void lock_forgotten(void) {
    omp_init_lock(&first);
#pragma omp parallel num_threads(2)
#pragma omp single
    {
#pragma omp task
        omp_set_lock(&first);
#pragma omp taskwait
        omp_set_lock(&first);
    }
}

/* A thread that waits for an iteration that comes after its own. */
static void ordered(void) {
    omp_init_lock(&first);
    omp_set_lock(&first);
#pragma omp parallel for ordered schedule(static, 1) num_threads(2)
    for (int i = 0; i < 2; ++i) {
        if (i == 0)
            omp_set_lock(&first);
#pragma omp ordered
        omp_unset_lock(&first);
    }
}

/* The same with a mutex of libc's: whoever wants it has nothing else on its thread, which sleeps in
 * libc. */
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
__attribute__((noinline)) static void take_mutex_first(void) {
    pthread_mutex_lock(&mutex);
#pragma omp atomic
    ++taken;
    wait_until_taken(2);
    omp_set_lock(&first);
    ++taken;
}
__attribute__((noinline)) static void take_mutex_second(void) {
    omp_set_lock(&first);
#pragma omp atomic
    ++taken;
    while (taken < 2) {
    }
    pthread_mutex_lock(&mutex);
    ++taken;
}
static void lock_and_mutex(void) {
    omp_init_lock(&first);
#pragma omp parallel num_threads(2)
    if (omp_get_thread_num() == 0)
        take_mutex_first();
    else
        take_mutex_second();
}

/* A task sleeps in a system call until another one wakes it, which waits for a lock that it holds.
 * libc's own syscall(), not the one that Sennit stands in front of. The thread that creates the
 * other one must not be the one that sleeps: it has no scheduling point before that. */
static volatile int asleep = 1;
__attribute__((noinline)) static void sleep_in_futex(void) {
    long (*call)(long, ...) = (long (*)(long, ...))dlsym(dlopen("libc.so.6", RTLD_NOW), "syscall");
    omp_set_lock(&first);
#pragma omp atomic
    ++taken;
    while (asleep)
        call(SYS_futex, &asleep, FUTEX_WAIT_PRIVATE, 1, NULL, NULL, 0);
    omp_unset_lock(&first);
    ++taken;
}
__attribute__((noinline)) static void wake_sleeper(void) {
    omp_set_lock(&first);
    asleep = 0;
    syscall(SYS_futex, &asleep, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
    omp_unset_lock(&first);
}
static void raw_futex(void) {
    omp_init_lock(&first);
#pragma omp parallel num_threads(2)
    if (omp_get_thread_num() == 0) {
#pragma omp task
        sleep_in_futex();
    } else {
        while (taken < 1) {
        }
#pragma omp task
        wake_sleeper();
    }
}

/* The same threads, but who wakes the sleeper is about to. */
static void *wake_late(void *unused) {
    sleep(4);
    asleep = 0;
    syscall(SYS_futex, &asleep, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
    return unused;
}
static void slow_waker(void) {
    pthread_t thread;
    omp_init_lock(&first);
    pthread_create(&thread, NULL, wake_late, NULL);
#pragma omp parallel num_threads(2)
    if (omp_get_thread_num() == 0)
        sleep_in_futex();
    pthread_join(thread, NULL);
    puts("done");
}

/* The initial thread waits for one of the program's own, which waits for input. */
static void *read_line(void *unused) {
    char line[16];
    puts(fgets(line, sizeof line, stdin) ? "done" : "nothing to read");
    return unused;
}
static void joins(void) {
    pthread_t thread;
#pragma omp parallel num_threads(2)
    {
    }
    pthread_create(&thread, NULL, read_line, NULL);
    pthread_join(thread, NULL);
}

static omp_event_handle_t shared_event;

/* An event that nobody fulfils; another task depends on it. */
static void event_forgotten(void) {
    int x = 0;
    omp_event_handle_t event = 0;
#pragma omp parallel num_threads(2)
#pragma omp single
    {
#pragma omp task detach(event) depend(out : x)
        {
            shared_event = event;
            ++x;
        }
#pragma omp task depend(in : x)
        printf("%d\n", x);
#pragma omp taskwait
    }
}

/* A thread of the program's own fulfils the event that all others wait for. */
static void detached(void *(*fulfil)(void *)) {
    pthread_t thread;
    omp_event_handle_t event = 0;
#pragma omp parallel num_threads(2)
#pragma omp single
    {
#pragma omp task detach(event)
        {
            shared_event = event;
            pthread_create(&thread, NULL, fulfil, NULL);
        }
#pragma omp taskwait
    }
    pthread_join(thread, NULL);
    puts("done");
}

/* It sleeps, here until there is input. */
static void *fulfil_late(void *unused) {
    char line[16];
    if (fgets(line, sizeof line, stdin))
        omp_fulfill_event(shared_event);
    return unused;
}
static void event_late(void) {
    detached(fulfil_late);
}

static double seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* One task computes for long, all else waits for it. */
static void slow_task(void) {
#pragma omp parallel num_threads(4)
#pragma omp single
    {
#pragma omp task
        for (const double end = seconds() + 3; seconds() < end;) {
        }
#pragma omp taskwait
    }
    puts("done");
}

/* It computes for long. */
static void *compute(void *unused) {
    for (const double end = seconds() + 3; seconds() < end;) {
    }
    omp_fulfill_event(shared_event);
    return unused;
}
static void slow_thread(void) {
    detached(compute);
}

/* A task waits for the keyboard. */
static void reads_input(void) {
#pragma omp parallel num_threads(2)
#pragma omp single
    {
#pragma omp task
        {
            char line[16];
            puts(fgets(line, sizeof line, stdin) ? "done" : "nothing to read");
        }
#pragma omp taskwait
    }
}

/* The program ends; a task that was suspended is left, and nobody resumes it. */
__attribute__((noinline)) static void suspend_for_ever(void) {
    void *task = NULL;
    ((int (*)(void **))dlsym(RTLD_DEFAULT, "sennit_task_self"))(&task);
    ((int (*)(void *))dlsym(RTLD_DEFAULT, "sennit_task_suspend"))(task);
    ++taken;
}
static void suspended_at_exit(void) {
#pragma omp task
    suspend_for_ever();
}

/* Serial for long, while the team's threads are docked. */
static void serial(void) {
#pragma omp parallel num_threads(4)
    {
    }
    sleep(3);
    puts("done");
}

/* A task gets the lock that it waits for, but its thread gets no processor to go on: it is the
 * least of all that want that one. */
static void fill_core(int core) {
    enum { kPrograms = 24 };
    for (int i = 0; i < kPrograms; ++i)
        if (fork() == 0) {
            cpu_set_t only;
            CPU_ZERO(&only);
            CPU_SET(core, &only);
            sched_setaffinity(0, sizeof only, &only);
            for (const double end = seconds() + 4; seconds() < end;) {
            }
            _exit(0);
        }
}
static void turn_least(int core) {
    const struct sched_param none = {0};
    cpu_set_t only;
    CPU_ZERO(&only);
    CPU_SET(core, &only);
    sched_setaffinity(0, sizeof only, &only);
    sched_setscheduler(0, SCHED_IDLE, &none);
}
static void starved(void) {
    const int core = sched_getcpu();
    omp_init_lock(&first);
#pragma omp parallel num_threads(2)
    if (omp_get_thread_num() == 0)
        usleep(100000); /* the other one waits, and the ticker, which it starts, is as any thread */
#pragma omp parallel num_threads(2)
    if (omp_get_thread_num() == 0) {
        omp_set_lock(&first);
        while (taken < 1) {
        }
        usleep(100000);
        fill_core(core);
        usleep(100000);
        omp_unset_lock(&first);
    } else {
        turn_least(core);
        usleep(10000);
        taken = 1;
        omp_set_lock(&first);
        omp_unset_lock(&first);
    }
    while (wait(NULL) > 0) {
    }
    puts("done");
}

int main(int count, char **arguments) {
    static const struct {
        const char *name;
        void (*run)(void);
    } cases[] = {{"lock_order", lock_order},
                 {"lock_and_taskwait", lock_and_taskwait},
                 {"three_want_lock", three_want_lock},
                 {"lock_twice", lock_twice},
                 {"lock_forgotten", lock_forgotten},
                 {"ordered", ordered},
                 {"lock_and_mutex", lock_and_mutex},
                 {"raw_futex", raw_futex},
                 {"slow_waker", slow_waker},
                 {"joins", joins},
                 {"event_forgotten", event_forgotten},
                 {"event_late", event_late},
                 {"suspended_at_exit", suspended_at_exit},
                 {"slow_task", slow_task},
                 {"slow_thread", slow_thread},
                 {"reads_input", reads_input},
                 {"serial", serial},
                 {"starved", starved}};
    for (size_t i = 0; count == 2 && i < sizeof cases / sizeof *cases; ++i)
        if (strcmp(arguments[1], cases[i].name) == 0) {
            cases[i].run();
            return 0;
        }
    fprintf(stderr, "usage: hang_victim CASE\n");
    return 2;
}
