// SPDX-License-Identifier: Apache-2.0
// Environment variables of OpenMP and of LLVM's runtime: their values and what to say about bad
// ones. A value that makes no sense costs one line and leaves the default.
#pragma once

#include <cstdint>

namespace sennit {

// The variable's value without blanks around it, in a buffer that the next call reuses; null when
// it is unset.
const char *read_variable(const char *name);

// "<name>='<value>' is not <wanted>; going on with <instead>"
void complain(const char *name, const char *value, const char *wanted, const char *instead);

// A number at `text` in low..high; *end is behind it and the blanks that follow.
bool parse_number(const char *text, long low, long high, long *number, const char **end);
// The word at *at, in any case; moves *at behind it and the blanks around it.
bool take_word(const char **at, const char *word);

// These leave `into` as it is when the variable is unset or makes no sense; then they are false. As
// in LLVM's runtime, of a number out of range there the nearest in it is taken.
bool read_int(const char *name, int low, int high, int *into);
bool read_bool(const char *name, bool *into);

// The given value goes before the environment's as long as this lives.
class GivenVariable {
  public:
    GivenVariable(const char *name, const char *value);
    ~GivenVariable();
    GivenVariable(const GivenVariable &) = delete;
    GivenVariable &operator=(const GivenVariable &) = delete;

    // Null: it is another one's.
    const char *value_of(const char *name) const;

  private:
    const char *name_;
    const char *value_;
};

// Of the variables that we may read: has one changed?
std::uint64_t environment_hash();
// Does anything that was loaded together with us need an OpenMP runtime? Else this library was only
// preloaded: into a shell say, which starts the program, or into an interpreter that loads what
// needs one later.
bool is_needed();
// Were we loaded in the place of LLVM's runtime?
bool stands_for_libomp();

} // namespace sennit
