// SPDX-License-Identifier: Apache-2.0
// build: compiler=clang -fnoopenmp-use-tls -- -lpthread
// test, kept:
// threadprivate objects (OpenMP 5.2, 5.2): each thread constructs its own once, before its first
// use. copyin assigns the first thread's. When a thread of the program ends, its objects are
// destroyed.
#include "check.h"

#include <atomic>
#include <thread>

namespace {

std::atomic<int> g_made{0};
std::atomic<int> g_destroyed{0};
std::atomic<int> g_assigned{0};

class Counter {
  public:
    Counter() : value_(42) { ++g_made; }
    Counter(const Counter &) = delete;
    Counter &operator=(const Counter &other) {
        value_ = other.value_;
        ++g_assigned;
        return *this;
    }
    ~Counter() {
        CHECK_EQ(value_ < 0, false);
        value_ = -1;
        ++g_destroyed;
    }
    int value() const { return value_; }
    void set(int value) { value_ = value; }

  private:
    int value_;
};

Counter one;
#pragma omp threadprivate(one)
Counter many[3];
#pragma omp threadprivate(many)

void first_use(int threads) {
    const int before = g_made;
#pragma omp parallel
    {
        const int me = omp_get_thread_num();
        CHECK_EQ(one.value(), 42);
        one.set(me);
        for (int i = 0; i < 3; ++i) {
            CHECK_EQ(many[i].value(), 42);
            many[i].set(100 * i + me);
        }
    }
    CHECK_EQ(g_made - before, 4 * (threads - 1));
    const int after = g_made;
    for (int round = 0; round < 20; ++round) {
#pragma omp parallel
        {
            const int me = omp_get_thread_num();
            CHECK_EQ(one.value(), me);
            CHECK_EQ(many[2].value(), 200 + me);
        }
    }
    CHECK_EQ(g_made, after);
}

void copies_in(int threads) {
    one.set(17);
    g_assigned = 0;
#pragma omp parallel copyin(one)
    {
        CHECK_EQ(one.value(), 17);
#pragma omp barrier
        one.set(omp_get_thread_num());
    }
    CHECK_EQ(g_assigned, threads - 1);
}

} // namespace

int main() {
    const int threads = check_threads();
    omp_set_dynamic(0);
    CHECK_EQ(g_made, 4);
    first_use(threads);
    copies_in(threads);
    std::thread([threads] {
        omp_set_num_threads(threads);
#pragma omp parallel
        one.set(omp_get_thread_num());
        CHECK_EQ(one.value(), 0);
    }).join();
    CHECK(g_destroyed >= 1);
    // The threads of its regions end with it where a thread of the system runs several of them.
    // Others stay for the next one.
    if (getenv("SENNIT_SPLIT"))
        CHECK_EQ(g_destroyed, threads);
#pragma omp parallel
    CHECK_EQ(one.value(), omp_get_thread_num());
    return 0;
}
