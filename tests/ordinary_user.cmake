# SPDX-License-Identifier: Apache-2.0
# Tests that run once more as an ordinary user with an ordinary user's limits (ordinary_user.py), under
# the name <test>.user. Root has no limit on many things, and may look into every process.
find_package(Python3 REQUIRED COMPONENTS Interpreter)

# sennit_user_test(<test> [ONLY <expression>] COMMAND <its command>...): after the properties of the test, if there is
# one. ONLY: which of its parts, by their names (harness.py), where all of them take long.
function(sennit_user_test name)
    cmake_parse_arguments(PARSE_ARGV 1 arg "" "ONLY" "COMMAND")
    if(SENNIT_SANITIZE)
        return()
    endif()
    add_test(NAME ${name}.user
             COMMAND Python3::Interpreter ${CMAKE_SOURCE_DIR}/tests/ordinary_user.py
                     "${CMAKE_SOURCE_DIR}$<SEMICOLON>${CMAKE_BINARY_DIR}" ${arg_COMMAND})
    set_property(TEST ${name}.user PROPERTY SKIP_RETURN_CODE 77)
    if(arg_ONLY)
        set_property(TEST ${name}.user PROPERTY ENVIRONMENT "SENNIT_TEST_ONLY=${arg_ONLY}")
    endif()
    get_property(tests DIRECTORY PROPERTY TESTS)
    if(NOT name IN_LIST tests)
        return()
    endif()
    foreach(property TIMEOUT PROCESSORS RESOURCE_LOCK LABELS)
        get_property(value TEST ${name} PROPERTY ${property})
        if(NOT value STREQUAL "")
            set_property(TEST ${name}.user PROPERTY ${property} ${value})
        endif()
    endforeach()
endfunction()
