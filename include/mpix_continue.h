/* SPDX-License-Identifier: Apache-2.0
 *
 * mpix_continue.h - callbacks at the completion of MPI operations, as the MPI Forum's proposal for
 * continuations has them (Schuchart et al., "Callback-based completion notification using MPI
 * Continuations") and Open MPI's extension names them.
 *
 * A continuation request collects continuations. It is persistent: MPI_Start activates it, and
 * continuations run only while it is active; it is complete when all that were registered with it
 * have run; MPI_Wait, MPI_Test and their like make it inactive again. MPI_Request_free frees it.
 * Continuations run on threads that are inside these functions, MPI_Test*, MPI_Wait* or
 * MPIX_Progress, and on OpenMP threads at scheduling points. A continuation may call MPI and these
 * functions, and it may block in MPI: see docs/user/mpi.md. Errors are those of MPI; a continuation
 * request that completes with failed continuations returns the last error, and raises it on
 * MPI_COMM_SELF.
 */
#ifndef MPIX_CONTINUE_H
#define MPIX_CONTINUE_H

#include <mpi.h>

#ifdef __cplusplus
extern "C" {
#endif

/* For MPIX_Continue[all]: the array of requests is not touched after the call; its handles become
 * MPI_REQUEST_NULL. Without it they do so before the continuation runs, and the array must live
 * until then. The first is the older name. */
#define MPIX_CONT_REQBUF_VOLATILE (1 << 0)
#define MPIX_CONT_REQUESTS_FREE (1 << 1)
/* For MPIX_Continue_init: continuations run only inside tests of, and waits for, the continuation
 * request. */
#define MPIX_CONT_POLL_ONLY (1 << 2)
/* For MPIX_Continue[all]: never run the continuation inside this call. */
#define MPIX_CONT_DEFER_COMPLETE (1 << 3)
/* For MPIX_Continue[all]: run the continuation also when an operation failed, with its error. */
#define MPIX_CONT_INVOKE_FAILED (1 << 4)

/* `rc` is MPI_SUCCESS, or with MPIX_CONT_INVOKE_FAILED the first operation's error. Another result
 * than MPI_SUCCESS makes the continuation a failed one. */
typedef int(MPIX_Continue_cb_function)(int rc, void *cb_data);

/* Make an inactive continuation request. `max_poll` is how many continuations one call may run at
 * most, 0: any number. The key mpi_continue_thread of `info` may be "application" (default) or
 * "all": also threads of the library may run continuations. */
int MPIX_Continue_init(int flags, int max_poll, MPI_Info info, MPI_Request *cont_req);

/* Call cb(rc, cb_data) when the operation is complete; `status` (or MPI_STATUS_IGNORE) is written
 * before. At the earliest inside this call. */
int MPIX_Continue(MPI_Request *request, MPIX_Continue_cb_function *cb, void *cb_data, int flags,
                  MPI_Status *status, MPI_Request cont_req);

/* The same when `count` operations are complete. */
int MPIX_Continueall(int count, MPI_Request requests[], MPIX_Continue_cb_function *cb,
                     void *cb_data, int flags, MPI_Status statuses[], MPI_Request cont_req);

/* Take the `cb_data` of at most *count failed continuations; *count becomes their number. */
int MPIX_Continue_get_failed(MPI_Request cont_req, int *count, void **cb_data);

#ifdef __cplusplus
}
#endif
#endif
