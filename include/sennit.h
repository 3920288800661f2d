/* SPDX-License-Identifier: Apache-2.0
 *
 * sennit.h - the narrow door through which an asynchronous library (MPI, files, GPUs, io_uring)
 * reaches the task runtime. Sennit's own MPI libraries use nothing else.
 *
 * The functions live in libsennit-omp.so. A library that must also work without the runtime looks
 * each symbol up with dlsym(RTLD_DEFAULT, ...) and does without it when it is absent.
 *
 * Unless a function says otherwise: it returns SENNIT_SUCCESS or an error code of enum
 * sennit_error, never sets errno, and may be called from any thread, inside or outside of a
 * parallel region. A null pointer where an object is required gives SENNIT_ERR_PARAMETER.
 */
#ifndef SENNIT_H
#define SENNIT_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SENNIT_VERSION_MAJOR 0
#define SENNIT_VERSION_MINOR 1

/* Result codes. */
enum sennit_error {
    SENNIT_SUCCESS = 0,
    SENNIT_ERR_PARAMETER = 1,     /* a null or unknown argument */
    SENNIT_ERR_OUTSIDE_TASK = 2,  /* the calling thread runs no task of Sennit */
    SENNIT_ERR_OUT_OF_MEMORY = 3, /* no memory for a descriptor or a stack */
    SENNIT_ERR_NOT_SELF = 4,      /* the call is only for the task that runs on this thread */
    SENNIT_ERR_NO_PROGRESS = 5    /* nobody may call MPI meanwhile */
};

/* An OpenMP task (initial, implicit or explicit) or one made by sennit_task_spawn. A handle is
 * valid from the task's creation until the release of its dependences. */
typedef struct sennit_task sennit_task;

/* What kind of task a handle denotes. */
enum sennit_task_kind {
    SENNIT_TASK_INITIAL = 0,  /* the initial thread, or a thread that the user made */
    SENNIT_TASK_IMPLICIT = 1, /* a member of a parallel region */
    SENNIT_TASK_EXPLICIT = 2  /* `omp task`, `taskloop`, sennit_task_spawn */
};

/* Store the task that runs on the calling thread in *task.
 * Errors: SENNIT_ERR_OUTSIDE_TASK on a thread that Sennit has never seen. */
int sennit_task_self(sennit_task **task);

/* Store the kind (enum sennit_task_kind) of `task` in *kind. */
int sennit_task_get_kind(sennit_task *task, int *kind);

/* 1 when a call that is about to block the calling thread should rather suspend the task that runs
 * on it: inside an explicit task, or in an implicit or initial task whose team has unfinished
 * explicit tasks. 0 otherwise, also on foreign threads and inside a polling service. */
int sennit_should_suspend(void);

/* For a call that begins and may block. 1: suspend the calling task, as sennit_should_suspend says.
 * 0: block the thread; the caller is outside of tasks, or to suspend its task would gain nothing,
 * since the thread could run nothing else before the call is over. A send (`notice`, else 0) is
 * recorded as by sennit_notify. */
int sennit_call_begins(int notice);

/* Has the calling task's worker something else to do, or its processor another thread to run? While
 * neither is so, a library that waits may as well look again for a while: to suspend the task would
 * gain nothing. Costs a few loads, and one for each thread of the team. */
int sennit_worker_wanted(void);

/* For a task that has looked in vain, again and again, for something that others have to do. Tasks
 * that were suspended on its thread and can go on do so now. In a team of one thread other tasks
 * may also begin. Does nothing outside of tasks, or if there is no such task. */
void sennit_task_yield(void);

/* For a library whose caller has tested some times in vain. The second time that the same task says
 * so, it may well be in a loop: then this is sennit_task_yield. The first time it does nothing, for
 * tasks that test once or twice each may hold a lock that all others wait for. */
void sennit_task_tests(void);

/* Are there tasks, created outside of parallel regions by any thread, that have not ended? A
 * library that is about to leave has to wait for them: other runtimes run them where they are
 * created. */
int sennit_tasks_outside(void);

/* From now on the process may wait for processes that are not of its job: it spawns them, or is
 * connected to them. So SENNIT_HANG=abort does not end it because of waits outside of OpenMP. */
