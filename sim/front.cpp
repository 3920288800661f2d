// SPDX-License-Identifier: Apache-2.0
#include "sim/front.h"

#include "decide/objects/outlook.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <optional>

namespace sennit::sim {
namespace {

using balance::index;

// PEs and nodes own blocks of domains that are as square as they can be.
int divisor_near_root(int number) {
    int best = 1;
    for (int one = 1; one * one <= number; ++one)
        if (number % one == 0)
            best = one;
    return best;
}

class Run {
  public:
    Run(const FrontMachine &machine, const FrontProgram &program, const FrontWay &way,
        const SharingCosts &costs)
        : machine_(machine), program_(program), way_(way), wave_(program.wave),
          pes_(machine.nodes * machine.pes_of_node),
          nodes_(index(machine.nodes), NodeOfPes(machine.pes_of_node, way.sharing, costs)),
          objects_(wave_.domains()), loads_(wave_.domains()) {
        place_first();
        if (program.halo_bytes > 0)
            link_neighbours();
    }

    FrontResult run() {
        for (int step = 0; step < program_.steps; ++step) {
            if (way_.strategy && step > 0 && step % way_.period == 0)
                call_balancer();
            run_step(step);
        }
        result_.pe_imbalance /= program_.steps;
        result_.node_imbalance /= program_.steps;
        result_.told_bytes /= program_.steps;
        return result_;
    }

  private:
    void place_first() {
        const int side = program_.wave.side;
        const int columns = divisor_near_root(machine_.nodes);
        const int inner = divisor_near_root(machine_.pes_of_node);
        const int wide = columns * inner; // PEs in a row of the mesh
        const int high = pes_ / wide;
        for (int domain = 0; domain < side * side; ++domain) {
            if (way_.first == First::rows) {
                objects_[index(domain)].pe =
                    static_cast<int>(std::int64_t{domain} * pes_ / (side * side));
                continue;
            }
            const int x = domain % side * wide / side;
            const int y = domain / side * high / side;
            const int rows = machine_.pes_of_node / inner;
            const int node = y / rows * columns + x / inner;
            objects_[index(domain)].pe = node * machine_.pes_of_node + y % rows * inner + x % inner;
        }
        for (std::size_t i = 0; i < objects_.size(); ++i) {
            objects_[i].bytes = program_.bytes;
            const std::size_t x = i % index(side);
            const std::size_t y = i / index(side);
            positions_.push_back({static_cast<double>(x), static_cast<double>(y), 0});
        }
    }

    void link_neighbours() {
        const int side = program_.wave.side;
        for (int domain = 0; domain < side * side; ++domain) {
            if (domain % side + 1 < side)
                links_.push_back({domain, domain + 1, 2 * program_.halo_bytes});
            if (domain + side < side * side)
                links_.push_back({domain, domain + side, 2 * program_.halo_bytes});
        }
    }

    // As the domains are now. PEs of a node read each other's memory.
    balance::Problem problem() const {
        balance::Problem problem;
        problem.objects = objects_;
        problem.positions = positions_;
        problem.pes = pes_;
        problem.pes_of_node = machine_.pes_of_node;
        problem.links = links_;
        problem.seconds_per_byte = 1 / machine_.bytes_per_s;
        return problem;
    }

    // Seconds of the PE whose halos take longest.
    double exchange_halos() {
        if (links_.empty())
            return 0;
        const balance::Problem now = problem();
        const std::vector<double> links_s =
            balance::link_seconds_of(now, balance::where_they_are(now));
        // Both ends have the bytes in their time.
        result_.told_bytes +=
            std::accumulate(links_s.begin(), links_s.end(), 0.0) / 2 / now.seconds_per_byte;
        return *std::max_element(links_s.begin(), links_s.end());
    }

