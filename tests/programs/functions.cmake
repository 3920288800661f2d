# SPDX-License-Identifier: Apache-2.0
# How the programs are built and run: omp_program(), and what it is made of.
set(programs_dir ${CMAKE_CURRENT_BINARY_DIR})
set(common_flags -O2 -g)
set(c_flags -std=gnu11 -Wall -Wextra -Wno-sign-compare -Werror # clang warns of the loops it generates
    -fwrapv # atomic updates of every integer type overflow
    -I${CMAKE_SOURCE_DIR}/include)
set(cxx_flags -std=gnu++17 -Wall -Wextra -Werror -I${CMAKE_SOURCE_DIR}/include)
set(compilers ${SENNIT_COMPILERS})
set(gcc_c ${SENNIT_GCC})
set(gcc_cpp ${SENNIT_GXX})
if(SENNIT_GFORTRAN)
    set(gcc_f90 ${SENNIT_GFORTRAN} -Wall)
endif()
set(gcc_flags -fopenmp)
set(clang_c ${SENNIT_CLANG})
set(clang_cpp ${SENNIT_CLANGXX})
set(clang_f90 ${SENNIT_FLANG})
set(clang_flags -fopenmp=libomp)

set(sennit_env LD_LIBRARY_PATH=${CMAKE_BINARY_DIR}/lib/omp)
set(built)
set(test_timeout 600) # seconds, on a machine that may have much else to do

# Defines ctest `name`, which runs `program` on Sennit.
function(omp_test name program threads)
    cmake_parse_arguments(arg "" "" "ENV;ARGUMENTS" ${ARGN})
    add_test(NAME ${name} COMMAND ${program} ${arg_ARGUMENTS})
    set(labels programs)
    if(threads EQUAL 2)
        list(APPEND labels quick)
    endif()
    set_tests_properties(${name} PROPERTIES TIMEOUT ${test_timeout} LABELS "${labels}"
        ENVIRONMENT "${sennit_env};OMP_NUM_THREADS=${threads};${arg_ENV}")
endfunction()

# Defines ctest checked.`name`: the same program on the library with the assertions.
function(checked_test name program threads)
    cmake_parse_arguments(arg "" "" "ENV" ${ARGN})
    add_test(NAME checked.${name} COMMAND ${program})
    set_tests_properties(checked.${name} PROPERTIES TIMEOUT ${test_timeout} LABELS programs ENVIRONMENT
        "LD_LIBRARY_PATH=${CMAKE_BINARY_DIR}/checked/lib/omp;OMP_NUM_THREADS=${threads};${arg_ENV}")
endfunction()

# Adds to `built` the executable ${programs_dir}/<compiler>/<program>.
function(build_program source compiler)
    cmake_path(GET source STEM program)
    cmake_path(GET source EXTENSION LAST_ONLY extension)
    string(SUBSTRING ${extension} 1 -1 language)
    string(REPLACE cpp cxx flags ${language})
    set(output ${programs_dir}/${compiler}/${program})
    if(output IN_LIST built) # under another name
        return()
    endif()
    set(command ${${compiler}_${language}} ${common_flags} ${${flags}_flags} ${${compiler}_flags})
    set(also_compile ${ARGN}) # of what follows `LIBS`, options that both steps need
    list(FILTER also_compile INCLUDE REGEX "^-f")
    set(also_link ${ARGN}) # but for those of the compiler alone: under sanitizers another one links
    list(FILTER also_link EXCLUDE REGEX "^-fno")
    set(libraries ${ARGN})
    list(FILTER libraries INCLUDE REGEX "^/")
    sennit_object_command(compile ${compiler} ${CMAKE_CURRENT_SOURCE_DIR}/${source} ${output}.o
                          COMPILE ${command} ${also_compile})
    sennit_link_command(link ${compiler} ${output} LINK ${command} ${output}.o LIBS ${also_link})
    add_custom_command(
        OUTPUT ${output}
        COMMAND ${CMAKE_COMMAND} -E make_directory ${programs_dir}/${compiler}
        ${compile}
        ${link}
        DEPENDS ${source} affinity.h check.h check.inc kmp_tasks.h loop_edges.h processor_time.h sennit_door.h soon.h tool_look.h
                ${libraries}
                ${CMAKE_SOURCE_DIR}/include/sennit.h
                ${CMAKE_SOURCE_DIR}/include/alpi.h
        COMMENT "${compiler}: ${source}" VERBATIM)
    set(built ${built} ${output} PARENT_SCOPE)
endfunction()

function(omp_program source)
    cmake_parse_arguments(arg "" "AS;ONLY" "THREADS;ENV;LIBS" ${ARGN})
    if(NOT arg_THREADS)
        set(arg_THREADS 1 2 8)
    endif()
    cmake_path(GET source STEM program)
    foreach(compiler ${compilers})
        if((arg_ONLY AND NOT compiler STREQUAL arg_ONLY) OR
           (source MATCHES "f90$" AND
            (NOT ${compiler}_f90 OR (SENNIT_LINK_CLANG AND compiler STREQUAL "clang"))))
            continue()
        endif()
        build_program(${source} ${compiler} ${arg_LIBS})
        set(name omp.${program}.${compiler})
        if(arg_AS)
            set(name omp.${program}.${arg_AS}.${compiler})
        endif()
        foreach(threads ${arg_THREADS})
            omp_test(${name}.t${threads} ${programs_dir}/${compiler}/${program}
                     ${threads} ENV ${arg_ENV})
            if(TARGET sennit-omp-checked AND threads EQUAL 2 AND program MATCHES "^(task|sennit|random)_")
                checked_test(${name}.t2 ${programs_dir}/${compiler}/${program} 2 ENV ${arg_ENV})
            endif()
            if("${threads}" STREQUAL "2")
                set(sample)
                if(name MATCHES "^omp\\.(parallel_nested|task_depend_types|locks)\\.gcc$")
                    set(sample SAMPLE)
                endif()
                sennit_virtual_tests(${name}.t2 ${sample}
                                     COMMAND $<TARGET_FILE:sennit> run ${programs_dir}/${compiler}/${program})
            endif()
        endforeach()
    endforeach()
    set(built ${built} PARENT_SCOPE)
endfunction()
