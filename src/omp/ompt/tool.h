// SPDX-License-Identifier: Apache-2.0
// A tool that is attached through OMPT (OpenMP 5.2, chapter 19): how it is found and started, what
// it asked to be told, and what the runtime keeps for it.
//
// It is looked for when the first thread uses OpenMP. By then the constructors of the libraries
// that the program was linked with have run. Without a tool observed::kTool is never set, and each
// hook in the runtime is one branch that is never taken.
#pragma once

#include "base/observed.h"
#include "omp/ompt/types.h"
#include "task/observer.h"

#include <atomic>
#include <cstdint>

namespace sennit {
struct Task;
}

namespace sennit::omp {
struct LoopSchedule;
class Mutex;
struct Member;
struct NestMutex;
struct Team;
} // namespace sennit::omp

namespace sennit::ompt {

// ---- the tool -----------------------------------------------------------------------------------

// When the library is loaded: might there be a tool?
void setup();

// Before the calling thread's first use of OpenMP: look for a tool, once, and start it.
void start();

// Is a tool attached? On a thread that has not used OpenMP yet: may there be one?
inline bool on() {
    return observed::by(observed::kTool);
}

// Say goodbye to the tool: at exit, or when it asks for it (ompt_finalize_tool).
void finalize();
bool finalizing();

AnyFunction lookup(const char *name); // the entry points, inquiry.cpp

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
    // Of the next parallel region.
    unsigned requested = 0;
    std::uint32_t region_flags = 0;
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

} // namespace sennit::ompt
