! SPDX-License-Identifier: Apache-2.0
! fortran_calls:
! test_fortran: shape=1x1|2x1|2x2|4x1
! split: called=fortran_messages3
! Point-to-point calls and waits inside tasks, each kind of send and of receive. Receives come first.
#include "fortran_cases.inc"

module messages
    use cases
    implicit none
    integer, parameter :: kinds = 12

contains

    ! What is sent ready needs a receive that waits: the receiver says when.
    logical function ready(kind)
        integer, intent(in) :: kind
        ready = kind == 3 .or. kind == 4
    end function

    subroutine send_as(kind)
        integer, intent(in) :: kind
        integer :: error
        integer, asynchronous :: data(1), nothing(1)
        HANDLE(Request) :: request
        data = 100 * rank + kind
        if (ready(kind)) &
            call MPI_Recv(nothing, 0, MPI_INTEGER, next, 100 + kind, MPI_COMM_WORLD, MPI_STATUS_IGNORE, error)
        select case (kind)
        case (1)
            call MPI_Send(data, 1, MPI_INTEGER, next, kind, MPI_COMM_WORLD, error)
        case (2)
            call MPI_Ssend(data, 1, MPI_INTEGER, next, kind, MPI_COMM_WORLD, error)
        case (3)
            call MPI_Rsend(data, 1, MPI_INTEGER, next, kind, MPI_COMM_WORLD, error)
        case (4)
            call MPI_Irsend(data, 1, MPI_INTEGER, next, kind, MPI_COMM_WORLD, request, error)
        case (5)
            call MPI_Bsend(data, 1, MPI_INTEGER, next, kind, MPI_COMM_WORLD, error)
        case (6)
            call MPI_Ibsend(data, 1, MPI_INTEGER, next, kind, MPI_COMM_WORLD, request, error)
        case (7)
            call MPI_Isend(data, 1, MPI_INTEGER, next, kind, MPI_COMM_WORLD, request, error)
        case default
            call MPI_Issend(data, 1, MPI_INTEGER, next, kind, MPI_COMM_WORLD, request, error)
        end select
        if (kind == 4 .or. kind > 5) call MPI_Wait(request, MPI_STATUS_IGNORE, error)
    end subroutine

    subroutine receive_as(kind)
        integer, intent(in) :: kind
        integer :: error
        integer, asynchronous :: data(1), nothing(1) ! else GCC 14 keeps its value over MPI_Wait
        HANDLE(Request) :: request
        HANDLE(Message) :: message
        STATUS(status)
        data = -1
        nothing = 0
        if (ready(kind) .or. mod(kind, 4) == 0) then
            call MPI_Irecv(data, 1, MPI_INTEGER, previous, kind, MPI_COMM_WORLD, request, error)
            if (ready(kind)) call MPI_Send(nothing, 0, MPI_INTEGER, previous, 100 + kind, MPI_COMM_WORLD, error)
            call MPI_Wait(request, status, error)
        else if (mod(kind, 4) == 1) then
            call MPI_Recv(data, 1, MPI_INTEGER, previous, kind, MPI_COMM_WORLD, status, error)
        else if (mod(kind, 4) == 2) then
            call MPI_Probe(previous, kind, MPI_COMM_WORLD, status, error)
            call MPI_Recv(data, 1, MPI_INTEGER, previous, kind, MPI_COMM_WORLD, status, error)
        else
            call MPI_Mprobe(previous, kind, MPI_COMM_WORLD, message, status, error)
            if (mod(rank, 2) == 0) then
                call MPI_Mrecv(data, 1, MPI_INTEGER, message, status, error)
            else
                call MPI_Imrecv(data, 1, MPI_INTEGER, message, request, error)
                call MPI_Wait(request, status, error)
            end if
        end if
        call check(data(1) == 100 * previous + kind, 'a received value')
        call check(TAG_OF(status) == kind .and. SOURCE_OF(status) == previous, 'a status')
    end subroutine

    ! Each rank's task waits for a message that the other's task of the other tag sends.
    subroutine exchange(comm)
        HANDLE(Comm), intent(in) :: comm
        integer :: error
        integer, asynchronous :: out(1), in(1)
        STATUS(status)
#if defined MPI_4
        HANDLE(Request) :: request
#endif
        out = 10 + rank
        in = -1
        call MPI_Sendrecv(out, 1, MPI_INTEGER, next, 1, in, 1, MPI_INTEGER, previous, 1, comm, status, error)
        call check(in(1) == 10 + previous .and. TAG_OF(status) == 1, 'MPI_Sendrecv')
        call MPI_Sendrecv_replace(out, 1, MPI_INTEGER, next, 2, previous, 2, comm, status, error)
        call check(out(1) == 10 + previous .and. TAG_OF(status) == 2, 'MPI_Sendrecv_replace')
