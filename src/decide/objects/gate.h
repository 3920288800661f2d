// SPDX-License-Identifier: Apache-2.0
// Do moves pay? What they will cost is taken from what moves have cost so far: the median of the
// last few, so one odd measurement says nothing.
//
// While nothing moves nothing is measured, so costs that were measured too high would keep the gate
// shut for good. So what a call would have gained, had it not been declined, is remembered. When
// all of that is as much as the moves cost, things move: by then it would have paid to move at
// once. Whatever the costs are, at most twice as much is lost as by who had known them (to rent or
// to buy), and the next measurement is made.
#pragma once

#include "decide/objects/problem.h"

#include <deque>

namespace sennit::balance {

class MoveGate {
  public:
    // `guess` is believed until moves were measured twice.
    explicit MoveGate(const Costs &guess) : guess_(guess) {}

    // For the next forecast.
    Costs costs() const;
    // `found` was made with costs(). Its gain will last for so many steps. False: moves are
    // declined; whoever asks follows this.
    bool pays(const Forecast &found, double steps);
    // What a forecast with costs() has said of the moves, and what they took.
    void measured(double forecast_s, double took_s);

  private:
    double factor() const;

    Costs guess_;
    std::deque<double> factors_{1}; // last measurements, of the guess
    double forgone_s_ = 0;          // since things have moved, or were in balance
};

} // namespace sennit::balance
