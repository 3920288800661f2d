// SPDX-License-Identifier: Apache-2.0
// mmap, mremap and shmat of a virtual rank, where the program chooses the address and the kernel
// would replace what is there: that may be another rank's, or the host's. Such a call succeeds if
// all that it replaces is this rank's own (own_memory.h), else it fails with EEXIST, and the first
// one says so.
//
// Programs and libraries find these functions, libc itself does not: malloc costs what it costs.
// The memory hooks of MPI libraries change the code of the functions that dlsym finds. That has to
// be libc's, behind these. So these have the version that programs ask for, and are no default:
// dlsym does not see them.
#include "ranks/inside/next.h"
#include "ranks/inside/own_memory.h"
#include "ranks/inside/self.h"

#include "base/message.h"
#include "base/rank.h"

#include <atomic>
#include <cerrno>
#include <sys/mman.h>
#include <sys/shm.h>
#include <sys/types.h>
#include <unistd.h>

namespace sennit::loader::inside {
namespace {

constinit Next<void *(void *, std::size_t, int, int, int, off_t)> g_mmap{"mmap"};
constinit Next<int(void *, std::size_t)> g_munmap{"munmap"};
constinit Next<void *(void *, std::size_t, std::size_t, int, void *)> g_mremap{"mremap"};
constinit Next<void *(int, const void *, int)> g_shmat{"shmat"};
constinit Next<int(const void *)> g_shmdt{"shmdt"};

// Attached segments, for shmdt() does not say how long one is. One that does not find room is
// attached, but not known as the rank's own.
class Attached {
  public:
    bool add(const void *at, std::size_t size) {
        for (Segment &each : segments_) {
            const void *none = nullptr;
            if (size != 0 && each.at.compare_exchange_strong(none, at)) {
                each.size = size;
                return true;
            }
        }
        return false;
    }
    // Its size; 0: it is unknown.
    std::size_t take(const void *at) {
        for (Segment &each : segments_)
            if (at && each.at.load() == at) {
                const std::size_t size = each.size;
                each.at.store(nullptr);
                return size;
            }
        return 0;
    }

  private:
    struct Segment {
        std::atomic<const void *> at{nullptr};
        std::size_t size = 0;
    };
    static constexpr std::size_t kMost = 256;
    Segment segments_[kMost];
};
constinit Attached g_attached;

void *refuse(const char *call, const void *at, std::size_t size) {
    static std::atomic<bool> told{false};
    if (!told.exchange(true, std::memory_order_relaxed)) {
        const int rank = rank_of_environment();
        warn("%s %d: %s for %zu bytes at the fixed address %p is refused (EEXIST): virtual ranks "
             "share their addresses, and what is there may be another rank's. Let the system "
             "choose the address, or leave --virtual away",
             rank < 0 ? "process" : "rank", rank < 0 ? getpid() : rank, call, size, at);
    }
    errno = EEXIST;
    return MAP_FAILED;
}

// The right to map there, whatever is there.
class Claim {
  public:
    // An empty one is the kernel's to judge.
    explicit Claim(Range range) : granted_(range.empty() || claim(range, claimed_)) {}
    Claim(const Claim &) = delete;
    Claim &operator=(const Claim &) = delete;

    explicit operator bool() const { return granted_; }
    void end_in_vain() {
        const int error = errno;
        give_back(claimed_);
        errno = error;
    }

