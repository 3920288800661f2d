// SPDX-License-Identifier: Apache-2.0
// The runtime API of an accelerator, as far as this library calls it. CUDA's and HIP's are the same
// but for the names: the files here are compiled once for each, with the prefix of the names in
// SENNIT_ACCELERATOR (cuda, hip). Values and signatures are those of the binary interface, which
// has not changed since CUDA 8 and HIP 4; no header of theirs is needed.
//
// SENNIT_BARE_CALL(name, parameters) is the function of the library behind us.
#pragma once

#include "mpi/interpose/bare.h"

#include <cstddef>
#include <cstdint>

#define SENNIT_JOIN_(a, b) a##b
#define SENNIT_JOIN(a, b) SENNIT_JOIN_(a, b)
#define SENNIT_TEXT_(a) #a
#define SENNIT_TEXT_OF(a) SENNIT_TEXT_(a)

// cudaMemcpy, "cudaMemcpy"
#define SENNIT_CALL(name) SENNIT_JOIN(SENNIT_ACCELERATOR, name)
#define SENNIT_CALL_TEXT(name) SENNIT_TEXT_OF(SENNIT_CALL(name))

#define SENNIT_BARE_CALL(name, ...)                                                                \
    (::sennit::interpose::Bare<::sennit::accelerators::find_bare, SENNIT_CALL_TEXT(name),          \
                               int(__VA_ARGS__)>{})

namespace sennit::accelerators {

void *find_bare(const char *name); // what returns an error, if the library is not there

using Stream = void *;
using Event = void *;

// Handles that stand for the default streams of the calling thread's current device.
inline constexpr Stream kLegacy = nullptr; // one for all threads
inline const Stream kPerThread = reinterpret_cast<Stream>(2);
inline bool is_default(Stream stream) {
    return reinterpret_cast<std::uintptr_t>(stream) <= 2; // 1: the legacy one, by CUDA's other name
}

// enum cudaError
inline constexpr int kSuccess = 0;
inline constexpr int kNotReady = 600;
inline constexpr int kNotSupported = 801;

inline constexpr unsigned kDisableTiming = 2; // of an event
inline constexpr int kCaptureRelaxed = 2;     // enum cudaStreamCaptureMode

// enum cudaMemcpyKind
enum CopyKind : int { kHostToHost, kHostToDevice, kDeviceToHost, kDeviceToDevice, kByAddress };

// enum cudaMemoryType. Before HIP 6 these numbers meant others: page-locked memory was 0. Then such
// memory counts as pageable here.
enum class MemoryType : int { pageable, pinned, device, managed };

// struct cudaMemcpy3DParms
struct Size3D {
    std::size_t x, y, z;
};
struct PitchedPointer {
    void *start;
    std::size_t pitch, x_size, y_size;
};
struct Copy3D {
    const void *from_array; // null: from.start counts
    Size3D from_at;
    PitchedPointer from;
    const void *to_array;
    Size3D to_at;
    PitchedPointer to;
    Size3D extent;
    int kind;
};

// The call leaves the thread's last error as it was. Where there was one before, that may be lost.
template <class Call>
int quietly(Call call) {
    const bool was_clean = SENNIT_BARE_CALL(PeekAtLastError)() == kSuccess;
    const int result = call();
    if (result != kSuccess && was_clean)
        SENNIT_BARE_CALL(GetLastError)();
    return result;
}

inline int current_device() {
    int device = 0;
    SENNIT_BARE_CALL(GetDevice, int *)(&device);
    return device;
}

// Where a call is made that means the thread's current device.
inline void set_current_device(int device) {
    if (current_device() != device)
        SENNIT_BARE_CALL(SetDevice, int)(device);
}

} // namespace sennit::accelerators
