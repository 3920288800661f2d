# SPDX-License-Identifier: Apache-2.0
# The stock compilers and MPIs that build applications and test programs. Sennit itself is built by
# the compiler that CMake was given; programs are built by each of these, as a user would.
find_program(SENNIT_GCC NAMES gcc-12 gcc REQUIRED)
find_program(SENNIT_GXX NAMES g++-12 g++ REQUIRED)
find_program(SENNIT_GFORTRAN NAMES gfortran-12 gfortran REQUIRED)
find_program(SENNIT_CLANG NAMES clang-19 REQUIRED)
find_program(SENNIT_CLANGXX NAMES clang++-19 REQUIRED)
find_program(SENNIT_FLANG NAMES flang-new-19 REQUIRED)
foreach(mpi mpich openmpi)
    string(TOUPPER ${mpi} MPI)
    find_program(SENNIT_${MPI}_CC NAMES mpicc.${mpi} REQUIRED)
    find_program(SENNIT_${MPI}_CXX NAMES mpicxx.${mpi} REQUIRED)
    find_program(SENNIT_${MPI}_FC NAMES mpif90.${mpi} REQUIRED)
    find_program(SENNIT_${MPI}_EXEC NAMES mpiexec.${mpi} REQUIRED)
endforeach()
