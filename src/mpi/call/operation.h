// SPDX-License-Identifier: Apache-2.0
// What a call does, as the runtime's policies, the timeline and reports are told; and the object
// that it does it on.
#pragma once

#include "base/array.h"
#include "sennit.h"

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <mpi.h>
#include <type_traits>

namespace sennit::mpi {

// What an MPI call works on: a communicator, a window or a file. It has an error handler, and the
// order of the collectives on it matters.
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

// As sennit_notice, which has no name for none.
enum class Notice { none, send = SENNIT_NOTICE_SEND, receive = SENNIT_NOTICE_RECEIVE };

// The direction of a call that both sends and receives.
constexpr int kExchange = SENNIT_NOTICE_SEND | SENNIT_NOTICE_RECEIVE;

// Which path a call takes. It is asked once, where the call is made (path_of_call() in
// call/call_path.h); its operation takes it along to where the call waits.
enum class Path : unsigned char {
    blocks,    // MPI's own function, and the thread's mark says what it waits for
    bare,      // the same without a mark: the thread is inside MPI already
    polls,     // the thread tests and rests: in a callback, or where ranks outnumber cores
    suspends,  // the task is suspended
    delegates, // the task is suspended while a helper thread makes the call (engine/delegate.h)
};
// Does the calling thread make the call as the program has written it?
constexpr bool is_as_written(Path path) {
    return path <= Path::bare;
}
// The same call, if it has no non-blocking form. A callback polls until a helper thread has made
// it; in a crowd the call itself spins (crowd/spins.h).
constexpr Path without_twin(Path path) {
    return path == Path::suspends ? Path::delegates : path;
}

struct Operation {
    const char *name = "";
    Notice notice = Notice::none;
    int peer = -1;
    int tag = -1;
    Object object = {};      // whose error handler is called
    Object turn = {};        // what it must keep its order on
    std::int64_t count = -1; // elements
    int requests = 0;        // of the program's own, in `handles`
    const void *handles = nullptr;
    const Operation *receives = nullptr; // beside what it sends, and started before
    std::uintptr_t type = 0;             // of a message: its datatype
    std::int64_t bytes = -1;     // that it moves; known where ranks outnumber cores (crowd/rings.h)
    Path path = Path::bare;      // by which its call waits
    bool assembled = false;      // a collective without messages (crowd/assembled.h)
    std::uint32_t gathering = 0; // the number by which the ranks gather for it (engine/assemble.h)
};

inline std::uint64_t group_of(Object object) {
    return object.kind == Object::Kind::communicator ? object.handle : 0;
}

// What a pending operation needs must not be lost: its task would never go on.
template <class T>
using Pending = Array<T, 256>;

template <class T>
void add_pending(Pending<T> &array, const T &item) {
    if (array.push(item)) [[likely]]
        return;
    std::fprintf(stderr, "sennit: no memory for %zu pending MPI operations\n", array.size() + 1);
    std::abort();
}

} // namespace sennit::mpi
