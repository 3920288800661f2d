! SPDX-License-Identifier: Apache-2.0
! part: # package_test.py builds it
! Stock MPI and OpenMP: on one thread, a task waits for a message that a later task sends.
program shipped
   use mpi
   implicit none
   integer :: rank, ranks, provided, got, error
   got = 0
   call MPI_Init_thread(MPI_THREAD_MULTIPLE, provided, error)
   call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
   call MPI_Comm_size(MPI_COMM_WORLD, ranks, error)
   !$omp parallel num_threads(1)
   !$omp single
   !$omp task shared(got) private(error)
   call MPI_Recv(got, 1, MPI_INTEGER, mod(rank + 1, ranks), 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE, error)
   !$omp end task
   !$omp task private(error)
   call MPI_Send(41, 1, MPI_INTEGER, mod(rank + ranks - 1, ranks), 1, MPI_COMM_WORLD, error)
   !$omp end task
   !$omp end single
   !$omp end parallel
   if (got == 41) print '(a,i0,a)', 'rank ', rank, ': well'
   call MPI_Finalize(error)
end program shipped
