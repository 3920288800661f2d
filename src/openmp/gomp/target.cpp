// SPDX-License-Identifier: Apache-2.0
// target constructs where there is no device: the region runs on the host, mapped data is the
// program's own (OpenMP 5.2, 1.3). Only firstprivate items need care: the region gets copies.
#include "openmp/api/api.h"
#include "openmp/gomp/tasks.h"
#include "openmp/team/league.h"
#include "openmp/team/team.h"

#include <algorithm>
#include <climits>
#include <cstddef>
#include <cstring>
#include <new>

using namespace sennit;
using gomp::Function;

namespace {

// Values of a `device` argument that are no device.
constexpr int kDefaultDevice = -1;
constexpr int kHostFallback = -2; // if(false)

constexpr unsigned kNowait = 1u << 0; // in `flags`

void require_device(int device) {
    if (device == kHostFallback)
        return;
    omp::require_device(device == kDefaultDevice ? omp::here().task->icvs->default_device : device);
}

// Words of (value << 16 | what << 8 | device); with kValueFollows the value is the next word.
int thread_limit_of(void **arguments) {
    constexpr std::intptr_t kDevice = 0x7f; // 0: of any
    constexpr std::intptr_t kValueFollows = 0x80;
    constexpr std::intptr_t kWhat = 0xff00;
    constexpr std::intptr_t kThreadLimit = 0x200;
    while (arguments && *arguments) {
        const auto word = reinterpret_cast<std::intptr_t>(*arguments++);
        const std::intptr_t value =
            (word & kValueFollows) ? reinterpret_cast<std::intptr_t>(*arguments++) : word >> 16;
        if ((word & kDevice) == 0 && (word & kWhat) == kThreadLimit)
            return static_cast<int>(std::min<std::intptr_t>(value, INT_MAX));
    }
    return 0;
}

// The items of a construct, as the compiler passes them.
struct Items {
    std::size_t count;
    void **addresses;
    const std::size_t *sizes;
    const unsigned short *kinds; // how it is mapped; high byte: log2 of its alignment

    // An absent optional argument of Fortran has no address.
    bool is_firstprivate(std::size_t i) const {
        constexpr unsigned kFirstprivate = 12;
        return (kinds[i] & 0xffu) == kFirstprivate && addresses[i];
    }
    long alignment(std::size_t i) const { return 1L << (kinds[i] >> 8); }

    // Bytes for own addresses and, behind them, the copies.
    std::size_t room() const {
        std::size_t bytes = count * sizeof(void *);
        for (std::size_t i = 0; i < count; ++i)
            if (is_firstprivate(i))
                bytes += sizes[i] + static_cast<std::size_t>(alignment(i));
        return bytes;
    }
    void copy_to(void **own) const {
        void *at = own + count;
        for (std::size_t i = 0; i < count; ++i) {
            own[i] = addresses[i];
            if (!is_firstprivate(i))
                continue;
            own[i] = gomp::align_up(at, alignment(i));
            std::memcpy(own[i], addresses[i], sizes[i]);
            at = static_cast<char *>(own[i]) + sizes[i];
        }
    }
};

struct Region {
    Function function;
    int thread_limit;
    void **items;
};

void run(sched::Worker &worker, const Region &region) {
    omp::run_target(
        worker, region.thread_limit,
        [](omp::Member &, void *data) {
            const auto &called = *static_cast<const Region *>(data);
            called.function(called.items);
        },
        const_cast<Region *>(&region));
}

void invoke(Task &task) {
    if (!task.is(Task::kDiscarded))
        run(omp::here(), *static_cast<const Region *>(task.payload()));
}

// The target task's view of the region, for task::create().
struct Asked {
    const Region &region;
    const Items &items;

    void *entry() const { return reinterpret_cast<void *>(region.function); }
    static std::uint32_t flags() { return 0; }
    task::Spec spec() const { return {.entry = entry(), .room = sizeof(Region) + items.room()}; }
    void call() const {
        Region own = region;
        own.items = static_cast<void **>(alloca(items.room()));
        items.copy_to(own.items);
        run(omp::here(), own);
    }
    void fill(Task &task) const {
        auto *own = new (task.payload()) Region(region);
        own->items = reinterpret_cast<void **>(own + 1);
        items.copy_to(own->items);
    }
};

// Data movement.
void stand_in_order(int device, unsigned flags, void **depend, const void *code) {
    require_device(device);
    if (!depend)
        return;
    const gomp::Dependences given(depend, code);
    SENNIT_READ_DEPENDENCES(depends, count, given)
    task::stand_in_order(omp::here(), {depends, count, (flags & kNowait) != 0});
}

} // namespace

