# SPDX-License-Identifier: Apache-2.0
# Programs that another one starts and judges: of objects of both compilers, under Memcheck, with bad
# input.

# Objects of both compilers in one executable; two stock runtimes could not share a team.
if("clang" IN_LIST compilers AND NOT SENNIT_SANITIZE)
    set(mixed ${programs_dir}/mixed)
    set(mixed_objects)
    foreach(compiler ${SENNIT_COMPILERS})
        set(object ${mixed}/part.${compiler}.o)
        list(APPEND mixed_objects ${object})
        add_custom_command(
            OUTPUT ${object}
            COMMAND ${CMAKE_COMMAND} -E make_directory ${mixed}
            COMMAND ${${compiler}_c} ${common_flags} ${c_flags} ${${compiler}_flags}
                    -DPART=${compiler} -c ${CMAKE_CURRENT_SOURCE_DIR}/mixed_part.c -o ${object}
            DEPENDS mixed_part.c check.h
            COMMENT "${compiler}: mixed_part.c" VERBATIM)
    endforeach()
    foreach(compiler ${SENNIT_COMPILERS})
        set(output ${mixed}/mixed_main.${compiler})
        list(APPEND built ${output})
        add_custom_command(
            OUTPUT ${output}
            COMMAND ${${compiler}_c} ${common_flags} ${c_flags} ${${compiler}_flags}
                    ${CMAKE_CURRENT_SOURCE_DIR}/mixed_main.c ${mixed_objects} -o ${output}
                    -Wl,--no-as-needed -l:libgomp.so.1 -l:libomp.so.5
            DEPENDS mixed_main.c check.h ${mixed_objects}
            COMMENT "${compiler}: mixed_main.c, with objects of both" VERBATIM)
        foreach(threads 1 2 8)
            omp_test(omp.mixed_main.${compiler}.t${threads} ${output} ${threads})
        endforeach()
    endforeach()
endif()

# Memcheck, which knows of the fibers' stacks (tasks/fiber/context.cpp). It cannot read all of Clang's debug
# information, and says so.
find_program(SENNIT_VALGRIND valgrind)
if(SENNIT_VALGRIND AND NOT SENNIT_SANITIZE)
    foreach(program fib cancel parallel_nested sennit_exceptions sennit_suspend
                    task_depend_random_graph task_detach task_detach_undeferred)
        foreach(compiler ${compilers})
            omp_test(valgrind.${program}.${compiler} ${SENNIT_VALGRIND} 2 ENV OMP_CANCELLATION=true
                     ARGUMENTS -q --error-exitcode=9 ${programs_dir}/${compiler}/${program})
        endforeach()
    endforeach()
endif()

# What a mutex of libc's costs through us: instructions a pair of lock and unlock, beyond libc's.
# None of it is in a front door, so one compiler will do.
if(SENNIT_VALGRIND AND NOT SENNIT_SANITIZE AND NOT CMAKE_BUILD_TYPE STREQUAL "Debug")
    list(GET compilers 0 compiler)
    build_program(sennit_lock_cost.c ${compiler})
    add_test(NAME omp.sennit_lock_cost
             COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/lock_cost.py
                     --program ${programs_dir}/${compiler}/sennit_lock_cost --lib ${CMAKE_BINARY_DIR}/lib/omp
                     --limits before=42,outside=66,task=66,suspended=115)
    set_tests_properties(omp.sennit_lock_cost PROPERTIES TIMEOUT 900 LABELS programs)
endif()

# Bad input and abrupt ends, and the environment's effect on affinity: scripts run programs and judge
# what is said and returned.
foreach(compiler ${compilers})
    foreach(source exit_in_task.c throw_out_of_task.cpp bad_input_victim.c device_victim.c
            error_directive.c affinity_victim.c environment_victim.c hang_victim.c)
        build_program(${source} ${compiler})
    endforeach()
    if(SENNIT_SANITIZE) # whose memory does not fit into any of the limits set there
        continue()
    endif()
    add_test(NAME omp.bad_input.${compiler}
             COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/bad_input.py
                     --programs ${programs_dir}/${compiler} --lib ${CMAKE_BINARY_DIR}/lib/omp)
    add_test(NAME omp.affinity_environment.${compiler}
             COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/affinity_environment.py
                     --programs ${programs_dir}/${compiler} --lib ${CMAKE_BINARY_DIR}/lib/omp)
    foreach(script environment_stock policy_statistics hang)
        add_test(NAME omp.${script}.${compiler}
                 COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/${script}.py
                         --programs ${programs_dir}/${compiler} --lib ${CMAKE_BINARY_DIR}/lib/omp)
    endforeach()
    set_tests_properties(omp.bad_input.${compiler} omp.affinity_environment.${compiler}
                         omp.environment_stock.${compiler} omp.policy_statistics.${compiler}
                         omp.hang.${compiler}
                         PROPERTIES TIMEOUT 600 LABELS programs)
endforeach()
