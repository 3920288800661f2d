/* SPDX-License-Identifier: Apache-2.0
 *
 * nanos6.h - the eight routines through which a task-aware library reaches its runtime, as section
 * 4 of "Integrating blocking and non-blocking MPI primitives with task-based programming models"
 * proposes them, by the names that Nanos6 gives them. libsennit-omp.so exports them all. TAMPI 1
 * and 2 use no others.
 *
 * All may be called from any thread, unless a comment says otherwise. They return no errors: a null
 * context or counter is left alone. What begins with sennit_ (sennit.h) does the same and says what
 * is wrong; there services are called only while operations are pending.
 */
#ifndef NANOS6_H
#define NANOS6_H

#ifdef __cplusplus
extern "C" {
#endif

enum nanos6_blocking_api_t { nanos6_blocking_api = 2 };
enum nanos6_polling_api_t { nanos6_polling_api = 1 };
enum nanos6_events_api_t { nanos6_events_api = 1 };

/* Section 4.1. For one round of blocking the calling task and unblocking it; null on a thread that
 * runs no task. */
void *nanos6_get_current_blocking_context(void);

/* Suspend the calling task, whose context it is, until it is unblocked. Its thread runs other tasks
 * meanwhile. */
void nanos6_block_current_task(void *blocking_context);

/* Once for each round, also before the task has blocked, and inside of a polling service. */
void nanos6_unblock_task(void *blocking_context);

/* Section 4.2. A service is called until it has returned true (not 0) or is unregistered: by idle
 * workers, and at least every millisecond, whether anything is pending or not. At most one thread
 * at a time calls services. A service must not block. It may register others, and unregister any,
 * itself too. */
typedef int (*nanos6_polling_service_t)(void *service_data);

/* The same function may be there several times, with different data. The name is for people. */
void nanos6_register_polling_service(const char *service_name,
                                     nanos6_polling_service_t service_function, void *service_data);

/* On return no thread is in the service, and none will be. If the service itself calls this, it is
 * the last time. Without effect on a service that is not registered, or has returned true. */
void nanos6_unregister_polling_service(const char *service_name,
                                       nanos6_polling_service_t service_function,
                                       void *service_data);

/* Section 4.3. Of the calling task; null as above. */
void *nanos6_get_current_event_counter(void);

/* Only by the task whose counter it is: its dependences are not released before its body has ended
 * and `increment` more events are fulfilled. */
void nanos6_increase_current_task_event_counter(void *event_counter, unsigned int increment);

/* Fulfil events of any task. */
void nanos6_decrease_task_event_counter(void *event_counter, unsigned int decrement);

#ifdef __cplusplus
}
#endif
#endif
