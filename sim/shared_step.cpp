// SPDX-License-Identifier: Apache-2.0
#include "sim/shared_step.h"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <queue>
#include <utility>

namespace sennit::sim {
namespace {

// A loop that is being executed. Its owner takes pieces, and so do others.
struct Loop {
    double piece_s = 0;
    int left = 0;    // pieces that nobody has begun
    int running = 0; // pieces that others execute
    int offered = 0;
    int taken = 0; // by others
};

class Simulation {
  public:
    Simulation(std::span<const std::vector<DomainTime>> domains, Sharing sharing,
               const SharingCosts &costs, std::span<balance::Exposure> exposures)
        : domains_(domains), sharing_(sharing), costs_(costs), exposures_(exposures),
          pes_(domains.size()) {
        step_.busy_s.resize(domains.size());
    }

    NodeOfPes::Step run() {
        for (std::size_t pe = 0; pe < pes_.size(); ++pe)
            events_.push({0, pe});
        while (!events_.empty()) {
            const auto [now, pe] = events_.top();
            events_.pop();
            now_ = now;
            ended(pe);
            next(pe);
        }
        return std::move(step_);
    }

  private:
    enum class Doing { nothing, serial, own_piece, foreign_piece };
    struct Pe {
        std::size_t begun = 0; // of its domains
        Doing doing = Doing::nothing;
        double loops_s = 0;   // of the domain whose serial part it executes
        Loop loop;            // of the domain that it executes
        bool in_loop = false; // begun, and not joined
        std::size_t helps = 0;
        bool joins = false; // waits for others who execute pieces of its loop
        bool idle = false;
    };

    void busy(std::size_t pe, double seconds) {
        step_.busy_s[pe] += seconds;
        events_.push({now_ + seconds, pe});
    }

    // What the PE did is over.
    void ended(std::size_t pe) {
        Pe &me = pes_[pe];
        switch (std::exchange(me.doing, Doing::nothing)) {
        case Doing::serial:
            begin_loop(pe);
            break;
        case Doing::foreign_piece: {
            Pe &owner = pes_[me.helps];
            if (--owner.loop.running == 0 && std::exchange(owner.joins, false))
                events_.push({now_, me.helps});
            break;
        }
        case Doing::own_piece:
        case Doing::nothing:
            break;
        }
    }

    void begin_loop(std::size_t pe) {
        Pe &me = pes_[pe];
        if (me.loops_s <= 0)
            return;
        const int all = static_cast<int>(pes_.size());
        const int pieces = sharing_ == Sharing::none    ? 0
                           : sharing_ == Sharing::tasks ? all - 1
                                                        : exposures_[pe].pieces(idle_, all);
        me.loop = {me.loops_s / (pieces + 1), pieces + 1, 0, pieces, 0};
        me.in_loop = true;
        offer_s_ = costs_.piece_s * pieces;
        if (pieces > 0)
            wake_idle();
    }

    void next(std::size_t pe) {
        Pe &me = pes_[pe];
        const double offer_s = std::exchange(offer_s_, 0);
        if (me.in_loop && me.loop.left > 0) {
            --me.loop.left;
            me.doing = Doing::own_piece;
            busy(pe, me.loop.piece_s + offer_s);
            return;
        }
        if (me.in_loop && me.loop.running > 0) {
            // It helps nobody else meanwhile, so that its domain ends as soon as it can.
            me.joins = true;
            return;
        }
        if (std::exchange(me.in_loop, false) && sharing_ != Sharing::none)
            exposures_[pe].record(me.loop.offered, me.loop.taken);
        if (me.begun < domains_[pe].size()) {
            begin_domain(pe, pe, 1, 0);
            return;
        }
        if (sharing_ != Sharing::none && help(pe))
            return;
        me.idle = true;
        ++idle_;
        step_.end_s = std::max(step_.end_s, now_);
    }

    void begin_domain(std::size_t pe, std::size_t owner, double slower, double cost_s) {
        const DomainTime &domain = domains_[owner][pes_[owner].begun++];
        Pe &me = pes_[pe];
        me.doing = Doing::serial;
        me.loops_s = domain.loops_s * slower;
        busy(pe, domain.serial_s * slower + cost_s);
    }

    // A whole domain of who has most of them left, else a piece of the loop that is furthest from
    // its end.
    bool help(std::size_t pe) {
        std::size_t most = pes_.size();
        if (sharing_ >= Sharing::objects) {
            for (std::size_t other = 0; other < pes_.size(); ++other)
                if (left(other) > 0 && (most == pes_.size() || left(other) > left(most)))
                    most = other;
            if (most != pes_.size()) {
                begin_domain(pe, most, costs_.foreign, costs_.take_s);
                return true;
            }
        }
        for (std::size_t other = 0; other < pes_.size(); ++other)
            if (rest_s(other) > 0 && (most == pes_.size() || rest_s(other) > rest_s(most)))
                most = other;
        if (most == pes_.size())
            return false;
        Loop &loop = pes_[most].loop;
        --loop.left;
        ++loop.running;
        ++loop.taken;
        pes_[pe].doing = Doing::foreign_piece;
        pes_[pe].helps = most;
        busy(pe, loop.piece_s * costs_.foreign + costs_.take_s);
        return true;
    }

    std::size_t left(std::size_t pe) const { return domains_[pe].size() - pes_[pe].begun; }
    // Of its loop, what nobody has begun; its owner takes one piece itself.
    double rest_s(std::size_t pe) const {
        const Pe &one = pes_[pe];
        return one.in_loop ? one.loop.piece_s * one.loop.left : 0;
    }

    void wake_idle() {
        for (std::size_t pe = 0; pe < pes_.size(); ++pe)
            if (std::exchange(pes_[pe].idle, false))
                events_.push({now_, pe});
        idle_ = 0;
    }

    std::span<const std::vector<DomainTime>> domains_;
    Sharing sharing_;
    SharingCosts costs_;
    std::span<balance::Exposure> exposures_;
    std::vector<Pe> pes_;
    NodeOfPes::Step step_;
    double now_ = 0;
    double offer_s_ = 0;
    int idle_ = 0;
    using Event = std::pair<double, std::size_t>;
    std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
};

} // namespace

NodeOfPes::Step NodeOfPes::run(std::span<const std::vector<DomainTime>> domains) {
    return Simulation(domains, sharing_, costs_, exposures_).run();
}

} // namespace sennit::sim
