// SPDX-License-Identifier: Apache-2.0
// Where the program has called a routine of ours: what front doors alone know, and pass on.
#pragma once

#include <concepts>

// What front doors call tests for a tool, and says where the program was only then. Inlined: a
// program without a tool pays for nothing else.
#define SENNIT_TOLD [[gnu::always_inline]] inline

namespace sennit::ompt {

// Where a routine of ours returns to, and its frame: by its canonical address, so that it needs no
// frame pointer.
struct Site {
    const void *code;
    void *cfa;
};

// The same of the exported routine in which it stands, or into which the function with it is
// inlined; looked up where a Site is wanted.
struct Caller {
    [[gnu::always_inline]] operator Site() const {
        return {__builtin_return_address(0), __builtin_dwarf_cfa()};
    }
};
#define SENNIT_SITE                                                                                \
    ::sennit::ompt::Caller {}
template <class T>
concept Where = std::convertible_to<T, Site>;

} // namespace sennit::ompt
