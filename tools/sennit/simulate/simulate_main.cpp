// SPDX-License-Identifier: Apache-2.0
// sennit-simulate: `sennit simulate` becomes this program.
#include "simulate/simulate.h"

int main(int count, char **arguments) {
    return sennit::tool::simulator_main(count, arguments);
}
