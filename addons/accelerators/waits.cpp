// SPDX-License-Identifier: Apache-2.0
#include "accelerators/waits.h"

#include "base/loaded_object.h"
#include "base/spin.h"

#include <cstdio>
#include <utility>

// The runtime's, if it is in the process. That this library names them also tells the runtime that
// tasks may be suspended here (tasks/program/senders.h).
#pragma weak sennit_call_begins
#pragma weak sennit_task_self
#pragma weak sennit_task_suspend_for
#pragma weak sennit_task_resume
#pragma weak sennit_poll_register
#pragma weak sennit_poll_pending
#pragma weak sennit_teams_with_tasks

namespace sennit::accelerators {

namespace {

constexpr std::int32_t kNobodyHasLooked = 1;
constexpr std::int32_t kNoTasks = 0;

// ---- the functions behind ours -----------------------------------------------------------------

int missing() {
    return kNotSupported;
}

} // namespace

void *find_bare(const char *name) {
    if (void *const found = interpose::find_next(name))
        return found;
    std::fprintf(stderr,
                 "sennit: %s is called, but no library with it is loaded: the call fails "
                 "(SENNIT_ACCELERATORS=off leaves Sennit's library for it away)\n",
                 name);
    return reinterpret_cast<void *>(missing);
}

constinit const std::int32_t *g_teams_with_tasks = &kNobodyHasLooked;

// ---- the service -------------------------------------------------------------------------------

namespace {

bool is_of_program() {
    sennit_task *task = nullptr;
    return sennit_task_self(&task) == SENNIT_SUCCESS;
}

// The calling thread's current device for some calls. A thread of the program has its own again
// afterwards. The ticker keeps the last one: to choose a device may start it, and nobody wants the
// ticker's first one started.
class AtDevice {
  public:
    AtDevice() = default;
    ~AtDevice() {
        if (before_ >= 0 && is_of_program())
            set_current_device(before_);
    }
    AtDevice(const AtDevice &) = delete;
    AtDevice &operator=(const AtDevice &) = delete;

    void be(int device) {
        if (before_ < 0)
            before_ = current_device();
        set_current_device(device);
    }

  private:
    int before_ = -1; // no device was chosen
};

// A question for an event would break a graph that is being captured, by this thread or, in the
// usual mode, by any. In this mode it does not (CUDA 10.1 and later).
class BesideCaptures {
  public:
    BesideCaptures() { exchange(); }
    ~BesideCaptures() { exchange(); }
    BesideCaptures(const BesideCaptures &) = delete;
    BesideCaptures &operator=(const BesideCaptures &) = delete;

  private:
    void exchange() {
        static const auto call = reinterpret_cast<int (*)(int *)>(
            interpose::find_next(SENNIT_CALL_TEXT(ThreadExchangeStreamCaptureMode)));
        if (call)
            call(&mode_);
    }
    int mode_ = kCaptureRelaxed; // then the thread's own
};

// The tasks that wait. One for the process; the service takes the list as it is, and puts back what
// is not over, so nobody waits for the lock while events are asked for.
class Waits {
  public:
    void begin(); // once
    void add(AcceleratorWait &wait) {
        sennit_poll_pending(service_, 1); // before the service can find it
        put(wait);
    }
    void set_over(AcceleratorWait &wait) {
        const Guard guard(lock_);
        wait.is_over = true;
    }

  private:
    void put(AcceleratorWait &wait) {
        const Guard guard(lock_);
        wait.next = first_;
        first_ = &wait;
    }
    AcceleratorWait *take_all() {
        const Guard guard(lock_);
        return std::exchange(first_, nullptr);
    }
    bool is_over(const AcceleratorWait &wait) {
        const Guard guard(lock_);
        return wait.is_over;
    }
    static int serve(void *waits) { return static_cast<Waits *>(waits)->serve(); }
    int serve();
    bool has_ended(AcceleratorWait &wait, AtDevice &at);

