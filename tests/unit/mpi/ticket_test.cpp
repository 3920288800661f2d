// SPDX-License-Identifier: Apache-2.0
// mpi/engine/tickets.h: the steps that a ticket may take; checked builds end the program at others.
#include "mpi/engine/tickets.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

using sennit::mpi::after;
using sennit::mpi::TicketState;

namespace {

using enum TicketState;
constexpr TicketState kAll[] = {fresh, queued, filed, tested, late, over, called};

bool may(TicketState from, TicketState to) {
    return (after(from) >> static_cast<unsigned>(to) & 1u) != 0;
}

} // namespace

TEST(TicketStates, AreAsDrawn) {
    const std::vector<std::pair<TicketState, TicketState>> steps = {
        {fresh, filed}, {fresh, queued}, {queued, filed}, {queued, tested},
        {queued, late}, {queued, over},  {filed, tested}, {tested, late},
        {tested, over}, {late, over},    {over, called},
    };
    for (const TicketState from : kAll)
        for (const TicketState to : kAll) {
            const bool drawn =
                std::find(steps.begin(), steps.end(), std::pair(from, to)) != steps.end();
            EXPECT_EQ(may(from, to), drawn)
                << static_cast<int>(from) << " -> " << static_cast<int>(to);
        }
}

TEST(TicketStates, NoTicketIsTestedTwiceOrResumedTwice) {
    EXPECT_FALSE(may(tested, tested));
    EXPECT_FALSE(may(filed, filed));
    EXPECT_FALSE(may(over, over));
    EXPECT_FALSE(may(called, over));
    EXPECT_FALSE(may(called, called));
}

TEST(TicketStates, EveryTicketCanEnd) {
    for (const TicketState from : kAll) {
        unsigned reached = 1u << static_cast<unsigned>(from);
        for (std::size_t round = 0; round < std::size(kAll); ++round)
            for (const TicketState state : kAll)
                if (reached >> static_cast<unsigned>(state) & 1u)
                    reached |= after(state);
        EXPECT_TRUE(reached >> static_cast<unsigned>(over) & 1u || from == called);
    }
}

#if defined(SENNIT_CHECKED)
TEST(TicketStates, AWrongStepIsSeen) {
    sennit::mpi::Ticket ticket;
    EXPECT_TRUE(ticket.state.step(filed));
    EXPECT_FALSE(ticket.state.step(over)) << "over before it was tested";
}
#endif
