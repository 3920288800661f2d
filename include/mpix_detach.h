/* SPDX-License-Identifier: Apache-2.0
 *
 * mpix_detach.h - local completion by callback (Protze et al., "MPI detach"). Each function takes
 * over the requests, sets non-persistent handles to MPI_REQUEST_NULL and returns at once; the
 * callback runs when they are complete, on any thread, at the earliest inside the call itself. It
 * may block in MPI: see docs/user/mpi.md. Without Sennit's OpenMP runtime in the process, callbacks
 * run inside MPIX_Progress and MPI_Finalize, or, with MPIX_DETACH=progress in the environment, on a
 * thread of the library's. All return MPI_SUCCESS or an MPI error code; all may be called from any
 * thread.
 */
#ifndef MPIX_DETACH_H
#define MPIX_DETACH_H

#include <mpi.h>

#ifdef __cplusplus
extern "C" {
#endif

/* `data` is what was passed with the request. A status belongs to the library and is gone when the
 * callback returns. */
typedef void MPIX_Detach_function(void *data);
typedef void MPIX_Detach_status_function(void *data, MPI_Status *status);
typedef void MPIX_Detach_all_statuses_function(void *data, int count, MPI_Status *statuses);
/* The same by the older names of the authors' own header. */
typedef MPIX_Detach_function MPIX_Detach_callback;
typedef MPIX_Detach_status_function MPIX_Detach_callback_status;
typedef MPIX_Detach_all_statuses_function MPIX_Detach_all_callback_statuses;

/* One request. */
int MPIX_Detach(MPI_Request *request, MPIX_Detach_function *callback, void *data);
int MPIX_Detach_status(MPI_Request *request, MPIX_Detach_status_function *callback, void *data);

/* `count` requests, a call of `callback` for each, with its element of `array_of_data`. */
int MPIX_Detach_each(int count, MPI_Request requests[], MPIX_Detach_function *callback,
                     void *array_of_data[]);
int MPIX_Detach_each_status(int count, MPI_Request requests[],
                            MPIX_Detach_status_function *callback, void *array_of_data[]);

/* `count` requests, one call of `callback` when all are complete. */
int MPIX_Detach_all(int count, MPI_Request requests[], MPIX_Detach_function *callback, void *data);
int MPIX_Detach_all_status(int count, MPI_Request requests[],
                           MPIX_Detach_all_statuses_function *callback, void *data);

/* Persistent requests: started and detached in one. The handles stay; until the callback they must
 * not be passed to any other function. */
int MPIX_Start_detached(MPI_Request *request, MPIX_Detach_function *callback, void *data);
int MPIX_Start_detached_status(MPI_Request *request, MPIX_Detach_status_function *callback,
                               void *data);
int MPIX_Start_detached_each(int count, MPI_Request requests[], MPIX_Detach_function *callback,
                             void *array_of_data[]);
int MPIX_Start_detached_each_status(int count, MPI_Request requests[],
                                    MPIX_Detach_status_function *callback, void *array_of_data[]);
int MPIX_Start_detached_all(int count, MPI_Request requests[], MPIX_Detach_function *callback,
                            void *data);
int MPIX_Start_detached_all_status(int count, MPI_Request requests[],
                                   MPIX_Detach_all_statuses_function *callback, void *data);

/* Give the library an opportunity for progress and callbacks. `data` is not used. */
int MPIX_Progress(void *data);

#ifdef __cplusplus
}
#endif
#endif
