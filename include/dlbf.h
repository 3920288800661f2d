! SPDX-License-Identifier: Apache-2.0
!
! dlbf.h - dlb.h for Fortran, in free and fixed form: include it where a
! subprogram has its declarations. Masks are c_null_ptr, or point to a
! cpu_set_t.
      integer, parameter :: DLB_NOUPDT = 2
      integer, parameter :: DLB_NOTED = 1
      integer, parameter :: DLB_SUCCESS = 0
      integer, parameter :: DLB_ERR_UNKNOWN = -1
      integer, parameter :: DLB_ERR_NOINIT = -2
      integer, parameter :: DLB_ERR_INIT = -3
      integer, parameter :: DLB_ERR_DISBLD = -4
      integer, parameter :: DLB_ERR_NOSHMEM = -5
      integer, parameter :: DLB_ERR_NOPROC = -6
      integer, parameter :: DLB_ERR_PERM = -8
      integer, parameter :: DLB_ERR_NOTALP = -16

      interface
        function dlb_init(cores, mask, arguments) result(error)         &
     &      bind(c, name='DLB_Init')
          use iso_c_binding
          integer(c_int), value :: cores
          type(c_ptr), value :: mask
          character(kind=c_char) :: arguments(*)
          integer(c_int) :: error
        end function

        function dlb_finalize() result(error)                           &
     &      bind(c, name='DLB_Finalize')
          use iso_c_binding
          integer(c_int) :: error
        end function

        function dlb_enable() result(error)                             &
     &      bind(c, name='DLB_Enable')
          use iso_c_binding
          integer(c_int) :: error
        end function

        function dlb_disable() result(error)                            &
     &      bind(c, name='DLB_Disable')
          use iso_c_binding
          integer(c_int) :: error
        end function

        function dlb_lend() result(error)                               &
     &      bind(c, name='DLB_Lend')
          use iso_c_binding
          integer(c_int) :: error
        end function

        function dlb_lendcpu(core) result(error)                        &
     &      bind(c, name='DLB_LendCpu')
          use iso_c_binding
          integer(c_int), value :: core
          integer(c_int) :: error
        end function

        function dlb_lendcpus(count) result(error)                      &
     &      bind(c, name='DLB_LendCpus')
          use iso_c_binding
          integer(c_int), value :: count
          integer(c_int) :: error
        end function

        function dlb_reclaim() result(error)                            &
     &      bind(c, name='DLB_Reclaim')
          use iso_c_binding
          integer(c_int) :: error
        end function

        function dlb_reclaimcpus(count) result(error)                   &
     &      bind(c, name='DLB_ReclaimCpus')
          use iso_c_binding
          integer(c_int), value :: count
          integer(c_int) :: error
        end function

        function dlb_acquirecpus(count) result(error)                   &
     &      bind(c, name='DLB_AcquireCpus')
          use iso_c_binding
          integer(c_int), value :: count
          integer(c_int) :: error
        end function

        function dlb_borrow() result(error)                             &
     &      bind(c, name='DLB_Borrow')
          use iso_c_binding
          integer(c_int) :: error
        end function

        function dlb_borrowcpus(count) result(error)                    &
     &      bind(c, name='DLB_BorrowCpus')
          use iso_c_binding
          integer(c_int), value :: count
          integer(c_int) :: error
        end function

        function dlb_return() result(error)                             &
     &      bind(c, name='DLB_Return')
          use iso_c_binding
          integer(c_int) :: error
        end function

        function dlb_polldrom(count, mask) result(error)                &
     &      bind(c, name='DLB_PollDROM')
          use iso_c_binding
          integer(c_int) :: count
          type(c_ptr), value :: mask
          integer(c_int) :: error
        end function

        function dlb_polldrom_update() result(error)                    &
     &      bind(c, name='DLB_PollDROM_Update')
          use iso_c_binding
          integer(c_int) :: error
        end function
      end interface
