// SPDX-License-Identifier: Apache-2.0
// The simulation is one of SimGrid's actors. Each message is a blocking call of another actor, so
// any number of them share links as SimGrid's model says. Without a platform file: a star of cards,
// each with a link in each direction, and, where the switch has a bandwidth, one link that all
// messages share.
#include "simgrid.h"

#include <algorithm>
#include <cmath>
#include <deque>
#include <exception>
#include <limits>
#include <simgrid/s4u.hpp>
#include <simgrid/version.h>
#include <stdexcept>

namespace sennit::sim {
namespace {

namespace s4u = simgrid::s4u;

// What SimGrid 3 and 4 have under different names. A null end of a route is any other host.
#if SIMGRID_VERSION >= 40000
s4u::NetZone *add_star(s4u::Engine &engine) {
    return engine.get_netzone_root()->add_netzone_star("star");
}
s4u::Link *add_link(s4u::NetZone &zone, const std::string &name, double rate) {
    return zone.add_link(name, rate);
}
s4u::Host *add_host(s4u::NetZone &zone, const std::string &name) {
    return zone.add_host(name, 1e9)->seal();
}
void add_route(s4u::NetZone &zone, const s4u::Host *from, const s4u::Host *to,
               const std::vector<s4u::LinkInRoute> &links) {
    zone.add_route(from, to, links, false);
}
s4u::ActorPtr add_actor(s4u::Engine &engine, const char *name, s4u::Host *host,
                        const std::function<void()> &code) {
    return engine.add_actor(name, host, code);
}
#else
s4u::NetZone *add_star(s4u::Engine & /*engine*/) {
    return s4u::create_star_zone("star");
}
s4u::Link *add_link(s4u::NetZone &zone, const std::string &name, double rate) {
    return zone.create_link(name, rate);
}
s4u::Host *add_host(s4u::NetZone &zone, const std::string &name) {
    return zone.create_host(name, 1e9)->seal();
}
void add_route(s4u::NetZone &zone, const s4u::Host *from, const s4u::Host *to,
               const std::vector<s4u::LinkInRoute> &links) {
    zone.add_route(from ? from->get_netpoint() : nullptr, to ? to->get_netpoint() : nullptr,
                   nullptr, nullptr, links, false);
}
s4u::ActorPtr add_actor(s4u::Engine & /*engine*/, const char *name, s4u::Host *host,
                        const std::function<void()> &code) {
    return s4u::Actor::create(name, host, code);
}
#endif

class SimGrid final : public Fabric {
  public:
    explicit SimGrid(const Machine &machine);

    void run(const std::function<void()> &simulation) override;
    void send(std::uint32_t message, std::uint32_t from, std::uint32_t to, std::uint64_t bytes,
              Time now) override;
    bool busy() const override { return open_ > 0; }
    Time advance(Time limit, std::vector<std::uint32_t> &arrived) override;

  private:
    struct Leg {
        std::uint32_t message;
        s4u::Host *from, *to;
        std::uint64_t bytes;
    };

    void build_star(const Machine &machine);
    void carry();
    Time now() const { return std::llround((s4u::Engine::get_clock() - begun_) * 1e9); }

