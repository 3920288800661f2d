// SPDX-License-Identifier: Apache-2.0
// A reduction as the ranks of a node make it among themselves (assembled.h): of a few bytes, by one
// of MPI's own operations.
//
// Whether a call is such a one has to come out alike on all ranks. MPI demands the same count,
// datatype and operation of them (MPI 4.0, section 6.9.1), and its own operations take its own
// datatypes only (6.9.2). So these three decide. What a rank alone has got wrong - its buffers -
// sends that rank to MPI, which tells it so, as it would bare.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mpi.h>

namespace sennit::mpi {

class Reduction {
  public:
    const void *in = nullptr; // MPI_IN_PLACE: what is in `out`
    void *out = nullptr;
    std::int64_t count = 0;
    MPI_Datatype type{};
    MPI_Op op{};
    std::size_t bytes = 0; // 0 for a call that reduces nothing; else see fits()

    // May it be made so, with at most `most` bytes? Then `bytes` is set.
    bool fits(std::size_t most);
    // This rank's part, of `bytes`.
    const void *own() const { return in == MPI_IN_PLACE ? out : in; }
    // The call as a number, the same on all ranks; and back, for a message.
    std::uint32_t number() const;
    static std::size_t bytes_of(std::uint32_t number) { return number % kBytes; }
    // b = a op b. The caller is inside MPI. False: MPI refuses.
    bool combine(const void *a, void *b) const;

    // Ask MPI for the sizes of its datatypes; before the first fits().
    static void learn_types();

  private:
    static constexpr std::uint32_t kBytes = 1U << 16;
};

} // namespace sennit::mpi
