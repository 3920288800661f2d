// SPDX-License-Identifier: Apache-2.0
// How the omp_* routines are exported.
#pragma once

#include "base/compiler.h"

#include <cstdint>

#define SENNIT_API extern "C" SENNIT_EXPORT
