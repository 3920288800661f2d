// SPDX-License-Identifier: Apache-2.0
// Data that the kernel moves from one file to another. It may wait in the middle of that for either
// of them, and no look in front of the call tells: a helper thread makes it (elsewhere.h).
#include "tasks/libc/calls.h"
#include "tasks/libc/disks.h"
#include "tasks/libc/files.h"
#include "tasks/pthread/bare.h"

#include <fcntl.h>

namespace sennit::libc {

using pthread::bare;

namespace {

bool is_disk(int file) {
    struct stat facts;
    return find_facts(file, facts) && is_on_disk(facts);
}

template <class Call>
ssize_t copy(int in, int out, const void *caller, Call call) {
    sched::Worker *const worker = worker_of_task(caller);
    if (!worker || is_nonblocking(in) || is_nonblocking(out))
        return call();
    return elsewhere(
        *worker, is_disk(in) && is_disk(out) ? CallEnds::by_itself : CallEnds::by_another, call);
}

} // namespace

ssize_t copy_file_range(int in, off_t *from, int out, off_t *to, std::size_t size, unsigned flags,
                        const void *caller) {
    return copy(in, out, caller,
                [=] { return bare.copy_file_range(in, from, out, to, size, flags); });
}

ssize_t sendfile(int out, int in, off_t *from, std::size_t size, const void *caller) {
    return copy(in, out, caller, [=] { return bare.sendfile(out, in, from, size); });
}

ssize_t splice(int in, off_t *from, int out, off_t *to, std::size_t size, unsigned flags,
               const void *caller) {
    const auto call = [=] { return bare.splice(in, from, out, to, size, flags); };
    return flags & SPLICE_F_NONBLOCK ? call() : copy(in, out, caller, call);
}

ssize_t tee(int in, int out, std::size_t size, unsigned flags, const void *caller) {
    const auto call = [=] { return bare.tee(in, out, size, flags); };
    return flags & SPLICE_F_NONBLOCK ? call() : copy(in, out, caller, call);
}

ssize_t vmsplice(int file, const iovec *vectors, std::size_t count, unsigned flags,
                 const void *caller) {
    const auto call = [=] { return bare.vmsplice(file, vectors, count, flags); };
    return flags & SPLICE_F_NONBLOCK ? call() : copy(file, file, caller, call);
}

int tcdrain(int file, const void *caller) {
    sched::Worker *const worker = worker_of_task(caller);
    const auto call = [=] { return bare.tcdrain(file); };
    return worker ? elsewhere(*worker, CallEnds::by_another, call) : call();
}

} // namespace sennit::libc
