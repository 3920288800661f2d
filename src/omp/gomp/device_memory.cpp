// SPDX-License-Identifier: Apache-2.0
// omp_target_memcpy_async and its like (OpenMP 5.2, 18.8.7, 18.8.8), which GCC 13 added: tasks
// whose dependences are GCC's depend objects. Clang's programs have theirs from libomptarget.
#include "omp/api/routines.h"
#include "omp/gomp/tasks.h"
#include "omp/team/target.h"

#include <climits>
#include <cstring>
#include <new>

using namespace sennit;

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
