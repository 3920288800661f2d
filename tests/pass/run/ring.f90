! SPDX-License-Identifier: Apache-2.0
! Many blocks to the next rank, in the other order than they are received: every receive would be
! suspended. The last task of a block begins its operations itself, and waits for them. flang 19 reads
! firstprivate variables when the task starts: so blocks and tags are shared.
! suspensions: 0
! plain suspends
module blocks
    implicit none
    integer, parameter :: many = 24, length = 20000
    double precision :: in(length, many), out(length, many), back(2, many), forth(2, many)
    integer :: tags(many), from, to
end module

program ring
    use blocks
    implicit none
    include 'mpif.h'
    integer :: rank, ranks, provided, ierr, i
    double precision :: wanted
    call mpi_init_thread(MPI_THREAD_MULTIPLE, provided, ierr)
    call mpi_comm_rank(MPI_COMM_WORLD, rank, ierr)
    call mpi_comm_size(MPI_COMM_WORLD, ranks, ierr)
    from = mod(rank + ranks - 1, ranks)
    to = mod(rank + 1, ranks)
    do i = 1, many
        tags(i) = i
        out(:, i) = rank + i
        forth(:, i) = rank + 2 * i
    end do
    !$omp parallel
    !$omp single
    do i = 1, many
        call receive(in(1, i), tags(i))
    end do
    do i = many, 1, -1
        call send(out(1, i), tags(i))
    end do
    do i = 1, many
        call exchange(forth(1, i), back(1, i), tags(i))
    end do
    !$omp end single
    !$omp end parallel
    wanted = 0
    do i = 1, many
        wanted = wanted + dble(length) * (from + i)
    end do
    if (sum(in) /= wanted) call mpi_abort(MPI_COMM_WORLD, 1, ierr)
    do i = 1, many
        if (any(back(:, i) /= from + 2 * i)) call mpi_abort(MPI_COMM_WORLD, 2, ierr)
    end do
    call mpi_finalize(ierr)
end program

subroutine receive(x, tag)
    use blocks
    implicit none
    include 'mpif.h'
    double precision :: x(length)
    integer :: tag, ierr
    !$omp task default(shared) private(ierr) depend(out: x)
    call mpi_recv(x, length, MPI_DOUBLE_PRECISION, from, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
    !$omp end task
end subroutine

subroutine send(x, tag)
    use blocks
    implicit none
    include 'mpif.h'
    double precision :: x(length)
    integer :: tag, ierr
    !$omp task default(shared) private(ierr) depend(in: x)
    call mpi_send(x, length, MPI_DOUBLE_PRECISION, to, tag, MPI_COMM_WORLD, ierr)
    !$omp end task
end subroutine

subroutine exchange(x, y, tag)
    use blocks
    implicit none
    include 'mpif.h'
    double precision :: x(2), y(2)
    integer :: tag, ierr, requests(2), request
    !$omp task default(shared) private(ierr, requests) depend(in: x) depend(out: y)
    call mpi_irecv(y(1), 1, MPI_DOUBLE_PRECISION, from, 1000 + tag, MPI_COMM_WORLD, requests(1), ierr)
    call mpi_isend(x(1), 1, MPI_DOUBLE_PRECISION, to, 1000 + tag, MPI_COMM_WORLD, requests(2), ierr)
    call mpi_waitall(2, requests, MPI_STATUSES_IGNORE, ierr)
    !$omp end task
    !$omp task default(shared) private(ierr, request) depend(out: y)
    call mpi_irecv(y(2), 1, MPI_DOUBLE_PRECISION, from, 2000 + tag, MPI_COMM_WORLD, request, ierr)
    call mpi_wait(request, MPI_STATUS_IGNORE, ierr)
    !$omp end task
    !$omp task default(shared) private(ierr) depend(in: x)
    call mpi_send(x(2), 1, MPI_DOUBLE_PRECISION, to, 2000 + tag, MPI_COMM_WORLD, ierr)
    !$omp end task
end subroutine