// A device would have a function of its own for one that the host calls by a pointer (`declare
// target indirect`, GCC 14).
GOMP_API void *GOMP_target_map_indirect_ptr(void *function) {
    return function;
}

// With `nowait` the target task waits for its dependences by itself. Else the encountering task
// waits for it; what it binds or excludes holds for others, too.
GOMP_API void GOMP_target_ext(int device, Function function, std::size_t count, void **addresses,
                              std::size_t *sizes, unsigned short *kinds, unsigned flags,
                              void **depend, void **arguments) {
    require_device(device);
    sched::Worker &worker = omp::here();
    const Items items{count, addresses, sizes, kinds};
    const Region region{function, thread_limit_of(arguments), nullptr};
    const gomp::Dependences given(depend, reinterpret_cast<void *>(function));
    SENNIT_READ_DEPENDENCES(depends, depend_count, given)
    const task::TaskClauses clauses{depends, depend_count, (flags & kNowait) != 0};
    if (!clauses.deferred || !task::is_pointless(worker, clauses))
        task::create(worker, clauses, task::Unobserved{invoke}, Asked{region, items});
}

GOMP_API void GOMP_target_data_ext(int device, std::size_t, void **, std::size_t *,
                                   unsigned short *) {
    require_device(device);
}
GOMP_API void GOMP_target_end_data(void) {}
GOMP_API void GOMP_target_update_ext(int device, std::size_t, void **, std::size_t *,
                                     unsigned short *, unsigned flags, void **depend) {
    stand_in_order(device, flags, depend, __builtin_return_address(0));
}
GOMP_API void GOMP_target_enter_exit_data(int device, std::size_t, void **, std::size_t *,
                                          unsigned short *, unsigned flags, void **depend) {
    stand_in_order(device, flags, depend, __builtin_return_address(0));
}

// The interface of GCC 4.9, where firstprivate items came mapped.
GOMP_API void GOMP_target(int device, Function function, const void *, std::size_t,
                          void **addresses, std::size_t *, unsigned char *) {
    require_device(device);
    run(omp::here(), {function, 0, addresses});
}
GOMP_API void GOMP_target_data(int device, const void *, std::size_t, void **, std::size_t *,
                               unsigned char *) {
    require_device(device);
}
GOMP_API void GOMP_target_update(int device, const void *, std::size_t, void **, std::size_t *,
                                 unsigned char *) {
    require_device(device);
}

// teams in a target region: called before each round of a loop over the league's teams.
GOMP_API bool GOMP_teams4(unsigned, unsigned teams, unsigned thread_limit, bool first) {
    sched::Worker &worker = omp::here();
    omp::League &league = omp::member_of(worker).team->league;
    if (first) {
        if (thread_limit > 0)
            icvs_for_update(worker)->thread_limit = static_cast<int>(thread_limit);
        league = {teams > 0 ? static_cast<int>(teams) : 1, 0};
        return true;
    }
    if (++league.rank < league.size)
        return true;
    league = {};
    return false;
}

// GCC 4.9's: one team.
GOMP_API void GOMP_teams(unsigned, unsigned thread_limit) {
    if (thread_limit > 0)
        icvs_for_update(omp::here())->thread_limit = static_cast<int>(thread_limit);
}

// omp_target_memcpy_async and its like (OpenMP 5.2, 18.8.7, 18.8.8), which GCC 13 added: tasks
// whose dependences are GCC's depend objects. Clang's programs have theirs from libomptarget.

namespace {

struct DependObject { // omp_depend_t
    void *words[2];
};

// A list of them as dependences.
struct Objects {
    int count;
    const DependObject *list;

