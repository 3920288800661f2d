// SPDX-License-Identifier: Apache-2.0
// A range of addresses that gets its memory as it is used, in huge pages where the system has them:
// a simulation touches its millions of objects in no order, and with small pages half of its time
// would go into finding them (translation of addresses) and into first touches.
#pragma once

#include <cstddef>
#include <new>
#include <sys/mman.h>

namespace sennit::sim {

class Pages {
  public:
    // As many bytes as asked for, or as many as the system lets one have (`ulimit -v`).
    explicit Pages(std::size_t bytes) : bytes_(bytes) {
        constexpr std::size_t kTooFew = std::size_t{1} << 20;
        for (; bytes_ >= kTooFew; bytes_ /= 2) {
            begin_ = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
            if (begin_ != MAP_FAILED) {
                madvise(begin_, bytes_, MADV_HUGEPAGE); // a wish
                return;
            }
        }
        throw std::bad_alloc();
    }
    ~Pages() { munmap(begin_, bytes_); }
    Pages(const Pages &) = delete;
    Pages &operator=(const Pages &) = delete;

    void *begin() const { return begin_; }
    std::size_t bytes() const { return bytes_; }

  private:
    std::size_t bytes_;
    void *begin_ = nullptr;
};

} // namespace sennit::sim
