! SPDX-License-Identifier: Apache-2.0
! TAMPIf.h - for Fortran, in fixed and free form, after mpif.h, use mpi or use mpi_f08. The routines
! are called as in C with an error argument at the end: call TAMPI_Iwait(request, status, error);
! with mpi_f08 pass request%MPI_VAL, and the same of communicators, datatypes, operations, and an
! integer array of MPI_STATUS_SIZE, or of MPI_F_STATUS_SIZE, elements for a status.
      integer MPI_TASK_MULTIPLE
      parameter (MPI_TASK_MULTIPLE = MPI_THREAD_MULTIPLE + 1)
      integer TAMPI_PROPERTY_BLOCKING_MODE
      parameter (TAMPI_PROPERTY_BLOCKING_MODE = 1)
      integer TAMPI_PROPERTY_NONBLOCKING_MODE
      parameter (TAMPI_PROPERTY_NONBLOCKING_MODE = 2)
      integer TAMPI_PROPERTY_AUTO_INIT
      parameter (TAMPI_PROPERTY_AUTO_INIT = 3)
      integer TAMPI_PROPERTY_THREAD_TASKAWARE
      parameter (TAMPI_PROPERTY_THREAD_TASKAWARE = 4)
      external TAMPI_Iwait, TAMPI_Iwaitall
      external TAMPI_Property_get, TAMPI_Property_set
      external TAMPI_Isend, TAMPI_Issend, TAMPI_Irsend, TAMPI_Ibsend
      external TAMPI_Irecv, TAMPI_Ibarrier, TAMPI_Ibcast
      external TAMPI_Igather, TAMPI_Igatherv
      external TAMPI_Iscatter, TAMPI_Iscatterv
      external TAMPI_Iallgather, TAMPI_Iallgatherv
      external TAMPI_Ialltoall, TAMPI_Ialltoallv, TAMPI_Ialltoallw
      external TAMPI_Ireduce, TAMPI_Iallreduce
      external TAMPI_Ireduce_scatter, TAMPI_Ireduce_scatter_block
      external TAMPI_Iscan, TAMPI_Iexscan
