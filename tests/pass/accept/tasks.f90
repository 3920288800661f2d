! SPDX-License-Identifier: Apache-2.0
! Fortran's calls that end tasks.
module data
    implicit none
    double precision :: whole(64), other_whole(64)
    integer :: from, to
end module

subroutine receive(x, tag)
    use data
    implicit none
    include 'mpif.h'
    double precision :: x(64)
    integer :: tag, ierr
    !$omp task default(shared) private(ierr) depend(out: x)
    call mpi_recv(x, 64, MPI_DOUBLE_PRECISION, from, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr) ! done: MPI_Recv is bound to its task, which ends without waiting for it
    !$omp end task
end subroutine

subroutine unread_status
    use data
    implicit none
    include 'mpif.h'
    integer :: status(MPI_STATUS_SIZE), ierr
    !$omp task default(shared) private(status, ierr) depend(out: whole)
    call mpi_recv(whole, 64, MPI_DOUBLE_PRECISION, from, 0, MPI_COMM_WORLD, status, ierr) ! done: MPI_Recv of whole is bound to its task, which ends without waiting for it
    !$omp end task
end subroutine

! Of all tasks: MPI_STATUS_IGNORE itself, not a copy.
subroutine ignored_status
    use data
    implicit none
    include 'mpif.h'
    integer :: ierr
    !$omp parallel default(shared)
    !$omp single
    !$omp task default(shared) private(ierr) depend(out: whole)
    call mpi_recv(whole, 64, MPI_DOUBLE_PRECISION, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr) ! done: MPI_Recv of whole is bound to its task, which ends without waiting for it
    !$omp end task
    !$omp end single
    !$omp end parallel
end subroutine

subroutine work_before
    use data
    implicit none
    include 'mpif.h'
    integer :: i, ierr
    !$omp task default(shared) private(i, ierr) depend(inout: whole)
    do i = 1, 64
        whole(i) = whole(i) + i
    end do
    call mpi_ssend(whole, 64, MPI_DOUBLE_PRECISION, to, 0, MPI_COMM_WORLD, ierr) ! done: MPI_Ssend of whole is bound to its task, which ends without waiting for it
    !$omp end task
end subroutine

subroutine to_all(ranks)
    use data
    implicit none
    include 'mpif.h'
    integer :: ranks, rank, ierr
    !$omp task default(shared) private(rank, ierr) depend(in: whole)
    do rank = 0, ranks - 1
        call mpi_send(whole, 64, MPI_DOUBLE_PRECISION, rank, rank + 1, MPI_COMM_WORLD, ierr) ! done: MPI_Send of whole is bound to its task, which ends without waiting for it
    end do
    !$omp end task
end subroutine

! A code that the program looks at before the next call is no obstacle to that one.
subroutine checked_before
    use data
    implicit none
    include 'mpif.h'
    integer :: rank, ierr
    !$omp task default(shared) private(rank, ierr) depend(out: whole)
    call mpi_comm_rank(MPI_COMM_WORLD, rank, ierr)
    if (ierr == MPI_SUCCESS) then
        call mpi_sendrecv(other_whole, 64, MPI_DOUBLE_PRECISION, to, rank, & ! done: MPI_Sendrecv of whole is bound to its task, which ends without waiting for it
                          whole, 64, MPI_DOUBLE_PRECISION, from, rank, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
    end if
    !$omp end task
end subroutine

subroutine begun_early
    use data
    implicit none
    include 'mpif.h'
    integer :: i, request, ierr
    !$omp task default(shared) private(i, request, ierr) depend(out: whole)
    call mpi_irecv(whole, 64, MPI_DOUBLE_PRECISION, from, 0, MPI_COMM_WORLD, request, ierr)
    do i = 1, 64
        other_whole(i) = i
    end do
    call mpi_wait(request, MPI_STATUS_IGNORE, ierr) ! done: MPI_Wait of whole is bound to its task, which ends without waiting for it
    !$omp end task
end subroutine

subroutine a_pair
    use data
    implicit none
    include 'mpif.h'
    integer :: requests(2), ierr
    !$omp task default(shared) private(requests, ierr) depend(out: whole) depend(in: other_whole)
    call mpi_irecv(whole, 64, MPI_DOUBLE_PRECISION, from, 0, MPI_COMM_WORLD, requests(1), ierr)
    call mpi_isend(other_whole, 64, MPI_DOUBLE_PRECISION, to, 0, MPI_COMM_WORLD, requests(2), ierr)
    call mpi_waitall(2, requests, MPI_STATUSES_IGNORE, ierr) ! done: MPI_Waitall of other_whole is bound to its task, which ends without waiting for it
    !$omp end task
end subroutine