void sennit_meets_others(void);

/* Message libraries, and the libraries that they need, have been loaded since the program's start.
 * No task is suspended inside of them, so their locks need not be those of tasks. */
void sennit_libraries_loaded(void);

/* The address of a counter: how many teams have explicit tasks, or had some since their last
 * barrier. While it is zero, to suspend a task gains nothing. So a library that finds zero there
 * may block the thread without asking sennit_should_suspend. */
const int32_t *sennit_teams_with_tasks(void);

/* Should long messages of tasks leave in the order of their tasks (policies sa, fa and global)?
 * Returns how many may be under way at once; 0: any number, in any order. Stores the calling task's
 * place in *key; the least goes first. */
int sennit_send_order(uint64_t *key);

/* How urgently other ranks wait for what the calling task leads to, 0 to 1023. -1 if the policy
 * does not want senders to know (any but global), and outside of tasks. */
int sennit_task_urgency(void);

/* Suspend the calling task until sennit_task_resume(task). `task` must be the caller itself. The
 * worker goes on with other tasks meanwhile. A resume that came first is remembered (one token)
 * and makes the call return at once. The task resumes on the worker where it was suspended. */
int sennit_task_suspend(sennit_task *task);

/* What a call of an asynchronous library waits for. It is shown to people when a program hangs, and
 * read by the library's own describer; nothing else depends on it. A member that does not apply is
 * -1, null or 0. */
struct sennit_wait {
    const char *call;  /* a string literal: "MPI_Recv" */
    int32_t direction; /* enum sennit_notice, or 0; both: peer and tag are those of the receive */
    int32_t peer;      /* in `group`'s numbering; of a collective call: its root */
    int32_t tag;       /* of a collective call: its number on `group`, from 1 */
    int32_t requests;  /* how many operations it waits for, in `handles` */
    int64_t count;     /* elements; of a partitioned operation: parts that are not ready yet */
    uint64_t group;    /* the library's name for a group of processes: a communicator */
    const void *handles;
    int32_t send_peer; /* what a call that both sends and receives sends */
    int32_t send_tag;
};

/* As sennit_task_suspend; `wait` must live until it returns. */
int sennit_task_suspend_for(sennit_task *task, const struct sennit_wait *wait);

/* What does not change of a call that blocks its thread. Lives as long as the process. */
struct sennit_call {
    const char *name;  /* a string literal: "MPI_Recv"; "": the thread blocks for another one, which
                        * says itself what it waits for; null: it does not say that it blocks */
    int32_t direction; /* as in sennit_wait */
    int32_t of_requests; /* not 0: `peer` below is the number of operations that it waits for */
};

/* A thread that is about to block *without* being suspended says so here. `call` is written last.
 * It is null while the thread does not block. A reader sets its lowest bit. If a later look finds
 * the bit still set, the thread has been in the same call since. So nobody has to count calls.
 * Between the null that ends a call and what the next one writes is a release fence, and each
 * member is written atomically: a reader of both sees that the first one is over. */
struct sennit_blocked {
    const struct sennit_call *call;
    const void *frame; /* an address on its stack, behind which its callers are */
    uint64_t group;    /* these three as in sennit_wait; of operations: where their handles are */
    int32_t peer;
    int32_t tag;
    int32_t send_peer; /* these two only of a call that both sends and receives */
    int32_t send_tag;
};

/* The calling thread will say so in *where, which is the library's and lives as long as the thread.
 * Once for each thread. */
int sennit_thread_blocks(struct sennit_blocked *where);

/* Make `task`, suspended or about to suspend, eligible to run. Any thread, also from inside a
 * polling service. Never blocks. */
int sennit_task_resume(sennit_task *task);

/* Add `delta` to the number of the library's own threads that compute for suspended tasks. If these
 * and the workers together outnumber the processors, idle workers sleep rather than wait awake. */
int sennit_helpers(int delta);

/* Bind `increment` external events to the calling task: its dependences are not released before
 * the body has ended *and* every event was fulfilled. `task` must be the caller itself. Source:
 * task-aware MPI paper, section 4.3. */
int sennit_task_events_increase(sennit_task *task, uint64_t increment);

