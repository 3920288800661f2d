// SPDX-License-Identifier: Apache-2.0
// sennit-simgrid: `sennit simulate --network simgrid` becomes this program. It is apart because
// SimGrid and what that needs are shared libraries of C++, and what else we build is linked with
// none.
#include "sim/simgrid.h"
#include "simulate/simulate.h"

int main(int count, char **arguments) {
    return sennit::tool::simulator_main(count, arguments, sennit::sim::make_simgrid);
}
