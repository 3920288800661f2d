// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace sennit::omp {

// What OMP_DISPLAY_ENV and omp_display_env print: the initial ICVs, in the form of the variables
// that set them (OpenMP 5.2, 18.15, 21.7); `verbose` adds Sennit's own options.
void display_environment(bool verbose);

// After icv_setup(): what OMP_DISPLAY_ENV asks for, and KMP_SETTINGS, which shows as LLVM's runtime
// does what the user set and what is in effect.
void display_as_asked();

} // namespace sennit::omp
