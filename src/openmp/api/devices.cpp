// SPDX-License-Identifier: Apache-2.0
// Device routines and what is said about devices (OpenMP 5.2, 18.7, 18.8, 18.12). The host is the
// only device: number 0, and initial; device memory is host memory. Where LLVM's libomptarget is
// loaded the devices are its own, and so are the answers.
#include "openmp/api/api.h"

#include "openmp/team/league.h"
#include "openmp/team/team.h"

#include <cerrno>
#include <climits>
#include <cstddef>
#include <cstdlib>
#include <cstring>

using namespace sennit;

namespace {

// Is it a host's? With OMP_TARGET_OFFLOAD=mandatory a number that is no device ends the program.
bool on_host(int device) {
    if (device >= 0)
        omp::require_device(device);
    return omp::is_host_device(device);
}

void set_default_device(int device) {
    icvs_for_update(omp::here())->default_device = device;
}

// A piece of `volume` of each dimension, from and to where the offsets say; the last dimension is
// dense.
struct Rectangle {
    std::size_t element;
    const std::size_t *volume;
    const std::size_t *into_offsets, *from_offsets;
    const std::size_t *into_dimensions, *from_dimensions;

    bool copy(char *into, const char *from, int dimensions, int at = 0) const {
        std::size_t into_line = element;
        std::size_t from_line = element;
        for (int i = at + 1; i < dimensions; ++i)
            if (__builtin_mul_overflow(into_line, into_dimensions[i], &into_line) ||
                __builtin_mul_overflow(from_line, from_dimensions[i], &from_line))
                return false;
        std::size_t into_start = 0;
        std::size_t from_start = 0;
        std::size_t bytes = 0;
        if (__builtin_mul_overflow(into_line, into_offsets[at], &into_start) ||
            __builtin_mul_overflow(from_line, from_offsets[at], &from_start))
            return false;
        into += into_start;
        from += from_start;
        if (at == dimensions - 1) {
            if (__builtin_mul_overflow(element, volume[at], &bytes))
                return false;
            if (bytes > 0)
                std::memcpy(into, from, bytes);
            return true;
        }
        for (std::size_t i = 0; i < volume[at]; ++i)
            if (!copy(into + i * into_line, from + i * from_line, dimensions, at + 1))
                return false;
        return true;
    }
};

} // namespace

