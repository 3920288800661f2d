// SPDX-License-Identifier: Apache-2.0
// include/dlb.h over pools. LeWI's calls are the runtime's sennit_pool_lend and _reclaim, if there
// is a runtime; DROM's look at the board themselves, so that programs without one may call them.
#include "dlb/callbacks.h"
#include "dlb/talp.h"

#include "base/compiler.h"
#include "base/dlb_options.h"
#include "base/guard.h"
#include "base/small_file.h"
#include "node/look.h"
#include "node/pool.h"
#include "sennit.h"

#include <atomic>
#include <cstdio>
#include <cstring>
#include <dlfcn.h>
#include <iterator>
#include <sched.h>
#include <unistd.h>

namespace {

using namespace sennit::node;

// One for the process.
struct State {
    sennit::Mutex mutex;
    std::atomic<bool> initialized{false};
    std::atomic<bool> enabled{true};
    // What this process looks at; opened by whoever needs it first.
    Board board SENNIT_GUARDED_BY(mutex);
    int users SENNIT_GUARDED_BY(mutex) = 0; // DLB_Init and DLB_DROM_Attach
    Cores owned SENNIT_GUARDED_BY(mutex);   // as DLB_PollDROM has told it
};
constinit State g_state;
thread_local bool t_lent = false;

int open_board() SENNIT_REQUIRES(g_state.mutex) {
    if (g_state.users > 0) {
        ++g_state.users;
        return DLB_SUCCESS;
    }
    Reason reason;
    const Membership membership = read_membership(reason);
    Reason why;
    if (!g_state.board.open(membership.path, why))
        return DLB_ERR_NOSHMEM;
    g_state.users = 1;
    return DLB_SUCCESS;
}

void close_board() SENNIT_REQUIRES(g_state.mutex) {
    if (--g_state.users == 0)
        g_state.board.close();
}

int find_slot(int pid) SENNIT_REQUIRES(g_state.mutex) {
    int found = kNobody;
    g_state.board.each([&](int number, BoardSlot &slot) {
        if (slot.cores.counts.load(std::memory_order_acquire) != 0 &&
            pid_of(slot.holder.load(std::memory_order_relaxed)) == (pid == 0 ? getpid() : pid))
            found = number;
    });
    return found;
}

Cores owned_by(int slot) SENNIT_REQUIRES(g_state.mutex) {
    Cores cores;
    const CoreTable &table = g_state.board.core_table();
    for (int core = 0; core < table.end(); ++core)
        if (table.state(core).owner == slot)
            cores.add(core);
    return cores;
}

void write_mask(const Cores &cores, dlb_cpu_set_t mask) {
    if (!mask)
        return;
    auto *const set = static_cast<cpu_set_t *>(mask);
    CPU_ZERO(set);
    for (int core = 0, end = cores.end(); core < end && core < CPU_SETSIZE; ++core)
        if (cores.has(core))
            CPU_SET(core, set);
}

bool has_core(const_dlb_cpu_set_t mask, int core) {
    return core < CPU_SETSIZE && CPU_ISSET(core, static_cast<const cpu_set_t *>(mask));
}

// A process that owns cores now is to own as many when they are divided anew.
void keep_division() SENNIT_REQUIRES(g_state.mutex) {
    Memory &memory = g_state.board.policy_memory();
    memory = {};
    std::size_t next = 0;
    g_state.board.each([&](int number, BoardSlot &slot) {
        if (slot.cores.counts.load(std::memory_order_acquire) == 0 || slot.member.leftover)
            return;
        g_state.mutex.assert_held();
        const int owned = owned_by(number).count();
        int first = number; // of its job: it stands for the program
        for (int i = number; i-- > 0;)
            if (g_state.board.slot(i).job.load() == slot.job.load() &&
                g_state.board.slot(i).cores.counts.load() != 0)
                first = i;
        for (Memory::Program &row : memory.programs)
            if (row.taken != 0 && row.program == first) {
                row.target += owned;
                return;
            }
        if (next < std::size(memory.programs)) {
            memory.programs[next].program = first;
            memory.programs[next].target = owned;
            memory.programs[next++].taken = 1;
        }
    });
}

int call_runtime(const char *name) {
    if (!g_state.initialized.load(std::memory_order_relaxed))
        return DLB_ERR_NOINIT;
    if (!g_state.enabled.load(std::memory_order_relaxed))
        return DLB_ERR_DISBLD;
    const auto call = reinterpret_cast<int (*)()>(dlsym(RTLD_DEFAULT, name));
    if (!call)
        return DLB_NOUPDT; // no OpenMP in this program, or not Sennit's: nothing to lend
    return call() == 0 ? DLB_SUCCESS : DLB_ERR_UNKNOWN;
}

int lend() {
    const int result = call_runtime("sennit_pool_lend");
    t_lent = t_lent || result == DLB_SUCCESS;
    return result;
}

int reclaim() {
    if (!t_lent && g_state.initialized.load(std::memory_order_relaxed))
        return g_state.enabled.load(std::memory_order_relaxed) ? DLB_NOUPDT : DLB_ERR_DISBLD;
    const int result = call_runtime("sennit_pool_reclaim");
    t_lent = t_lent && result != DLB_SUCCESS;
    return result;
}

// Of threads of this process that are idle, and stay awake on their cores for a moment: the cores
// that `takes` names.
template <class Takes>
int lend_idle(Takes takes) {
    if (!g_state.initialized.load(std::memory_order_relaxed))
        return DLB_ERR_NOINIT;
    if (!g_state.enabled.load(std::memory_order_relaxed))
        return DLB_ERR_DISBLD;
    const sennit::Guard guard(g_state.mutex);
    const int slot = find_slot(0);
    CoreTable &table = g_state.board.core_table();
    int lent = 0;
    for (int core = 0; slot != kNobody && core < table.end(); ++core) {
        const CoreState now = table.state(core);
        if (now.user != slot || !now.rests || !takes(core, lent) ||
            !table.give({core, now.use}, slot))
            continue;
        ++lent;
        if (table.anybody_wants())
            tell_of_free_core(g_state.board, policy_on(g_state.board), core);
    }
    return lent > 0 ? DLB_SUCCESS : DLB_NOUPDT;
}

// What happens without being asked for.
int by_itself() {
    if (!g_state.initialized.load(std::memory_order_relaxed))
        return DLB_ERR_NOINIT;
    return g_state.enabled.load(std::memory_order_relaxed) ? DLB_NOUPDT : DLB_ERR_DISBLD;
}

int acquire(int most) {
    if (t_lent)
        return reclaim();
    if (const int off = by_itself(); off != DLB_NOUPDT)
        return off;
    const auto ask = reinterpret_cast<int (*)(int, int *)>(dlsym(RTLD_DEFAULT, "sennit_pool_ask"));
    int found = 0;
    return ask && ask(most, &found) == 0 && found > 0 ? DLB_SUCCESS : DLB_NOUPDT;
}

void begin_talp() {
    const auto is_there = reinterpret_cast<int (*)(int *)>(dlsym(RTLD_DEFAULT, "MPI_Initialized"));
    const auto begin =
        reinterpret_cast<decltype(&sennit_count_time)>(dlsym(RTLD_DEFAULT, "sennit_count_time"));
    if (sennit::SpentNow now; sennit::dlb::read_spent(now))
        return;
    int late = 0;
    if (is_there)
        is_there(&late);
    if (late || !begin || begin() != SENNIT_SUCCESS)
        std::fprintf(stderr,
                     "sennit: DLB_Init: --talp comes %s, no time is counted: start the "
                     "program by `sennit run --talp`, or with --talp in DLB_ARGS\n",
                     begin ? "too late" : "without Sennit's OpenMP library");
}

int set_enabled(bool enabled) {
    const sennit::Guard guard(g_state.mutex);
    if (!g_state.initialized.load(std::memory_order_relaxed))
        return DLB_ERR_NOINIT;
    if (g_state.enabled.load(std::memory_order_relaxed) == enabled)
        return DLB_NOUPDT;
    g_state.enabled.store(enabled, std::memory_order_relaxed);
    return DLB_SUCCESS;
}

} // namespace

