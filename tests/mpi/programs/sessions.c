/* SPDX-License-Identifier: Apache-2.0
 * test: shape=2x1
 * chaos: number=10
 * A program of MPI 4.0's sessions, without MPI_Init: its tasks may block too. */
#include "check.h"

int main(void) {
#if MPI_VERSION >= 4
    MPI_Session session;
    MPI_Group group;
    MPI_Comm comm;
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
    MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
    MPI_Comm_create_from_group(group, "sennit/session", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &ranks);
    enum { messages = 20 };
    int got[messages];
#pragma omp parallel
#pragma omp single
    for (int i = 0; i < 2 * messages; ++i) {
#pragma omp task firstprivate(i) shared(got)
        if (i < messages)
            MPI_Recv(&got[i], 1, MPI_INT, previous(), i, comm, MPI_STATUS_IGNORE);
        else
            MPI_Ssend(&i, 1, MPI_INT, next(), 2 * messages - 1 - i, comm);
    }
    int wrong = 0;
    for (int i = 0; i < messages; ++i)
        wrong += got[i] != 2 * messages - 1 - i;
    MPI_Group_free(&group);
    MPI_Comm_free(&comm);
    MPI_Session_finalize(&session);
    return wrong;
#else
    begin(NULL, NULL);
    MPI_Finalize();
    return 0;
#endif
}
