! SPDX-License-Identifier: Apache-2.0
! Tasks that end with mpi_sendrecv of long messages; the datatype and the communicator are the
! program's own.
! suspensions: 0
! plain suspends
! stock
module blocks
    implicit none
    integer, parameter :: many = 12, length = 20000
    double precision :: in(length, many), out(length, many)
    integer :: tags(many), other, comm, row
end module

program exchange_tasks
    use blocks
    implicit none
    include 'mpif.h'
    integer :: rank, provided, ierr, i
    call mpi_init_thread(MPI_THREAD_MULTIPLE, provided, ierr)
    call mpi_comm_dup(MPI_COMM_WORLD, comm, ierr)
    call mpi_type_contiguous(length, MPI_DOUBLE_PRECISION, row, ierr)
    call mpi_type_commit(row, ierr)
    call mpi_comm_rank(comm, rank, ierr)
    other = 1 - rank
    do i = 1, many
        tags(i) = i
        out(:, i) = rank + i
    end do
    !$omp parallel
    !$omp single
    do i = 1, many
        call exchange(out(1, i), in(1, i), tags(i))
    end do
    !$omp end single
    !$omp end parallel
    do i = 1, many
        if (any(in(:, i) /= other + i)) call mpi_abort(comm, 1, ierr)
    end do
    call mpi_type_free(row, ierr)
    call mpi_finalize(ierr)
end program

subroutine exchange(x, y, tag)
    use blocks
    implicit none
    include 'mpif.h'
    double precision :: x(length), y(length)
    integer :: tag, ierr
    !$omp task default(shared) private(ierr) depend(in: x) depend(out: y)
    call mpi_sendrecv(x, 1, row, other, tag, y, 1, row, other, tag, comm, MPI_STATUS_IGNORE, ierr)
    !$omp end task
end subroutine