#if defined MPI_4
        out = 20 + rank
        call MPI_Isendrecv(out, 1, MPI_INTEGER, next, 3, in, 1, MPI_INTEGER, previous, 3, comm, request, error)
        call MPI_Wait(request, MPI_STATUS_IGNORE, error)
        call check(in(1) == 20 + previous, 'MPI_Isendrecv')
        call MPI_Isendrecv_replace(out, 1, MPI_INTEGER, next, 4, previous, 4, comm, request, error)
        call MPI_Wait(request, MPI_STATUS_IGNORE, error)
        call check(out(1) == 20 + previous, 'MPI_Isendrecv_replace')
#endif
    end subroutine

    ! Three receives in a task, and a wait of the given kind; the sends are in tasks behind it.
    subroutine wait_as(kind)
        integer, intent(in) :: kind
        integer :: error, i, found, left, indices(3)
        integer, asynchronous :: in(3)
        HANDLE(Request) :: requests(3)
        STATUSES(statuses, 3)
        in = -1
        do i = 1, 3
            call MPI_Irecv(in(i:i), 1, MPI_INTEGER, previous, 200 + 3 * kind + i, MPI_COMM_WORLD, requests(i), error)
        end do
        left = 3
        do while (left > 0)
            select case (kind)
            case (1)
                call MPI_Waitall(3, requests, statuses, error)
                found = 3
            case (2)
                call MPI_Waitany(3, requests, i, MPI_STATUS_IGNORE, error)
                call check(i >= 0 .and. i <= 3, 'an index') ! mpi_f08 of MPICH 4.0 counts from 0
                found = 1
            case default
                call MPI_Waitsome(3, requests, found, indices, MPI_STATUSES_IGNORE, error)
                call check(found >= 1, 'a count')
            end select
            left = left - found
        end do
        do i = 1, 3
            call check(in(i) == 7 * previous + i, 'a value that was waited for')
        end do
    end subroutine

    ! Persistent: to and from ourselves, twice.
    subroutine persistent_as(kind)
        integer, intent(in) :: kind
        integer :: error, i
        integer, volatile :: in(1), out(1)
        HANDLE(Request) :: requests(2)
        call MPI_Recv_init(in, 1, MPI_INTEGER, rank, 300 + kind, MPI_COMM_WORLD, requests(1), error)
        select case (kind)
        case (1)
            call MPI_Send_init(out, 1, MPI_INTEGER, rank, 300 + kind, MPI_COMM_WORLD, requests(2), error)
        case (2)
            call MPI_Ssend_init(out, 1, MPI_INTEGER, rank, 300 + kind, MPI_COMM_WORLD, requests(2), error)
        case (3)
            call MPI_Rsend_init(out, 1, MPI_INTEGER, rank, 300 + kind, MPI_COMM_WORLD, requests(2), error)
        case default
            call MPI_Bsend_init(out, 1, MPI_INTEGER, rank, 300 + kind, MPI_COMM_WORLD, requests(2), error)
        end select
        do i = 1, 2
            in = -1
            out = 10 * kind + i
            call MPI_Start(requests(1), error)
            call MPI_Start(requests(2), error)
            call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE, error)
            call check(in(1) == 10 * kind + i, 'a value of a persistent request')
        end do
        call MPI_Request_free(requests(1), error)
        call MPI_Request_free(requests(2), error)
    end subroutine

    subroutine send_for_wait(kind, i)
        integer, intent(in) :: kind, i
        integer :: error
        integer, asynchronous :: data(1)
        data = 7 * rank + i
        call MPI_Ssend(data, 1, MPI_INTEGER, next, 200 + 3 * kind + i, MPI_COMM_WORLD, error)
    end subroutine
end module

program fortran_messages
    use messages
    use iso_c_binding
    implicit none
    integer, target :: room(4096)
    integer :: i, k, error, size
#if BINDING == 3
    type(c_ptr) :: back
#else
    integer :: back(4096)
#endif

    call begin()
    call MPI_Buffer_attach(room, 4 * 4096, error)
    !$omp parallel
    !$omp single
    do i = 1, kinds
        !$omp task firstprivate(i)
        call receive_as(i)
        !$omp end task
    end do
    do i = 1, 3
        !$omp task firstprivate(i)
        call wait_as(i)
        !$omp end task
    end do
    do i = kinds, 1, -1
        !$omp task firstprivate(i)
        call send_as(i)
        !$omp end task
    end do
    do i = 3, 1, -1
        do k = 1, 3
            !$omp task firstprivate(i, k)
            call send_for_wait(i, k)
            !$omp end task
        end do
    end do
    do i = 1, 4
        !$omp task firstprivate(i)
        call persistent_as(i)
        !$omp end task
    end do
    !$omp taskwait
    call on_both(exchange)
    !$omp task shared(back, size)
    call MPI_Buffer_detach(back, size, error)
    call check(size == 4 * 4096, 'MPI_Buffer_detach')
    !$omp end task
    !$omp end single
    !$omp end parallel
    call MPI_Query_thread(i, error)
    call check(i == MPI_THREAD_MULTIPLE, 'MPI_Query_thread')
    call finish()
end program
