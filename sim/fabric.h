// SPDX-License-Identifier: Apache-2.0
// A network with a simulator of its own, which knows by itself when a message will be there: it and
// the simulation advance in turns. The other network, LogGP, is network.h.
#pragma once

#include "machine.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

namespace sennit::sim {

class Fabric {
  public:
    virtual ~Fabric() = default;

    // Calls it; the functions below are for it alone.
    virtual void run(const std::function<void()> &simulation) = 0;
    // A message sets out, from card to card. All that arrives before `now` has been told.
    virtual void send(std::uint32_t message, std::uint32_t from, std::uint32_t to,
                      std::uint64_t bytes, Time now) = 0;
    virtual bool busy() const = 0; // are messages on their way?
    // Until the next messages are there, but not beyond `limit`: when they are, and which.
    virtual Time advance(Time limit, std::vector<std::uint32_t> &arrived) = 0;
};

// For a machine whose network is not LogGP.
using MakeFabric = std::unique_ptr<Fabric>(const Machine &);

} // namespace sennit::sim
