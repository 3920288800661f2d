# SPDX-License-Identifier: Apache-2.0
# A part of CMakeLists.txt: instructions of calls, counted by valgrind.

# What calls cost outside of tasks: without a task runtime a look and a jump; with one, who blocks says
# so. Counted, so that a regression shows on any machine.
find_program(SENNIT_VALGRIND valgrind)
if(SENNIT_VALGRIND AND NOT SENNIT_SANITIZE)
    foreach(mpi ${SENNIT_MPIS})
        string(TOUPPER ${mpi} MPI)
        foreach(language c F90)
            if(language STREQUAL c)
                set(compiler ${SENNIT_${MPI}_CC} -std=c11 -Wall -Wextra -Werror)
            elseif(SENNIT_${MPI}_FC)
                set(compiler ${SENNIT_${MPI}_FC})
            else()
                continue()
            endif()
            foreach(runtime alone omp)
                set(openmp)
                set(limit 11)
                set(with)
                if(runtime STREQUAL omp)
                    set(openmp -fopenmp)
                    set(limit 20)
                    set(with --omp-folder ${CMAKE_BINARY_DIR}/lib/omp)
                endif()
                sennit_mpi_program(outside_cost-${language}-${runtime}-${mpi} COMPILE ${compiler} -O1 -g ${openmp}
                                   SOURCES outside_cost.${language} counting.c DEPENDS counting.h check.h)
                set(name mpi.outside_cost.${language}.${runtime}.${mpi})
                add_test(NAME ${name}
                         COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/outside_cost.py
                                 --program ${output} --limit ${limit}
                                 --mpi-library $<TARGET_FILE:sennit-${mpi}> ${with})
                set_tests_properties(${name} PROPERTIES TIMEOUT 900 LABELS mpi)
            endforeach()
        endforeach()
        # Inside tasks: instructions a trip beyond the bare one outside, of which MPI's tests and the
        # task itself have a part. A trip of `turns` has both sides: four tasks, two of which wait.
        set(limits_mpich_fa chain=1820,independent=1680,suspended=6800,bound=6950,bound_chain=2280,detached_chain=3080,turns_blocking=16800,turns_bound=15500,turns_detached=16450)
        set(limits_mpich_steal chain=1370,independent=1570,suspended=6300,turns_bound=13850)
        set(limits_openmpi_fa chain=1850,independent=1370,suspended=2600,bound_chain=1900,turns_bound=11700)
        set(limits_openmpi_steal chain=1380,independent=1280,suspended=2000)
        sennit_mpi_program(inside_cost-${mpi} COMPILE ${SENNIT_${MPI}_CC} ${c_flags} -fopenmp
                           SOURCES inside_cost.c counting.c DEPENDS counting.h check.h)
        foreach(policy fa steal)
            set(name mpi.inside_cost.${policy}.${mpi})
            add_test(NAME ${name}
                     COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/inside_cost.py
                             --program ${output} --limits ${limits_${mpi}_${policy}}
                             --policy ${policy} --mpi-library $<TARGET_FILE:sennit-${mpi}>
                             --omp-folder ${CMAKE_BINARY_DIR}/lib/omp)
            set_tests_properties(${name} PROPERTIES TIMEOUT 900 LABELS mpi)
        endforeach()
    endforeach()
endif()
