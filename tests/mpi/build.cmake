# SPDX-License-Identifier: Apache-2.0
# A part of CMakeLists.txt: how each of its programs is built.

# Adds to `outputs` the executable `name`, whose path is `output` then. Sources, and what it depends on beside them, are
# in programs/ if they have no folder; LIBS come last on the command line.
#   sennit_mpi_program(<name> COMPILE <compiler and flags...> SOURCES <...> [LIBS <...>] [DEPENDS <...>]
#                      [MODULES <option>])    the compiler's, for the folder of Fortran's modules
function(sennit_mpi_program name)
    cmake_parse_arguments(PARSE_ARGV 1 arg "" "MODULES" "COMPILE;SOURCES;LIBS;DEPENDS")
    set(output ${CMAKE_CURRENT_BINARY_DIR}/${name})
    foreach(files arg_SOURCES arg_DEPENDS)
        list(TRANSFORM ${files} PREPEND ${CMAKE_CURRENT_SOURCE_DIR}/programs/ REGEX "^[a-z_]+\\.[a-zA-Z0-9]+$")
    endforeach()
    set(first)
    if(arg_MODULES)
        set(first COMMAND ${CMAKE_COMMAND} -E make_directory ${output}.modules)
        list(APPEND arg_COMPILE ${arg_MODULES} ${output}.modules)
    endif()
    add_custom_command(
        OUTPUT ${output}
        ${first}
        COMMAND ${arg_COMPILE} ${arg_SOURCES} -o ${output} ${arg_LIBS}
        DEPENDS ${arg_SOURCES} ${arg_DEPENDS}
        VERBATIM)
    set(output ${output} PARENT_SCOPE)
    set(outputs ${outputs} ${output} PARENT_SCOPE)
endfunction()

# The wrapper of an MPI, with another compiler behind it; and how C programs are compiled.
function(sennit_mpi_wrapper variable mpi compiler)
    string(TOUPPER ${mpi} MPI)
    set(${variable} ${CMAKE_COMMAND} -E env MPICH_CC=${compiler} OMPI_CC=${compiler} ${SENNIT_${MPI}_CC} PARENT_SCOPE)
endfunction()
set(c_flags -O1 -g -std=c11 -Wall -Wextra -Werror)
