// SPDX-License-Identifier: Apache-2.0
// What our libraries use of MPI by name: functions of its own, and objects behind its constants.
// Weak, for a preload reaches every program that a rank starts, and most of those know no MPI.
#pragma once

#include <mpi.h>

#pragma weak MPI_F_STATUS_IGNORE
#pragma weak MPI_F_STATUSES_IGNORE
#ifdef MPICH_NUMVERSION
// Fortran's handles are C's. MPICH has macros that say so, and since 4.2 functions. A library that
// called these would need an MPICH that has them.
#undef MPI_Comm_c2f
#undef MPI_Comm_f2c
#undef MPI_Op_f2c
#undef MPI_Request_c2f
#undef MPI_Request_f2c
#undef MPI_Type_f2c
#define MPI_Comm_c2f(handle) (static_cast<MPI_Fint>(handle))
#define MPI_Comm_f2c(handle) (static_cast<MPI_Comm>(handle))
#define MPI_Op_f2c(handle) (static_cast<MPI_Op>(handle))
#define MPI_Request_c2f(handle) (static_cast<MPI_Fint>(handle))
#define MPI_Request_f2c(handle) (static_cast<MPI_Request>(handle))
#define MPI_Type_f2c(handle) (static_cast<MPI_Datatype>(handle))
#endif
#ifdef OPEN_MPI
#pragma weak MPI_Comm_c2f
#pragma weak MPI_Comm_f2c
#pragma weak MPI_Op_f2c
#pragma weak MPI_Request_c2f
#pragma weak MPI_Request_f2c
#pragma weak MPI_Type_f2c
#pragma weak OMPI_C_MPI_COMM_NULL_COPY_FN
#pragma weak OMPI_C_MPI_COMM_NULL_DELETE_FN
#pragma weak ompi_mpi_2dblprec
#pragma weak ompi_mpi_2int
#pragma weak ompi_mpi_2integer
#pragma weak ompi_mpi_2real
#pragma weak ompi_mpi_aint
#pragma weak ompi_mpi_byte
#pragma weak ompi_mpi_c_bool
#pragma weak ompi_mpi_c_double_complex
#pragma weak ompi_mpi_c_float_complex
#pragma weak ompi_mpi_c_long_double_complex
#pragma weak ompi_mpi_char
#pragma weak ompi_mpi_comm_null
#pragma weak ompi_mpi_comm_self
#pragma weak ompi_mpi_comm_world
#pragma weak ompi_mpi_count
#pragma weak ompi_mpi_cplex
#pragma weak ompi_mpi_datatype_null
#pragma weak ompi_mpi_dblcplex
#pragma weak ompi_mpi_dblprec
#pragma weak ompi_mpi_double
#pragma weak ompi_mpi_double_int
#pragma weak ompi_mpi_errors_return
#pragma weak ompi_mpi_file_null
#pragma weak ompi_mpi_float
#pragma weak ompi_mpi_float_int
#pragma weak ompi_mpi_group_null
#pragma weak ompi_mpi_info_null
#pragma weak ompi_mpi_int
#pragma weak ompi_mpi_int16_t
#pragma weak ompi_mpi_int32_t
#pragma weak ompi_mpi_int64_t
#pragma weak ompi_mpi_int8_t
#pragma weak ompi_mpi_integer
#pragma weak ompi_mpi_integer1
#pragma weak ompi_mpi_integer2
#pragma weak ompi_mpi_integer4
#pragma weak ompi_mpi_integer8
#pragma weak ompi_mpi_logical
#pragma weak ompi_mpi_long
#pragma weak ompi_mpi_long_double
#pragma weak ompi_mpi_long_int
#pragma weak ompi_mpi_long_long_int
#pragma weak ompi_mpi_longdbl_int
#pragma weak ompi_mpi_offset
#pragma weak ompi_mpi_op_band
#pragma weak ompi_mpi_op_bor
#pragma weak ompi_mpi_op_bxor
#pragma weak ompi_mpi_op_land
#pragma weak ompi_mpi_op_lor
#pragma weak ompi_mpi_op_lxor
#pragma weak ompi_mpi_op_max
#pragma weak ompi_mpi_op_maxloc
#pragma weak ompi_mpi_op_min
#pragma weak ompi_mpi_op_minloc
#pragma weak ompi_mpi_op_no_op
#pragma weak ompi_mpi_op_prod
#pragma weak ompi_mpi_op_replace
#pragma weak ompi_mpi_op_sum
#pragma weak ompi_mpi_packed
#pragma weak ompi_mpi_real
#pragma weak ompi_mpi_real4
#pragma weak ompi_mpi_real8
#pragma weak ompi_mpi_short
#pragma weak ompi_mpi_short_int
#pragma weak ompi_mpi_signed_char
#pragma weak ompi_mpi_uint16_t
#pragma weak ompi_mpi_uint32_t
#pragma weak ompi_mpi_uint64_t
#pragma weak ompi_mpi_uint8_t
#pragma weak ompi_mpi_unsigned
#pragma weak ompi_mpi_unsigned_char
#pragma weak ompi_mpi_unsigned_long
#pragma weak ompi_mpi_unsigned_long_long
#pragma weak ompi_mpi_unsigned_short
#pragma weak ompi_request_null
#endif
