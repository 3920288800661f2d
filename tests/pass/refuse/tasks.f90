! SPDX-License-Identifier: Apache-2.0
! Fortran's calls that their tasks have to wait for. Compiled with -g.
module data
    implicit none
    double precision :: whole(64)
    double precision, allocatable :: grown(:, :)
    integer :: from, to, kind_of_message, error_of_all
end module

subroutine status_read
    use data
    implicit none
    include 'mpif.h'
    integer :: status(MPI_STATUS_SIZE), ierr
    !$omp task default(shared) private(status, ierr) depend(out: whole)
    call mpi_recv(whole, 64, MPI_DOUBLE_PRECISION, from, MPI_ANY_TAG, MPI_COMM_WORLD, status, ierr) ! missed: MPI_Recv of whole suspends its task: its status is used by a read of status (line +1)
    kind_of_message = status(MPI_TAG)
    !$omp end task
end subroutine

subroutine status_kept(status)
    use data
    implicit none
    include 'mpif.h'
    integer :: status(MPI_STATUS_SIZE), ierr
    !$omp task default(shared) private(ierr) depend(out: whole)
    call mpi_recv(whole, 64, MPI_DOUBLE_PRECISION, from, 0, MPI_COMM_WORLD, status, ierr) ! missed: MPI_Recv of whole suspends its task: its status is kept
    !$omp end task
end subroutine

subroutine error_used
    use data
    implicit none
    include 'mpif.h'
    integer :: ierr
    !$omp task default(shared) private(ierr) depend(out: whole)
    call mpi_recv(whole, 64, MPI_DOUBLE_PRECISION, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr) ! missed: MPI_Recv of whole suspends its task: its error code is used
    if (ierr /= MPI_SUCCESS) kind_of_message = -1
    !$omp end task
end subroutine

! Who reads it later would read the code of a receive that has only begun.
subroutine error_shared
    use data
    implicit none
    include 'mpif.h'
    !$omp task default(shared) depend(out: whole)
    call mpi_recv(whole, 64, MPI_DOUBLE_PRECISION, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE, error_of_all) ! missed: MPI_Recv of whole suspends its task: its error code is not private
    !$omp end task
end subroutine

subroutine private_copy
    use data
    implicit none
    include 'mpif.h'
    integer :: ierr
    double precision :: copy(8)
    !$omp task default(shared) private(copy, ierr)
    copy = 1
    call mpi_send(copy, 8, MPI_DOUBLE_PRECISION, to, 0, MPI_COMM_WORLD, ierr) ! missed: MPI_Send of copy suspends its task: its buffer is on the task's stack
    !$omp end task
end subroutine

! The section is copied, sent, and the copy freed.
subroutine packed
    use data
    implicit none
    include 'mpif.h'
    integer :: ierr
    !$omp task default(shared) private(ierr)
    call mpi_send(grown(2, :), 8, MPI_DOUBLE_PRECISION, to, 0, MPI_COMM_WORLD, ierr) ! missed: MPI_Send suspends its task: its buffer may be the task's own memory, whose address others know
    !$omp end task
end subroutine

subroutine an_expression
    use data
    implicit none
    include 'mpif.h'
    integer :: ierr
    !$omp task default(shared) private(ierr)
    call mpi_send(from + 1, 1, MPI_INTEGER, to, 0, MPI_COMM_WORLD, ierr) ! missed: MPI_Send suspends its task: its buffer is on the task's stack
    !$omp end task
end subroutine

subroutine absolute(type)
    use data
    implicit none
    include 'mpif.h'
    integer :: type, ierr
    !$omp parallel default(shared)
    !$omp single
    !$omp task default(shared) private(ierr)
    call mpi_recv(MPI_BOTTOM, 1, type, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr) ! missed: MPI_Recv suspends its task: its buffer is given by absolute addresses
    !$omp end task
    !$omp end single
    !$omp end parallel
end subroutine

subroutine touched_after
    use data
    implicit none
    include 'mpif.h'
    integer :: ierr
    !$omp task default(shared) private(ierr) depend(out: whole)
    call mpi_recv(whole, 64, MPI_DOUBLE_PRECISION, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr) ! missed: MPI_Recv of whole suspends its task: its buffer may be touched by a read of whole (line +1)
    whole(2) = whole(1)
    !$omp end task
end subroutine

subroutine call_after
    use data
    implicit none
    include 'mpif.h'
    integer :: ierr
    external :: unknown
    !$omp task default(shared) private(ierr) depend(out: whole)
    call mpi_recv(whole, 64, MPI_DOUBLE_PRECISION, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr) ! missed: MPI_Recv of whole suspends its task: it is followed by a call of unknown_ (line +1)
    call unknown
    !$omp end task
end subroutine

subroutine atomic_after
    use data
    implicit none
    include 'mpif.h'
    integer :: ierr
    !$omp task default(shared) private(ierr) depend(out: whole)
    call mpi_recv(whole, 64, MPI_DOUBLE_PRECISION, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr) ! missed: MPI_Recv of whole suspends its task: it is followed by a write of kind_of_message
    !$omp atomic write
    kind_of_message = 1
    !$omp end task
end subroutine

subroutine request_known
    use data
    implicit none
    include 'mpif.h'
    integer :: ierr
    integer, save :: request
    !$omp task default(shared) private(ierr) depend(out: whole)
    call mpi_irecv(whole, 64, MPI_DOUBLE_PRECISION, from, 0, MPI_COMM_WORLD, request, ierr)
    call mpi_wait(request, MPI_STATUS_IGNORE, ierr)
    !$omp end task
end subroutine
