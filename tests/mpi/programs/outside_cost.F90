! SPDX-License-Identifier: Apache-2.0
! cost: if=mpifc compile='{mpifc} -O1 -g {with_omp}'
! As outside_cost.c: round trips to oneself outside of tasks, counted.
program outside_cost
  use mpi
  use iso_c_binding
  implicit none
  interface
    subroutine start_counting() bind(c)
    end subroutine
    subroutine stop_counting() bind(c)
    end subroutine
  end interface
  integer, parameter :: trips = 1000, warm_up = 100
  integer :: provided, error, total, i

  call MPI_Init_thread(MPI_THREAD_MULTIPLE, provided, error)
  total = 0
  !$omp parallel num_threads(2)
  !$omp single
  do i = 1, 8
    !$omp task shared(total)
    call exchange(i, total)
    !$omp end task
  end do
  !$omp end single
  !$omp end parallel
#ifdef _OPENMP
  if (total /= 36) call MPI_Abort(MPI_COMM_WORLD, 1, error)
#endif
  call round_trips(warm_up)
  call start_counting()
  call round_trips(trips)
  call stop_counting()
  print '(a,i0)', 'calls=', 6 * trips
  call MPI_Finalize(error)

contains

  subroutine exchange(tag, total)
    integer, intent(in) :: tag
    integer, intent(inout) :: total
    integer :: got(1), error
    call MPI_Sendrecv([tag], 1, MPI_INTEGER, 0, tag, got, 1, MPI_INTEGER, 0, tag, MPI_COMM_SELF, &
                      MPI_STATUS_IGNORE, error)
    !$omp atomic
    total = total + got(1)
  end subroutine

  subroutine round_trips(count)
    integer, intent(in) :: count
    integer :: there(2), back(2), request, i, error
    there = 0
    back = -1
    do i = 1, count
      there(1) = i
      call MPI_Irecv(back, 2, MPI_INTEGER, 0, 1, MPI_COMM_SELF, request, error)
      call MPI_Send(there, 2, MPI_INTEGER, 0, 1, MPI_COMM_SELF, error)
      call MPI_Wait(request, MPI_STATUS_IGNORE, error)
      call MPI_Isend(back, 2, MPI_INTEGER, 0, 2, MPI_COMM_SELF, request, error)
      call MPI_Recv(there, 2, MPI_INTEGER, 0, 2, MPI_COMM_SELF, MPI_STATUS_IGNORE, error)
      call MPI_Wait(request, MPI_STATUS_IGNORE, error)
      if (back(1) /= i .or. there(1) /= i) call MPI_Abort(MPI_COMM_WORLD, 1, error)
    end do
  end subroutine
end program
