// SPDX-License-Identifier: Apache-2.0
// simple: out={bin}/{program}-gcc-{mpi} compiler=gcc
//     compile='{wrapped_cxx} -O1 -g -std=c++20 -Wall -Wextra -Werror {skip_cxx} -I{include}' --
//     {library}
// progress: exe={bin}/{program}-gcc-{mpi}
// MPI detach in C++: a coroutine awaits a request, a promise is kept by one. A plain MPI program,
// without OpenMP; with MPIX_DETACH=progress a thread of the library's resumes the coroutines.
#include "check.h"

#include <atomic>
#include <chrono>
#include <coroutine>
#include <cstdlib>
#include <exception>
#include <future>
#include <mpix_detach.h>
#include <string_view>

namespace {

constexpr int kFlows = 50;
constexpr int kRounds = 3;
std::atomic<int> g_over{0};

struct Flow {
    struct promise_type {
        Flow get_return_object() { return {}; }
        std::suspend_never initial_suspend() noexcept { return {}; }
        std::suspend_never final_suspend() noexcept { return {}; }
        void return_void() {}
        void unhandled_exception() { std::terminate(); }
    };
};

// co_await Completed{request}: goes on when the operation is complete, with its tag.
class Completed {
  public:
    explicit Completed(MPI_Request request) : request_(request) {}
    bool await_ready() const { return false; }
    void await_suspend(std::coroutine_handle<> waiting) {
        waiting_ = waiting;
        MPI_Request request = request_; // *this is gone when the callback has run
        MPIX_Detach_status(&request, finished, this);
    }
    int await_resume() const { return tag_; }

  private:
    static void finished(void *self, MPI_Status *status) {
        auto &completed = *static_cast<Completed *>(self);
        completed.tag_ = status->MPI_TAG;
        completed.waiting_.resume();
    }
    MPI_Request request_;
    std::coroutine_handle<> waiting_;
    int tag_ = -1;
};

Flow send(int tag) {
    for (int i = 0; i < kRounds; ++i) {
        const int value = 1000 * rank + 10 * tag + i;
        MPI_Request request = MPI_REQUEST_NULL;
        MPI_Issend(&value, 1, MPI_INT, next(), tag, MPI_COMM_WORLD, &request);
        co_await Completed(request);
    }
    ++g_over;
}

Flow receive(int tag) {
    for (int i = 0; i < kRounds; ++i) {
        int value = -1;
        MPI_Request request = MPI_REQUEST_NULL;
        MPI_Irecv(&value, 1, MPI_INT, previous(), tag, MPI_COMM_WORLD, &request);
        const int come = co_await Completed(request);
        CHECK(come == tag && value == 1000 * previous() + 10 * tag + i);
    }
    ++g_over;
}

std::future<int> received(MPI_Request request) {
    auto *promise = new std::promise<int>;
    std::future<int> result = promise->get_future();
    MPIX_Detach_status(
        &request,
        [](void *given, MPI_Status *status) {
            auto *kept = static_cast<std::promise<int> *>(given);
            int count = -1;
            MPI_Get_count(status, MPI_INT, &count);
            kept->set_value(count);
            delete kept;
        },
        promise);
    return result;
}

} // namespace

int main(int argc, char **argv) {
    begin(&argc, &argv);
    const char *mode = std::getenv("MPIX_DETACH");
    const bool have_thread = mode && std::string_view(mode) == "progress";
    for (int tag = 0; tag < kFlows; ++tag)
        receive(tag);
    for (int tag = kFlows - 1; tag >= 0; --tag)
        send(tag);
    while (g_over < 2 * kFlows)
        if (!have_thread)
            MPIX_Progress(nullptr);

    int in[3] = {};
    const int out[3] = {rank, rank, rank};
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Irecv(in, 3, MPI_INT, previous(), kFlows, MPI_COMM_WORLD, &request);
    std::future<int> count = received(request);
    MPI_Send(out, 3, MPI_INT, next(), kFlows, MPI_COMM_WORLD);
    while (!have_thread && count.wait_for(std::chrono::seconds(0)) != std::future_status::ready)
        MPIX_Progress(nullptr);
    CHECK(count.get() == 3 && in[2] == previous());
    MPI_Finalize();
    return 0;
}