    std::shared_ptr<s4u::Engine> engine_;
    std::vector<s4u::Host *> hosts_; // of cards
    double begun_ = 0;               // SimGrid's clock goes on from run to run
    std::deque<Leg> waiting_;
    std::vector<std::uint32_t> over_;
    std::size_t open_ = 0; // messages that have set out and were not told to be there
    std::size_t idle_ = 0; // carriers
    s4u::SemaphorePtr work_, news_;
};

// SimGrid reads a file only once in the life of a program: its platform stays for the next run. A
// star is built anew, for its numbers may have changed.
std::shared_ptr<s4u::Engine> make_engine(const std::string &platform) {
    static char program[] = "sennit", quiet[] = "--log=root.thres:error";
    static char *arguments[] = {program, quiet, nullptr};
    static bool first = true;
    static std::shared_ptr<s4u::Engine> lasting;
    if (lasting)
        return lasting;
    int count = first ? 2 : 1;
    auto engine = std::make_shared<s4u::Engine>(&count, arguments);
    if (first) {
        // Shares by max-min fairness of the very bandwidths and latencies that are given: no
        // factors for TCP's headers, windows and acknowledgements.
        s4u::Engine::set_config("network/model:CM02");
        s4u::Engine::set_config("network/TCP-gamma:0");
        s4u::Engine::set_config("network/crosstraffic:0");
        s4u::Engine::set_config("contexts/stack-size:256"); // KiB
    }
    first = false;
    if (platform.empty())
        return engine;
    engine->load_platform(platform);
    lasting = engine;
    return engine;
}

SimGrid::SimGrid(const Machine &machine) : engine_(make_engine(machine.platform)) {
    if (machine.platform.empty()) {
        build_star(machine);
    } else {
        hosts_ = engine_->get_all_hosts();
        std::sort(hosts_.begin(), hosts_.end(), [](const s4u::Host *a, const s4u::Host *b) {
            const std::string &one = a->get_name(), &other = b->get_name();
            return one.size() != other.size() ? one.size() < other.size() : one < other;
        });
    }
    if (hosts_.size() < machine.card_count())
        throw std::runtime_error(machine.platform + " has " + std::to_string(hosts_.size()) +
                                 " hosts, this machine has " +
                                 std::to_string(machine.card_count()) +
                                 " network cards: more --ranks-per-card or another platform");
    begun_ = s4u::Engine::get_clock();
}

void SimGrid::build_star(const Machine &machine) {
    const double rate = machine.bandwidth * 1e9;
    s4u::NetZone *const star = add_star(*engine_);
    std::vector<s4u::LinkInRoute> shared;
    if (machine.switch_bandwidth > 0)
        shared.emplace_back(add_link(*star, "switch", machine.switch_bandwidth * 1e9)->seal());
    for (std::size_t card = 0; card < machine.card_count(); ++card) {
        const std::string number = std::to_string(card);
        s4u::Host *host = add_host(*star, "card-" + number);
        const s4u::Link *out =
            add_link(*star, "out-" + number, rate)->set_latency(machine.latency * 1e-9)->seal();
        const s4u::Link *in = add_link(*star, "in-" + number, rate)->set_latency(0)->seal();
        std::vector<s4u::LinkInRoute> up{s4u::LinkInRoute(out)};
        up.insert(up.end(), shared.begin(), shared.end());
        add_route(*star, host, nullptr, up);
        add_route(*star, nullptr, host, {s4u::LinkInRoute(in)});
        hosts_.push_back(host);
    }
    star->seal();
}

void SimGrid::run(const std::function<void()> &simulation) {
    work_ = s4u::Semaphore::create(0);
    news_ = s4u::Semaphore::create(0);
    std::exception_ptr failure; // must not leave the actor
    add_actor(*engine_, "simulation", hosts_[0], [&] {
        try {
            simulation();
        } catch (...) {
            failure = std::current_exception();
        }
    });
    engine_->run();
    if (failure)
        std::rethrow_exception(failure);
}

// A carrier takes one message after the other.
void SimGrid::carry() {
    for (;;) {
        while (waiting_.empty()) {
            ++idle_;
            work_->acquire();
        }
        const Leg leg = waiting_.front();
        waiting_.pop_front();
        s4u::Comm::sendto(leg.from, leg.to, leg.bytes);
        over_.push_back(leg.message);
        news_->release();
    }
}

void SimGrid::send(std::uint32_t message, std::uint32_t from, std::uint32_t to, std::uint64_t bytes,
                   Time at) {
    if (at > now())
        s4u::this_actor::sleep_for(static_cast<double>(at - now()) * 1e-9);
    waiting_.push_back({message, hosts_[from], hosts_[to], bytes});
    ++open_;
    if (idle_ > 0) {
        --idle_;
        work_->release();
    } else {
        add_actor(*engine_, "carrier", hosts_[0], [this] { carry(); })->daemonize();
    }
}

Time SimGrid::advance(Time limit, std::vector<std::uint32_t> &arrived) {
    while (over_.empty()) {
        if (limit == std::numeric_limits<Time>::max())
            news_->acquire();
        else if (limit <= now() ||
                 news_->acquire_timeout(static_cast<double>(limit - now()) * 1e-9))
            break;
    }
    open_ -= over_.size();
    arrived.insert(arrived.end(), over_.begin(), over_.end());
    over_.clear();
    return std::min(now(), limit);
}

} // namespace

std::unique_ptr<Fabric> make_simgrid(const Machine &machine) {
    return std::make_unique<SimGrid>(machine);
}

} // namespace sennit::sim
