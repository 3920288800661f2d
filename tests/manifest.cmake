# SPDX-License-Identifier: Apache-2.0
# The tests that programs describe in their first lines: manifest.py reads these, and writes a tests.cmake for each room.
# It is told here what CMake knows of the machine and of the build.
find_program(SENNIT_VALGRIND valgrind)
find_program(SENNIT_TASKSET taskset)
find_program(SENNIT_SLURM slurmctld)
find_program(SENNIT_PKG_CONFIG pkg-config)

# Of Clang: the headers of tools, and the library for devices.
set(clang_resources)
set(libomptarget_dir)
if("clang" IN_LIST SENNIT_COMPILERS)
    execute_process(COMMAND ${SENNIT_CLANG} -print-resource-dir OUTPUT_VARIABLE clang_resources
                    OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
    execute_process(COMMAND ${SENNIT_CLANG} -print-file-name=libomptarget.so
                    OUTPUT_VARIABLE libomptarget OUTPUT_STRIP_TRAILING_WHITESPACE)
    if(EXISTS "${libomptarget}")
        cmake_path(GET libomptarget PARENT_PATH libomptarget_dir)
    endif()
endif()
set(sanitizers)
foreach(compiler gcc clang)
    foreach(sanitizer address thread)
        set(can_${compiler}_${sanitizer})
        if(compiler IN_LIST SENNIT_COMPILERS)
            sennit_has_sanitizer(can ${compiler} ${sanitizer})
            if(can)
                set(can_${compiler}_${sanitizer} ON)
            endif()
        endif()
        list(APPEND sanitizers can_${compiler}_${sanitizer})
    endforeach()
endforeach()

# Of the MPIs: what the library for MPICH takes of its header, the libraries of Fortran's bindings, which import the C functions
# so that what holds of these holds there, and how to link them without a wrapper. Of a sanitizer: its library.
set(fortran_libraries)
set(settings_of_mpis)
foreach(mpi ${SENNIT_MPIS})
    string(TOUPPER ${mpi} MPI)
    set(fortran_flags_${mpi})
    list(APPEND settings_of_mpis fortran_flags_${mpi})
    if(NOT SENNIT_${MPI}_FC)
        continue()
    endif()
    sennit_fortran_flags(${SENNIT_${MPI}_FC} fortran_flags_${mpi})
    set(names mpi_mpifh)
    if(mpi STREQUAL mpich)
        set(names mpichfort)
    endif()
    set(folders ${fortran_flags_${mpi}})
    list(FILTER folders INCLUDE REGEX "^-L")
    list(TRANSFORM folders REPLACE "^-L" "")
    find_library(SENNIT_${MPI}_FORTRAN_LIBRARY NAMES ${names} HINTS ${folders} REQUIRED)
    list(APPEND fortran_libraries ${SENNIT_${MPI}_FORTRAN_LIBRARY})
endforeach()
set(mpich_includes)
if(mpich IN_LIST SENNIT_MPIS)
    sennit_mpi_includes(${SENNIT_MPICH_CC} mpich_includes)
    list(TRANSFORM mpich_includes PREPEND "--include=")
endif()
set(sanitizer)
if(SENNIT_SANITIZE)
    execute_process(COMMAND ${CMAKE_CXX_COMPILER} -print-file-name=lib${SENNIT_SANITIZE}.so
                    OUTPUT_VARIABLE sanitizer OUTPUT_STRIP_TRAILING_WHITESPACE)
endif()

# The stock runtimes of this machine.
set(stock_runtimes)
foreach(name libgomp.so.1 libomp.so.5)
    find_library(found_${name} ${name})
    if(found_${name})
        list(APPEND stock_runtimes ${found_${name}})
    endif()
endforeach()

# The objects of each library, of which rooms.txt speaks under a folder's name, and what is beside src/.
set(objects)
foreach(library runtime= node= interpose= balance= mpich=mpi/ openmpi=mpi/ exported=ranks/ export=ranks/
                loader-parts=ranks/ loader=ranks/ network-mpich=addons/network/ network-openmpi=addons/network/
                balance-mpich=addons/objects/ balance-openmpi=addons/objects/ dlb=addons/dlb/ trace-read=tools/
                pass-plugin=pass/ tool=tools/ report=tools/ sim=sim/)
    string(REGEX MATCH "^([^=]+)=(.*)$" unused ${library})
    if(TARGET sennit-${CMAKE_MATCH_1})
        get_target_property(place sennit-${CMAKE_MATCH_1} BINARY_DIR)
        list(APPEND objects --objects ${place}/CMakeFiles/sennit-${CMAKE_MATCH_1}.dir=${CMAKE_MATCH_2})
    endif()
endforeach()
set(beside)
foreach(folder addons pass sim tools/trace tools/report tools/sennit)
    list(APPEND beside --beside ${CMAKE_SOURCE_DIR}/${folder})
endforeach()

set(targets)
foreach(target sennit-omp-checked sennit-mpich-checked sennit-openmpi-checked sennit-loader sennit-pass)
    if(TARGET ${target})
        list(APPEND targets ${target})
    endif()
endforeach()

set(manifest ${CMAKE_CURRENT_BINARY_DIR}/manifest.txt)
set(settings)
foreach(name CMAKE_SOURCE_DIR CMAKE_BINARY_DIR CMAKE_BUILD_TYPE CMAKE_COMMAND CMAKE_CTEST_COMMAND CMAKE_CXX_COMPILER
             CMAKE_GENERATOR CMAKE_MAKE_PROGRAM CMAKE_NM CMAKE_SYSTEM_PROCESSOR Python3_EXECUTABLE
             SENNIT_SANITIZE SENNIT_SANITIZE_FLAGS SENNIT_SANITIZE_CLANG SENNIT_LINK_CLANG SENNIT_LIBOMP SENNIT_TEST_MATRIX
             SENNIT_COMPILERS SENNIT_GCC SENNIT_GXX SENNIT_GFORTRAN SENNIT_CLANG SENNIT_CLANGXX SENNIT_FLANG
             SENNIT_MPIS SENNIT_PAIRED_mpich SENNIT_PAIRED_openmpi
             SENNIT_MPICH_CC SENNIT_MPICH_CXX SENNIT_MPICH_FC SENNIT_MPICH_EXEC
             SENNIT_OPENMPI_CC SENNIT_OPENMPI_CXX SENNIT_OPENMPI_FC SENNIT_OPENMPI_EXEC
             SENNIT_VALGRIND SENNIT_TASKSET SENNIT_SLURM SENNIT_PKG_CONFIG SENNIT_FFTW_LIBRARY
             clang_resources libomptarget_dir ${sanitizers} sanitizer mpich_includes ${settings_of_mpis} fortran_libraries
             stock_runtimes objects beside left_out targets)
    string(APPEND settings "${name}=${${name}}\n")
endforeach()
file(WRITE ${manifest} "${settings}")
set(rooms programs mpi stress loader tools page pass sim apps exports conformance layers docs clocks words lint manifest systems)
execute_process(COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/manifest.py ${manifest} ${rooms}
                COMMAND_ERROR_IS_FATAL ANY)
# A program that changes may say something else, or include something else.
set(globs)
foreach(room ${rooms})
    list(APPEND globs ${room}/*.[chfF]* ${room}/*.py ${room}/*.inc ${room}/tests.txt ${room}/programs/*)
endforeach()
file(GLOB files CONFIGURE_DEPENDS ${globs})
list(FILTER files EXCLUDE REGEX "_test.cpp$")
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/manifest.py ${files})

# What starts virtual ranks and rank fibers where a test starts `sennit`.
foreach(way virtual fibers)
    set(option --virtual)
    if(way STREQUAL fibers)
        set(option --virtual=fibers)
    endif()
    file(GENERATE OUTPUT ${CMAKE_BINARY_DIR}/tests/sennit-${way} CONTENT
"#!/bin/sh
case $1 in
run | exec | python) word=$1; shift; exec $<TARGET_FILE:sennit> $word ${option} \"$@\" ;;
*) exec $<TARGET_FILE:sennit> \"$@\" ;;
esac
" FILE_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE)
endforeach()
