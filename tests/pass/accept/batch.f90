! SPDX-License-Identifier: Apache-2.0
! Fortran's calls that are started together, and waited for later. Compiled with -g.
module data
    implicit none
    integer, parameter :: n = 1000
    double precision :: ghost(64), out(64), field(n), next(n), table(64, 16)
    integer :: error_of_all
end module

subroutine row(left, right, comm)
    use data
    implicit none
    include 'mpif.h'
    integer, intent(in) :: left, right, comm
    integer :: ierr
    call mpi_send(out(1), 1, MPI_DOUBLE_PRECISION, left, 0, comm, ierr) ! done: 2 sends and receives are started together and waited for once
    call mpi_recv(ghost(1), 1, MPI_DOUBLE_PRECISION, right, 0, comm, MPI_STATUS_IGNORE, ierr) ! done: 2 sends and receives are started together and waited for once
end subroutine

subroutine to_all(ranks)
    use data
    implicit none
    include 'mpif.h'
    integer :: ranks, i, ierr
    do i = 1, ranks
        call mpi_send(table(1, i), 64, MPI_DOUBLE_PRECISION, i - 1, 7, MPI_COMM_WORLD, ierr) ! done: the sends of this loop are started together and waited for behind it
    end do
end subroutine

subroutine from_all(ranks, source)
    use data
    implicit none
    include 'mpif.h'
    integer :: ranks, source, i, status(MPI_STATUS_SIZE), ierr
    do i = 1, ranks
        call mpi_recv(table(1, i), 64, MPI_DOUBLE_PRECISION, MPI_ANY_SOURCE, i, MPI_COMM_WORLD, status, ierr) ! done: the receives of this loop are started together and waited for behind it
    end do
    source = status(MPI_SOURCE)
end subroutine

subroutine straight(from, total)
    use data
    implicit none
    include 'mpif.h'
    integer :: from, i, ierr
    double precision :: total
    call mpi_recv(ghost, 64, MPI_DOUBLE_PRECISION, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr) ! done: MPI_Recv of ghost is waited for only before a read of ghost (line +5)
    do i = 2, n - 1
        next(i) = field(i - 1) + field(i + 1)
    end do
    do i = 1, 64
        total = total + ghost(i)
    end do
end subroutine

! What MPI itself has written before is not read behind the call.
subroutine checked_before(other)
    use data
    implicit none
    include 'mpif.h'
    integer :: other, i, rank, ierr
    call mpi_comm_rank(MPI_COMM_WORLD, rank, ierr)
    if (ierr /= MPI_SUCCESS) return
    call mpi_sendrecv(out, 64, MPI_DOUBLE_PRECISION, other, rank, ghost, 64, MPI_DOUBLE_PRECISION, other, other, & ! done: MPI_Sendrecv of ghost is waited for only before a write of ghost (line +5)
                      MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
    do i = 2, n - 1
        next(i) = field(i - 1) + field(i + 1)
    end do
    ghost(1) = 0
end subroutine

! Columns of one array: compared when the program runs.
subroutine halo(u, v, m, left, right)
    implicit none
    include 'mpif.h'
    integer :: m, left, right, i, j, ierr
    double precision :: u(m, 0:9), v(m, 0:9)
    call mpi_send(u(1, 1), m, MPI_DOUBLE_PRECISION, left, 0, MPI_COMM_WORLD, ierr) ! done: 2 sends and receives are started together and waited for once ! done: MPI_Send of u is waited for only before a read of u (line +8), and at 1 more; or before the loop in line +3, if it meets a buffer
    call mpi_recv(u(1, 9), m, MPI_DOUBLE_PRECISION, right, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr) ! done: 2 sends and receives are started together and waited for once ! done: MPI_Recv of u is waited for only before a read of u (line +7), and at 1 more; or before the loop in line +2, if it meets a buffer
    do j = 2, 7
        do i = 2, m - 1
            v(i, j) = u(i, j - 1) + u(i, j + 1)
        end do
    end do
    do i = 1, m
        v(i, 8) = u(i, 9)
    end do
end subroutine

! Behind the arguments of calls with a CHARACTER is its length.
subroutine names(left, right, own, other, comm)
    use data
    implicit none
    include 'mpif.h'
    integer, intent(in) :: left, right, comm
    character(len=20) :: own, other
    integer :: ierr, i
    call mpi_sendrecv(own, 20, MPI_CHARACTER, left, 3, other, 20, MPI_CHARACTER, right, 3, comm, MPI_STATUS_IGNORE, ierr) ! done: MPI_Sendrecv of other is waited for only before the function's end; or before the loop in line +1, if it meets a buffer
    do i = 2, n - 1
        next(i) = field(i - 1) + field(i + 1)
    end do
end subroutine
