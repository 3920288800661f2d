// SPDX-License-Identifier: Apache-2.0
#include "omp/env/split.h"

#include "base/config.h"
#include "base/message.h"
#include "omp/env/environment.h"
#include "program/thread_local.h"

#include <utility>

namespace sennit::omp {

constinit int detail::g_split_workers = 0;

namespace {

constexpr long kMostPerWorker = 64;
bool g_refused = false;

// SENNIT_SPLIT as a number; 1 where it says none.
int wanted() {
    const char *const text = config().split;
    if (*text == '\0')
        return 1;
    long number = 0;
    const char *end = nullptr;
    if (parse_number(text, 1, kMostPerWorker, &number, &end) && *end == '\0')
        return static_cast<int>(number);
    warn("SENNIT_SPLIT='%s' is not a number from 1 to %ld: going on with 1", text, kMostPerWorker);
    return 1;
}

// Each thread has its own data, which several threads on one worker would share.
bool allowed(int split) {
    char whose[256];
    const char *const what = program::thread_local_data(whose, sizeof whose);
    if (what)
        warn("SENNIT_SPLIT=%d: %s has %s, which threads that share a worker would mix up: going on "
             "with 1",
             split, whose, what);
    return what == nullptr;
}

} // namespace

int split_threads(int threads) {
    static const int split = [] {
        const int asked = wanted();
        return asked > 1 && allowed(asked) ? asked : 1;
    }();
    if (split == 1 || g_refused)
        return threads;
    detail::g_split_workers = threads;
    return threads * split;
}

int refuse_split(const char *why) {
    const int workers = std::exchange(detail::g_split_workers, 0);
    g_refused = true;
    if (workers > 0)
        warn("SENNIT_SPLIT=%s: %s: going on with 1", config().split, why);
    return workers;
}

} // namespace sennit::omp
