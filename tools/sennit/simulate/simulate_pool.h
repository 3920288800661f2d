// SPDX-License-Identifier: Apache-2.0
// `sennit simulate pool`: several programs on the cores of one node, under one policy after the
// other, and at fixed splits (sim/pool.h).
#pragma once

#include "sim/pool.h"

#include <CLI/CLI.hpp>

#include <string>
#include <vector>

namespace sennit::tool {

class SimulatePool {
  public:
    // Adds the subcommand to `sennit simulate`.
    explicit SimulatePool(CLI::App &simulate);
    bool chosen() const { return app_->parsed(); }
    int run();

  private:
    struct Row {
        std::string name;
        sim::PoolResult result;
    };

    std::vector<sim::PoolProgram> read_programs() const;
    std::vector<int> read_split(const std::string &text, std::size_t programs) const;
    std::vector<Row> simulate_splits(const std::vector<sim::PoolProgram> &programs) const;
    void print(const std::vector<sim::PoolProgram> &programs, const std::vector<Row> &rows,
               double alone_s) const;
    std::string to_json(const std::vector<sim::PoolProgram> &programs, const std::vector<Row> &rows,
                        double alone_s) const;
    double ideal_s(const std::vector<sim::PoolProgram> &programs) const;

    CLI::App *app_;
    sim::Node node_;
    std::vector<std::string> programs_;
    std::vector<std::string> splits_;
    std::string policies_ = "all", json_;
    int step_ = 0;
    double point_us_ = 1000, move_us_ = 20;
};

} // namespace sennit::tool
