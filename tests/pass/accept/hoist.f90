! SPDX-License-Identifier: Apache-2.0
! Receives of Fortran that are started earlier than they stand. Compiled with -g.
module data
    implicit none
    integer, parameter :: n = 1000
    double precision :: ghost(64), out(64), field(n), next(n)
end module

double precision function before_a_loop(from, comm)
    use data
    implicit none
    include 'mpif.h'
    integer, value :: from, comm
    integer :: ierr, i
    do i = 2, n - 1
        next(i) = field(i - 1) + field(i + 1)
    end do
    call mpi_recv(ghost, 64, MPI_DOUBLE_PRECISION, from, 0, comm, MPI_STATUS_IGNORE, ierr) ! done: MPI_Recv of ghost is started before the loop in line -3
    before_a_loop = ghost(3)
end function

double precision function before_a_send(from, to, comm)
    use data
    implicit none
    include 'mpif.h'
    integer, value :: from, to, comm
    integer :: ierr, i
    do i = 2, n - 1
        next(i) = field(i - 1) + field(i + 1)
    end do
    call mpi_send(out, 64, MPI_DOUBLE_PRECISION, to, 0, comm, ierr) ! done: 2 sends and receives are started together and waited for once
    call mpi_recv(ghost, 64, MPI_DOUBLE_PRECISION, from, 0, comm, MPI_STATUS_IGNORE, ierr) ! done: 2 sends and receives are started together and waited for once ! done: MPI_Recv of ghost is started before the loop in line -4
    before_a_send = ghost(3)
end function
