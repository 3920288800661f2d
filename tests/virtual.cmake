# SPDX-License-Identifier: Apache-2.0
# Tests that run once more as virtual ranks and as rank fibers, under the names <test>.virtual and
# <test>.fibers: some by default (SAMPLE), all by `./dev test --full`. What a test starts is `sennit`;
# here that is a script which says --virtual to what it runs.
#
# Invariant: a test that passes as a process passes in both ways, or is named below with the reason.

set(not_virtual) # <regular expression of names>|<why>

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

# sennit_virtual_tests(<test> [SAMPLE] COMMAND <its command>...): after the properties of the test.
function(sennit_virtual_tests name)
    cmake_parse_arguments(PARSE_ARGV 1 arg "SAMPLE" "" "COMMAND")
    if(NOT TARGET sennit-loader OR SENNIT_SANITIZE OR NOT (arg_SAMPLE OR SENNIT_TEST_MATRIX STREQUAL "full"))
        return()
    endif()
    foreach(way virtual fibers)
        if(way STREQUAL fibers AND NOT CMAKE_SYSTEM_PROCESSOR STREQUAL "x86_64")
            continue()
        endif()
        set(test ${name}.${way})
        set(wanted TRUE)
        foreach(entry IN LISTS not_virtual)
            string(REGEX REPLACE "\\|.*" "" expression "${entry}")
            if(test MATCHES "${expression}")
                set(wanted FALSE)
            endif()
        endforeach()
        if(NOT wanted)
            continue()
        endif()
        list(TRANSFORM arg_COMMAND REPLACE "^\\$<TARGET_FILE:sennit>$" ${CMAKE_BINARY_DIR}/tests/sennit-${way}
             OUTPUT_VARIABLE command)
        add_test(NAME ${test} COMMAND ${command})
        foreach(property TIMEOUT PROCESSORS ENVIRONMENT RESOURCE_LOCK PASS_REGULAR_EXPRESSION FAIL_REGULAR_EXPRESSION
                         SKIP_RETURN_CODE)
            get_property(value TEST ${name} PROPERTY ${property})
            if(NOT value STREQUAL "")
                set_property(TEST ${test} PROPERTY ${property} ${value})
            endif()
        endforeach()
        set_property(TEST ${test} PROPERTY LABELS virtual)
    endforeach()
endfunction()
