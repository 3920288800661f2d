// SPDX-License-Identifier: Apache-2.0
// Long messages between virtual ranks, without the kernel.
//
// MPI libraries pass long messages of a node by process_vm_readv(2) or process_vm_writev(2): the
// kernel looks up and holds each page, and copies. In one address space the other rank's buffer is
// memory as any, so the copy alone is left. All that makes a message one - matching, order,
// datatypes, probes, truncation - stays the MPI library's own.
//
// A rank that is killed while its message is copied takes the one that copies along, if what it
// sends lies on its first stack, which goes back at once.
//
// State: which process this is, written when the library is loaded; a forked child is none.
#include "base/compiler.h"
#include "base/rank.h"
#include "base/system_call.h"
#include "ranks/fibers/rank_fiber.h"

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <linux/kcmp.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

namespace sennit::mpi {
namespace {

pid_t g_self;             // 0: not a virtual rank
virt::RankFiber *g_fiber; // null: no rank fiber

[[gnu::constructor]] void find_self() {
    if (!is_virtual_rank())
        return;
    g_self = getpid();
    g_fiber = virt::own_fiber();
    pthread_atfork(nullptr, nullptr, [] { g_self = 0; });
}

// Has that other process our memory? Asked for each message, for a number may become another's. Who
// asks for his own memory this way does not know whether it is there: that is for the kernel.
bool is_near(pid_t process) {
    if (g_self == 0 || process == g_self)
        return false;
    if (g_fiber) // without the kernel, see ranks/fibers/rank_fiber.h
        return g_fiber->calls->find(*g_fiber, process) != nullptr;
    return system_call(SYS_kcmp, g_self, process, KCMP_VM, 0, 0, 0) == 0;
}

// As the kernel does: as much as both have room for.
class Pieces {
  public:
    Pieces(const iovec *pieces, unsigned long count) : at_(pieces), end_(pieces + count) { skip(); }
    bool over() const { return at_ == end_; }
    std::size_t left() const { return at_->iov_len - done_; }
    char *address() const { return static_cast<char *>(at_->iov_base) + done_; }
    void advance(std::size_t bytes) {
        done_ += bytes;
        skip();
    }

  private:
    void skip() {
        while (at_ != end_ && done_ == at_->iov_len) {
            ++at_;
            done_ = 0;
        }
    }
    const iovec *at_;
    const iovec *const end_;
    std::size_t done_ = 0;
};

ssize_t copy(Pieces to, Pieces from) {
    std::size_t all = 0;
    while (!to.over() && !from.over()) {
        const std::size_t bytes = std::min(to.left(), from.left());
        std::memcpy(to.address(), from.address(), bytes);
        to.advance(bytes);
        from.advance(bytes);
        all += bytes;
    }
    return static_cast<ssize_t>(all);
}

ssize_t ask_kernel(long number, pid_t process, const iovec *local, unsigned long local_count,
                   const iovec *remote, unsigned long remote_count, unsigned long flags) {
    const long result = system_call(number, process, reinterpret_cast<long>(local),
                                    static_cast<long>(local_count), reinterpret_cast<long>(remote),
                                    static_cast<long>(remote_count), static_cast<long>(flags));
    if (result >= 0)
        return result;
    errno = static_cast<int>(-result);
    return -1;
}

} // namespace
} // namespace sennit::mpi

using namespace sennit::mpi;

extern "C" {

SENNIT_EXPORT ssize_t process_vm_readv(pid_t process, const iovec *local, unsigned long local_count,
                                       const iovec *remote, unsigned long remote_count,
                                       unsigned long flags) {
    if (flags == 0 && is_near(process))
        return copy({local, local_count}, {remote, remote_count});
    return ask_kernel(SYS_process_vm_readv, process, local, local_count, remote, remote_count,
                      flags);
}

SENNIT_EXPORT ssize_t process_vm_writev(pid_t process, const iovec *local,
                                        unsigned long local_count, const iovec *remote,
                                        unsigned long remote_count, unsigned long flags) {
    if (flags == 0 && is_near(process))
        return copy({remote, remote_count}, {local, local_count});
    return ask_kernel(SYS_process_vm_writev, process, local, local_count, remote, remote_count,
                      flags);
}
}
