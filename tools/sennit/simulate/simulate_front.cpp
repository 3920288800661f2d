// SPDX-License-Identifier: Apache-2.0
#include "simulate/simulate_front.h"

#include "common/failure.h"
#include "common/result_file.h"
#include "simulate/sweep.h"

#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>

namespace sennit::tool {
namespace {

using Json = nlohmann::ordered_json;
using sim::FrontResult;
using sim::FrontWay;
using sim::Sharing;

constexpr int kMostDomains = 1 << 20;
constexpr int kMostSteps = 1'000'000;

} // namespace

SimulateFront::SimulateFront(CLI::App &simulate)
    : app_(simulate.add_subcommand(
          "front", "a wave front over many nodes: objects are balanced, loops are shared")) {
    app_->add_option("--way", ways_,
                     fmt::format("STRATEGY[:PERIOD][+loops|+objects|+tasks][+window=STEPS][+gate], "
                                 "strategies: {}; again for other ways",
                                 fmt::join(balance::strategy_names(), ", ")))
        ->capture_default_str();
    const auto add = [this](const char *name, auto &value, auto least, auto most,
                            const char *what) {
        app_->add_option(name, value, what)
            ->capture_default_str()
            ->check(CLI::Range(least, most))
            ->check(refuse_no_number);
    };
    add("--nodes", machine_.nodes, 1, 65536, "of the machine");
    add("--pes", machine_.pes_of_node, 1, 1024, "cores of a node");
    add("--side", program_.wave.side, 1, 1024, "domains of the mesh, in each direction");
    add("--steps", program_.steps, 1, kMostSteps, "time steps");
    add("--speed", program_.wave.speed, 0., 1e6, "of the front: domain widths in a step");
    add("--band", program_.wave.band, 0., 1e3, "width of the front, in domain widths");
    add("--factor", program_.wave.factor, 1., 1e6, "cost of a cell in the front");
    add("--parallel", program_.parallel, 0., 1., "share of the front's work in loops");
    add("--domain", domain_us_, 0., 1e9, "time of a domain without front, in a step (us)");
    add("--step", step_us_, 0., 1e9, "of a step, all its messages (us)");
    add("--halo", halo_kb_, 0., 1e6,
        "what neighbours tell each other in a step, in each direction (KiB); 0: it is in --step");
    add("--bytes", megabytes_, 0., 1e6, "of a domain (MiB)");
    add("--network", network_gb_s_, 1e-3, 1e6, "of a node (GB/s)");
    app_->add_flag("--rows", rows_,
                   "a PE's first domains are a run of the mesh's rows, not a square block");
    app_->add_option("--json", json_, "write the results to this file; - is stdout");
}

FrontWay SimulateFront::read_way(const std::string &text) const {
    FrontWay way;
    way.first = rows_ ? sim::First::rows : sim::First::blocks;
    const std::vector<std::string> parts = split(text, '+');
    const std::size_t colon = parts[0].find(':');
    const std::string name = parts[0].substr(0, colon);
    way.strategy = balance::strategy_of(name);
    if (!way.strategy)
        fail("--way {}: '{}' is unknown: use one of {}", text, name,
             fmt::join(balance::strategy_names(), ", "));
    if (colon != std::string::npos)
        way.period = parse_whole("--way " + text, parts[0].substr(colon + 1), 1, kMostSteps);
    if (name == "none")
        way.strategy = nullptr;
    for (std::size_t i = 1; i < parts.size(); ++i) {
        const std::string &part = parts[i];
        if (part == "loops")
            way.sharing = Sharing::loops;
        else if (part == "objects")
            way.sharing = Sharing::objects;
        else if (part == "tasks")
            way.sharing = Sharing::tasks;
        else if (part == "gate")
            way.gate = true;
        else if (part.starts_with("window="))
            way.window = parse_whole("--way " + text, part.substr(7), 1, kMostSteps);
        else
            fail("--way {}: '{}' is none of loops, objects, tasks, window=STEPS, gate", text, part);
    }
    return way;
}

void SimulateFront::check_mesh() const {
    const int side = program_.wave.side;
    const int pes = machine_.nodes * machine_.pes_of_node;
    if (side * side > kMostDomains || pes > side * side)
        fail("--side {}: there are {} domains, for {} PEs: use one for each PE at least, and at "
             "most {}",
             side, side * side, pes, kMostDomains);
}

void SimulateFront::print(const std::vector<Row> &rows) const {
    std::size_t width = 12;
    for (const Row &row : rows)
        width = std::max(width, row.way.size() + 1);
    const bool halos = program_.halo_bytes > 0;
    fmt::print("{:<{}}{:>9}{:>9}{:>11}{:>9}{:>9}{:>9}{:>10}{:>11}{}\n", "", width, "total s",
               "steps s", "balance s", "/ideal", "PE %", "node %", "moved", "sent GB",
               halos ? fmt::format("{:>11}", "halos MB") : "");
    for (const Row &row : rows) {
        const FrontResult &one = row.result;
        fmt::print("{:<{}}{:>9.2f}{:>9.2f}{:>11.2f}{:>9.2f}{:>9.1f}{:>9.1f}{:>10}{:>11.1f}{}\n",
                   row.way, width, one.total_s(), one.steps_s, one.balance_s,
                   one.total_s() / one.ideal_s, 100 * one.pe_imbalance, 100 * one.node_imbalance,
                   one.moved, static_cast<double>(one.crossed) * 1e-9,
                   halos ? fmt::format("{:>11.1f}", one.told_bytes * 1e-6) : "");
    }
    fmt::print("\nideal: all work / all cores. PE, node: percent imbalance (max / mean - 1), mean "
               "over the steps.\n");
    if (halos)
        fmt::print("halos: between nodes, mean over the steps.\n");
}

std::string SimulateFront::to_json(const std::vector<Row> &rows) const {
    Json document;
    document["nodes"] = machine_.nodes;
    document["pes_of_node"] = machine_.pes_of_node;
    document["domains"] = program_.wave.side * program_.wave.side;
    document["results"] = Json::array();
    for (const Row &row : rows) {
        const FrontResult &one = row.result;
        Json entry;
        entry["way"] = row.way;
        entry["total_s"] = one.total_s();
        entry["steps_s"] = one.steps_s;
        entry["balance_s"] = one.balance_s;
        entry["ideal_s"] = one.ideal_s;
        entry["pe_imbalance"] = one.pe_imbalance;
        entry["node_imbalance"] = one.node_imbalance;
        entry["moved"] = one.moved;
        entry["crossed_bytes"] = one.crossed;
        if (program_.halo_bytes > 0)
            entry["told_bytes"] = one.told_bytes;
        entry["calls"] = one.calls;
        entry["declined"] = one.declined;
        document["results"].push_back(std::move(entry));
    }
    return json_text(document);
}

int SimulateFront::run() {
    check_mesh();
    program_.bytes = static_cast<std::size_t>(megabytes_ * 1024 * 1024);
    program_.domain_s = domain_us_ * 1e-6;
    program_.step_s = step_us_ * 1e-6;
    program_.halo_bytes = halo_kb_ * 1024;
    machine_.bytes_per_s = network_gb_s_ * 1e9;
    std::vector<FrontWay> ways;
    ways.reserve(ways_.size());
    for (const std::string &text : ways_)
        ways.push_back(read_way(text));
    std::vector<Row> rows;
    rows.reserve(ways.size());
    for (std::size_t i = 0; i < ways.size(); ++i)
        rows.push_back({ways_[i], sim::simulate_front(machine_, program_, ways[i])});
    if (json_ != "-")
        print(rows);
    write_result(json_, to_json(rows));
    return 0;
}

} // namespace sennit::tool
