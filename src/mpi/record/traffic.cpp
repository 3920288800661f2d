// SPDX-License-Identifier: Apache-2.0
#include "mpi/record/traffic.h"

#include "base/compiler.h"
#include "base/guard.h"
#include "base/hash.h"
#include "mpi/call/bare.h"
#include "mpi/call/call_path.h"
#include "mpi/call/operation.h"
#include "mpi/record/record.h"

#include <cstdlib>
#include <new>

namespace sennit::mpi {
namespace {

constexpr std::uint32_t kFirstRoom = 16;
constexpr std::uint32_t kMostRows = 1u << 14;

bool is_same(const CountedMessage &a, const CountedMessage &b) {
    return a.direction == b.direction && a.peer == b.peer && a.tag == b.tag;
}

std::size_t hash(const CountedMessage &mail) {
    const std::uint64_t both = std::uint64_t{static_cast<std::uint32_t>(mail.peer)} << 33 |
                               std::uint64_t{static_cast<std::uint32_t>(mail.tag)} << 1 |
                               (mail.direction == SENNIT_NOTICE_SEND ? 1u : 0u);
    return hash_place(both, 32);
}

std::uint32_t account_of_caller() {
    static const auto ask =
        reinterpret_cast<decltype(&sennit_account_self)>(find_in_runtime("sennit_account_self"));
    std::uint32_t account = 0;
    return ask && ask(&account) == SENNIT_SUCCESS ? account : 0;
}

// -1: MPI knows of no such rank.
int own_rank() {
    static constexpr auto initialized = SENNIT_BARE(Initialized);
    static constexpr auto get_rank = SENNIT_BARE(Comm_rank);
    int is = 0;
    int rank = -1;
    outside_task([&] {
        return initialized(&is) == MPI_SUCCESS && is ? get_rank(MPI_COMM_WORLD, &rank)
                                                     : MPI_SUCCESS;
    });
    return rank;
}

} // namespace

// Of one account. Open addressing: a place without a direction is free.
struct Traffic::Rows {
    std::uint32_t account = 0;
    std::uint32_t room = 0; // a power of two, and more than are used, or 0
    std::uint32_t used = 0;
    int rank = -1; // of this process
    CountedMessage *rows = nullptr;
    Rows *next = nullptr;

    std::uint64_t key() const { return account; }
    Rows *&chain() { return next; }

    CountedMessage &place_of(const CountedMessage &mail) const {
        std::size_t at = hash(mail) & (room - 1);
        while (rows[at].direction != 0 && !is_same(rows[at], mail))
            at = (at + 1) & (room - 1);
        return rows[at];
    }

    // False: there is no memory, or there may be no more of them.
    bool make_room() {
        if (used * 2 < room)
            return true;
        if (used >= kMostRows)
            return false;
        Rows larger = *this;
        larger.room = room == 0 ? kFirstRoom : 2 * room;
        larger.rows =
            static_cast<CountedMessage *>(std::calloc(larger.room, sizeof(CountedMessage)));
        if (!larger.rows)
            return false;
        for (std::uint32_t i = 0; i < room; ++i)
            if (rows[i].direction != 0)
                larger.place_of(rows[i]) = rows[i];
        std::free(rows);
        *this = larger;
        return true;
    }

    void add(const CountedMessage &mail) {
        if (room != 0) {
            if (CountedMessage &known = place_of(mail); known.direction != 0) {
                known.bytes += mail.bytes;
                return;
            }
        }
        if (!make_room())
            return;
        place_of(mail) = mail;
        ++used;
    }
};

int Traffic::watch(std::uint32_t account, bool on) {
    const int rank = on ? own_rank() : -1;
    if (account == 0 || (on && rank < 0))
        return SENNIT_ERR_PARAMETER;
    const Guard guard(mutex_);
    Rows *const known = table_.find(account);
    if (known && !on) {
        table_.take(account);
        std::free(known->rows);
        std::free(known);
        watched_.fetch_sub(1, std::memory_order_relaxed);
    } else if (!known && on) {
        void *const memory = std::malloc(sizeof(Rows));
        if (!memory)
            return SENNIT_ERR_OUT_OF_MEMORY;
        table_.add(*new (memory) Rows{.account = account, .rank = rank});
        watched_.fetch_add(1, std::memory_order_relaxed);
    }
    return SENNIT_SUCCESS;
}

void Traffic::note(const CountedMessage &mail) {
    if (mail.direction == 0 || mail.bytes == 0 || !any())
        return;
    const std::uint32_t account = account_of_caller();
    if (account == 0)
        return;
    const Guard guard(mutex_);
    if (Rows *const known = table_.find(account))
        known->add(mail);
}

int Traffic::take(std::uint32_t account, void (*visit)(void *arg, const sennit_traffic *row),
                  void *arg) {
    const Guard guard(mutex_);
    Rows *const known = table_.find(account);
    if (!known || !visit)
        return SENNIT_ERR_PARAMETER;
    for (std::uint32_t i = 0; i < known->room; ++i) {
        CountedMessage &mail = known->rows[i];
        if (mail.direction == 0)
            continue;
        const sennit_traffic row = {mail.direction, known->rank, mail.peer, mail.tag, mail.bytes};
        visit(arg, &row);
        mail = {};
    }
    known->used = 0;
    return SENNIT_SUCCESS;
}

} // namespace sennit::mpi

// Messages of accounts, for the library of objects that move (sennit.h).

using namespace sennit::mpi;

extern "C" {

SENNIT_EXPORT int sennit_traffic_watch(std::uint32_t account, int on) {
    return g_record.timeline.watch(account, on != 0);
}

SENNIT_EXPORT int sennit_traffic_take(std::uint32_t account,
                                      void (*visit)(void *arg, const sennit_traffic *row),
                                      void *arg) {
    return g_record.timeline.take(account, visit, arg);
}

SENNIT_EXPORT int sennit_traffic_except(const void *comm) {
    return comm ? g_record.timeline.leave_out(*static_cast<const MPI_Comm *>(comm))
                : SENNIT_ERR_PARAMETER;
}

} // extern "C"