extern "C" {

SENNIT_EXPORT int DLB_Init(int, const_dlb_cpu_set_t, const char *arguments) {
    const sennit::Guard guard(g_state.mutex);
    if (g_state.initialized.load(std::memory_order_relaxed))
        return DLB_ERR_INIT;
    if (const int error = open_board())
        return error;
    const int slot = find_slot(0);
    g_state.owned = slot == kNobody ? Cores() : owned_by(slot);
    g_state.initialized.store(true, std::memory_order_relaxed);
    if (sennit::dlb_wants_talp(arguments))
        begin_talp();
    return DLB_SUCCESS;
}

SENNIT_EXPORT int DLB_Finalize() {
    const sennit::Guard guard(g_state.mutex);
    if (!g_state.initialized.load(std::memory_order_relaxed))
        return DLB_ERR_NOINIT;
    if (t_lent)
        reclaim();
    g_state.initialized.store(false, std::memory_order_relaxed);
    close_board();
    return DLB_SUCCESS;
}

SENNIT_EXPORT int DLB_Enable() {
    return set_enabled(true);
}

SENNIT_EXPORT int DLB_Disable() {
    if (t_lent)
        reclaim();
    return set_enabled(false);
}

SENNIT_EXPORT const char *DLB_Strerror(int error) {
    static constexpr const char *texts[] = {
        "nothing to do",
        "noted, for later",
        "done",
        "failed, for a reason that is not known",
        "DLB_Init has not been called",
        "DLB_Init has been called already",
        "disabled by DLB_Disable",
        "there is no pool, or it cannot be opened",
        "no such process in the pool",
        "the process has not taken the last change yet",
        "other processes own these cores, or it may not run there",
        "it took too long",
        "there is no such callback",
        "there is no such thing",
        "it does not go with the other options",
        "too many requests",
        "the pool has no room for another process",
        "Sennit has nothing like it",
        "Sennit does not measure that",
        "there is no LeWI",
        "there is nothing to manage",
    };
    const int index = DLB_NOUPDT - error;
    return index >= 0 && index < static_cast<int>(std::size(texts)) ? texts[index]
                                                                    : "no such error";
}

SENNIT_EXPORT int DLB_Lend() {
    return lend();
}
SENNIT_EXPORT int DLB_LendCpu(int) {
    return lend();
}
SENNIT_EXPORT int DLB_LendCpus(int count) {
    return lend_idle([=](int, int lent) { return lent < count; });
}
SENNIT_EXPORT int DLB_LendCpuMask(const_dlb_cpu_set_t mask) {
    return lend_idle([=](int core, int) { return mask && has_core(mask, core); });
}
SENNIT_EXPORT int DLB_Reclaim() {
    return reclaim();
}
SENNIT_EXPORT int DLB_ReclaimCpu(int) {
    return reclaim();
}
SENNIT_EXPORT int DLB_ReclaimCpus(int) {
    return reclaim();
}
SENNIT_EXPORT int DLB_ReclaimCpuMask(const_dlb_cpu_set_t) {
    return reclaim();
}
SENNIT_EXPORT int DLB_AcquireCpu(int) {
    return acquire(1);
}
SENNIT_EXPORT int DLB_AcquireCpus(int count) {
    return acquire(count);
}
SENNIT_EXPORT int DLB_AcquireCpuMask(const_dlb_cpu_set_t mask) {
    return acquire(mask ? CPU_COUNT(static_cast<const cpu_set_t *>(mask)) : 0);
}
SENNIT_EXPORT int DLB_AcquireCpusInMask(int count, const_dlb_cpu_set_t) {
    return acquire(count);
}
SENNIT_EXPORT int DLB_Borrow() {
    return by_itself();
}
SENNIT_EXPORT int DLB_BorrowCpu(int) {
    return by_itself();
}
SENNIT_EXPORT int DLB_BorrowCpus(int) {
    return by_itself();
}
SENNIT_EXPORT int DLB_BorrowCpuMask(const_dlb_cpu_set_t) {
    return by_itself();
}
SENNIT_EXPORT int DLB_BorrowCpusInMask(int, const_dlb_cpu_set_t) {
    return by_itself();
}
SENNIT_EXPORT int DLB_Return() {
    return by_itself();
}
SENNIT_EXPORT int DLB_ReturnCpu(int) {
    return by_itself();
}
SENNIT_EXPORT int DLB_ReturnCpuMask(const_dlb_cpu_set_t) {
    return by_itself();
}

SENNIT_EXPORT int DLB_PollDROM(int *count, dlb_cpu_set_t mask) {
    const sennit::Guard guard(g_state.mutex);
    if (!g_state.initialized.load(std::memory_order_relaxed))
        return DLB_ERR_NOINIT;
    const int slot = find_slot(0);
    const Cores now = slot == kNobody ? Cores() : owned_by(slot);
    if (std::memcmp(&now, &g_state.owned, sizeof now) == 0)
        return DLB_NOUPDT;
    g_state.owned = now;
    if (count)
        *count = now.count();
    write_mask(now, mask);
    return DLB_SUCCESS;
}

SENNIT_EXPORT int DLB_PollDROM_Update() {
    int count = 0;
    cpu_set_t mask;
    const int result = DLB_PollDROM(&count, &mask);
    if (result == DLB_SUCCESS)
        sennit::dlb::tell_change(count, &mask); // without the mutex: it may call us
    return result;
}

SENNIT_EXPORT int DLB_CheckCpuAvailability(int core) {
    const sennit::Guard guard(g_state.mutex);
    if (!g_state.initialized.load(std::memory_order_relaxed))
        return DLB_ERR_NOINIT;
    const int slot = find_slot(0);
    const CoreTable &table = g_state.board.core_table();
    if (slot == kNobody || core < 0 || core >= table.end())
        return DLB_ERR_PERM;
    const CoreState now = table.state(core);
    if (now.owner != slot)
        return DLB_ERR_PERM;
    if (now.user == kNobody || now.user == slot)
        return DLB_SUCCESS;
    return now.recalled ? DLB_NOTED : DLB_NOUPDT;
}

SENNIT_EXPORT int DLB_DROM_Attach() {
    const sennit::Guard guard(g_state.mutex);
    return open_board();
}

SENNIT_EXPORT int DLB_DROM_Detach() {
    const sennit::Guard guard(g_state.mutex);
    if (g_state.users == (g_state.initialized.load(std::memory_order_relaxed) ? 1 : 0))
        return DLB_ERR_NOSHMEM;
    close_board();
    return DLB_SUCCESS;
}

SENNIT_EXPORT int DLB_DROM_GetNumCpus(int *count) {
    const sennit::Guard guard(g_state.mutex);
    if (g_state.users == 0)
        return DLB_ERR_NOSHMEM;
    const int of_pool = g_state.board.pool().cores.count();
    *count = of_pool > 0 ? of_pool : g_state.board.core_table().end();
    return DLB_SUCCESS;
}

SENNIT_EXPORT int DLB_DROM_GetPidList(int *pids, int *count, int most) {
    const sennit::Guard guard(g_state.mutex);
    if (g_state.users == 0)
        return DLB_ERR_NOSHMEM;
    *count = 0;
    g_state.board.each([&](int, BoardSlot &slot) {
        if (slot.cores.counts.load(std::memory_order_acquire) != 0 && *count < most)
            pids[(*count)++] = pid_of(slot.holder.load(std::memory_order_relaxed));
    });
    return DLB_SUCCESS;
}

SENNIT_EXPORT int DLB_DROM_GetProcessMask(int pid, dlb_cpu_set_t mask, dlb_drom_flags_t) {
    const sennit::Guard guard(g_state.mutex);
    if (g_state.users == 0)
        return DLB_ERR_NOSHMEM;
    const int slot = find_slot(pid);
    if (slot == kNobody)
        return DLB_ERR_NOPROC;
    write_mask(owned_by(slot), mask);
    return DLB_SUCCESS;
}

SENNIT_EXPORT int DLB_DROM_SetProcessMask(int pid, const_dlb_cpu_set_t mask,
                                          dlb_drom_flags_t flags) {
    const sennit::Guard guard(g_state.mutex);
    if (g_state.users == 0)
        return DLB_ERR_NOSHMEM;
    const int slot = find_slot(pid);
    if (slot == kNobody)
        return DLB_ERR_NOPROC;
    CoreTable &table = g_state.board.core_table();
    const Cores &allowed = g_state.board.slot(slot).member.cores;
    for (int core = 0; core < CPU_SETSIZE; ++core) {
        if (!has_core(mask, core))
            continue;
        const bool is_there = core < table.end() && allowed.has(core);
        const int owner = is_there ? table.state(core).owner : kNobody;
        if (!is_there || (owner != kNobody && owner != slot && (flags & DLB_STEAL_CPUS) == 0))
            return DLB_ERR_PERM;
    }
    for (int core = 0; core < table.end(); ++core) {
        if (has_core(mask, core))
            table.set_owner(core, slot);
        else if (table.state(core).owner == slot)
            table.set_owner(core, kNobody);
    }
    keep_division();
    return DLB_SUCCESS;
}

SENNIT_EXPORT int DLB_DROM_SetProcessMaskStr(int pid, const char *list, dlb_drom_flags_t flags) {
    cpu_set_t mask;
    CPU_ZERO(&mask);
    if (list)
        sennit::each_of_list(list, CPU_SETSIZE, [&](int core) { CPU_SET(core, &mask); });
    if (CPU_COUNT(&mask) == 0)
        return DLB_ERR_PERM;
    return DLB_DROM_SetProcessMask(pid, &mask, flags);
}

SENNIT_EXPORT int DLB_DROM_PreInit(int, const_dlb_cpu_set_t mask, dlb_drom_flags_t, char ***) {
    const sennit::Guard guard(g_state.mutex);
    if (g_state.users == 0)
        return DLB_ERR_NOSHMEM;
    const Cores &cores = g_state.board.pool().cores;
    for (int core = 0; mask && core < CPU_SETSIZE; ++core)
        if (has_core(mask, core) && (core >= kMostCores || (cores.count() > 0 && !cores.has(core))))
            return DLB_ERR_PERM;
    return DLB_SUCCESS;
}

SENNIT_EXPORT int DLB_DROM_PostFinalize(int pid, dlb_drom_flags_t) {
    const sennit::Guard guard(g_state.mutex);
    if (g_state.users == 0)
        return DLB_ERR_NOSHMEM;
    const bool was_there = find_slot(pid) != kNobody;
    if (g_state.board.sweep() > 0)
        divide_cores(g_state.board);
    return was_there ? DLB_SUCCESS : DLB_ERR_NOPROC;
}

SENNIT_EXPORT int DLB_DROM_RecoverStolenCpus(int pid) {
    const sennit::Guard guard(g_state.mutex);
    if (g_state.users == 0)
        return DLB_ERR_NOSHMEM;
    return find_slot(pid) == kNobody ? DLB_ERR_NOPROC : DLB_NOUPDT;
}

} // extern "C"
