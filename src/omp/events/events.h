// SPDX-License-Identifier: Apache-2.0
// What the rooms of OpenMP tell a tool that is attached through OMPT (OpenMP 5.2, chapter 19): its
// functions, one for each event, and what is kept for it. Who finds tools and answers their
// questions is omp/ompt/.
//
// Without a tool g_tool is as the compiler made it, observed::kTool is not set, and each hook in
// the runtime is one branch that is never taken. Events are raised where the thing happens; front
// doors only say where the program called them (team/entry.h).
#pragma once

#include "base/observed.h"
#include "omp/events/types.h"
#include "task/observer.h"

#include <atomic>
#include <cstdint>

namespace sennit {
struct Task;
}

namespace sennit::ompt {

// Is a tool attached? On a thread that has not used OpenMP yet: may there be one?
inline bool on() {
    return observed::by(observed::kTool);
}

// A function of the tool's for one event, or none.
template <class Signature>
class Callback;
template <class Result, class... Parameters>
class Callback<Result(Parameters...)> {
  public:
    using Function = Result (*)(Parameters...);

    void set(AnyFunction function) {
        function_.store(reinterpret_cast<Function>(function), std::memory_order_release);
    }
    AnyFunction get() const { return reinterpret_cast<AnyFunction>(wanted()); }
    Function wanted() const { return function_.load(std::memory_order_acquire); }
    template <class... Arguments>
    Result operator()(Arguments... arguments) const {
        if (Function function = wanted())
            return function(arguments...);
        return Result();
    }

  private:
    std::atomic<Function> function_{nullptr};
};

struct Callbacks {
#define SENNIT_OMPT_CALLBACK(name, number, result, ...) Callback<result(__VA_ARGS__)> name;
    SENNIT_OMPT_EVENTS(SENNIT_OMPT_CALLBACK)
#undef SENNIT_OMPT_CALLBACK
};
extern Callbacks g_tool;

// Called before a thread's first use of OpenMP, while on() says that there may be a tool: looks for
// one. Set when the library is loaded, before there are threads.
using BeforeFirstUse = void (*)();
extern BeforeFirstUse g_before_first_use;

// ---- what the runtime keeps for it --------------------------------------------------------------

// Of the calling thread. `current` is the task that runs here as the tool was told, see
// task/observer.h.
struct Thread {
    Data data{0};
    bool begun = false;
    Task *current = nullptr;
    TaskStatus leaving = kTaskSwitch; // status of `current` when another task is next
    // Of the routine of ours that the program has called last.
    const void *code = nullptr;
    // Of the next parallel region: how many threads were asked for.
    unsigned requested = 0;
};
extern SENNIT_TLS Thread t_thread;

// Of a parallel region; in its Team.
struct Region {
    Data data{0};
    std::uint32_t flags = 0;
    const void *code = nullptr;
};

inline Data *data_of(task::ToolRecord &record) {
    return reinterpret_cast<Data *>(&record.data);
}
inline Frame *frame_of(task::ToolRecord &record) {
    return reinterpret_cast<Frame *>(&record.frame);
}
static_assert(sizeof(Data) == sizeof(task::ToolRecord::data));
static_assert(sizeof(Frame) == sizeof(task::ToolRecord::Frame));

// While it lives user code of the task runs, called from the frame with this frame pointer. Always
// noted, tool or not: two stores.
class UserCode {
  public:
    UserCode(task::ToolRecord &record, void *frame) : exit_(record.frame.exit) { exit_ = frame; }
    ~UserCode() { exit_ = nullptr; }
    UserCode(const UserCode &) = delete;
    UserCode &operator=(const UserCode &) = delete;

  private:
    void *&exit_;
};

} // namespace sennit::ompt
