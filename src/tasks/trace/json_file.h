// SPDX-License-Identifier: Apache-2.0
// Files that the runtime writes when the process exits. They appear whole or not at all: the text
// goes to a neighbour, which takes the name at the end. Small stack, no iostreams: exit() may have
// been called in a task.
#pragma once

#include <cstddef>
#include <cstdint>

namespace sennit::trace {

// `path` as seen from the directory that is current now; malloc'ed, null without memory.
char *absolute_path(const char *path);

class JsonFile {
  public:
    // For the file `path`; failures are remembered until finish().
    explicit JsonFile(const char *path);
    ~JsonFile();
    JsonFile(const JsonFile &) = delete;
    JsonFile &operator=(const JsonFile &) = delete;

    JsonFile &raw(const char *text);
    JsonFile &quoted(const char *text); // with quotes, escaped
    JsonFile &number(std::int64_t value);
    JsonFile &micros(std::int64_t ns); // as microseconds with three digits after the point
    JsonFile &field(const char *name, std::int64_t value) {
        return raw("\"").raw(name).raw("\":").number(value);
    }

    // Give the file its name. `replace`: also when there is one by that name. False and errno when
    // any step failed; then no file is left.
    bool finish(bool replace = true);

  private:
    void put(const char *bytes, std::size_t count);
    void flush();
    static constexpr std::size_t kBuffer = 64 * 1024;
    const char *path_;
    char *part_path_ = nullptr;
    char *buffer_ = nullptr;
    std::size_t used_ = 0;
    int file_ = -1;
    int error_ = 0; // the first errno
};

} // namespace sennit::trace