    int size() const { return count; }
    int fill(task::Depend *into) const {
        task::Depend *at = into;
        for (int i = 0; i < count; ++i)
            at = gomp::Dependences::add_object(at, list[i].words, nullptr);
        return static_cast<int>(at - into);
    }
};

// A copy of host memory that is known to be well-formed, and how to do it.
struct Copy {
    int (*call)(const Copy &);
    void *into;
    const void *from;
    std::size_t size; // of the whole, or of an element
    std::size_t into_offset, from_offset;
    int dimensions;

    // Behind it: volume, offsets and dimensions of a rectangle.
    std::size_t *shape(int which) {
        return reinterpret_cast<std::size_t *>(this + 1) + which * dimensions;
    }
    const std::size_t *shape(int which) const { return const_cast<Copy *>(this)->shape(which); }
};

constexpr int kShapes = 5;

int copy_bytes(const Copy &copy) {
    return omp_target_memcpy(copy.into, copy.from, copy.size, copy.into_offset, copy.from_offset, 0,
                             0);
}

int copy_rectangle(const Copy &copy) {
    return omp_target_memcpy_rect(copy.into, copy.from, copy.size, copy.dimensions, copy.shape(0),
                                  copy.shape(1), copy.shape(2), copy.shape(3), copy.shape(4), 0, 0);
}

void submit(const Copy &copy, const std::size_t *const *shapes, int count,
            const DependObject *objects) {
    sched::Worker &worker = omp::here();
    const auto line = static_cast<std::size_t>(copy.dimensions) * sizeof(std::size_t);
    const task::Spec spec{.room = sizeof(Copy) + kShapes * line};
    Task &task = task::make(worker, spec, [](Task &self) {
        const auto &kept = *static_cast<const Copy *>(self.payload());
        if (!self.is(Task::kDiscarded))
            kept.call(kept);
    });
    auto &kept = *new (task.payload()) Copy(copy);
    for (int i = 0; i < kShapes && line > 0; ++i)
        std::memcpy(kept.shape(i), shapes[i], line);
    SENNIT_READ_DEPENDENCES(depends, total, (Objects{count, objects}))
    task::start(worker, task, {depends, total});
}

} // namespace

GOMP_API int omp_target_memcpy_async(void *into, const void *from, std::size_t length,
                                     std::size_t into_offset, std::size_t from_offset,
                                     int into_device, int from_device, int count,
                                     DependObject *objects) {
    if (auto *theirs = reinterpret_cast<decltype(&omp_target_memcpy_async)>(
            omp::offload_routine("omp_target_memcpy_async")))
        return theirs(into, from, length, into_offset, from_offset, into_device, from_device, count,
                      objects);
    // Asked with nothing to do, the blocking routine says whether the arguments are good.
    if (const int error = omp_target_memcpy(into, from, 0, 0, 0, into_device, from_device))
        return error;
    submit({copy_bytes, into, from, length, into_offset, from_offset, 0}, nullptr, count, objects);
    return 0;
}

GOMP_API int omp_target_memcpy_rect_async(void *into, const void *from, std::size_t element,
                                          int dimensions, const std::size_t *volume,
                                          const std::size_t *into_offsets,
                                          const std::size_t *from_offsets,
                                          const std::size_t *into_dimensions,
                                          const std::size_t *from_dimensions, int into_device,
                                          int from_device, int count, DependObject *objects) {
    if (auto *theirs = reinterpret_cast<decltype(&omp_target_memcpy_rect_async)>(
            omp::offload_routine("omp_target_memcpy_rect_async")))
        return theirs(into, from, element, dimensions, volume, into_offsets, from_offsets,
                      into_dimensions, from_dimensions, into_device, from_device, count, objects);
    if (!into && !from)
        return INT_MAX;
    if (const int error = omp_target_memcpy(into, from, 0, 0, 0, into_device, from_device))
        return error;
    const std::size_t nothing[] = {0};
    const std::size_t some[] = {1};
    if (const int error = omp_target_memcpy_rect(into, from, element, dimensions < 1 ? 0 : 1,
                                                 nothing, nothing, nothing, some, some, 0, 0))
        return error;
    const std::size_t *shapes[kShapes] = {volume, into_offsets, from_offsets, into_dimensions,
                                          from_dimensions};
    submit({copy_rectangle, into, from, element, 0, 0, dimensions}, shapes, count, objects);
    return 0;
}
