// SPDX-License-Identifier: Apache-2.0
// An object that is never destroyed: threads of ours, and tasks in exit handlers of the program,
// use it as long as there is a process.
#pragma once

namespace sennit {

template <class T>
union Everlasting {
    constexpr Everlasting() : object{} {}
    constexpr ~Everlasting() {}
    Everlasting(const Everlasting &) = delete;
    Everlasting &operator=(const Everlasting &) = delete;

    T object;
};

} // namespace sennit
