// SPDX-License-Identifier: Apache-2.0
#include "ranks/loader/program_break.h"

#include "base/small_file.h"
#include "ranks/loader/image.h"

#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <linux/prctl.h>
#include <sys/prctl.h>
#include <unistd.h>

namespace sennit::loader {
namespace {

// What the kernel shows of a process's memory in /proc/self/stat, by the fields' numbers.
class MemoryFields {
  public:
    MemoryFields() {
        static char text[2048];
        if (read_small_file("/proc/self/stat", text, sizeof text) > 0)
            at_ = std::strrchr(text, ')'); // the end of field 2
    }
    std::uint64_t operator[](int field) const {
        const char *at = at_;
        for (int i = 2; at && i < field; ++i)
            at = std::strchr(at + 1, ' ');
        return at ? std::strtoull(at, nullptr, 10) : 0;
    }

  private:
    const char *at_ = nullptr;
};

// The kernel takes no break below its start: make the two equal.
bool set_break_and_its_start(std::uint64_t address) {
    const MemoryFields fields;
    prctl_mm_map map{};
    map.start_code = fields[26];
    map.end_code = fields[27];
    map.start_stack = fields[28];
    map.start_data = fields[45];
    map.end_data = fields[46];
    map.start_brk = address;
    map.brk = address;
    map.arg_start = fields[48];
    map.arg_end = fields[49];
    map.env_start = fields[50];
    map.env_end = fields[51];
    map.exe_fd = ~0u; // stays
    return prctl(PR_SET_MM, PR_SET_MM_MAP, &map, sizeof map, 0) == 0;
}

} // namespace

std::string fix_program_break() {
    // The break moves within its page without a look at what is behind it.
    const auto now = reinterpret_cast<std::uintptr_t>(sbrk(0));
    const std::uintptr_t end = page_up(now);
    if (sbrk(static_cast<std::intptr_t>(end - now)) != reinterpret_cast<void *>(-1) &&
        mmap(reinterpret_cast<void *>(end), kPage, PROT_NONE,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0) != MAP_FAILED &&
        set_break_and_its_start(end))
        return "";
    return std::string("the kernel does not let the program break be fixed (") +
           std::strerror(errno) + "): it needs CONFIG_CHECKPOINT_RESTORE";
}

} // namespace sennit::loader