/* Fulfil `decrement` events of `task`. The call that fulfils the last one after the end of the body
 * completes the task on the calling thread and invalidates the handle. Any thread. */
int sennit_task_events_decrease(sennit_task *task, uint64_t decrement);

/* The same for one event, for a polling service that does no more than return afterwards: what
 * becomes ready may run next on the calling thread. */
int sennit_task_event_last(sennit_task *task);

/* Suspend the calling task for at least `ns` nanoseconds; `actual` (may be null) receives the time
 * that passed. */
int sennit_task_wait_ns(uint64_t ns, uint64_t *actual);

/* *ns: processor time of the calling task, in nanoseconds, for differences between two calls in one
 * task. The time in which it is suspended, and its thread runs others, is not in it; tasks that it
 * calls in place are. From the first call on, each suspension costs two readings of the thread's
 * clock. SENNIT_ERR_OUTSIDE_TASK on threads that Sennit has never seen. */
int sennit_work_time(uint64_t *ns);

/* Accounts: who has how much of the processors' time. A task works for one account at a time, or
 * for nobody. What it creates while it does works for the same: explicit tasks, whenever and
 * wherever they run, and all threads of parallel regions. The time in which a task waits is
 * nobody's. Without a call of sennit_work_for tasks pay nothing for this; with it, two readings of
 * the thread's clock for each task and each wait in one. What sennit_task_spawn creates works for
 * nobody.
 *
 * There may be about a million at once. SENNIT_ERR_OUT_OF_MEMORY: there are no more. */
int sennit_account_open(uint32_t *account);
/* What is worked for it later is nobody's. */
int sennit_account_close(uint32_t account);
/* *ns: nanoseconds that have been worked for it, those of tasks that have ended, of the caller, and
 * of other tasks until they last waited. */
int sennit_account_time(uint32_t account, uint64_t *ns);
/* The calling task works for `account` (0: nobody) from now on. *before, which may be null: for
 * whom it did. SENNIT_ERR_OUTSIDE_TASK as above. */
int sennit_work_for(uint32_t account, uint32_t *before);
/* For whom the calling task works; 0: nobody. SENNIT_ERR_OUTSIDE_TASK as above. */
int sennit_account_self(uint32_t *account);

/* Messages of accounts. These functions are not the runtime's but those of Sennit's MPI libraries,
 * which are in front of MPI under `sennit run`. They need the runtime as well.
 *
 * A message of a task counts for the account that the task works for when it makes the call: what
 * MPI_Send, MPI_Recv, MPI_Sendrecv, their non-blocking, persistent and TAMPI's forms send and
 * receive. Collective, one-sided and partitioned calls do not count. A persistent request counts if
 * it was made while something was watched. */
struct sennit_traffic {
    int32_t direction; /* enum sennit_notice */
    int32_t process;   /* this process's rank in MPI_COMM_WORLD */
    int32_t peer;      /* the other's; SENNIT_TRACE_ANY: MPI_ANY_SOURCE of a non-blocking receive */
    int32_t tag;       /* or SENNIT_TRACE_ANY */
    uint64_t bytes;    /* of a non-blocking receive: those that there is room for */
};
/* Count the account's messages, or (`on` 0) no more. While nobody's are counted, this costs
 * nothing. SENNIT_ERR_PARAMETER: no account, or MPI_Init was not called. */
int sennit_traffic_watch(uint32_t account, int on);
/* Calls visit(arg, row) for each direction, peer and tag. Counting begins anew. `visit` must not
 * call MPI. SENNIT_ERR_PARAMETER: the account is not watched. */
int sennit_traffic_take(uint32_t account,
                        void (*visit)(void *arg, const struct sennit_traffic *row), void *arg);
/* Messages on a communicator are not to count. `comm`: the address of its handle. */
int sennit_traffic_except(const void *comm);

