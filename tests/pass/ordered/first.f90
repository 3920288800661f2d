! SPDX-License-Identifier: Apache-2.0
! By the plug-in's marks the policy fa knows which task sends, before one has run: the path to the send goes first.
module paths
    implicit none
    integer :: without, with, order(4), ran = 0, message = 7
    integer :: rank, other
end module

subroutine note(which)
    use paths
    implicit none
    integer, intent(in) :: which
    ran = ran + 1
    order(ran) = which
end subroutine

subroutine create
    use paths
    implicit none
    include 'mpif.h'
    integer :: ierr
    !$omp task default(shared) depend(inout: without)
    call note(1)
    !$omp end task
    !$omp task default(shared) depend(inout: without)
    call note(2)
    !$omp end task
    !$omp task default(shared) depend(inout: with)
    call note(3)
    !$omp end task
    !$omp task default(shared) private(ierr) depend(inout: with)
    call note(4)
    call mpi_send(message, 1, MPI_INTEGER, other, 0, MPI_COMM_WORLD, ierr)
    !$omp end task
    !$omp taskwait
end subroutine

program first
    use paths
    implicit none
    include 'mpif.h'
    integer :: received, ierr
    call mpi_init(ierr)
    call mpi_comm_rank(MPI_COMM_WORLD, rank, ierr)
    other = 1 - rank
    !$omp parallel default(shared) num_threads(1)
    call create
    !$omp end parallel
    call mpi_recv(received, 1, MPI_INTEGER, other, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
    if (received /= 7) error stop 2
    if (any(order /= [3, 4, 1, 2])) then
        print *, order
        error stop 3
    end if
    call mpi_finalize(ierr)
end program
