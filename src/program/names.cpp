// SPDX-License-Identifier: Apache-2.0
#include "program/names.h"

namespace sennit::program {

static constinit Names g_names{};

const Names &names() {
    return g_names;
}

void set_names(const Names &names) {
    g_names = names;
}

} // namespace sennit::program
