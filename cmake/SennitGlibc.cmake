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
if(NOT SENNIT_SANITIZE AND Python3_FOUND)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${packaging}/older_glibc.py ${packaging}/elf.py)
    execute_process(COMMAND ${Python3_EXECUTABLE} ${packaging}/older_glibc.py --compiler ${CMAKE_C_COMPILER}
                            --readelf ${CMAKE_READELF} --output ${older_glibc} COMMAND_ERROR_IS_FATAL ANY)
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