// Calls libomptarget's routine of the same name, if there is one.
#define SENNIT_FORWARD(name, ...)                                                                  \
    if (auto *theirs = reinterpret_cast<decltype(&name)>(omp::offload_routine(#name)))             \
    return theirs(__VA_ARGS__)

SENNIT_API int omp_get_num_devices(void) {
    SENNIT_FORWARD(omp_get_num_devices);
    return 0;
}
SENNIT_API int omp_get_num_devices_(void) {
    return omp_get_num_devices();
}
SENNIT_API int omp_get_initial_device(void) {
    SENNIT_FORWARD(omp_get_initial_device);
    return 0;
}
SENNIT_API int omp_get_initial_device_(void) {
    return omp_get_initial_device();
}
// Code that runs here runs on the host.
SENNIT_GET(int, omp_is_initial_device, 1)
SENNIT_GET(int, omp_get_device_num, omp_get_initial_device())
SENNIT_GET(int, omp_get_default_device, omp::here().task->icvs->default_device)
SENNIT_SET(omp_set_default_device, set_default_device)

SENNIT_API void *omp_target_alloc(std::size_t size, int device) {
    SENNIT_FORWARD(omp_target_alloc, size, device);
    return on_host(device) ? std::malloc(size) : nullptr;
}
SENNIT_API void omp_target_free(void *pointer, int device) {
    SENNIT_FORWARD(omp_target_free, pointer, device);
    if (on_host(device))
        std::free(pointer);
}

SENNIT_API int omp_target_is_present(const void *pointer, int device) {
    SENNIT_FORWARD(omp_target_is_present, pointer, device);
    return !pointer || on_host(device);
}
SENNIT_API int omp_target_is_accessible(const void *pointer, std::size_t size, int device) {
    SENNIT_FORWARD(omp_target_is_accessible, pointer, size, device);
    return on_host(device);
}
SENNIT_API void *omp_get_mapped_ptr(const void *pointer, int device) {
    SENNIT_FORWARD(omp_get_mapped_ptr, pointer, device);
    return on_host(device) ? const_cast<void *>(pointer) : nullptr;
}

// The host's memory is never mapped to anything else.
SENNIT_API int omp_target_associate_ptr(const void *host, const void *mapped, std::size_t size,
                                        std::size_t offset, int device) {
    SENNIT_FORWARD(omp_target_associate_ptr, host, mapped, size, offset, device);
    on_host(device);
    return EINVAL;
}
SENNIT_API int omp_target_disassociate_ptr(const void *pointer, int device) {
    SENNIT_FORWARD(omp_target_disassociate_ptr, pointer, device);
    on_host(device);
    return EINVAL;
}

SENNIT_API int omp_target_memcpy(void *into, const void *from, std::size_t length,
                                 std::size_t into_offset, std::size_t from_offset, int into_device,
                                 int from_device) {
    SENNIT_FORWARD(omp_target_memcpy, into, from, length, into_offset, from_offset, into_device,
                   from_device);
    if (!on_host(into_device) || !on_host(from_device))
        return EINVAL;
    if (length > 0)
        std::memcpy(static_cast<char *>(into) + into_offset,
                    static_cast<const char *>(from) + from_offset, length);
    return 0;
}

SENNIT_API int
omp_target_memcpy_rect(void *into, const void *from, std::size_t element, int dimensions,
                       const std::size_t *volume, const std::size_t *into_offsets,
                       const std::size_t *from_offsets, const std::size_t *into_dimensions,
                       const std::size_t *from_dimensions, int into_device, int from_device) {
    SENNIT_FORWARD(omp_target_memcpy_rect, into, from, element, dimensions, volume, into_offsets,
                   from_offsets, into_dimensions, from_dimensions, into_device, from_device);
    if (!into && !from)
        return INT_MAX; // the question how many dimensions there may be
    if (!on_host(into_device) || !on_host(from_device) || element == 0 || dimensions < 1)
        return EINVAL;
    const Rectangle rectangle{element,      volume,          into_offsets,
                              from_offsets, into_dimensions, from_dimensions};
    return rectangle.copy(static_cast<char *>(into), static_cast<const char *>(from), dimensions)
               ? 0
               : EINVAL;
}

// ---- interoperability: of omp_interop_none, as no foreign runtime is known ----------------------
// LLVM's runtime gives the names with an underscore the same arguments.

namespace {

constexpr int kEmpty = -1; // omp_irc_empty

void say_empty(int *code) {
    if (code)
        *code = kEmpty;
}

} // namespace

SENNIT_API int omp_get_num_interop_properties(const void *interop) {
    SENNIT_FORWARD(omp_get_num_interop_properties, interop);
    return 0;
}
SENNIT_API int omp_get_num_interop_properties_(const void *interop) {
    return omp_get_num_interop_properties(interop);
}

#define SENNIT_INTEROP(type, name)                                                                 \
    SENNIT_API type name(const void *interop, int property, int *code) {                           \
        SENNIT_FORWARD(name, interop, property, code);                                             \
        say_empty(code);                                                                           \
        return {};                                                                                 \
    }                                                                                              \
    SENNIT_API type name##_(const void *interop, int property, int *code) {                        \
        return name(interop, property, code);                                                      \
    }
SENNIT_INTEROP(std::intptr_t, omp_get_interop_int)
SENNIT_INTEROP(void *, omp_get_interop_ptr)
SENNIT_INTEROP(const char *, omp_get_interop_str)

#define SENNIT_INTEROP_TEXT(name)                                                                  \
    SENNIT_API const char *name(const void *interop, int which) {                                  \
        SENNIT_FORWARD(name, interop, which);                                                      \
        return nullptr;                                                                            \
    }                                                                                              \
    SENNIT_API const char *name##_(const void *interop, int which) {                               \
        return name(interop, which);                                                               \
    }
SENNIT_INTEROP_TEXT(omp_get_interop_name)
SENNIT_INTEROP_TEXT(omp_get_interop_type_desc)
SENNIT_INTEROP_TEXT(omp_get_interop_rc_desc)
