// SPDX-License-Identifier: Apache-2.0
// The non-blocking collective operations on a file, one after the other.
//
// MPICH's (ROMIO's) consist of collective operations on the file's communicator, and the program's
// tests and waits start these. So operations that are under way on a file at once get mixed up in
// two cases: ranks test them in different order; or one rank tests the first before it starts the
// second, and another does not. Then they hang, or write wrong data.
//
// Here an operation is started when the one before is complete. The program has a generalized
// request of ours. A test of or wait for any of them works for the oldest of each file, also if
// nobody waits for that one yet. Any thread may call these.
//
// State       what                                                     touched by
//   count_    how many there are                                       any thread
//   oldest_   of each file, in a list; those behind it hang on it      any thread, with lock_
//   working_  one thread at a time tests them and starts the next      who takes it
//
// Capacity: any number; a turn looks at one of each file.
#pragma once

#include "base/spin.h"

#include <atomic>
#include <mpi.h>

namespace sennit::mpi {

#ifdef MPICH_NUMVERSION

// What the program has called.
struct FileCall {
    MPI_File file;
    bool individual; // at the file pointer, else at `offset`
    MPI_Offset offset;
    void *buffer;
    MPI_Count count;
    MPI_Datatype type;
    int (*start)(const FileCall &call, MPI_Request *request); // MPICH's
};

struct FileAccess; // what has become of it

class FileQueue {
  public:
    constexpr FileQueue() = default;
    FileQueue(const FileQueue &) = delete;
    FileQueue &operator=(const FileQueue &) = delete;

    // Start the call, or let it wait; returns its error.
    int begin(const FileCall &call, MPI_Request *request);
    // Test what is started, start what is next, unless another thread does.
    void work();
    bool empty() const { return count_.load(std::memory_order_relaxed) == 0; }

  private:
    class Work;

    bool put_in(FileAccess &access);
    FileAccess *take_out(const FileAccess &oldest);
    FileAccess *oldest();

    std::atomic<int> count_{0};
    SpinLock lock_; // also of the links
    FileAccess *oldest_ SENNIT_GUARDED_BY(lock_) = nullptr;
    std::atomic<bool> working_{false};
};

#endif

} // namespace sennit::mpi
