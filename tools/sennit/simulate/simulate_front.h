// SPDX-License-Identifier: Apache-2.0
// `sennit simulate front`: a wave front over many nodes, under one way of balancing after the other
// (sim/front.h).
#pragma once

#include "sim/front.h"

#include <CLI/CLI.hpp>

#include <string>
#include <vector>

namespace sennit::tool {

class SimulateFront {
  public:
    // Adds the subcommand to `sennit simulate`.
    explicit SimulateFront(CLI::App &simulate);
    bool chosen() const { return app_->parsed(); }
    int run();

  private:
    struct Row {
        std::string way;
        sim::FrontResult result;
    };

    sim::FrontWay read_way(const std::string &text) const;
    void check_mesh() const;
    void print(const std::vector<Row> &rows) const;
    std::string to_json(const std::vector<Row> &rows) const;

    CLI::App *app_;
    sim::FrontMachine machine_;
    sim::FrontProgram program_;
    std::vector<std::string> ways_{"none",
                                   "greedy:20",
                                   "greedy:50",
                                   "greedy:100",
                                   "none+loops",
                                   "greedy:50+loops",
                                   "none+objects",
                                   "greedy:50+objects",
                                   "spread:50+loops",
                                   "spread:50+objects",
                                   "none+tasks",
                                   "greedy:50+tasks",
                                   "spread:50+tasks",
                                   "follow:20",
                                   "follow:50",
                                   "follow:100",
                                   "follow:50+loops",
                                   "follow:50+objects",
                                   "follow:50+tasks"};
    double megabytes_ = 7, network_gb_s_ = 5, domain_us_ = 1550, step_us_ = 13000, halo_kb_ = 0;
    bool rows_ = false;
    std::string json_;
};

} // namespace sennit::tool
