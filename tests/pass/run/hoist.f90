! SPDX-License-Identifier: Apache-2.0
! Receives that are started before a loop and a send: the message is an answer, or goes where the loop
! or the send reads, or its place comes with another message.
! stock
program hoist
    implicit none
    include 'mpif.h'
    integer, parameter :: width = 100, tag = 7
    integer :: rank, other, ierr, i
    double precision, save :: u(width, 4), v(width, 4), x
    call mpi_init(ierr)
    call mpi_comm_rank(MPI_COMM_WORLD, rank, ierr)
    other = 1 - rank
    do i = 1, 4
        u(:, i) = 10 * rank + i
    end do
    if (rank == 0) then
        call mpi_recv(v(1, 1), width, MPI_DOUBLE_PRECISION, 1, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
        call mpi_recv(v(1, 2), width, MPI_DOUBLE_PRECISION, 1, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
        v(:, 1) = v(:, 1) + v(:, 2)
        call mpi_send(v(1, 1), width, MPI_DOUBLE_PRECISION, 1, tag, MPI_COMM_WORLD, ierr)
    else
        v = -1
        call answered(v(1, 1), u(1, 1), v(1, 3), width, other)
        call check(all(v(:, 1) == 23) .and. all(v(:, 3) == 22), 1)
    end if
    ! Apart; the row that is sent; one that the loop reads.
    call exchange(u, v, width, 3, 4, other)
    call check(all(u(:, 4) == 10 * other + 3) .and. all(v(:, 1) == 2 * (10 * rank + 1)), 2)
    call exchange(u, v, width, 3, 3, other)
    call check(all(u(:, 3) == 10 * other + 3) .and. all(v(:, 1) == 2 * (10 * rank + 1)), 3)
    call exchange(u, v, width, 2, 1, other)
    call check(all(u(:, 1) == 10 * other + 2) .and. all(v(:, 1) == 2 * (10 * rank + 1)), 4)
    call mpi_finalize(ierr)
contains
    subroutine check(right, which)
        logical :: right
        integer :: which, ierr
        if (.not. right) call mpi_abort(MPI_COMM_WORLD, which, ierr)
    end subroutine

    ! What has been sent is written by the loop.
    subroutine answered(out, source, ghost, n, peer)
        integer, value :: n, peer
        double precision :: out(n), source(n), ghost(n)
        integer :: ierr, k
        call mpi_send(out, n, MPI_DOUBLE_PRECISION, peer, tag, MPI_COMM_WORLD, ierr)
        do k = 1, n
            out(k) = source(k) * 2 + 1
        end do
        call mpi_send(out, n, MPI_DOUBLE_PRECISION, peer, tag, MPI_COMM_WORLD, ierr)
        call mpi_recv(ghost, n, MPI_DOUBLE_PRECISION, peer, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
    end subroutine

    subroutine exchange(u, v, n, from, to, peer)
        integer, value :: n, from, to, peer
        double precision :: u(n, 4), v(n, 4)
        integer :: ierr, k
        do k = 1, n
            v(k, 1) = u(k, 1) * 2
        end do
        call mpi_send(u(1, from), n, MPI_DOUBLE_PRECISION, peer, tag, MPI_COMM_WORLD, ierr)
        call mpi_recv(u(1, to), n, MPI_DOUBLE_PRECISION, peer, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
    end subroutine
end program
