// SPDX-License-Identifier: Apache-2.0
// sennit-simgrid: `sennit simulate --network simgrid` becomes this program. It is apart because
// SimGrid and what that needs are shared libraries of C++, and the command is linked with none.
#include "failure.h"
#include "sim/simgrid.h"
#include "simulate.h"

#include <cstdio>

int main(int count, char **arguments) {
    try {
        CLI::App app("sennit-simgrid");
        sennit::tool::Simulate simulate(app, sennit::sim::make_simgrid);
        app.parse(count, arguments);
        return simulate.run(arguments);
    } catch (const std::exception &error) {
        std::fflush(stdout);
        std::fprintf(stderr, "sennit: %s\n", error.what());
        return sennit::tool::refused;
    }
}
