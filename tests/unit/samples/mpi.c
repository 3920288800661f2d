/* SPDX-License-Identifier: Apache-2.0
 *
 * What has the names of functions of MPI and of OpenMP's runtime, and nothing else, for the other
 * samples. */
void GOMP_task(void (*body)(void *), void *data);
void GOMP_task(void (*body)(void *), void *data) {
    body(data);
}
int MPI_Send(int x);
int MPI_Recv(int x);
int mpi_isend_(int *x);
int MPI_Send(int x) {
    return x + 1;
}
int MPI_Recv(int x) {
    return x + 2;
}
int mpi_isend_(int *x) {
    return *x + 3;
}