/* Completion of MPI operations as a file descriptor, for event loops: epoll(7), libuv, asyncio.
 * This function, too, is one of Sennit's MPI libraries'.
 *
 * *fd is an eventfd(2) of the caller's, or -1: then it becomes a new one, non-blocking and
 * close-on-exec, which the caller closes. When all `count` operations are complete, 1 is added to
 * it, so it becomes readable. One descriptor may serve any number of calls. Until its operations
 * are complete, each call holds a duplicate: the caller may close *fd before, and takes it out of
 * its epoll set itself then. Who closes descriptors of others meanwhile, as closefrom(3) does,
 * closes the duplicates, too: then their numbers must not be used anew.
 *
 * `requests` is the address of the array of MPI_Request. As after MPIX_Detach_all, handles are
 * MPI_REQUEST_NULL on return, those of persistent requests are kept and must not be used before the
 * operations are complete. `statuses` is the address of an array of MPI_Status, null or
 * MPI_STATUSES_IGNORE. It is written before *fd is, and must live until then. Errors of the
 * operations go to MPI's error handlers, and into MPI_ERROR of the statuses.
 *
 * The caller need not call MPI meanwhile. The runtime's ticker and idle workers do, or without the
 * runtime a thread of the library's, which begins with the first call. That one calls no functions
 * of MPIX_Detach, unless with MPIX_DETACH=progress. Both need MPI_THREAD_MULTIPLE; for programs
 * with OpenMP, MPI_Init asks for that by itself. Any thread, between MPI_Init and MPI_Finalize,
 * which waits for the operations.
 *
 * SENNIT_ERR_PARAMETER: a null pointer, a negative count, no such descriptor, MPI is not there.
 * SENNIT_ERR_NO_PROGRESS: MPI has a lower thread level, or there is no thread.
 * SENNIT_ERR_OUT_OF_MEMORY: no memory, or no descriptor. Then the requests are as before. */
int sennit_event_fd(int *fd, int count, void *requests, void *statuses);

/* Create an independent task: body(arg), then, once its events are fulfilled, done(done_arg) if
 * `done` is not null. `done` may suspend the task and bind events, too; the task is complete after
 * it. `label` (may be null) is copied. The task runs on the workers of the runtime, or on a worker
 * of its own, also when the program is in no parallel region. */
int sennit_task_spawn(void (*body)(void *arg), void *arg, void (*done)(void *done_arg),
                      void *done_arg, const char *label);

/* The same, with the task's completion as a file descriptor: when the body has ended and every
 * event is fulfilled that it has bound (MPI operations, those of an accelerator, the program's
 * own), 1 is added to *fd, so it becomes readable. *fd is as for sennit_event_fd: an eventfd(2) of
 * the caller's, or -1, and the task holds a duplicate. So an event loop waits for tasks and for MPI
 * alike, and its thread runs neither.
 *
 * SENNIT_ERR_PARAMETER: a null pointer, or no such descriptor.
 * SENNIT_ERR_OUT_OF_MEMORY: no memory, or no descriptor. Then there is no task. */
int sennit_task_spawn_fd(int *fd, void (*body)(void *arg), void *arg, const char *label);

/* Who may run explicit tasks: OpenMP 6.0's threadset clause, which no compiler at hand knows. */
enum sennit_threadset {
    SENNIT_THREADSET_TEAM = 0, /* the threads of the current team */
    SENNIT_THREADSET_POOL = 1  /* idle threads that belong to no team, too: free agents */
};

/* Choose for the explicit tasks that the calling task makes from now on. A free agent runs only
 * tasks that are tied, have no dependences and take part in no task reduction. In such a task
 * omp_get_thread_num() is omp_unassigned_thread, -2, and omp_is_free_agent() is 1; all else is as
 * in a thread of the team. It must not begin a taskgroup with task_reduction. */
int sennit_task_threadset(enum sennit_threadset set);

/* Does the machine code of `function` call a function whose symbol `wanted` says yes (not 0) to?
 * Functions of the same object that it calls are searched, too. 1: it does, on some path; 0: no
 * such call was found. x86-64 only. */
int sennit_code_calls(const void *function, int (*wanted)(const char *symbol));

/* A polling service: called by idle workers, at scheduling points, and by a 1 ms ticker while all
 * workers are inside user code. At most one thread at a time runs a given service. It returns the
 * number of operations that it completed; it must not block and must not suspend. */
typedef int (*sennit_poll_function)(void *arg);
typedef struct sennit_poll_service sennit_poll_service;

/* Register `function(arg)` under `name` (copied). The service is called only while it has pending
 * operations, see sennit_poll_pending. */
