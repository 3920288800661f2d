# SPDX-License-Identifier: Apache-2.0
# sennit_options: what every target of ours is compiled with. Without a word it is Release.
get_property(several GLOBAL PROPERTY GENERATOR_IS_MULTI_CONFIG)
if(NOT CMAKE_BUILD_TYPE AND NOT several)
    set(CMAKE_BUILD_TYPE Release CACHE STRING "Release, RelWithDebInfo or Debug" FORCE)
endif()

# Warnings are for those who change Sennit: another compiler has others.
set(SENNIT_WARNINGS)
if(SENNIT_DEVELOPER)
    set(SENNIT_WARNINGS -Wall -Wextra -Werror)
endif()
add_library(sennit_options INTERFACE)
target_compile_options(sennit_options INTERFACE ${SENNIT_WARNINGS})
target_include_directories(sennit_options INTERFACE ${CMAKE_SOURCE_DIR}/include)

if(CMAKE_BUILD_TYPE MATCHES "^Rel" AND NOT SENNIT_SANITIZE)
    target_compile_options(sennit_options INTERFACE
                           $<IF:$<BOOL:$<TARGET_PROPERTY:SENNIT_LITTLE_OPTIMIZED>>,-O1,-O3>)
endif()
if(CMAKE_BUILD_TYPE STREQUAL "Debug")
    target_compile_definitions(sennit_options INTERFACE SENNIT_CHECKED=1)
endif()

if(SENNIT_SANITIZE STREQUAL "asan") # vptr needs the type information that the build leaves out
    set(SENNIT_SANITIZE_FLAGS -fsanitize=address,undefined -fno-sanitize=vptr
                              -fno-sanitize-recover=undefined -fno-omit-frame-pointer)
elseif(SENNIT_SANITIZE STREQUAL "tsan")
    set(SENNIT_SANITIZE_FLAGS -fsanitize=thread -fno-omit-frame-pointer -Wno-error=tsan)
elseif(SENNIT_SANITIZE)
    message(FATAL_ERROR "SENNIT_SANITIZE is '${SENNIT_SANITIZE}': use asan, tsan or nothing")
endif()
if(SENNIT_SANITIZE)
    target_compile_options(sennit_options INTERFACE ${SENNIT_SANITIZE_FLAGS})
    target_link_options(sennit_options INTERFACE ${SENNIT_SANITIZE_FLAGS})
endif()

# A library that programs link: its functions have versions.
function(sennit_with_versions target)
    set(versions ${CMAKE_SOURCE_DIR}/packaging/sennit.map)
    target_link_options(${target} PRIVATE -Wl,--version-script=${versions})
    set_property(TARGET ${target} APPEND PROPERTY LINK_DEPENDS ${versions})
endfunction()

# What most files of the runtime include: to read <atomic> alone is half of what a small one costs. Files include
# it nevertheless: a compiler cache keeps no object that was made with a precompiled header, so there is none then.
set(SENNIT_OFTEN_INCLUDED <algorithm> <atomic> <cerrno> <cstdint> <cstdio> <cstdlib> <cstring> <new> <utility>
                          <pthread.h> <sched.h> <unistd.h>)
if(CMAKE_CXX_COMPILER_LAUNCHER MATCHES "ccache")
    set(CMAKE_DISABLE_PRECOMPILE_HEADERS ON)
endif()
