// SPDX-License-Identifier: Apache-2.0
// OpenMP runtimes whose place Sennit takes, and which are mapped all the same: a library names one
// by its path, a wheel of Python's brings a copy, threadpoolctl opens one to set its number of
// threads. The program's own calls reach Sennit, for it comes first. A library that asks such a
// runtime for a function gets Sennit's, too: there is one runtime under all names.
#pragma once

namespace sennit::runtime {

// Of all that is loaded; once, when this library is.
void stand_in_for_replaced();
// The object that `code` is in has been loaded, and nobody has looked for its functions yet.
void stand_in_if_replaced(const void *code);

} // namespace sennit::runtime
