// SPDX-License-Identifier: Apache-2.0
// The kernel, and the rooms around ranks/fibers, as far as these tests need them. Carriers are the
// explorer's threads; a switch to a fiber is a call of what the test says.
#pragma once

#include "ranks/fibers/crew.h"
#include "schedules.h"

#include <functional>
#include <span>

namespace sennit::schedules {

constexpr std::size_t kMostFibers = 2;
constexpr std::size_t kMostCarriers = 2;

// What a test sets in its begin(), and what is made there.
struct Rooms {
    std::function<void(virt::RankFiber &)> run; // until the fiber leaves its carrier
    bool is_pooled = false;
    std::function<void(int)> nap; // of the watcher: what it does before it looks, the n-th time
    int naps = 0;                 // so far
    void *(*watcher)(void *) = nullptr;
    void *(*carrier)(void *) = nullptr;
    std::size_t fibers = 0, carriers = 0; // that have their memory
};
extern Rooms g_rooms;

// Where carriers lie.
virt::Carrier &carrier_at(std::size_t number);

} // namespace sennit::schedules
