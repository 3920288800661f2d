// SPDX-License-Identifier: Apache-2.0
// The program calls a routine of ours. Only front doors know from where, so they say it. What
// happens then is told to the tool by the code that does it.
#pragma once

#include "omp/events/events.h"
#include "omp/events/site.h"
#include "sched/worker.h"
#include "task/task.h"

#include <cstddef>
#include <new>

namespace sennit::ompt {

// While an Entry lives, the current task is in a routine of ours. If routines of ours call each
// other, the tool sees the outermost one.
class Entry {
  public:
    explicit Entry(Site site);
    ~Entry();
    Entry(const Entry &) = delete;
    Entry &operator=(const Entry &) = delete;

    sched::Worker &worker() const { return worker_; }
    task::ToolRecord &record() const { return *worker_.task->tool; } // of the current task
    const void *code() const { return code_; }
    // The routine returns, but for the tool it does not end yet: another routine ends it, or the
    // caller's task is over.
    void stay() { record_ = nullptr; }

  private:
    sched::Worker &worker_;
    task::ToolRecord *record_; // null in an inner routine
    const void *code_;
};

// An Entry if a tool is attached, else nothing. For routines that are not called often.
class MaybeEntry {
  public:
    explicit MaybeEntry(Site site) : made_(on()) {
        if (made_)
            new (memory_) Entry(site);
    }
    ~MaybeEntry() {
        if (made_)
            reinterpret_cast<Entry *>(memory_)->~Entry();
    }
    MaybeEntry(const MaybeEntry &) = delete;
    MaybeEntry &operator=(const MaybeEntry &) = delete;

  private:
    const bool made_;
    alignas(Entry) std::byte memory_[sizeof(Entry)];
};

// The program itself calls the body of a region or task when the routine at `site` has returned.
// The tool is told the program's frame: the frame pointer that the routine found, if that can be
// one, else an address in the frame.
void stay_in_application(task::ToolRecord &record, Site site, void *frame_pointer);

} // namespace sennit::ompt
