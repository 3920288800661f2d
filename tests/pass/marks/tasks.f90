! SPDX-License-Identifier: Apache-2.0
! Tasks of Fortran's, in the order in which marks_test.cpp asks for their marks. The third uses no
! variable of the procedure around it.
subroutine makes_tasks(x)
    implicit none
    double precision :: x(8)
    double precision, save :: y(8)
    integer :: i, ierr
    interface
        subroutine other_sends(x, to) bind(c, name='other_sends')
            import
            double precision :: x(*)
            integer, value :: to
        end subroutine
    end interface
    external :: mpi_send, mpi_recv
    !$omp task default(shared) private(ierr)
    call mpi_send(x, 8, 0, 1, 2, 3, ierr)
    !$omp end task
    !$omp task default(shared) private(ierr)
    call mpi_recv(x, 8, 0, 1, 2, 3, y, ierr)
    !$omp end task
    !$omp task default(shared) private(i)
    do i = 1, 8
        y(i) = sin(y(i)) + i
    end do
    !$omp end task
    !$omp task default(shared)
    call other_sends(x, 1)
    !$omp end task
    !$omp task default(shared)
    !$omp taskwait
    !$omp end task
end subroutine
