! SPDX-License-Identifier: Apache-2.0
!
! Two of the versions in Fortran, kernel included: pure and interop-blk. The rest of the program is
! that in C. Both languages have one MPI_PROC_NULL with either MPI.
!
! What a task reads is shared and outlives it: Flang 19 would read a firstprivate variable when the
! task runs. Dependences are on dummy arguments: it takes no elements of arrays for them.
module gauss_seidel_fortran
    use iso_c_binding, only: c_double, c_f_pointer, c_int, c_ptr
    implicit none
    private
    include 'mpif.h'

    ! As in gauss_seidel.h.
    type, bind(C) :: c_grid
        integer(c_int) :: all_rows, columns, first, rows, rank, ranks, above, below
        type(c_ptr) :: cells
    end type
    type, bind(C) :: c_block
        integer(c_int) :: rows, columns
    end type
    type, bind(C) :: c_exchange
        integer(c_int) :: way, sentinels
    end type

    ! A rectangle of cells: a block, or what is sent to a peer or received from it.
    type :: rectangle
        integer :: row, rows, column, columns, peer, tag
    end type

    real(c_double), pointer, contiguous :: cells(:, :) ! (0:columns + 1, 0:rows + 1)
    public :: solve_pure_fortran, solve_tasks_fortran
contains
    subroutine look_at(grid)
        type(c_grid), intent(in) :: grid
        real(c_double), pointer, contiguous :: whole(:, :)
        call c_f_pointer(grid%cells, whole, [grid%columns + 2, grid%rows + 2])
        cells(0:, 0:) => whole
    end subroutine

    subroutine relax(part)
        type(rectangle), intent(in) :: part
        real(c_double) :: left
        integer :: row, column
        do row = part%row, part%row + part%rows - 1
            left = cells(part%column - 1, row)
            do column = part%column, part%column + part%columns - 1
                left = 0.25d0 * (((cells(column, row - 1) + cells(column, row + 1)) &
                                  + cells(column + 1, row)) + left)
                cells(column, row) = left
            end do
        end do
    end subroutine

    subroutine send(part)
        type(rectangle), intent(in) :: part
        integer :: error
        call MPI_Send(cells(part%column, part%row), part%columns, MPI_DOUBLE_PRECISION, part%peer, &
                      part%tag, MPI_COMM_WORLD, error)
    end subroutine

    subroutine receive(part)
        type(rectangle), intent(in) :: part
        integer :: error
        call MPI_Recv(cells(part%column, part%row), part%columns, MPI_DOUBLE_PRECISION, part%peer, &
                      part%tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE, error)
    end subroutine

    subroutine solve_pure_fortran(grid, block, exchange, iterations) bind(C)
        type(c_grid), intent(in) :: grid
        type(c_block), intent(in) :: block
        type(c_exchange), intent(in) :: exchange
        integer(c_int), value :: iterations
        integer :: n, t
        if (block%rows < 1 .or. exchange%sentinels < 0) return
        call look_at(grid)
        n = grid%columns
        do t = 1, iterations
            call send(rectangle(1, 1, 1, n, grid%above, 0))
            call receive(rectangle(0, 1, 1, n, grid%above, 0))
            call receive(rectangle(grid%rows + 1, 1, 1, n, grid%below, 0))
            call relax(rectangle(1, grid%rows, 1, n, 0, 0))
            call send(rectangle(grid%rows, 1, 1, n, grid%below, 0))
        end do
    end subroutine

    ! ---- tasks: each is a dependence on tokens ----

    subroutine relax_in_task(part, here, up, down, left, right)
        type(rectangle), intent(in) :: part
        integer, intent(inout) :: here, up, down, left, right
        !$omp task shared(part) depend(in: up, down, left, right) depend(inout: here)
        call relax(part)
        !$omp end task
    end subroutine

    subroutine send_in_task(part, here, turn)
        type(rectangle), intent(in) :: part
        integer, intent(inout) :: here, turn
        !$omp task shared(part) depend(in: here) depend(inout: turn)
        call send(part)
        !$omp end task
    end subroutine

    subroutine receive_in_task(part, here, turn)
        type(rectangle), intent(in) :: part
        integer, intent(inout) :: here, turn
        !$omp task shared(part) depend(out: here) depend(inout: turn)
        call receive(part)
        !$omp end task
    end subroutine

    ! The edges of a column of blocks: what is sent above, received from there, received from
    ! below, sent there.
    subroutine make_parts(grid, block, parts, edges)
        type(c_grid), intent(in) :: grid
        type(c_block), intent(in) :: block
        type(rectangle), intent(out) :: parts(:, :), edges(:, :)
        integer :: i, j, row, column, columns
        do j = 1, size(parts, 2)
            column = (j - 1) * block%columns + 1
            columns = min(block%columns, grid%columns - column + 1)
            do i = 1, size(parts, 1)
                row = (i - 1) * block%rows + 1
                parts(i, j) = rectangle(row, min(block%rows, grid%rows - row + 1), column, columns, 0, 0)
            end do
            edges(1, j) = rectangle(1, 1, column, columns, grid%above, j)
            edges(2, j) = rectangle(0, 1, column, columns, grid%above, j)
            edges(3, j) = rectangle(grid%rows + 1, 1, column, columns, grid%below, j)
            edges(4, j) = rectangle(grid%rows, 1, column, columns, grid%below, j)
        end do
    end subroutine

    ! turns(k, j): of all messages the same variable, the sentinel, or each has its own.
    subroutine iterate(grid, parts, edges, tokens, turns, stride)
        type(c_grid), intent(in) :: grid
        type(rectangle), intent(in) :: parts(:, :), edges(:, :)
        integer, intent(inout) :: tokens(0:, 0:), turns(0:)
        integer, intent(in) :: stride
        integer :: i, j, m, n
        m = size(parts, 1)
        n = size(parts, 2)
        if (grid%above /= MPI_PROC_NULL) then
            do j = 1, n
                call send_in_task(edges(1, j), tokens(1, j), turns(stride * (4 * j - 3)))
            end do
            do j = 1, n
                call receive_in_task(edges(2, j), tokens(0, j), turns(stride * (4 * j - 2)))
            end do
        end if
        do j = 1, merge(n, 0, grid%below /= MPI_PROC_NULL)
            call receive_in_task(edges(3, j), tokens(m + 1, j), turns(stride * (4 * j - 1)))
        end do
        do i = 1, m
            do j = 1, n
                call relax_in_task(parts(i, j), tokens(i, j), tokens(i - 1, j), tokens(i + 1, j), &
                                   tokens(i, j - 1), tokens(i, j + 1))
            end do
        end do
        do j = 1, merge(n, 0, grid%below /= MPI_PROC_NULL)
            call send_in_task(edges(4, j), tokens(m, j), turns(stride * (4 * j)))
        end do
    end subroutine

    subroutine solve_tasks_fortran(grid, block, exchange, iterations) bind(C)
        type(c_grid), intent(in) :: grid
        type(c_block), intent(in) :: block
        type(c_exchange), intent(in) :: exchange
        integer(c_int), value :: iterations
        type(rectangle), allocatable :: parts(:, :), edges(:, :)
        integer, allocatable :: tokens(:, :), turns(:)
        integer :: m, n, t
        call look_at(grid)
        m = (grid%rows + block%rows - 1) / block%rows
        n = (grid%columns + block%columns - 1) / block%columns
        allocate(parts(m, n), edges(4, n), tokens(0:m + 1, 0:n + 1), turns(0:4 * n))
        call make_parts(grid, block, parts, edges)
        tokens = 0 ! their addresses are all that is used
        turns = 0
        !$omp parallel
        !$omp single
        do t = 1, iterations
            call iterate(grid, parts, edges, tokens, turns, merge(0, 1, exchange%sentinels > 0))
        end do
        !$omp end single
        !$omp end parallel
    end subroutine
end module
