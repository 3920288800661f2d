// SPDX-License-Identifier: Apache-2.0
// What an MPI call works on: a communicator, a window or a file. It has an error handler, and the
// order of the collectives on it matters.
#pragma once

#include <cstdint>
#include <mpi.h>
#include <type_traits>

namespace sennit::mpi {

struct Object {
    enum class Kind { none, communicator, window, file };
    Kind kind = Kind::none;
    std::uintptr_t handle = 0; // an integer in one MPI, a pointer in another

    bool operator==(const Object &) const = default;
};

template <class Handle>
std::uintptr_t handle_bits(Handle handle) {
    if constexpr (std::is_pointer_v<Handle>)
        return reinterpret_cast<std::uintptr_t>(handle);
    else
        return static_cast<std::uintptr_t>(handle);
}

template <class Handle>
Handle handle_from(std::uintptr_t bits) {
    if constexpr (std::is_pointer_v<Handle>)
        return reinterpret_cast<Handle>(bits);
    else
        return static_cast<Handle>(bits);
}

// Calls that free an object have its address.
inline Object communicator(MPI_Comm comm) {
    return {Object::Kind::communicator, handle_bits(comm)};
}
inline Object communicator(const MPI_Comm *comm) {
    return comm ? communicator(*comm) : Object{};
}
inline Object window(MPI_Win win) {
    return {Object::Kind::window, handle_bits(win)};
}
inline Object window(const MPI_Win *win) {
    return win ? window(*win) : Object{};
}
inline Object file_object(MPI_File file) {
    return {Object::Kind::file, handle_bits(file)};
}
inline Object file_object(const MPI_File *file) {
    return file ? file_object(*file) : Object{};
}

// What the calls on files take turns on. MPICH's ROMIO has one lock that it holds also while a
// collective call waits for other ranks.
inline Object file_turn([[maybe_unused]] Object object) {
#ifdef MPICH_NUMVERSION
    return {Object::Kind::file, 0};
#else
    return object;
#endif
}

} // namespace sennit::mpi
