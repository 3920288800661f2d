! SPDX-License-Identifier: Apache-2.0
! Fortran's calls that are waited for where they stand. Compiled with -g.
module data
    implicit none
    double precision :: ghost(64), out(64)
    integer :: error_of_all
end module

subroutine error_checked(to, from)
    use data
    implicit none
    include 'mpif.h'
    integer :: to, from, ierr
    call mpi_send(out, 64, MPI_DOUBLE_PRECISION, to, 0, MPI_COMM_WORLD, ierr) ! missed: MPI_Send of out is waited for where it stands: its error code is used, or it may throw
    if (ierr /= MPI_SUCCESS) stop 1
    call mpi_recv(ghost, 64, MPI_DOUBLE_PRECISION, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr) ! missed: MPI_Recv of ghost is waited for where it stands: nothing is to be done before the function's end
end subroutine

subroutine error_of_others(to)
    use data
    implicit none
    include 'mpif.h'
    integer :: to
    call mpi_send(out, 32, MPI_DOUBLE_PRECISION, to, 0, MPI_COMM_WORLD, error_of_all) ! missed: MPI_Send of out is waited for where it stands: its error code is used, or it may throw
    call mpi_send(out, 32, MPI_DOUBLE_PRECISION, to, 1, MPI_COMM_WORLD, error_of_all) ! missed: MPI_Send of out is waited for where it stands: its error code is used, or it may throw
end subroutine

subroutine status_kept(from, status)
    use data
    implicit none
    include 'mpif.h'
    integer :: from, ierr, status(MPI_STATUS_SIZE)
    call mpi_recv(ghost, 64, MPI_DOUBLE_PRECISION, from, 0, MPI_COMM_WORLD, status, ierr) ! missed: MPI_Recv of ghost is waited for where it stands: its status is kept
end subroutine

! A copy of every second number, which is freed.
subroutine packed(x, to)
    implicit none
    include 'mpif.h'
    integer :: to, ierr
    double precision :: x(64)
    call mpi_send(x(1:64:2), 32, MPI_DOUBLE_PRECISION, to, 0, MPI_COMM_WORLD, ierr) ! missed: MPI_Send is waited for where it stands: nothing is to be done before a call of _FortranACopyOutAssign (line +0) ! missed: MPI_Send is waited for where it stands: nothing is to be done before the function's end
end subroutine

subroutine absolute(type, from)
    implicit none
    include 'mpif.h'
    integer :: type, from, ierr
    call mpi_recv(MPI_BOTTOM, 1, type, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr) ! missed: MPI_Recv is waited for where it stands: its buffer is given by absolute addresses
end subroutine

subroutine synchronous(to)
    use data
    implicit none
    include 'mpif.h'
    integer :: to, ierr
    call mpi_ssend(out, 64, MPI_DOUBLE_PRECISION, to, 0, MPI_COMM_WORLD, ierr) ! missed: MPI_Ssend of out is waited for where it stands: it returns when its receiver has come
end subroutine

! The next round's send would tell that this one's message has come.
subroutine by_turns(other, n)
    use data
    implicit none
    include 'mpif.h'
    integer :: other, n, i, ierr
    do i = 1, n
        call mpi_recv(ghost, 64, MPI_DOUBLE_PRECISION, other, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr) ! missed: the receives of this loop are waited for one by one: each round receives into the same memory ! done: MPI_Recv of ghost is waited for only before a call of MPI_Send (line +1)
        call mpi_send(out, 64, MPI_DOUBLE_PRECISION, other, i, MPI_COMM_WORLD, ierr) ! done: MPI_Send of out is waited for only before a call of MPI_Send (line +0), and at 1 more
    end do
end subroutine
