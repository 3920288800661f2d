! What `sennit report` says of Fortran's calls.
program rows
    implicit none
    include 'mpif.h'
    integer, parameter :: n = 64, rounds = 5
    double precision :: ghost(n), sent(n), field(n), next(n)
    common /known_elsewhere/ field, next
    integer :: rank, ierr, round
    call MPI_Init(ierr)
    call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
    sent = rank
    do round = 1, rounds
        call later()
        if (ghost(1) /= 1 - rank) stop 1
    end do
    call MPI_Finalize(ierr)
contains
    subroutine later()
        integer :: i, code
        call MPI_Send(sent, n, MPI_DOUBLE_PRECISION, 1 - rank, 0, MPI_COMM_WORLD, code) ! moved: 10, together with 1
        call MPI_Recv(ghost, n, MPI_DOUBLE_PRECISION, 1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE, code) ! moved: 10, together with 1
        do i = 2, n - 1
            next(i) = field(i - 1) + field(i + 1)
        end do
    end subroutine
end program
