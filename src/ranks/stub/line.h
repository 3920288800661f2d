// SPDX-License-Identifier: Apache-2.0
// Text without libc, in room of a fixed size: what does not fit is left out.
#pragma once

#include "base/system_call.h"

#include <cstddef>
#include <sys/syscall.h>

namespace sennit::loader::stub {

inline std::size_t length(const char *text) {
    std::size_t size = 0;
    while (text[size])
        ++size;
    return size;
}

inline bool equal(const char *one, const char *other) {
    for (; *one && *one == *other; ++one)
        ++other;
    return *one == *other;
}

// What follows the digits is not looked at.
inline unsigned long number_of(const char *digits) {
    unsigned long value = 0;
    for (; *digits >= '0' && *digits <= '9'; ++digits)
        value = value * 10 + static_cast<unsigned long>(*digits - '0');
    return value;
}

template <std::size_t Room>
class Line {
  public:
    template <typename... Parts>
    explicit Line(Parts... parts) {
        (add(parts), ...);
        text_[size_] = '\0';
    }
    const char *text() const { return text_; }
    bool is_whole() const { return whole_; }
    void say() const { system_call(SYS_write, 2, text_, size_); }

  private:
    void add(const char *text) {
        for (; *text; ++text)
            add(*text);
    }
    void add(int value) {
        if (value >= 10)
            add(value / 10);
        add(static_cast<char>('0' + value % 10));
    }
    void add(char c) {
        whole_ = whole_ && size_ + 1 < Room;
        if (whole_)
            text_[size_++] = c;
    }

    char text_[Room];
    std::size_t size_ = 0;
    bool whole_ = true;
};

} // namespace sennit::loader::stub
