// SPDX-License-Identifier: Apache-2.0
#include "mpi/chaos/chaos.h"

#include "base/clock.h"
#include "base/config.h"
#include "base/hash.h"
#include "base/rank.h"
#include "mpi/call/bare.h"
#include "mpi/call/call_path.h"
#include "mpi/call/errors.h"
#include "mpi/call/runtime.h"
#include "mpi/options.h"

#include <cstdio>

namespace sennit::mpi {

constinit Chaos g_chaos;

namespace {

void refuse(const char *option, const char *word, int length) {
    std::fprintf(stderr, "sennit: %s='%s': %s%.*s%s: use %s; going on without chaos\n",
                 options::chaos.variable, option, length > 0 ? "'" : "a seed or a word", length,
                 word,
                 length > 0 ? "' is no such word, or its number is out of range" : " is missing",
                 options::chaos.range);
}

std::uint64_t mix(std::uint64_t a, std::uint64_t b) {
    std::uint64_t x = a ^ (b + kGolden + (a << 6) + (a >> 2));
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ull;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBull;
    return x ^ (x >> 31);
}

std::uint64_t now_ns() {
    return static_cast<std::uint64_t>(monotonic_ns());
}

} // namespace

bool Chaos::happens(const Operation &operation, std::uint64_t one_in, std::uint64_t what) {
    if (one_in == 0)
        return false;
    const bool collective = operation.turn.kind != Object::Kind::none;
    std::uint64_t kind = mix(what, collective ? 0 : rank_);
    for (const char *c = operation.name; *c; ++c)
        kind = mix(kind, static_cast<unsigned char>(*c));
    if (!collective)
        kind = mix(mix(kind, static_cast<std::uint64_t>(operation.peer)),
                   static_cast<std::uint64_t>(operation.tag));
    const std::uint64_t before = decisions_[kind % kKinds].fetch_add(1, std::memory_order_relaxed);
    return mix(mix(plan_.seed, kind), before) % one_in == 0;
}

void Chaos::configure(const char *option) {
    if (on_)
        g_calls.obstacles.fetch_sub(1, std::memory_order_relaxed);
    on_ = false;
    random_ = 0;
    if (!option || !*option)
        return;
    Plan plan;
    const NamedNumber words[] = {{"seed", &plan.seed, &plan.seeded},
                                 {"latency", &plan.latency_us, nullptr, 0, 60'000'000},
                                 {"bandwidth", &plan.bandwidth, nullptr, 1, 1'000'000},
                                 {"fail", &plan.one_in_fails, nullptr, 1, 1'000'000'000},
                                 {"short", &plan.one_in_short, nullptr, 1, 1'000'000'000},
                                 {"order", nullptr, &plan.order}};
    if (const BadWord bad = read_words(option, words); bad.text)
        return refuse(option, bad.text, bad.length);
    if (!plan.seeded)
        return refuse(option, "", 0);
    plan_ = plan;
    rank_ = static_cast<std::uint64_t>(rank_of_environment()) + 1;
    on_ = true;
    g_calls.obstacles.fetch_add(1, std::memory_order_relaxed);
    always_suspend();
}

int Chaos::fail(const Operation &operation) {
    if (!happens(operation, plan_.one_in_fails, 1))
        return MPI_SUCCESS;
    raise(operation.object, MPI_ERR_OTHER);
    return MPI_ERR_OTHER;
}

void Chaos::shorten(const Operation &operation, MPI_Status *status) {
    if (status == MPI_STATUS_IGNORE || operation.notice != Notice::receive ||
        !happens(operation, plan_.one_in_short, 2))
        return;
    static constexpr auto get_count = SENNIT_BARE(Get_count);
    static constexpr auto set_elements = SENNIT_BARE(Status_set_elements);
    outside_task([&] {
        int bytes = 0;
        const int error = get_count(status, MPI_BYTE, &bytes);
        return error == MPI_SUCCESS && bytes > 0 ? set_elements(status, MPI_BYTE, bytes / 2)
                                                 : error;
    });
}

int Chaos::any_below(int limit) {
    random_ = mix(plan_.seed + rank_, random_);
    return static_cast<int>(random_ % static_cast<std::uint64_t>(limit));
}

std::uint64_t Chaos::arrival(std::uint64_t bytes) {
    const std::uint64_t now = now_ns();
    std::uint64_t arrived = now;
    // What arrives comes one message after the other; 1 MB/s is 1 byte in 1000 ns.
    if (plan_.bandwidth > 0 && bytes > 0) {
        link_free_ = (link_free_ > now ? link_free_ : now) + bytes * 1000 / plan_.bandwidth;
        arrived = link_free_;
    }
    return arrived + plan_.latency_us * 1000;
}

} // namespace sennit::mpi
