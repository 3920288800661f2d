// SPDX-License-Identifier: Apache-2.0
// build: compiler=clang -fnoopenmp-use-tls -- -lpthread
// test, kept:
// OpenMP 5.2, 18.6.1: omp_pause_resource gives up what the other threads' threadprivate variables
// have, and finalizes it: objects are destroyed. The threads of later regions have new ones. The
// calling thread keeps its own, and so does another thread of the program.
#include "check.h"

#include <atomic>
#include <thread>

namespace {

std::atomic<int> g_made{0};
std::atomic<int> g_destroyed{0};

class Counter {
  public:
    Counter() { ++g_made; }
    Counter(const Counter &) = delete;
    Counter &operator=(const Counter &) = delete;
    ~Counter() { ++g_destroyed; }
    int value() const { return value_; }
    void set(int value) { value_ = value; }

  private:
    int value_ = 42;
};

Counter object;
#pragma omp threadprivate(object)
int plain = 7;
#pragma omp threadprivate(plain)

// The caller's objects have `own`, all others begin.
void use(int threads, int own_plain, int own_object) {
    const int made = g_made;
    for (int round = 0; round < 3; ++round) {
#pragma omp parallel
        {
            const int me = omp_get_thread_num();
            if (round == 0) {
                CHECK_EQ(plain, me == 0 ? own_plain : 7);
                CHECK_EQ(object.value(), me == 0 ? own_object : 42);
            } else {
                CHECK_EQ(plain, 100 + me);
                CHECK_EQ(object.value(), 200 + me);
            }
            plain = 100 + me;
            object.set(200 + me);
        }
    }
    CHECK_EQ(g_made - made, threads - 1);
}

void pause(int threads, omp_pause_resource_t how) {
    const int destroyed = g_destroyed;
    CHECK_EQ(omp_pause_resource(how, omp_get_initial_device()), 0);
    CHECK_EQ(g_destroyed - destroyed, threads - 1);
    CHECK_EQ(plain, 100);
    CHECK_EQ(object.value(), 200);
}

} // namespace

int main() {
    const int threads = check_threads();
    omp_set_dynamic(0);
    CHECK_EQ(g_made, 1);
    std::atomic<bool> uses{false};
    std::atomic<bool> paused{false};
    std::thread other([&] {
        plain = 1;
        object.set(2);
        uses = true;
        while (!paused)
            std::this_thread::yield();
        CHECK_EQ(plain, 1);
        CHECK_EQ(object.value(), 2);
    });
    while (!uses)
        std::this_thread::yield();
    use(threads, 7, 42);
    for (int round = 0; round < 5; ++round) {
        pause(threads, omp_pause_soft);
        use(threads, 100, 200);
        pause(threads, omp_pause_hard);
        use(threads, 100, 200);
    }
    paused = true;
    other.join();
    return 0;
}
