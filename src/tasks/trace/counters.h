// SPDX-License-Identifier: Apache-2.0
// What processors and the kernel count of each thread, for the trace (SENNIT_COUNTERS):
// instructions, cycles, cache misses, page faults.
//
// The kernel counts for a thread, so a count has no place where it could be added up by tasks. The
// recorder asks at each event that changes what the thread does, and the reader knows whose the
// difference is: a task that goes on on another thread has the sum. Code of the kernel is not
// counted.
//
// A thread's counters are open from its second event on: which counters there are is known once the
// file is there.
#pragma once

#include "tasks/trace/format.h"

#include <linux/perf_event.h>

namespace sennit::trace {

// The names that `list` asks for, in its order; "on" stands for the usual ones. False: a word is
// none, and `bad` is where it begins.
struct CounterList {
    int count = 0;
    int which[kMostCounters] = {};
};
bool read_counter_list(const char *list, CounterList &found, const char *&bad);

// From SENNIT_COUNTERS. False: nothing is to be counted.
bool ask_for_counters();
// Which of them this process can have, by trying on the calling thread. One line says which not,
// and why. Under the lock of the file, when this is made.
void choose_counters(Header &header);
// How much the calling thread has counted since it was last asked. False: nothing, or nothing is
// known of it.
bool read_counters(Word (&counted)[kMostCounters]);
// The calling thread ends.
void close_counters();
// Those of the calling thread are the parent's.
void forget_counters();

// A counter without a system call, from the page that the kernel shows (perf_event_open(2)): what
// the kernel has added up, and what the processor has counted since, in `width` bits. False: the
// counter is not on the processor now. `read_processor(index)` is the instruction.
template <class Read>
bool read_shown(const perf_event_mmap_page &page, Read read_processor, Word &value) {
    const auto load = [](const auto &field) { return __atomic_load_n(&field, __ATOMIC_RELAXED); };
    for (;;) {
        // The kernel writes the page on this processor, between two instructions of this thread. So
        // the compiler alone must keep the order, and a change of `lock` tells of a write.
        const std::uint32_t version = load(page.lock);
        __atomic_signal_fence(__ATOMIC_ACQ_REL);
        const std::uint32_t index = load(page.index);
        if (!page.cap_user_rdpmc || index == 0)
            return false;
        const int unused = 64 - load(page.pmc_width);
        const auto since = static_cast<std::int64_t>(read_processor(index - 1) << unused) >> unused;
        value = static_cast<Word>(load(page.offset)) + static_cast<Word>(since);
        __atomic_signal_fence(__ATOMIC_ACQ_REL);
        if (load(page.lock) == version)
            return true;
    }
}

} // namespace sennit::trace
