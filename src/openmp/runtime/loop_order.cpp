// SPDX-License-Identifier: Apache-2.0
// Since OpenMP 5.0, schedule(dynamic) lets a thread get an iteration that comes before one it had.
// Threads steal from each other then (plans.cpp). GCC's programs never see that under a stock
// runtime. A library that counts on it says nothing in its calls. So it has to be known by name, or
// the user says it by the variable that LLVM's runtime has for this.
#include "base/loaded_object.h"
#include "openmp/env/environment.h"
#include "openmp/loops/plans.h"
#include "openmp/runtime/library.h"

#include <algorithm>
#include <string_view>

namespace sennit::runtime {
namespace {

// SuperLU_DIST (8.1): a thread's offsets into a panel go on from those of its last iteration.
constexpr std::string_view kCountOnOrder[] = {"libsuperlu_dist.so"};

bool counts_on_order(std::string_view path) {
    const std::string_view name = path.substr(path.rfind('/') + 1); // npos + 1 is 0
    return std::ranges::any_of(kCountOnOrder,
                               [&](std::string_view known) { return name.starts_with(known); });
}

} // namespace

void keep_order_of_loops() {
    bool keep = each_object([](const LoadedObject &object) {
                    return counts_on_order(object.path()) ? 1 : 0;
                }) != 0;
    g_process.loops_order_given = read_bool("KMP_FORCE_MONOTONIC_DYNAMIC_SCHEDULE", &keep);
    if (keep)
        omp::let_loops_ascend();
}

void keep_order_of_loops_in(const void *code) {
    const link_map *const object = object_of(code);
    if (!g_process.loops_order_given && object && counts_on_order(object->l_name))
        omp::let_loops_ascend();
}

} // namespace sennit::runtime
