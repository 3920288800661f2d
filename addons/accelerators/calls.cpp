// SPDX-License-Identifier: Apache-2.0
// libsennit-cuda.so and libsennit-hip.so: in front of an accelerator's runtime library, whose calls
// that wait for the device suspend the task that makes them. `sennit run` preloads one where the
// program needs that library.
//
// A call waits for what it waits for without Sennit, and returns what it returns then; the rest of
// its work is the bare call's. Outside of tasks, and wherever a task should not be suspended
// (waits.h), it is the bare call, a few instructions later.
//
//   of a stream    An event is put behind what is in the stream. So work that others add meanwhile
//                  is not waited for, and who waits needs no stream of the thread's. If that is
//                  impossible, as for a stream of another device, a thread makes the call.
//   of an event    That one is asked for.
//   of a device    No event stands for all streams. A thread makes the call.
//   copies         Only those between host and device wait. Page-locked memory: the copy is put
//                  into the stream, and an event behind it. Pageable memory: the processor copies,
//                  so the bare call does that when the stream has done what is before it.
//
// What is being captured into a graph returns an error when it is asked for, as when it is waited
// for: the bare call is to say which.
#include "accelerators/api.h"
#include "accelerators/waits.h"

#include "base/compiler.h"

#include <algorithm>
#include <csignal>
#include <cstring>
#include <pthread.h>
#include <sched.h>

namespace sennit::accelerators {
namespace {

// ---- streams, events, devices ------------------------------------------------------------------

// What a thread of ours waits for in place of a task.
struct ThreadsCall : AcceleratorWait {
    int (*bare)(Stream) = nullptr;
    Stream stream = nullptr;
    int said = kSuccess;
};

void *make_call(void *given) {
    auto &call = *static_cast<ThreadsCall *>(given);
    set_current_device(call.device);
    call.said = call.bare(call.stream);
    call.end();
    return nullptr;
}

// As the process was started: a worker may have bound itself since, and a thread that waits for the
// device may spin.
struct Processors {
    cpu_set_t set{};
    bool known = sched_getaffinity(0, sizeof set, &set) == 0;
};
const Processors g_processors;

bool begin_thread(AcceleratorWait &wait) {
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    if (g_processors.known)
        pthread_attr_setaffinity_np(&attributes, sizeof g_processors.set, &g_processors.set);
    sigset_t all;
    sigset_t before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before); // the program's signals are its threads'
    pthread_t thread;
    const bool begun = pthread_create(&thread, &attributes, make_call, &wait) == 0;
    pthread_attr_destroy(&attributes);
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    if (begun)
        pthread_detach(thread);
    return begun;
}

// False: there is no thread, or the call has failed. Then the task is to make it, for an error is
// to be that of its own thread.
bool is_made_by_thread(int (*bare)(Stream), Stream stream, const char *name) {
    ThreadsCall call;
    call.bare = bare;
    call.stream = stream;
    return call.for_end(begin_thread, name) && call.said == kSuccess;
}

template <class Bare>
SENNIT_COLD int synchronize_stream(Stream stream, const char *call, const void *caller, Bare bare) {
    if (!suspends(caller) || work_in(stream) != Work::under_way)
        return bare();
    StreamEnd end(stream);
    if (end.wait(call))
        return end.result();
    const auto by_thread = [](Stream other) {
        return SENNIT_BARE_CALL(StreamSynchronize, Stream)(other);
    };
    return !is_default(stream) && is_made_by_thread(by_thread, stream, call) ? kSuccess : bare();
}

template <class Bare>
SENNIT_COLD int synchronize_event(Event event, const char *call, const void *caller, Bare bare) {
    static constexpr auto query = SENNIT_BARE_CALL(EventQuery, Event);
    AcceleratorWait wait;
    if (!suspends(caller) || quietly([&] { return query(event); }) != kNotReady ||
        !wait.for_event(event, call) || wait.result != kSuccess)
        return bare();
    return kSuccess; // it may be recorded anew by now
}

int synchronize_device(Stream = nullptr) {
    return SENNIT_BARE_CALL(DeviceSynchronize)();
}

SENNIT_COLD int synchronize_device(const char *call, const void *caller) {
    return suspends(caller) && is_made_by_thread(synchronize_device, nullptr, call)
               ? kSuccess
               : synchronize_device();
}

// ---- copies ------------------------------------------------------------------------------------

// Below, a copy without anything before it takes less time than to suspend a task.
constexpr std::size_t kShort = 65536;

MemoryType memory_of(const void *address) {
    alignas(16) unsigned char attributes[256] = {}; // newer versions have more
    int type = 0;
    if (quietly([&] {
            return SENNIT_BARE_CALL(PointerGetAttributes, void *, const void *)(attributes,
                                                                                address);
        }) == kSuccess)
        std::memcpy(&type, attributes, sizeof type); // the first of all versions
    return static_cast<MemoryType>(type);
}

// What a call copies.
struct Copied {
    const void *to; // null: to where only the device reaches
    const void *from;
    std::size_t bytes; // about
    int kind;

