// SPDX-License-Identifier: Apache-2.0
// What the rooms of OpenMP tell a tool that is attached through OMPT (OpenMP 5.2, chapter 19): its
// functions, one for each event, and what is kept for it. The room openmp/ompt/ finds tools
// and answers their questions.
//
// Without a tool g_tool is as the compiler made it, observed::kTool is not set, and each hook in
// the runtime is one branch that is never taken. Events are raised where the thing happens; front
// doors only say where the program called them (team/entry.h).
#pragma once

#include "base/observed.h"
#include "tasks/task/observer.h"

#include <atomic>
#include <concepts>
#include <cstddef>
#include <cstdint>

namespace sennit::ompt {

// The binary interface between a runtime and a tool: what a host runtime uses of it. OpenMP 5.2,
// chapter 19, as LLVM 19's omp-tools.h spells it; GCC has no such header. Names are the standard's
// without their prefix.

union Data {
    std::uint64_t value;
    void *ptr;
};

struct Frame { // ompt_frame_t
    Data exit;
    Data enter;
    int exit_flags;
    int enter_flags;
};
enum FrameFlag : int {
    kFrameRuntime = 0x00,
    kFrameApplication = 0x01,
    kFrameCfa = 0x10,
    kFramePointer = 0x20,
    kFrameStackAddress = 0x30,
};

enum SetResult : int { kSetError = 0, kSetNever = 1, kSetAlways = 5 };
enum ThreadType : int { kThreadInitial = 1, kThreadWorker = 2 };
enum Endpoint : int { kBegin = 1, kEnd = 2 };
enum DispatchKind : int {
    kDispatchSection = 2,
    kDispatchLoopChunk = 3,
    kDispatchTaskloopChunk = 4,
    kDispatchDistributeChunk = 5,
};
struct DispatchChunk { // ompt_dispatch_chunk_t
    std::uint64_t start;
    std::uint64_t iterations;
};
enum SyncKind : int {
    kBarrierExplicit = 3,
    kBarrierImplementation = 4,
    kTaskwait = 5,
    kTaskgroup = 6,
    kReduction = 7,
    kBarrierWorkshare = 8,
    kBarrierParallel = 9,
    kBarrierTeams = 10,
};
enum WorkKind : int {
    kWorkLoop = 1,
    kWorkSections = 2,
    kWorkSingleExecutor = 3,
    kWorkSingleOther = 4,
    kWorkDistribute = 6,
    kWorkTaskloop = 7,
    kWorkScope = 8,
    kWorkLoopStatic = 10,
    kWorkLoopDynamic = 11,
    kWorkLoopGuided = 12,
    kWorkLoopOther = 13,
};
enum MutexKind : int {
    kLock = 1,
    kTestLock = 2,
    kNestLock = 3,
    kTestNestLock = 4,
    kCritical = 5,
    kAtomic = 6,
    kOrdered = 7,
};
enum TaskFlag : std::uint32_t {
    kTaskInitial = 0x1,
    kTaskImplicit = 0x2,
    kTaskExplicit = 0x4,
    kTaskTaskwait = 0x10,
    kTaskUndeferred = 0x08000000,
    kTaskUntied = 0x10000000,
    kTaskFinal = 0x20000000,
    kTaskMergeable = 0x40000000,
};
enum TaskStatus : int {
    kTaskComplete = 1,
    kTaskYield = 2,
    kTaskCancel = 3,
    kTaskDetach = 4,
    kTaskEarlyFulfill = 5,
    kTaskLateFulfill = 6,
    kTaskSwitch = 7,
    kTaskwaitComplete = 8,
};
enum ParallelFlag : std::uint32_t {
    kInvokerProgram = 0x1, // the compiler's code calls the body between two calls of ours
    kInvokerRuntime = 0x2,
    kParallelLeague = 0x40000000,
    kParallelTeam = 0x80000000,
};
enum DependenceType : int {
    kDependIn = 1,
    kDependOut = 2,
    kDependInout = 3,
    kDependMutexinoutset = 4,
    kDependSource = 5,
    kDependSink = 6,
    kDependInoutset = 7,
    kDependOutAllMemory = 34,
    kDependInoutAllMemory = 35,
};
struct Dependence { // ompt_dependence_t
    Data variable;
    int type;
};
enum Severity : int { kWarning = 1, kFatal = 2 };
enum CancelFlag : int {
    kCancelParallel = 0x01,
    kCancelSections = 0x02,
    kCancelLoop = 0x04,
    kCancelTaskgroup = 0x08,
    kCancelActivated = 0x10,
    kCancelDetected = 0x20,
    kCancelDiscardedTask = 0x40,
};
enum ToolState : int {
    kStateWorkSerial = 0x000,
    kStateWorkParallel = 0x001,
    kStateWorkReduction = 0x002,
    kStateBarrierParallel = 0x011,
    kStateBarrierWorkshare = 0x012,
    kStateBarrierExplicit = 0x014,
    kStateBarrierImplementation = 0x015,
    kStateBarrierTeams = 0x016,
    kStateTaskwait = 0x020,
    kStateTaskgroup = 0x021,
    kStateLock = 0x041,
    kStateCritical = 0x042,
    kStateAtomic = 0x043,
    kStateOrdered = 0x044,
    kStateIdle = 0x100,
    kStateOverhead = 0x101,
    kStateUndefined = 0x102,
};

// The events of the host: SENNIT_OMPT_EVENT(name, number, result, parameters...).
#define SENNIT_OMPT_EVENTS(EVENT)                                                                  \
    EVENT(thread_begin, 1, void, ThreadType, Data *thread)                                         \
    EVENT(thread_end, 2, void, Data *thread)                                                       \
    EVENT(parallel_begin, 3, void, Data *encountering, const Frame *, Data *parallel,              \
          unsigned requested, int flags, const void *code)                                         \
    EVENT(parallel_end, 4, void, Data *parallel, Data *encountering, int flags, const void *code)  \
    EVENT(task_create, 5, void, Data *encountering, const Frame *, Data *fresh, int flags,         \
          int has_dependences, const void *code)                                                   \
    EVENT(task_schedule, 6, void, Data *prior, TaskStatus, Data *next)                             \
    EVENT(implicit_task, 7, void, Endpoint, Data *parallel, Data *task, unsigned size,             \
          unsigned index, int flags)                                                               \
    EVENT(control_tool, 11, int, std::uint64_t command, std::uint64_t modifier, void *argument,    \
          const void *code)                                                                        \
    EVENT(sync_region_wait, 16, void, SyncKind, Endpoint, Data *parallel, Data *task,              \
          const void *code)                                                                        \
    EVENT(mutex_released, 17, void, MutexKind, std::uint64_t wait_id, const void *code)            \
    EVENT(dependences, 18, void, Data *task, const Dependence *, int count)                        \
    EVENT(task_dependence, 19, void, Data *predecessor, Data *successor)                           \
    EVENT(work, 20, void, WorkKind, Endpoint, Data *parallel, Data *task, std::uint64_t count,     \
          const void *code)                                                                        \
    EVENT(masked, 21, void, Endpoint, Data *parallel, Data *task, const void *code)                \
    EVENT(sync_region, 23, void, SyncKind, Endpoint, Data *parallel, Data *task, const void *code) \
    EVENT(lock_init, 24, void, MutexKind, unsigned hint, unsigned impl, std::uint64_t wait_id,     \
          const void *code)                                                                        \
    EVENT(lock_destroy, 25, void, MutexKind, std::uint64_t wait_id, const void *code)              \
    EVENT(mutex_acquire, 26, void, MutexKind, unsigned hint, unsigned impl, std::uint64_t wait_id, \
          const void *code)                                                                        \
    EVENT(mutex_acquired, 27, void, MutexKind, std::uint64_t wait_id, const void *code)            \
    EVENT(nest_lock, 28, void, Endpoint, std::uint64_t wait_id, const void *code)                  \
    EVENT(flush, 29, void, Data *thread, const void *code)                                         \
    EVENT(cancel, 30, void, Data *task, int flags, const void *code)                               \
    EVENT(reduction, 31, void, SyncKind, Endpoint, Data *parallel, Data *task, const void *code)   \
    EVENT(dispatch, 32, void, Data *parallel, Data *task, DispatchKind, Data instance)             \
    EVENT(error, 37, void, Severity, const char *message, std::size_t length, const void *code)

// ---- how a tool starts (19.2) -----------------------------------------------------------------

using AnyFunction = void (*)();
using Lookup = AnyFunction (*)(const char *name);
struct StartToolResult {
    int (*initialize)(Lookup, int initial_device, Data *tool_data);
    void (*finalize)(Data *tool_data);
    Data tool_data;
};
using StartTool = StartToolResult *(*)(unsigned omp_version, const char *runtime_version);

} // namespace sennit::ompt

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

