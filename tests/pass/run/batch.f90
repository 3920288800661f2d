! SPDX-License-Identifier: Apache-2.0
! Messages that come in another order than they are received: only receives that are started together
! end. Statuses, overlapping buffers, a count that is received first, and an array that a row of it is
! received into.
! stock
program batch
    implicit none
    include 'mpif.h'
    integer, parameter :: length = 200000
    integer :: rank, other, ierr, i, sources(2)
    integer, save :: numbers(0:8), length_of_x
    double precision, save :: x(length), y(length), z(length), rows(length, 3)
    call mpi_init(ierr)
    call mpi_comm_rank(MPI_COMM_WORLD, rank, ierr)
    other = 1 - rank
    x = rank + 1
    y = rank + 2
    rows = 0
    if (rank == 0) then
        call backwards(x, y, length)
    else
        call forwards(rows(1, 1), rows(1, 2), length, sources)
        call check(all(rows(:, 1) == 1) .and. all(rows(:, 2) == 2), 1)
        call check(sources(1) == 11 .and. sources(2) == 12, 2)
    end if
    call both(x, z, length)
    call check(all(z == other + 1), 3)
    if (rank == 0) then
        do i = 1, 8
            call mpi_send([10 * i, 10 * i + 1], 2, MPI_INTEGER, 1, i, MPI_COMM_WORLD, ierr)
        end do
    else
        ! Each message has two numbers: the second place is the next one's first.
        numbers = 0
        call overlapping(numbers, 7)
        call check(all(numbers(0:7) == [10, 20, 30, 40, 50, 60, 70, 71]), 4)
        call mpi_recv(numbers, 2, MPI_INTEGER, 0, 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
    end if
    if (rank == 0) then
        length_of_x = 5
        call mpi_send(length_of_x, 1, MPI_INTEGER, 1, 21, MPI_COMM_WORLD, ierr)
        call mpi_send(x, length_of_x, MPI_DOUBLE_PRECISION, 1, 22, MPI_COMM_WORLD, ierr)
    else
        length_of_x = 0
        x = 0
        call announced(length_of_x, x, length)
        call check(sum(x) == 5, 6)
    end if
    call ghost(rows, length)
    call mpi_finalize(ierr)
contains
    subroutine check(right, which)
        logical :: right
        integer :: which, ierr
        if (.not. right) call mpi_abort(MPI_COMM_WORLD, which, ierr)
    end subroutine

    ! Long ones: each is over when it is received.
    subroutine backwards(x, y, n)
        integer :: n, ierr
        double precision :: x(n), y(n)
        call mpi_send(y, n, MPI_DOUBLE_PRECISION, 1, 12, MPI_COMM_WORLD, ierr)
        call mpi_send(x, n, MPI_DOUBLE_PRECISION, 1, 11, MPI_COMM_WORLD, ierr)
    end subroutine

    subroutine forwards(x, y, n, tags)
        integer :: n, tags(2), ierr, first(MPI_STATUS_SIZE), second(MPI_STATUS_SIZE)
        double precision :: x(n), y(n)
        call mpi_recv(x, n, MPI_DOUBLE_PRECISION, 0, 11, MPI_COMM_WORLD, first, ierr)
        call mpi_recv(y, n, MPI_DOUBLE_PRECISION, 0, 12, MPI_COMM_WORLD, second, ierr)
        tags = [first(MPI_TAG), second(MPI_TAG)]
    end subroutine

    ! Both ranks send first: that ends only if the receive is started meanwhile.
    subroutine both(x, z, n)
        integer :: n, ierr
        double precision :: x(n), z(n)
        call mpi_send(x, n, MPI_DOUBLE_PRECISION, other, 1, MPI_COMM_WORLD, ierr)
        call mpi_recv(z, n, MPI_DOUBLE_PRECISION, other, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
    end subroutine

    ! The count is an argument of the second call: it is read when the first has brought it.
    subroutine announced(count, x, n)
        integer :: n, count, ierr
        double precision :: x(n)
        call mpi_recv(count, 1, MPI_INTEGER, 0, 21, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
        call mpi_recv(x, count, MPI_DOUBLE_PRECISION, 0, 22, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
    end subroutine

    subroutine overlapping(numbers, n)
        integer :: n, numbers(0:n), i, ierr
        do i = 1, n
            call mpi_recv(numbers(i - 1), 2, MPI_INTEGER, 0, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
        end do
    end subroutine

    ! The loops go over other rows of the same array, and then over the row itself.
    subroutine ghost(u, n)
        integer :: n, i, ierr
        double precision :: u(n, 3), total
        u(:, 2) = 1
        call mpi_sendrecv(u(1, 2), n, MPI_DOUBLE_PRECISION, other, 5, u(1, 1), n, MPI_DOUBLE_PRECISION, other, 5, &
                          MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
        do i = 1, n
            u(i, 3) = 2 * u(i, 2)
        end do
        total = 0
        do i = 1, n
            total = total + u(i, 1) + u(i, 3)
        end do
        call check(total == 3 * dble(n), 5)
    end subroutine
end program