int sennit_poll_register(const char *name, sennit_poll_function function, void *arg,
                         sennit_poll_service **service);

/* What a library knows about a wait beyond the numbers. */
struct sennit_wait_text {
    int32_t peer;      /* of the whole job, or -1 */
    int32_t send_peer; /* the same */
    int32_t size;      /* processes in the group, or 0 */
    uint64_t
        members;    /* a number that stands for its members in their order, the same in all, or 0 */
    char group[64]; /* its name for people */
};
/* The collective calls that the process has begun on a group. */
#define SENNIT_COLLECTIVES_KEPT 8
struct sennit_collectives {
    uint64_t group; /* as in sennit_wait */
    int32_t calls;
    int32_t roots[SENNIT_COLLECTIVES_KEPT]; /* of the latest, that first; -1: it has none */
    const char *names[SENNIT_COLLECTIVES_KEPT];
};
/* A library's answers for reports. The runtime asks on a thread of its own, while tasks are
 * suspended. Any may be null. Register once; the structure must live as long as the process.
 *
 * text         Fill in *text, which holds the defaults.
 * bound        Call visit(arg, task, wait) for every operation under way that is bound to a task's
 *              events; `task` is null if the operation calls back instead.
 * operations   `handles` is a copy of `count` handles; null: of all that send or receive. Call
 *              visit(arg, operation) for each that is not known to be complete; it is null if no
 *              more is known. in_use: a call waits for them, so they may go away at any moment.
 *              Returns whether all that were visited are not complete; null: and none left out.
 * collectives  Call visit(arg, made) for every group. */
struct sennit_describer {
    void (*text)(const struct sennit_wait *wait, struct sennit_wait_text *text);
    void (*bound)(void (*visit)(void *arg, sennit_task *task, const struct sennit_wait *wait),
                  void *arg);
    int (*operations)(const void *handles, int count, int in_use,
                      void (*visit)(void *arg, const struct sennit_wait *operation), void *arg);
    uint32_t handle_size; /* bytes */
    void (*collectives)(void (*visit)(void *arg, const struct sennit_collectives *made), void *arg);
};
int sennit_poll_describe(struct sennit_poll_service *service,
                         const struct sennit_describer *describer);

/* Where operations end by what other processes do, these may ring: memory that they share with this
 * one, zeroed. Before its last poll, a thread that is going to sleep stores 1 in `armed`, with a
 * full fence after it, and then sleeps on `rings` (futex(2), not private). Who rings has a full
 * fence after what it has done, looks at `armed`, and, if it could set that from 1 to 0, adds 1 to
 * `rings` and wakes all. Without it, and for what nobody rings for, idle workers look by a timer.
 */
struct sennit_doorbell {
    uint32_t rings;
    uint32_t armed;
};
/* Idle workers sleep on this bell while something is pending; null: on none. It must stay mapped.
 * Any thread. */
int sennit_poll_doorbell(struct sennit_doorbell *bell);

/* A node's cores are shared among the processes on a board in shared memory, where this one has the
 * slot of that number (libsennit-mpi calls it; null: no more). The memory must stay mapped. Once a
 * process, on a thread that computes. */
int sennit_pool_share(void *board, int slot);
/* The calling thread waits for something outside: until it reclaims a core, other threads and
 * processes may have its own. It need not stop to compute, but then it does so beside them. Without
 * effect where cores are not shared, and on threads that have not used OpenMP. A thread that
 * reclaims waits until it has a core, but never long (docs/user/node.md). */
int sennit_pool_lend(void);
int sennit_pool_reclaim(void);

/* Up to `most` more threads of the process are about to compute. Its own cores that others use are
 * recalled, and kept for it for 10 ms. *cores (may be null): how many it can have, free now or at
 * the next scheduling point of their users; 0 where cores are not shared. Threads take them by
 * themselves as they begin to compute. 0 takes back what was asked before. */
int sennit_pool_ask(int most, int *cores);