    SpinLock lock_;
    AcceleratorWait *first_ SENNIT_GUARDED_BY(lock_) = nullptr;
    sennit_poll_service *service_ = nullptr; // written before g_teams_with_tasks
};
constinit Waits g_waits;

void Waits::begin() {
    sennit_poll_register(SENNIT_TEXT_OF(SENNIT_ACCELERATOR), serve, this, &service_);
}

bool Waits::has_ended(AcceleratorWait &wait, AtDevice &at) {
    if (!wait.event)
        return is_over(wait);
    at.be(wait.device);
    const BesideCaptures beside;
    wait.result = quietly([&] { return SENNIT_BARE_CALL(EventQuery, Event)(wait.event); });
    return wait.result != kNotReady;
}

// By one thread at a time. Older waits are asked for before newer ones every other time. An error
// that the program has not asked for yet stays on its thread: then the ticker looks.
int Waits::serve() {
    if (is_of_program() && SENNIT_BARE_CALL(PeekAtLastError)() != kSuccess)
        return 0;
    AtDevice at;
    int ended = 0;
    for (AcceleratorWait *wait = take_all(); wait;) {
        AcceleratorWait *const next = wait->next;
        if (has_ended(*wait, at)) {
            ++ended;
            sennit_task_resume(wait->task); // it may be gone afterwards
        } else {
            put(*wait);
        }
        wait = next;
    }
    if (ended > 0)
        sennit_poll_pending(service_, -ended);
    return ended;
}

// The first call looks whether there is a runtime.
bool has_runtime() {
    static const bool has = [] {
        const bool found = sennit_call_begins && sennit_task_self && sennit_task_suspend_for &&
                           sennit_task_resume && sennit_poll_register && sennit_poll_pending &&
                           sennit_teams_with_tasks;
        if (found)
            g_waits.begin();
        __atomic_store_n(&g_teams_with_tasks, found ? sennit_teams_with_tasks() : &kNoTasks,
                         __ATOMIC_RELAXED);
        return found;
    }();
    return has;
}

// The program, or a library that needs an OpenMP runtime: the locks of these are the tasks'.
bool is_program_code(const void *return_address) {
    const link_map *const object = object_of(static_cast<const char *>(return_address) - 1);
    return object && (!*object->l_name || DynamicSection(*object).needs(is_openmp_library));
}

} // namespace

bool suspends(const void *caller) {
    return has_runtime() && sennit_call_begins(0) && is_program_code(caller) &&
           SENNIT_BARE_CALL(PeekAtLastError)() == kSuccess;
}

// ---- a wait ------------------------------------------------------------------------------------

namespace {

bool suspend(AcceleratorWait &wait, const char *call) {
    const sennit_wait text = {call, 0, -1, -1, 0, 0, 0, nullptr, -1, -1};
    // Cannot fail: the task is the caller itself.
    sennit_task_suspend_for(wait.task, &text);
    set_current_device(wait.device); // other tasks have run on the thread
    return true;
}

} // namespace

bool AcceleratorWait::for_event(Event what, const char *call) {
    if (sennit_task_self(&task) != SENNIT_SUCCESS)
        return false;
    event = what;
    device = current_device();
    g_waits.add(*this);
    return suspend(*this, call);
}

bool AcceleratorWait::for_end(bool (*begin)(AcceleratorWait &), const char *call) {
    if (sennit_task_self(&task) != SENNIT_SUCCESS)
        return false;
    device = current_device();
    if (!begin(*this))
        return false;
    g_waits.add(*this);
    return suspend(*this, call);
}

void AcceleratorWait::end() {
    g_waits.set_over(*this);
}

StreamEnd::StreamEnd(Stream stream) {
    static constexpr auto create = SENNIT_BARE_CALL(EventCreateWithFlags, Event *, unsigned);
    static constexpr auto record = SENNIT_BARE_CALL(EventRecord, Event, Stream);
    if (quietly([&] { return create(&event_, kDisableTiming); }) != kSuccess)
        event_ = nullptr;
    else if (quietly([&] { return record(event_, stream); }) != kSuccess) {
        quietly([&] { return SENNIT_BARE_CALL(EventDestroy, Event)(event_); });
        event_ = nullptr;
    }
}

StreamEnd::~StreamEnd() {
    if (event_)
        quietly([&] { return SENNIT_BARE_CALL(EventDestroy, Event)(event_); });
}

bool StreamEnd::wait(const char *call) {
    return event_ && wait_.for_event(event_, call);
}

int StreamEnd::result() const {
    return wait_.result == kSuccess ? kSuccess : SENNIT_BARE_CALL(EventSynchronize, Event)(event_);
}

Work work_in(Stream stream) {
    switch (quietly([&] { return SENNIT_BARE_CALL(StreamQuery, Stream)(stream); })) {
    case kSuccess:
        return Work::none;
    case kNotReady:
        return Work::under_way;
    default:
        return Work::error;
    }
}

} // namespace sennit::accelerators