    void run_step(int step) {
        std::vector<std::vector<DomainTime>> domains(index(pes_));
        std::vector<double> node_work(index(machine_.nodes));
        for (std::size_t i = 0; i < objects_.size(); ++i) {
            const DomainWork work = wave_.work(i, step);
            const double band_s = work.band * program_.domain_s;
            const double loops_s = band_s * program_.parallel;
            const double serial_s = work.outside * program_.domain_s + band_s - loops_s;
            domains[index(objects_[i].pe)].push_back({serial_s, loops_s});
            node_work[index(objects_[i].pe / machine_.pes_of_node)] += serial_s + loops_s;
            note_load(i, serial_s + loops_s);
        }
        ++noted_;
        double end_s = 0;
        std::vector<double> busy_s;
        for (int node = 0; node < machine_.nodes; ++node) {
            const auto part = std::span(domains).subspan(index(node * machine_.pes_of_node),
                                                         index(machine_.pes_of_node));
            const NodeOfPes::Step done = nodes_[index(node)].run(part);
            end_s = std::max(end_s, done.end_s);
            busy_s.insert(busy_s.end(), done.busy_s.begin(), done.busy_s.end());
        }
        // All ranks agree on the length of the next time step.
        result_.steps_s += end_s + exchange_halos() + program_.step_s;
        result_.ideal_s += std::accumulate(node_work.begin(), node_work.end(), 0.0) / pes_;
        result_.pe_imbalance += balance::imbalance(busy_s);
        result_.node_imbalance += balance::imbalance(node_work);
    }

    // The mean of the last steps. A window is an exponential mean: it needs no memory of each step.
    void note_load(std::size_t object, double seconds) {
        const double weight =
            way_.window > 0 ? std::max(1.0 / way_.window, 1.0 / (noted_ + 1)) : 1.0 / (noted_ + 1);
        loads_[object] += (seconds - loads_[object]) * weight;
    }

    void call_balancer() {
        ++result_.calls;
        for (std::size_t i = 0; i < objects_.size(); ++i)
            objects_[i].load = loads_[i];
        balance::Problem now = problem();
        history_.note(objects_);
        std::optional<balance::LoadOutlook> outlook;
        if (way_.strategy->looks_ahead()) {
            outlook.emplace(now, history_);
            for (std::size_t i = 0; i < objects_.size(); ++i)
                objects_[i].load = outlook->loads()[i];
            now.passages = outlook->passages();
        }
        const balance::Assignment pe_of = way_.strategy->assign(now);
        const balance::Costs costs{machine_.object_s, 1 / machine_.bytes_per_s};
        const balance::Forecast found =
            balance::forecast(now, pe_of, costs, way_.sharing != Sharing::none);
        noted_ = 0;
        result_.balance_s +=
            static_cast<double>(objects_.size()) * machine_.load_s + 2 * collective_s();
        if (way_.gate && found.gain_s(way_.period) <= 0) {
            ++result_.declined;
            return;
        }
        result_.balance_s += found.move_s;
        result_.moved += found.moves;
        result_.crossed += found.bytes;
        for (std::size_t i = 0; i < objects_.size(); ++i)
            objects_[i].pe = pe_of[i];
    }

    double collective_s() const { return machine_.message_s * std::log2(std::max(2, pes_)); }

    const FrontMachine &machine_;
    const FrontProgram &program_;
    const FrontWay &way_;
    Wave wave_;
    int pes_;
    std::vector<NodeOfPes> nodes_;
    std::vector<balance::MovableObject> objects_;
    std::vector<balance::Position> positions_;
    std::vector<balance::Link> links_; // of neighbours, if they tell each other anything
    std::vector<double> loads_;        // of each object: mean seconds of a step
    balance::History history_;
    int noted_ = 0; // steps since the last call
    FrontResult result_;
};

} // namespace

FrontResult simulate_front(const FrontMachine &machine, const FrontProgram &program,
                           const FrontWay &way, const SharingCosts &costs) {
    return Run(machine, program, way, costs).run();
}

} // namespace sennit::sim
