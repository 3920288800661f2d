// SPDX-License-Identifier: Apache-2.0
// A broadcast that the ranks of a node make among themselves (assembled.h): one of a few bytes.
//
// All ranks must decide alike whether a call is such a one. They decide by its bytes: MPI demands
// that the type signatures are the same on all ranks (MPI 4.0, section 6.4), and so the bytes are,
// though the counts and the datatypes may differ. MPI packs and unpacks what is not side by side. A
// rank alone may have a wrong buffer. It sends such a call to MPI, which reports the error as it
// would bare.
#pragma once

#include "mpi/crowd/call_number.h"

#include <cstddef>
#include <cstdint>
#include <mpi.h>

namespace sennit::mpi {

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
