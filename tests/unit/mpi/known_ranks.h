// SPDX-License-Identifier: Apache-2.0
// The ranks of a communicator: their slots are their numbers, and this process is rank 0.
#pragma once

#include "mpi/crowd/neighbours.h"

#include <cstdint>
#include <new>

class KnownRanks {
  public:
    explicit KnownRanks(int size) : ranks_(*new(storage_) sennit::mpi::Ranks{size, 0, true, {}}) {
        for (int rank = 0; rank < size; ++rank)
            ranks_.slots[rank] = static_cast<std::int16_t>(rank);
    }
    const sennit::mpi::Ranks &get() const { return ranks_; }

  private:
    static constexpr int kMost = 16;
    alignas(sennit::mpi::Ranks) unsigned char storage_[sizeof(sennit::mpi::Ranks) +
                                                       kMost * sizeof(std::int16_t)] = {};
    sennit::mpi::Ranks &ranks_;
};
