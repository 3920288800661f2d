# SPDX-License-Identifier: Apache-2.0
# Test programs by both stock compilers, under a sanitizer too.
#
# A process has one sanitizer runtime, that of the compiler that built Sennit. GCC's serves what
# Clang instruments as well, so Clang's objects are linked by g++ then. Flang has no sanitizers.

if(SENNIT_SANITIZE AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND "clang" IN_LIST SENNIT_COMPILERS)
    set(SENNIT_LINK_CLANG ON)
    execute_process(COMMAND ${SENNIT_CLANG} -print-file-name=libomp.so
                    OUTPUT_VARIABLE SENNIT_LIBOMP OUTPUT_STRIP_TRAILING_WHITESPACE)
    # Checks and warnings that GCC's libraries and GCC do not know, or Clang does not.
    set(SENNIT_SANITIZE_CLANG ${SENNIT_SANITIZE_FLAGS})
    list(REMOVE_ITEM SENNIT_SANITIZE_CLANG -Wno-error=tsan)
    list(APPEND SENNIT_SANITIZE_CLANG -Wno-pass-failed)
    if(SENNIT_SANITIZE STREQUAL "asan")
        list(APPEND SENNIT_SANITIZE_CLANG -fno-sanitize=function,vla-bound)
    else()
        # Optimized, it loads variables ahead of the section or the branch that may touch them.
        list(APPEND SENNIT_SANITIZE_CLANG -O0)
    endif()
endif()

# What adds to add_custom_command: compile `source` with a command line that is complete but for it.
#   sennit_object_command(<variable> <gcc|clang> <source> <object> COMPILE <command...>)
function(sennit_object_command variable compiler source object)
    cmake_parse_arguments(arg "" "" "COMPILE" ${ARGN})
    set(flags ${SENNIT_SANITIZE_FLAGS})
    if(compiler STREQUAL "clang" AND SENNIT_LINK_CLANG)
        set(flags ${SENNIT_SANITIZE_CLANG})
    endif()
    set(${variable} COMMAND ${arg_COMPILE} ${flags} -c ${source} -o ${object} PARENT_SCOPE)
endfunction()

# Likewise: link objects, with the compiler's command line and `objects` after it.
#   sennit_link_command(<variable> <gcc|clang> <output> LINK <command...> <object...> [LIBS ...])
function(sennit_link_command variable compiler output)
    cmake_parse_arguments(arg "" "" "LINK;LIBS" ${ARGN})
    if(compiler STREQUAL "clang" AND SENNIT_LINK_CLANG)
        list(FILTER arg_LINK INCLUDE REGEX "\\.o$")
        set(arg_LINK ${SENNIT_GXX} ${arg_LINK})
        if(SENNIT_SANITIZE STREQUAL "tsan")
            list(APPEND arg_LINK -fno-builtin ${CMAKE_SOURCE_DIR}/tests/tsan_memory.cpp)
        endif()
        set(arg_LIBS ${SENNIT_LIBOMP} ${arg_LIBS})
    endif()
    set(${variable} COMMAND ${arg_LINK} ${SENNIT_SANITIZE_FLAGS} -o ${output} ${arg_LIBS} PARENT_SCOPE)
endfunction()

# Can a compiler link programs with AddressSanitizer or ThreadSanitizer of its own? In a build of Sennit
# under a sanitizer it is not asked to.
function(sennit_has_sanitizer variable compiler sanitizer)
    string(TOUPPER ${compiler} COMPILER)
    set(${variable} FALSE PARENT_SCOPE)
    if(SENNIT_SANITIZE)
        return()
    endif()
    set(source ${CMAKE_BINARY_DIR}/CMakeFiles/sanitizer.c)
    file(WRITE ${source} "int main(void) { return 0; }\n")
    execute_process(COMMAND ${SENNIT_${COMPILER}} -fsanitize=${sanitizer} ${source} -o ${source}.${compiler}
                    RESULT_VARIABLE failed OUTPUT_QUIET ERROR_QUIET)
    if(failed EQUAL 0)
        set(${variable} TRUE PARENT_SCOPE)
    endif()
endfunction()

# Which compilers meet which MPI in tests. What a program shows seldom depends on both at once, so by
# default each program is built once for each MPI, by another compiler each; sennit_meet() says that the
# two are such a pair. `full`: every compiler with every MPI.
set(SENNIT_TEST_MATRIX "pairs" CACHE STRING "Tests of MPI programs: pairs or full")
set_property(CACHE SENNIT_TEST_MATRIX PROPERTY STRINGS pairs full)
if(NOT SENNIT_TEST_MATRIX MATCHES "^(pairs|full)$")
    message(FATAL_ERROR "SENNIT_TEST_MATRIX is '${SENNIT_TEST_MATRIX}': use pairs or full")
endif()
set(SENNIT_PAIRED_mpich gcc)
list(GET SENNIT_COMPILERS -1 SENNIT_PAIRED_openmpi)
function(sennit_meet variable compiler mpi)
    if(SENNIT_SANITIZE OR SENNIT_TEST_MATRIX STREQUAL "full" OR compiler STREQUAL SENNIT_PAIRED_${mpi})
        set(${variable} ON PARENT_SCOPE)
    else()
        set(${variable} OFF PARENT_SCOPE)
    endif()
endfunction()
