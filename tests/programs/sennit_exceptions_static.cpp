// SPDX-License-Identifier: Apache-2.0
// build: -- -static-libstdc++ -static-libgcc
// test:
// The same with a C++ runtime that is linked statically, which the dynamic symbols do not name.
#include "sennit_exceptions.cpp" // NOLINT(bugprone-suspicious-include)
