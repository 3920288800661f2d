# SPDX-License-Identifier: Apache-2.0
# Tools: with a library that checks every event (tool_checker.c), programs of each kind run as ever.
#
# tool_test(<program> <compiler> <threads> [ENV NAME=value...])
set(tool_compilers) # omp-tools.h lies among Clang's headers
if("clang" IN_LIST compilers)
    set(tool_compilers ${compilers})
    execute_process(COMMAND ${SENNIT_CLANG} -print-resource-dir OUTPUT_VARIABLE clang_resources
                    OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
    list(APPEND built ${programs_dir}/tool_checker.so)
endif()
list(GET compilers 0 tool_compiler)
set(tool_checker ${programs_dir}/tool_checker.so)
add_custom_command(
    OUTPUT ${tool_checker}
    COMMAND ${${tool_compiler}_c} ${common_flags} ${c_flags} -fPIC -shared
            -idirafter ${clang_resources}/include ${CMAKE_CURRENT_SOURCE_DIR}/tool_checker.c
            -o ${tool_checker}
    DEPENDS tool_checker.c
    COMMENT "${tool_compiler}: tool_checker.c" VERBATIM)
function(tool_test program compiler threads)
    cmake_parse_arguments(arg "" "" "ENV" ${ARGN})
    omp_test(omp.tool.${program}.${compiler}.t${threads} ${programs_dir}/${compiler}/${program}
             ${threads} ENV OMP_TOOL_LIBRARIES=${tool_checker} ${arg_ENV})
    set_tests_properties(omp.tool.${program}.${compiler}.t${threads} PROPERTIES
        PASS_REGULAR_EXPRESSION "tool: every event is in order")
endfunction()
foreach(compiler ${tool_compilers})
    foreach(source tool_events.c tool_barriers.c sennit_tool.c)
        build_program(${source} ${compiler})
    endforeach()
    tool_test(tool_events ${compiler} 2 ENV "TOOL_CHECKER_COUNTS=\
thread_begin=2,initial_begin=1,parallel_begin=1,implicit_begin=2,task_create=5,task_end=5,\
dependences=4,work_begin=4,dispatch=6,sync_begin=9,acquire=14,acquired=12,\
nest_begin=2,lock_init=2,lock_destroy=2,control=8,cancel=0")
    set(implementation_barriers 0)
    if(compiler STREQUAL "clang")
        set(implementation_barriers 2)
    endif()
    tool_test(tool_barriers ${compiler} 2 ENV "TOOL_CHECKER_COUNTS=\
teams_barrier=3,implementation_barrier=${implementation_barriers},reduction_begin=${implementation_barriers}")
    foreach(threads 1 2 8)
        tool_test(sennit_tool ${compiler} ${threads})
        foreach(program fib nqueens parallel_nested parallel_clauses for_schedules for_ordered sections
                single loop_scope doacross locks critical pthreads teams task_million
                task_depend_random_graph task_detach task_detach_undeferred task_nested_regions
                task_exceptions taskgroup taskloop taskloop_reduction taskyield sennit_events
                sennit_spawn sennit_suspend sennit_throttle)
            tool_test(${program} ${compiler} ${threads})
        endforeach()
        if(NOT SENNIT_SANITIZE)
            tool_test(pthread_destructors ${compiler} ${threads})
        endif()
        tool_test(cancel ${compiler} ${threads} ENV OMP_CANCELLATION=true)
    endforeach()
endforeach()