/* Cores of a process, or of all processes of a program, and its threads that want some. */
struct sennit_pool_part {
    int32_t owned;
    int32_t used;     /* now; its own or others' */
    int32_t lent;     /* its own, used by others */
    int32_t borrowed; /* others', used by it */
    int32_t wanted;   /* threads that wait for a core */
    int32_t without;  /* threads that compute without one */
};
struct sennit_pool_state {
    int32_t cores; /* that the process shares with others and may use; 0: it shares none */
    int32_t free;  /* of them: nobody uses them now */
    struct sennit_pool_part process;
    struct sennit_pool_part program; /* the process and the others of its job on this node */
};
/* As it is now, for a program that chooses how much to do. */
int sennit_pool_get_state(struct sennit_pool_state *state);

/* Remove a service. On return no thread runs it and none will. Not from inside the service. */
int sennit_poll_unregister(sennit_poll_service *service);

/* Add `delta` (positive or negative) to the number of operations that `service` watches. Workers
 * neither poll nor keep awake for a service without pending operations. */
int sennit_poll_pending(sennit_poll_service *service, int64_t delta);

/* Run every service with pending operations once, if no other thread does so already. Stores in
 * *completed (may be null) how many operations that completed. */
int sennit_poll(int *completed);

/* What a library tells the runtime of the task that calls. */
enum sennit_notice {
    SENNIT_NOTICE_SEND = 1,   /* about to send to another process: paper 1's send-task */
    SENNIT_NOTICE_RECEIVE = 2 /* about to wait for another process */
};

/* Record `notice` for the calling task: policies learn from sends; a receive is ignored. `peer` is
 * the other process's rank in the library's world, or -1; `bytes` the size of the message. */
int sennit_notify(enum sennit_notice notice, int peer, uint64_t bytes);

/* Mark a span on the calling task's timeline, when tracing is on (SENNIT_TRACE); otherwise a few
 * instructions. `name` must be a string literal or live as long as the process. */
void sennit_trace_begin(const char *name, int peer, int tag, uint64_t bytes);
void sennit_trace_end(void);

/* The same for a library that passes messages, with all that a trace's readers want to know. What
 * does not apply is -1, null or 0. */
struct sennit_trace_call {
    const char *call;  /* a string literal: "MPI_Recv" */
    int32_t direction; /* enum sennit_notice, or 0 */
    int32_t peer;      /* in `group`'s numbering; SENNIT_TRACE_ANY: whoever comes */
    int32_t tag;       /* likewise */
    int32_t requests;  /* how many operations it waits for */
    uint64_t bytes;
    uint64_t group; /* the library's name for a group of processes, never used again for another */
    uint64_t request; /* of a non-blocking operation: its handle */
};
#define SENNIT_TRACE_ANY (-2)
/* Is tracing on? Constant from the start of main. */
int sennit_trace_on(void);
/* The calling task makes a call; it ends with what was received, where that is known. */
void sennit_trace_call_begin(const struct sennit_trace_call *call);
void sennit_trace_call_end(int source, int tag, uint64_t bytes);
/* It starts an operation and goes on. */
void sennit_trace_post(const struct sennit_trace_call *call);
/* The call that it is in, or its completion, waits for an operation. */
void sennit_trace_waits_for(uint64_t request);
/* The completion of a task waits for an operation: of the task whose event `event` is, a handle of
 * OpenMP's; where that is 0 of the calling one, if any of its events is not fulfilled. */
void sennit_trace_completes(uint64_t request, uint64_t event);
/* Who is in a group: ranks[i] is member i's number in the whole job; null: the first `size`. */
void sennit_trace_group(uint64_t group, int size, const int *ranks, const char *name);
/* Who this process is in the whole job; how far rank 0's CLOCK_MONOTONIC is ahead, within
 * error_ns. */
void sennit_trace_job(int rank, int ranks);
void sennit_trace_clock(int64_t offset_ns, int64_t error_ns);
/* A library moves objects between processes, in calls that are numbered from 0 (sennit_balance.h).
 * An object that was here until this call, or until the set's end: how long was worked on it since
 * the call before, where it goes. */
