// SPDX-License-Identifier: Apache-2.0
// How long a message is, and how much a collective call moves.
#pragma once

#include <atomic>
#include <cstdint>
#include <limits>
#include <mpi.h>

namespace sennit::mpi {

// MPI sends a long message in pieces, and each side waits for the other's
// answers (neighbours.h). A count alone does not tell the length: one element of a derived type may
// have any size.

// Bytes that may be more than MPI sends at once. Open MPI ends a send of more than 256 bytes to a
// rank of the same node when that one has taken it out of shared memory.
#ifdef MPICH_NUMVERSION
constexpr std::int64_t kMaybeLong = 2048;
#else
constexpr std::int64_t kMaybeLong = 257;
#endif

// What is long: kMaybeLong at first, and then what is longer than all that MPI was seen to send at
// once. For two ranks that take a short message for a long one ring in vain, and wake each other.
class Lengths {
  public:
    constexpr Lengths() = default;
    Lengths(const Lengths &) = delete;
    Lengths &operator=(const Lengths &) = delete;

    // -1, a length that is not known, is not long.
    bool may_be_long(std::int64_t bytes) const {
        return bytes >= kMaybeLong && bytes > at_once_.load(std::memory_order_relaxed);
    }
    // MPI has sent so much to another rank of this node at once.
    void note_at_once(std::int64_t bytes) {
        if (may_be_long(bytes) && bytes <= kMostAtOnce)
            at_once_.store(bytes, std::memory_order_relaxed);
    }

  private:
    // Messages as long as that may go in several pieces, all of them at once, unless the other rank
    // is slow to take them.
    static constexpr std::int64_t kMostAtOnce = 16384;

    std::atomic<std::int64_t> at_once_{0}; // a hint; any thread
};

constexpr std::int64_t kLengthUnlimited = std::numeric_limits<std::int64_t>::max();

// One of the types that most messages consist of: its elements are side by side.
bool is_common(MPI_Datatype type);
inline bool is_common(const MPI_Datatype *) { // one for each rank
    return false;
}

// The length in bytes, or -1 without a count. The caller need not be inside MPI. MPI has accepted
// `type`.
std::int64_t message_length(std::int64_t count, MPI_Datatype type);

// How much a collective call moves at this rank, in bytes: what tells whether the ranks have to
// answer each other many times (neighbours.h). The wrappers know which arguments count: some are
// significant at the root alone, or may be MPI_IN_PLACE (generate.py). MPI has accepted them.
//
// The partners of a rank are all ranks; those of the other group, if there are two.

// The same with each partner.
std::int64_t volume_of_all(std::int64_t count, MPI_Datatype type, MPI_Comm comm);
// With each partner its own. `Count` is int or MPI_Count.
template <class Count>
std::int64_t volume_of_each(const Count *counts, MPI_Datatype type, MPI_Comm comm);
template <class Count>
std::int64_t volume_of_each(const Count *counts, const MPI_Datatype *types, MPI_Comm comm);

// What does this rank do in a call with a root?
enum class Part { root, other, none };
Part part_of(int root, MPI_Comm comm);

template <class AtRoot, class Elsewhere>
std::int64_t volume_by_root(int root, MPI_Comm comm, AtRoot at_root, Elsewhere elsewhere) {
    const Part part = part_of(root, comm);
    return part == Part::root ? at_root() : part == Part::other ? elsewhere() : 0;
}

} // namespace sennit::mpi
