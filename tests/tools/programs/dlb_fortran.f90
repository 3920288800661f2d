! SPDX-License-Identifier: Apache-2.0
! build_dlb: out={programs}/{program} if=SENNIT_GFORTRAN compile='{dlb_fortran}'
! A Fortran program that was written for DLB: what its calls return, one line each.
program dlb_fortran
    use iso_c_binding
    implicit none
    include 'dlbf.h'
    include 'dlbf_talp.h'
    integer(c_int) :: cores
    type(c_ptr) :: region
    type(dlb_monitor_t), pointer :: monitor
    print '(a, i0)', 'early: ', dlb_lend()
    print '(a, i0)', 'init: ', dlb_init(0, c_null_ptr, '--lewi --drom' // c_null_char)
    print '(a, i0)', 'again: ', dlb_init(0, c_null_ptr, c_null_char)
    print '(a, i0)', 'idle: ', dlb_lendcpus(1)
    print '(a, i0)', 'poll: ', dlb_polldrom(cores, c_null_ptr)
    region = dlb_monitoringregionregister('loop' // c_null_char)
    print '(a, i0)', 'start: ', dlb_monitoringregionstart(region)
    print '(a, i0)', 'stop: ', dlb_monitoringregionstop(region)
    if (c_associated(region)) then
        call c_f_pointer(region, monitor)
        print '(a, i0)', 'measured: ', monitor%num_measurements
        print '(a, l1)', 'useful: ', monitor%useful_time > 0 .and. monitor%useful_time == monitor%elapsed_time
    end if
    print '(a, i0)', 'finalize: ', dlb_finalize()
end program
