// SPDX-License-Identifier: Apache-2.0
// What is printed: the text that affinity-format-var describes (OpenMP 5.2, 21.2.2), and the
// initial ICVs.
#pragma once

#include "openmp/env/places.h"

#include <cstddef>

namespace sennit::omp {

// Writes into a buffer as snprintf does: never beyond its end, counting on; the buffer is a C
// string at any time.
class Text {
  public:
    Text(char *buffer, std::size_t size) : buffer_(buffer), size_(size) {
        if (size_ > 0)
            buffer_[0] = '\0';
    }
    void put(char c) {
        if (length_ + 1 < size_) {
            buffer_[length_] = c;
            buffer_[length_ + 1] = '\0';
        }
        ++length_;
    }
    void put(const char *string) {
        for (; *string; ++string)
            put(*string);
    }
    void put_number(long number);
    std::size_t length() const { return length_; } // of the whole text, whether it fits or not

  private:
    char *buffer_;
    std::size_t size_;
    std::size_t length_ = 0;
};

// "0,2-4", or in the syntax of OMP_PLACES "{0,2:3}".
void put_processors(Text &text, const CpuSet &processors);
void put_place(Text &text, const CpuSet &place);

// The values of the fields.
struct AffinityFields {
    int team_num;
    int num_teams;
    int nesting_level;
    int thread_num;
    int num_threads;
    int ancestor_thread_num;
    const char *host;
    long process;
    long native_thread;
    const CpuSet *processors;
};
void put_affinity(Text &text, const char *format, const AffinityFields &fields);

inline constexpr std::size_t kMostAffinityFormat = 1024;
void set_default_affinity_format(); // as the runtime that we stand for has it
// affinity-format-var. A longer text is cut and costs one line.
void set_affinity_format(const char *format, std::size_t length);
void copy_affinity_format(char (&into)[kMostAffinityFormat]);
// Around fork(): nobody is in the middle of it.
void affinity_format_before_fork();
void affinity_format_after_fork(); // in the child, too

// What OMP_DISPLAY_ENV and omp_display_env print: the initial ICVs, in the form of the variables
// that set them (OpenMP 5.2, 18.15, 21.7); `verbose` adds Sennit's own options.
void display_environment(bool verbose);

// After icv_setup(): what OMP_DISPLAY_ENV asks for, and KMP_SETTINGS, which shows as LLVM's runtime
// does what the user set and what is in effect.
void display_as_asked();

} // namespace sennit::omp
