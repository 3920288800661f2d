! SPDX-License-Identifier: Apache-2.0
! Buffers that are CHARACTER: of calls that are started together, waited for later, and left alone.
! stock
program characters
    implicit none
    include 'mpif.h'
    integer, parameter :: n = 1000
    integer :: rank, other, ierr, i
    character(len=12) :: own, first, second, third
    double precision, save :: field(n), next(n)
    call mpi_init(ierr)
    call mpi_comm_rank(MPI_COMM_WORLD, rank, ierr)
    other = 1 - rank
    field = rank
    next = 0
    write (own, '(A, I0)') 'of rank ', rank
    first = ''
    second = ''
    third = ''
    call exchange(own, first, second)
    call alone(own, third)
    write (own, '(A, I0)') 'of rank ', other
    call check(first == own .and. second == own(4:) .and. third == own, 1)
    call check(all(next(2:n - 1) == 2 * rank + 1), 2)
    call mpi_finalize(ierr)
contains
    subroutine check(right, which)
        logical :: right
        integer :: which, ierr
        if (.not. right) call mpi_abort(MPI_COMM_WORLD, which, ierr)
    end subroutine

    subroutine exchange(own, first, second)
        character(len=*) :: own, first, second
        integer :: i, ierr
        call mpi_send(own, len(own), MPI_CHARACTER, other, 1, MPI_COMM_WORLD, ierr)
        call mpi_send(own(4:), len(own) - 3, MPI_CHARACTER, other, 2, MPI_COMM_WORLD, ierr)
        call mpi_recv(first, len(first), MPI_CHARACTER, other, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
        call mpi_recv(second, len(second), MPI_CHARACTER, other, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
        do i = 2, n - 1
            next(i) = field(i - 1) + field(i + 1) + 1
        end do
    end subroutine

    ! Its error code is used, so it becomes what it was.
    subroutine alone(own, third)
        character(len=*) :: own, third
        integer :: ierr
        call mpi_sendrecv(own, len(own), MPI_CHARACTER, other, 3, third, len(third), MPI_CHARACTER, other, 3, &
                          MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
        call check(ierr == MPI_SUCCESS, 3)
    end subroutine
end program