  private:
    Claimed claimed_;
    const bool granted_;
};

bool may_replace(int flags) {
    return (flags & MAP_FIXED) != 0 && (flags & MAP_FIXED_NOREPLACE) == 0;
}

void *map(void *at, std::size_t size, int protection, int flags, int file, off_t offset) {
    if (!shares_memory())
        return g_mmap(at, size, protection, flags, file, offset);
    if (!may_replace(flags)) {
        void *const got = g_mmap(at, size, protection, flags, file, offset);
        if (got != MAP_FAILED)
            add_own(pages_at(got, size));
        return got;
    }
    Claim right(pages_at(at, size));
    if (!right)
        return refuse("mmap with MAP_FIXED", at, size);
    void *const got = g_mmap(at, size, protection, flags, file, offset);
    if (got == MAP_FAILED)
        right.end_in_vain();
    return got;
}

// A hole in the range may be another's meanwhile: only what is this rank's goes. What nobody has
// written down is as it was.
int unmap(void *at, std::size_t size) {
    Range range = pages_at(at, size);
    Range part = shares_memory() ? take_own(range) : Range{};
    if (part.empty())
        return g_munmap(at, size);
    for (; !part.empty(); part = take_own(range)) {
        if (const int result = g_munmap(reinterpret_cast<void *>(part.low), part.size());
            result != 0) {
            add_own(part);
            return result;
        }
        range.low = part.high;
    }
    return 0;
}

void *remap(void *from, std::size_t old_size, std::size_t size, int flags, void *to) {
    if (!shares_memory())
        return g_mremap(from, old_size, size, flags, to);
    Claim right((flags & MREMAP_FIXED) != 0 ? pages_at(to, size) : Range{});
    if (!right)
        return refuse("mremap with MREMAP_FIXED", to, size);
    const Range old = (flags & MREMAP_DONTUNMAP) != 0 ? Range{} : pages_at(from, old_size);
    const Range part = take_own(old);
    void *const got = g_mremap(from, old_size, size, flags, to);
    if (got == MAP_FAILED) {
        right.end_in_vain();
        add_own(part);
    } else {
        add_own(pages_at(got, size));
    }
    return got;
}

std::size_t segment_size(int segment) {
    shmid_ds state{};
    return shmctl(segment, IPC_STAT, &state) == 0 ? state.shm_segsz : 0;
}

// Where a segment comes that replaces what is there.
Range place_of(const void *at, std::size_t size, int flags) {
    if (!at || (flags & SHM_REMAP) == 0)
        return {};
    const auto *low = static_cast<const char *>(at);
    if ((flags & SHM_RND) != 0)
        low -= reinterpret_cast<std::uintptr_t>(at) % static_cast<std::uintptr_t>(SHMLBA);
    return pages_at(low, size);
}

void *attach(int segment, const void *at, int flags) {
    if (!shares_memory())
        return g_shmat(segment, at, flags);
    const std::size_t size = segment_size(segment);
    Claim right(place_of(at, size, flags));
    if (!right)
        return refuse("shmat with SHM_REMAP", at, size);
    void *const got = g_shmat(segment, at, flags);
    if (got == MAP_FAILED)
        right.end_in_vain();
    else if (g_attached.add(got, size))
        add_own(pages_at(got, size));
    return got;
}

int detach(const void *at) {
    if (shares_memory()) {
        const Range range = pages_at(at, g_attached.take(at));
        while (!range.empty() && !take_own(range).empty()) {
        }
    }
    return g_shmdt(at);
}

} // namespace
} // namespace sennit::loader::inside

using namespace sennit::loader::inside;

// Not the default, see above. Each needs a name of its own for the assembler.
#define SENNIT_HIDDEN_VERSION(name, function)                                                      \
    __asm__(".symver " #function ", " #name "@" SENNIT_OLDEST_LIBC)

extern "C" {

SENNIT_EXPORT void *sennit_rank_mmap(void *at, std::size_t size, int protection, int flags,
                                     int file, off_t offset) {
    return map(at, size, protection, flags, file, offset);
}
SENNIT_EXPORT void *sennit_rank_mmap64(void *at, std::size_t size, int protection, int flags,
                                       int file, off_t offset) {
    return map(at, size, protection, flags, file, offset);
}
SENNIT_EXPORT int sennit_rank_munmap(void *at, std::size_t size) {
    return unmap(at, size);
}
// The last argument is there if the flags say so.
SENNIT_EXPORT void *sennit_rank_mremap(void *from, std::size_t old_size, std::size_t size,
                                       int flags, void *to) {
    return remap(from, old_size, size, flags, to);
}
SENNIT_EXPORT void *sennit_rank_shmat(int segment, const void *at, int flags) {
    return attach(segment, at, flags);
}
SENNIT_EXPORT int sennit_rank_shmdt(const void *at) {
    return detach(at);
}
}

SENNIT_HIDDEN_VERSION(mmap, sennit_rank_mmap);
SENNIT_HIDDEN_VERSION(mmap64, sennit_rank_mmap64);
SENNIT_HIDDEN_VERSION(munmap, sennit_rank_munmap);
SENNIT_HIDDEN_VERSION(mremap, sennit_rank_mremap);
SENNIT_HIDDEN_VERSION(shmat, sennit_rank_shmat);
SENNIT_HIDDEN_VERSION(shmdt, sennit_rank_shmdt);
