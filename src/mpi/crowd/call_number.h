// SPDX-License-Identifier: Apache-2.0
// What a rank calls without messages, as a number that the others compare with theirs
// (assembled.h). It is the same on all ranks of a correct program.
#pragma once

#include <cstddef>
#include <cstdint>

namespace sennit::mpi {

class CallNumber {
  public:
    // `kind`: the number of an operation, for a root kReduce more, or one of those below. `root`:
    // of a call that has one.
    static constexpr std::uint32_t of(std::uint32_t kind, std::size_t bytes, int root = 0) {
        return (static_cast<std::uint32_t>(root) * kKinds + kind) * kBytes +
               static_cast<std::uint32_t>(bytes);
    }
    // Of one that is too long to be made without messages.
    static constexpr std::uint32_t of_longer(std::uint32_t kind, int root = 0) {
        return of(kind, kLonger, root);
    }
    static constexpr std::uint32_t kBarrier = 0;
    static constexpr std::uint32_t kReduce = 128;
    static constexpr std::uint32_t kBroadcast = 254;
    static constexpr std::uint32_t kExchange = 255;

    explicit constexpr CallNumber(std::uint32_t number) : number_(number) {}
    std::size_t bytes() const { return number_ % kBytes; }
    bool is_longer() const { return bytes() == kLonger; }
    bool is_broadcast() const { return kind() == kBroadcast; }
    // Is it one that ranks do not leave together (node/assembly.h)?
    bool takes_note() const { return kind() >= kReduce && kind() != kExchange; }
    int root() const { return static_cast<int>(number_ / kBytes / kKinds); }
    const char *name() const {
        return number_ == kBarrier   ? "MPI_Barrier"
               : is_broadcast()      ? "MPI_Bcast"
               : takes_note()        ? "MPI_Reduce"
               : kind() != kExchange ? "MPI_Allreduce"
               : bytes() == 0        ? "MPI_Comm_split or its like"
                                     : "MPI_Comm_dup or its like";
    }
    // May one rank call this where another one calls that? Of broadcasts whose lengths differ the
    // receiver tells, as MPI does.
    bool goes_with(CallNumber other) const {
        return number_ == other.number_ ||
               (is_broadcast() && number_ / kBytes == other.number_ / kBytes);
    }

  private:
    static constexpr std::uint32_t kBytes = 1U << 10;
    static constexpr std::uint32_t kLonger = kBytes - 1;
    static constexpr std::uint32_t kKinds = 1U << 8;
    std::uint32_t kind() const { return number_ / kBytes % kKinds; }

    std::uint32_t number_;
};

} // namespace sennit::mpi
