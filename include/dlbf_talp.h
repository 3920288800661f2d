! SPDX-License-Identifier: Apache-2.0
!
! dlbf_talp.h - dlb_talp.h for Fortran, in free and fixed form: include it
! where a program unit that uses iso_c_binding has its declarations. A
! region's numbers are read by c_f_pointer(handle, monitor).
      type, bind(c) :: dlb_monitor_t
        type(c_ptr) :: name_
        integer(c_int) :: num_cpus
        real(c_float) :: avg_cpus
        integer(c_int64_t) :: cycles
        integer(c_int64_t) :: instructions
        integer(c_int) :: num_measurements
        integer(c_int) :: num_resets
        integer(c_int64_t) :: num_mpi_calls
        integer(c_int64_t) :: num_omp_parallels
        integer(c_int64_t) :: num_omp_tasks
        integer(c_int64_t) :: start_time
        integer(c_int64_t) :: stop_time
        integer(c_int64_t) :: elapsed_time
        integer(c_int64_t) :: useful_time
        integer(c_int64_t) :: mpi_time
        integer(c_int64_t) :: omp_load_imbalance_time
        integer(c_int64_t) :: omp_scheduling_time
        integer(c_int64_t) :: omp_serialization_time
        type(c_ptr) :: data_
      end type

      character(len=*), parameter :: DLB_GLOBAL_REGION_NAME = 'Global'
      type(c_ptr), parameter :: DLB_GLOBAL_REGION = c_null_ptr
      type(c_ptr), parameter :: DLB_MPI_REGION = c_null_ptr
      type(c_ptr), parameter :: DLB_IMPLICIT_REGION = c_null_ptr
      integer(c_intptr_t), parameter :: DLB_GLOBAL_REGION_INT = 0
      integer(c_intptr_t), parameter :: DLB_LAST_OPEN_REGION_INT = 1

      interface
        function dlb_talp_attach() result(error)                        &
     &      bind(c, name='DLB_TALP_Attach')
          use iso_c_binding
          integer(c_int) :: error
        end function

        function dlb_talp_detach() result(error)                        &
     &      bind(c, name='DLB_TALP_Detach')
          use iso_c_binding
          integer(c_int) :: error
        end function

        function dlb_talp_getnumcpus(count) result(error)               &
     &      bind(c, name='DLB_TALP_GetNumCPUs')
          use iso_c_binding
          integer(c_int) :: count
          integer(c_int) :: error
        end function

        function dlb_talp_gettimes(pid, mpi_time, useful_time)          &
     &      result(error) bind(c, name='DLB_TALP_GetTimes')
          use iso_c_binding
          integer(c_int), value :: pid
          real(c_double) :: mpi_time
          real(c_double) :: useful_time
          integer(c_int) :: error
        end function

        function dlb_monitoringregiongetglobal() result(handle)         &
     &      bind(c, name='DLB_MonitoringRegionGetGlobal')
          use iso_c_binding
          type(c_ptr) :: handle
        end function

        function dlb_monitoringregiongetimplicit() result(handle)       &
     &      bind(c, name='DLB_MonitoringRegionGetImplicit')
          use iso_c_binding
          type(c_ptr) :: handle
        end function

        function dlb_monitoringregionregister(name) result(handle)      &
     &      bind(c, name='DLB_MonitoringRegionRegister')
          use iso_c_binding
          character(kind=c_char) :: name(*)
          type(c_ptr) :: handle
        end function

        function dlb_monitoringregionreset(handle) result(error)        &
     &      bind(c, name='DLB_MonitoringRegionReset')
          use iso_c_binding
          type(c_ptr), value :: handle
          integer(c_int) :: error
        end function

        function dlb_monitoringregionstart(handle) result(error)        &
     &      bind(c, name='DLB_MonitoringRegionStart')
          use iso_c_binding
          type(c_ptr), value :: handle
          integer(c_int) :: error
        end function

        function dlb_monitoringregionstop(handle) result(error)         &
     &      bind(c, name='DLB_MonitoringRegionStop')
          use iso_c_binding
          type(c_ptr), value :: handle
          integer(c_int) :: error
        end function

        function dlb_monitoringregionreport(handle) result(error)       &
     &      bind(c, name='DLB_MonitoringRegionReport')
          use iso_c_binding
          type(c_ptr), value :: handle
          integer(c_int) :: error
        end function

        function dlb_monitoringregionupdate() result(error)             &
     &      bind(c, name='DLB_MonitoringRegionsUpdate')
          use iso_c_binding
          integer(c_int) :: error
        end function
      end interface
