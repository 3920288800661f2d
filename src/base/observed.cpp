// SPDX-License-Identifier: Apache-2.0
#include "base/observed.h"

constinit std::uint8_t sennit::observed::g_who = 0;