struct sennit_trace_stay {
    uint64_t set;   /* a number that no other set of the job has */
    int32_t call;   /* that ends its stay, or this part of it */
    int32_t object; /* 0, 1, ... */
    int32_t from;   /* this process, in the set's numbering */
    int32_t to;     /* the same: it stays */
    uint64_t work_ns;
    uint64_t bytes;
    double speed; /* of this process: cores that work on its objects */
};
void sennit_trace_object(const struct sennit_trace_stay *object);
/* What a call has done, as in sennit_balance_info; by one process of the set. */
struct sennit_trace_balancing {
    uint64_t set;
    const char *strategy; /* a string literal */
    int32_t ranks;
    int32_t moved;
    int32_t failed;
    int32_t declined;
    double imbalance;
    double node_imbalance;
    double promised;
    uint64_t bytes;
    uint64_t ns;
};
void sennit_trace_balance(const struct sennit_trace_balancing *call);

/* A blocking call that a compiler's plug-in has moved (`sennit cc`). */
enum sennit_moved {
    SENNIT_MOVED_LATER = 0,  /* it was started where it stood, and waited for later */
    SENNIT_MOVED_BOUND = 1,  /* it was bound to the end of its task */
    SENNIT_MOVED_AT_ONCE = 2 /* neither: somebody could have told the difference */
};
struct sennit_trace_moved_call {
    const char *call;    /* a string literal: "MPI_Recv" */
    const void *place;   /* an address in the call, in the program's code */
    int32_t how;         /* enum sennit_moved */
    int32_t together;    /* how many calls the wait was for */
    uint64_t until_wait; /* from the start to the wait, by sennit_trace_time() */
    uint64_t wait;       /* how long the wait took; of a call that is bound: the start */
};
/* At the end of the wait, or when it has been bound, on the thread and in the task of the call. */
void sennit_trace_moved(const struct sennit_trace_moved_call *call);
/* Time in the trace's units. */
uint64_t sennit_trace_time(void);

/* Live numbers of this process, monotonic unless they say "now". */
struct sennit_statistics {
    uint64_t tasks_created;   /* explicit tasks, undeferred ones included */
    uint64_t tasks_suspended; /* suspensions by sennit_task_suspend */
    uint64_t suspended_now;   /* tasks suspended now by sennit_task_suspend */
    uint64_t suspended_peak;  /* the most that were suspended at once, thread by thread */
    uint64_t stacks_live;     /* fiber stacks mapped now */
    uint64_t polls;           /* calls of polling services */
};
int sennit_get_statistics(struct sennit_statistics *statistics);

/* How the threads of this process spend their time, if it is counted (SENNIT_TALP).
 * docs/user/see.md tells what the parts are, and the efficiencies that follow from them. In
 * nanoseconds. */
struct sennit_spent {
    int64_t useful;
    int64_t mpi;
    int64_t serial;
    int64_t imbalance;
    int64_t scheduling;
};
/* A thread counts from the begin on, also before it is there: what it lost then is in `late`. So
 * the parts of `spent` and `late` add up to threads * (at - begin). Of a period from an earlier
 * moment: the differences of both, less the earlier `beyond` for each thread that has come since.
 */
struct sennit_time_spent {
    int64_t begin; /* of counting, by CLOCK_MONOTONIC */
    int64_t at;
    int64_t threads;
    struct sennit_spent spent;
    struct sennit_spent late;
    struct sennit_spent beyond; /* what one more thread would have lost */
    struct sennit_spent doing;  /* how many threads do what now */
    int64_t mpi_calls;
    int64_t parallels; /* regions of several threads */
    int64_t tasks;
};
/* SENNIT_ERR_PARAMETER: nothing is counted. */
int sennit_get_time_spent(struct sennit_time_spent *now);
/* Begin to count, before MPI_Init, while the process has one thread. SENNIT_ERR_PARAMETER: it has
 * several. It does no harm if time is counted already. */
int sennit_count_time(void);
/* Of Sennit's MPI libraries: what each rank of the program's MPI_COMM_WORLD, or (`node` is not 0)
 * of those on this node, gives, on all of them, by rank. Collective, and for no task; the first
 * call is so on all ranks, whatever `node` is. Returns how many ranks there are. If `room` is for
 * fewer, nothing is sent. 0: MPI is not there. */
int sennit_gather(int node, const void *mine, int bytes, void *all, int room);

/* "major.minor" of the library at run time. */
const char *sennit_version(void);

#ifdef __cplusplus
}
#endif
#endif
