# SPDX-License-Identifier: Apache-2.0
# sennit-fmt: fmt, for the command and the simulator. Of fmt 9 the functions are one object (tools/fmt/fmt.cpp),
# of another version they are compiled in every file that formats.
if(fmt_VERSION VERSION_GREATER_EQUAL 9.1 AND fmt_VERSION VERSION_LESS 10)
    add_library(sennit-fmt STATIC ${CMAKE_SOURCE_DIR}/tools/fmt/fmt.cpp)
    target_link_libraries(sennit-fmt PRIVATE sennit_options)
    set_target_properties(sennit-fmt PROPERTIES SENNIT_LITTLE_OPTIMIZED ON)
    target_include_directories(sennit-fmt SYSTEM PUBLIC
                               $<TARGET_PROPERTY:fmt::fmt-header-only,INTERFACE_INCLUDE_DIRECTORIES>)
else()
    add_library(sennit-fmt INTERFACE)
    target_link_libraries(sennit-fmt INTERFACE fmt::fmt-header-only)
endif()
