// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace sennit::omp {

// What OMP_DISPLAY_ENV and omp_display_env print: the initial ICVs, in the form of the variables
// that set them (OpenMP 5.2, 18.15, 21.7); `verbose` adds Sennit's own options.
void display_environment(bool verbose);

// KMP_SETTINGS: as LLVM's runtime shows what the user set and what is in effect.
void display_settings();

} // namespace sennit::omp
