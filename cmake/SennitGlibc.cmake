# SPDX-License-Identifier: Apache-2.0
# What is installed runs with an older glibc, too, whichever one it is built on: the same files are tested and shipped.
# These are needed for that, all in packaging/:
#
#     elf.py           says how old it may be
#     older_glibc.py   functions that have changed since are linked in the version that the older glibc has
#     libc_floor.c     functions that it has not; old_stat.c has others of them
#     old_start.c      how it starts a program
#
# Builds with a sanitizer run here only.
set(older_glibc ${CMAKE_BINARY_DIR}/older-glibc)
set(packaging ${CMAKE_SOURCE_DIR}/packaging)
set(flags "${CMAKE_EXE_LINKER_FLAGS} ${CMAKE_SHARED_LINKER_FLAGS} ${CMAKE_C_FLAGS} ${CMAKE_CXX_FLAGS}")
set(obstacle)
if(SENNIT_SANITIZE OR NOT Python3_FOUND)
    set(obstacle "a build of this kind runs here only")
elseif(flags MATCHES "fuse-ld=gold") # it wraps old_start.c's own reference, too: such a program never reaches main()
    set(obstacle "the linker gold cannot")
else()
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${packaging}/older_glibc.py ${packaging}/elf.py)
    execute_process(COMMAND ${Python3_EXECUTABLE} ${packaging}/older_glibc.py --compiler ${CMAKE_C_COMPILER}
                            --readelf ${CMAKE_READELF} --output ${older_glibc}
                    RESULT_VARIABLE failed ERROR_VARIABLE said)
    if(failed)
        set(obstacle "older_glibc.py does not understand this machine's libc: ${said}")
    endif()
endif()
if(obstacle)
    message(STATUS "Needs this machine's glibc or a later one: ${obstacle}")
else()
    foreach(part libc_floor old_stat old_start)
        add_library(sennit-${part} OBJECT ${packaging}/${part}.c)
        target_link_libraries(sennit-${part} PRIVATE sennit_options)
        target_compile_definitions(sennit-${part} PRIVATE _GNU_SOURCE)
    endforeach()
endif()

# defines_stat: what the target says if it has functions of that name itself.
function(sennit_old_glibc target)
    if(NOT TARGET sennit-libc_floor)
        return()
    endif()
    target_link_options(${target} PRIVATE -L${older_glibc})
    target_sources(${target} PRIVATE $<TARGET_OBJECTS:sennit-libc_floor>)
    if(NOT "defines_stat" IN_LIST ARGN)
        target_sources(${target} PRIVATE $<TARGET_OBJECTS:sennit-old_stat>)
    endif()
    get_target_property(kind ${target} TYPE)
    if(kind STREQUAL "EXECUTABLE")
        target_link_options(${target} PRIVATE -Wl,--wrap=__libc_start_main)
        target_sources(${target} PRIVATE $<TARGET_OBJECTS:sennit-old_start>)
    endif()
endfunction()

# What lives in other people's processes, or has to start where no C++ compiler is, has the C++ library inside.
function(sennit_static_cxx target)
    target_link_options(${target} PRIVATE -static-libstdc++ -static-libgcc)
    sennit_old_glibc(${target} ${ARGN})
endfunction()
