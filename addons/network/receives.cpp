// SPDX-License-Identifier: Apache-2.0
#include "network/receives.h"

#include "base/message.h"
#include "network/bare.h"
#include "network/wire.h"

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace sennit::network {

Receives g_receives;

namespace {

[[noreturn]] void give_up(const char *what) {
    std::fprintf(stderr, "sennit: SENNIT_NETWORK: eager: %s\n", what);
    sennit::let_last_words_through();
    static constexpr auto abort_job = BARE(Abort);
    abort_job(MPI_COMM_WORLD, 2);
    std::abort();
}

} // namespace

void Receives::listen() const {
    pthread_setname_np(pthread_self(), "sennit-notices");
    SendNotice notice;
    while (notices_.next(notice, ranks_))
        g_wire.receive_called(notice.rank, notice.tag, notice.called);
}

void Receives::begin() {
    static constexpr auto rank_of = BARE(Comm_rank);
    static constexpr auto size_of = BARE(Comm_size);
    static constexpr auto gather = BARE(Allgather);
    rank_of(MPI_COMM_WORLD, &rank_);
    size_of(MPI_COMM_WORLD, &ranks_);
    std::uint64_t own = 0;
    if (!notices_.open(own))
        give_up(std::strerror(errno));
    addresses_ = static_cast<std::uint64_t *>(
        std::malloc(static_cast<std::size_t>(ranks_) * sizeof *addresses_));
    if (!addresses_)
        give_up("no memory for it");
    gather(&own, sizeof own, MPI_BYTE, addresses_, sizeof own, MPI_BYTE, MPI_COMM_WORLD);
    const auto body = [](void *receives) -> void * {
        static_cast<const Receives *>(receives)->listen();
        return nullptr;
    };
    if (pthread_create(&thread_, nullptr, body, this) != 0)
        give_up("no thread for it");
    g_wire.expect_receives(rank_);
    listening_ = true;
}

void Receives::end() {
    if (!listening_)
        return;
    notices_.stop();
    pthread_join(thread_, nullptr);
    notices_.close();
    std::free(addresses_);
    listening_ = false;
}

void Receives::called(int peer, int tag, MPI_Comm comm) const {
    if (!listening_ || comm != MPI_COMM_WORLD || peer == MPI_PROC_NULL)
        return;
    if (peer == MPI_ANY_SOURCE || tag == MPI_ANY_TAG)
        give_up("a receive has to name its sender and tag");
    if (peer >= 0 && peer < ranks_) // else MPI complains
        notices_.tell(addresses_[peer], {rank_, tag, now_ns()});
}

} // namespace sennit::network