struct ToolCallbacks {
#define SENNIT_OMPT_CALLBACK(name, number, result, ...) Callback<result(__VA_ARGS__)> name;
    SENNIT_OMPT_EVENTS(SENNIT_OMPT_CALLBACK)
#undef SENNIT_OMPT_CALLBACK
};
extern ToolCallbacks g_tool;

// Called before a thread's first use of OpenMP, while on() says that there may be a tool: looks for
// one. Set when the library is loaded, before there are threads.
using BeforeFirstUse = void (*)();
extern BeforeFirstUse g_before_first_use;

// ---- what the runtime keeps for it --------------------------------------------------------------

// Of the calling thread. `current` is the task that runs here as the tool was told, see
// tasks/task/observer.h.
struct ToolThread {
    Data data{0};
    bool begun = false;
    Task *current = nullptr;
    TaskStatus leaving = kTaskSwitch; // status of `current` when another task is next
    // Of the routine of ours that the program has called last.
    const void *code = nullptr;
    // Of the next parallel region: how many threads were asked for.
    unsigned requested = 0;
};
extern SENNIT_TLS ToolThread t_thread;

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

// Where the program has called a routine of ours: what front doors alone know, and pass on.

// What front doors call tests for a tool, and says where the program was only then. Inlined: a
// program without a tool pays for nothing else.
#define SENNIT_TOLD [[gnu::always_inline]] inline

namespace sennit::ompt {

// Where a routine of ours returns to, and its frame: by its canonical address, so that it needs no
// frame pointer.
struct Site {
    const void *code;
    void *cfa;
};

// The same of the exported routine in which it stands, or into which the function with it is
// inlined; looked up where a Site is wanted.
struct Caller {
    [[gnu::always_inline]] operator Site() const {
        return {__builtin_return_address(0), __builtin_dwarf_cfa()};
    }
};
#define SENNIT_SITE                                                                                \
    ::sennit::ompt::Caller {}
template <class T>
concept Where = std::convertible_to<T, Site>;

} // namespace sennit::ompt