    Copied(const void *to, const void *from, std::size_t bytes, int kind)
        : to(to), from(from), bytes(bytes), kind(kind) {}
    explicit Copied(const Copy3D *copy) : Copied(nullptr, nullptr, 0, kHostToHost) {
        if (!copy)
            return; // the bare call says so
        to = copy->to_array ? nullptr : copy->to.start;
        from = copy->from_array ? nullptr : copy->from.start;
        bytes = copy->extent.x * copy->extent.y * copy->extent.z;
        kind = copy->kind;
    }

    // Its end in the host's memory; null: both are there, or none is. Such a copy does not wait, or
    // nothing says that it does.
    const void *host_side() const {
        if (kind == kHostToDevice)
            return from;
        if (kind == kDeviceToHost)
            return to;
        if (kind != kByAddress)
            return nullptr;
        const bool into_device = is_of_device(to);
        return into_device == is_of_device(from) ? nullptr : into_device ? from : to;
    }

  private:
    static bool is_of_device(const void *address) {
        if (!address)
            return true;
        const MemoryType memory = memory_of(address);
        return memory == MemoryType::device || memory == MemoryType::managed;
    }
};

template <class Bare, class Async>
SENNIT_COLD int make_copy(const Copied &what, Stream stream, const char *call, const void *caller,
                          Bare bare, Async async) {
    const void *const host = suspends(caller) ? what.host_side() : nullptr;
    const Work work = host ? work_in(stream) : Work::error;
    if (work == Work::error || (work == Work::none && what.bytes < kShort))
        return bare();
    if (memory_of(host) == MemoryType::pinned) {
        if (const int error = async(stream))
            return error;
        StreamEnd end(stream);
        return end.wait(call) ? end.result() : SENNIT_BARE_CALL(StreamSynchronize, Stream)(stream);
    }
    if (work == Work::under_way)
        StreamEnd(stream).wait(call);
    return bare();
}

template <class Bare>
SENNIT_COLD int make_set(const void *memory, Stream stream, const char *call, const void *caller,
                         Bare bare) {
    if (suspends(caller))
        if (const MemoryType kind = memory_of(memory);
            (kind == MemoryType::pinned || kind == MemoryType::managed) &&
            work_in(stream) == Work::under_way)
            StreamEnd(stream).wait(call);
    return bare();
}

} // namespace
} // namespace sennit::accelerators

// ---- the names ---------------------------------------------------------------------------------

using namespace sennit::accelerators;

// What is added to a name for the calling thread's own default stream.
#define SENNIT_IS_cuda 1
#define SENNIT_IS_hip 2
#if SENNIT_JOIN(SENNIT_IS_, SENNIT_ACCELERATOR) == 1
#define SENNIT_OF_STREAM(name) SENNIT_JOIN(name, _ptsz)
#define SENNIT_OF_COPY(name) SENNIT_JOIN(name, _ptds)
#else
#define SENNIT_OF_STREAM(name) SENNIT_JOIN(name, _spt)
#define SENNIT_OF_COPY(name) SENNIT_JOIN(name, _spt)
#endif

