! SPDX-License-Identifier: Apache-2.0
! Fortran's undeferred tasks that do not hold up their creator. Compiled with -sennit-detach.
subroutine send(x, n)
    include 'mpif.h'
    integer :: n, ierr
    double precision :: x(n)
    !$omp task default(shared) private(ierr) if(.false.) depend(in: x)
    call mpi_send(x, n, MPI_DOUBLE_PRECISION, 1, 3, MPI_COMM_WORLD, ierr) ! done: MPI_Send is bound to its task, which ends without waiting for it ! done: MPI_Send does not hold up the creator of its task
    !$omp end task
end subroutine
! Peer and tag are copied into the task.
subroutine send_all(x, n, to)
    include 'mpif.h'
    integer :: n, to, k, tag, ierr
    double precision :: x(n)
    do k = 1, 9
        tag = 2 * k
        !$omp task default(shared) private(ierr) if(.false.) depend(in: x)
        call mpi_send(x, n, MPI_DOUBLE_PRECISION, to, tag, MPI_COMM_WORLD, ierr) ! done: MPI_Send is bound to its task, which ends without waiting for it ! done: MPI_Send does not hold up the creator of its task
        !$omp end task
    end do
end subroutine
