// SPDX-License-Identifier: Apache-2.0
#include "network/receives.h"

#include "base/last_words.h"
#include "network/bare.h"
#include "network/wire.h"

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <unistd.h>

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
    Notice notice;
    while (notices_.next(notice))
        g_wire.receive_called(notice.rank, notice.tag, notice.called);
}

void Receives::begin() {
    static constexpr auto rank_of = BARE(Comm_rank);
    static constexpr auto broadcast = BARE(Bcast);
    static constexpr auto barrier = BARE(Barrier);
    rank_of(MPI_COMM_WORLD, &rank_);
    std::uint64_t job = now_ns() ^ static_cast<std::uint64_t>(getpid()) << 44;
    broadcast(&job, sizeof job, MPI_BYTE, 0, MPI_COMM_WORLD);
    if (!notices_.open(job, rank_))
        give_up(std::strerror(errno));
    barrier(MPI_COMM_WORLD);
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
    notices_.tell(rank_, {-1, 0, 0});
    pthread_join(thread_, nullptr);
    notices_.close();
    listening_ = false;
}

void Receives::called(int peer, int tag, MPI_Comm comm) const {
    if (!listening_ || comm != MPI_COMM_WORLD || peer == MPI_PROC_NULL)
        return;
    if (peer == MPI_ANY_SOURCE || tag == MPI_ANY_TAG)
        give_up("a receive has to name its sender and tag");
    notices_.tell(peer, {rank_, tag, now_ns()});
}

} // namespace sennit::network