extern "C" {

SENNIT_EXPORT int SENNIT_CALL(StreamSynchronize)(Stream stream) {
    static constexpr auto bare = SENNIT_BARE_CALL(StreamSynchronize, Stream);
    if (!may_be_in_task()) [[likely]]
        return bare(stream);
    return synchronize_stream(stream, SENNIT_CALL_TEXT(StreamSynchronize),
                              __builtin_return_address(0), [=] { return bare(stream); });
}

SENNIT_EXPORT int SENNIT_CALL(SENNIT_OF_STREAM(StreamSynchronize))(Stream stream) {
    static constexpr auto bare = SENNIT_BARE_CALL(SENNIT_OF_STREAM(StreamSynchronize), Stream);
    if (!may_be_in_task()) [[likely]]
        return bare(stream);
    return synchronize_stream(stream ? stream : kPerThread, SENNIT_CALL_TEXT(StreamSynchronize),
                              __builtin_return_address(0), [=] { return bare(stream); });
}

SENNIT_EXPORT int SENNIT_CALL(EventSynchronize)(Event event) {
    static constexpr auto bare = SENNIT_BARE_CALL(EventSynchronize, Event);
    if (!may_be_in_task()) [[likely]]
        return bare(event);
    return synchronize_event(event, SENNIT_CALL_TEXT(EventSynchronize), __builtin_return_address(0),
                             [=] { return bare(event); });
}

SENNIT_EXPORT int SENNIT_CALL(DeviceSynchronize)() {
    if (!may_be_in_task()) [[likely]]
        return synchronize_device();
    return synchronize_device(SENNIT_CALL_TEXT(DeviceSynchronize), __builtin_return_address(0));
}

#define SENNIT_COPY_IN(stream, exported, name, parameters, arguments, copied)                      \
    SENNIT_EXPORT int SENNIT_CALL(exported)(parameters) {                                          \
        static constexpr auto bare = SENNIT_BARE_CALL(exported, parameters);                       \
        if (!may_be_in_task()) [[likely]]                                                          \
            return bare(arguments);                                                                \
        return make_copy(                                                                          \
            Copied(copied), stream, SENNIT_CALL_TEXT(name), __builtin_return_address(0),           \
            [=] { return bare(arguments); },                                                       \
            [=](Stream into) {                                                                     \
                return SENNIT_BARE_CALL(SENNIT_JOIN(name, Async), parameters, Stream)(arguments,   \
                                                                                      into);       \
            });                                                                                    \
    }
#define SENNIT_SET_IN(stream, exported, name, parameters, arguments, memory)                       \
    SENNIT_EXPORT int SENNIT_CALL(exported)(parameters) {                                          \
        static constexpr auto bare = SENNIT_BARE_CALL(exported, parameters);                       \
        if (!may_be_in_task()) [[likely]]                                                          \
            return bare(arguments);                                                                \
        return make_set(memory, stream, SENNIT_CALL_TEXT(name), __builtin_return_address(0),       \
                        [=] { return bare(arguments); });                                          \
    }

#define SENNIT_COPY(name, parameters, arguments, copied)                                           \
    SENNIT_COPY_IN(kLegacy, name, name, SENNIT_LIST(parameters), SENNIT_LIST(arguments),           \
                   SENNIT_LIST(copied))                                                            \
    SENNIT_COPY_IN(kPerThread, SENNIT_OF_COPY(name), name, SENNIT_LIST(parameters),                \
                   SENNIT_LIST(arguments), SENNIT_LIST(copied))
#define SENNIT_SET(name, parameters, arguments, memory)                                            \
    SENNIT_SET_IN(kLegacy, name, name, SENNIT_LIST(parameters), SENNIT_LIST(arguments), memory)    \
    SENNIT_SET_IN(kPerThread, SENNIT_OF_COPY(name), name, SENNIT_LIST(parameters),                 \
                  SENNIT_LIST(arguments), memory)
#include "accelerators/calls.def"
}
