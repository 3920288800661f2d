// SPDX-License-Identifier: Apache-2.0
// A broadcast that the ranks of a node make among themselves (assembled.h): one of a few bytes.
//
// All ranks must decide alike whether a call is such a one. They decide by its bytes: MPI demands
// that the type signatures are the same on all ranks (MPI 4.0, section 6.4), and so the bytes are,
// though the counts and the datatypes may differ. MPI packs and unpacks what is not side by side. A
// rank alone may have a wrong buffer. It sends such a call to MPI, which reports the error as it
// would bare.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mpi.h>

namespace sennit::mpi {

// What a rank calls without messages, as a number that the others compare with theirs
// (assembled.h). It is the same on all ranks of a correct program.
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

class Broadcast {
  public:
    Broadcast(void *buffer, std::int64_t count, MPI_Datatype type, int root)
        : buffer_(buffer), count_(count), type_(type), root_(root) {}

    // May it be made so, with at most `most` bytes? Or is it only too long for that?
    bool fits(std::size_t most);
    bool is_longer(std::size_t most) const { return is_sound_ && bytes_ > most; }
    int root() const { return root_; }
    std::uint32_t number() const { return CallNumber::of(CallNumber::kBroadcast, bytes_, root_); }
    std::uint32_t longer_number() const {
        return CallNumber::of_longer(CallNumber::kBroadcast, root_);
    }

    // Of a broadcast that fits. The caller is inside MPI, and `comm` is the communicator. Both
    // return MPI's error.
    int pack(void *into, MPI_Comm comm) const;
    int unpack(const void *from, std::size_t bytes, MPI_Comm comm) const;
    // What MPI would say if the root has sent so many bytes. Nobody has told the program.
    int judge(std::size_t bytes) const;

  private:
    template <class Copy>
    int among_addresses(Copy copy) const;

    void *buffer_;
    std::int64_t count_;
    MPI_Datatype type_;
    int root_;
    std::size_t bytes_ = 0;
    bool is_plain_ = false; // the bytes are side by side
    bool is_sound_ = false; // MPI has nothing to complain of, as far as fits() has looked
};

} // namespace sennit::mpi
