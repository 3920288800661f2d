// SPDX-License-Identifier: Apache-2.0
// A reduction that the ranks of a node make among themselves (assembled.h): one of a few bytes,
// with one of MPI's own operations.
//
// All ranks must decide alike whether a call is such a one. They decide by the count, the datatype
// and the operation: MPI demands that these three are the same on all ranks (MPI 4.0,
// section 6.9.1), and that its own operations have its own datatypes (6.9.2). So is the root, if
// there is one. A rank alone may have wrong buffers. It sends such a call to MPI, which reports the
// error as it would bare.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mpi.h>

namespace sennit::mpi {

class Reduction {
  public:
    const void *in = nullptr; // MPI_IN_PLACE: the part is in `out`
    void *out = nullptr;
    std::int64_t count = 0;
    MPI_Datatype type{};
    MPI_Op op{};
    int root = -1;         // who gets the result; -1: all
    std::size_t bytes = 0; // 0 for a call that reduces nothing; else see fits()
    bool known = false;    // set by fits(): the program's call is as MPI wants it
    // False: each rank looks at the others' parts itself (children.h), or there are none: they only
    // wait for each other (engine/delegate.h).
    bool combines = true;
    // If it does not combine: `out` gets the parts of all, in the order of ranks.
    bool concatenates = false;

    // May the reduction be made so, with at most `most` bytes? If it may, sets `bytes`. For a root,
    // may_take_part() has to be asked, too. Or is it only too long for that?
    bool fits(std::size_t most);
    bool is_longer(std::size_t most) const { return known && bytes > most; }
    bool has_root() const { return root >= 0; }
    // Has this rank the buffers that it must have?
    bool may_take_part(bool gets_result) const {
        return in && (gets_result ? out && in != out && out != MPI_IN_PLACE : in != MPI_IN_PLACE);
    }
    // This rank's part, of `bytes` bytes.
    const void *own() const { return in == MPI_IN_PLACE ? out : in; }
    // What each of so many ranks gets.
    std::size_t result_bytes(int members) const {
        if (combines)
            return bytes;
        return concatenates ? bytes * static_cast<std::size_t>(members) : 0;
    }
    std::uint32_t number() const; // CallNumber::of() it
    std::uint32_t longer_number() const;
    // Compute b = a op b. The caller is inside MPI. False: MPI refuses.
    bool combine(const void *a, void *b) const;

    // Ask MPI for the sizes of its datatypes. Called before the first fits().
    static void learn_types();

  private:
    bool look_up();
};

} // namespace sennit::mpi
