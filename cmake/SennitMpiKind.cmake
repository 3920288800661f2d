# SPDX-License-Identifier: Apache-2.0
# Which ABI a compiler wrapper's MPI has, and where its mpi.h is: by what mpi.h says, for a name says nothing.
# Installed as well, beside SennitConfig.cmake.
set(SENNIT_MPI_KIND_SOURCE ${CMAKE_CURRENT_LIST_DIR}/mpi_kind.c)

# kind: mpich (Intel MPI, MVAPICH and Cray's MPI, too), openmpi, mpiabi (the ABI of MPI 5), or empty: no MPI that
# is known. includes: the folders of its headers.
function(sennit_mpi_kind wrapper kind includes)
    set(${kind} "" PARENT_SCOPE)
    set(${includes} "" PARENT_SCOPE)
    execute_process(COMMAND ${wrapper} -E ${SENNIT_MPI_KIND_SOURCE} OUTPUT_VARIABLE text ERROR_QUIET
                    RESULT_VARIABLE failed)
    if(NOT failed EQUAL 0 OR NOT text MATCHES "sennit_world =([^;]*);")
        return()
    endif()
    set(world "${CMAKE_MATCH_1}")
    if(world MATCHES "ompi_mpi_comm_world")
        set(${kind} openmpi PARENT_SCOPE)
    elseif(world MATCHES "0x44000000")
        set(${kind} mpich PARENT_SCOPE)
    elseif(world MATCHES "[^0-9a-fx](257|0x0*101)[^0-9a-f]")
        set(${kind} mpiabi PARENT_SCOPE)
    else()
        return()
    endif()
    if(text MATCHES "# 1 \"([^\"]+)/mpi\\.h\"")
        set(found ${CMAKE_MATCH_1})
        if(IS_DIRECTORY ${found}/openmpi)
            list(APPEND found ${found}/openmpi)
        endif()
        set(${includes} ${found} PARENT_SCOPE)
    endif()
endfunction()
