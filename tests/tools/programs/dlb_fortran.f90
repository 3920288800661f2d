! SPDX-License-Identifier: Apache-2.0
! build_dlb: out={programs}/{program} if=SENNIT_GFORTRAN compile='{dlb_fortran}'
! A Fortran program that was written for DLB: what its calls return, one line each.
program dlb_fortran
    use iso_c_binding
    implicit none
    include 'dlbf.h'
    integer(c_int) :: cores
    print '(a, i0)', 'early: ', dlb_lend()
    print '(a, i0)', 'init: ', dlb_init(0, c_null_ptr, '--lewi --drom' // c_null_char)
    print '(a, i0)', 'again: ', dlb_init(0, c_null_ptr, c_null_char)
    print '(a, i0)', 'idle: ', dlb_lendcpus(1)
    print '(a, i0)', 'poll: ', dlb_polldrom(cores, c_null_ptr)
    print '(a, i0)', 'finalize: ', dlb_finalize()
end program
