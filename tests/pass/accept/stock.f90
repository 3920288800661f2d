! SPDX-License-Identifier: Apache-2.0
! Receives in Fortran's tasks, which can hang under a stock runtime.
subroutine receive(x, from)
    implicit none
    include 'mpif.h'
    integer :: from, ierr
    double precision :: x(8)
    !$omp task default(shared) private(ierr) depend(out: x)
    call mpi_recv(x, 8, MPI_DOUBLE_PRECISION, from, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr) ! done: MPI_Recv is bound to its task, which ends without waiting for it ! warning: this receive inside a task can hang under a stock OpenMP runtime
    !$omp end task
end subroutine
