// SPDX-License-Identifier: Apache-2.0
// MPI_Init and MPI_Finalize where many ranks share few cores: MPI waits there in ways of its own,
// and leaves no core to the ranks that are not as far.
//
// Open MPI sleeps for 100 us between two looks, by usleep. The looks of 128 ranks take all of two
// cores. So the usleep of this library, which stands in front of libc's, sleeps longer there, the
// longer the more ranks there are.
//
// MPICH spins on a word, without any call. This takes the time of ranks that work. Virtual ranks
// share the kernel's lock of their address space, too. A rank that has waited for this lock is
// woken, and then waits behind all that spin. So each mapping took a time slice of each rank:
// MPI_Finalize of 128 ranks on two cores 7 s instead of 1. So a signal comes with each tick of the
// time that the thread runs outside of the kernel. A thread that two ticks find at the same place,
// with the same stack pointer, spins: it sleeps for a while, in the signal's handler. The next tick
// comes soon after that, and finds it there again or not.
//
// The ticks are perf's, which come in time and interrupt no system call. Where perf is denied, a
// timer of the thread's processor time sends them. It ticks with the kernel only, each 4 ms as a
// rule: 64 ranks on two cores then spin for a second in all. After a nap another timer looks again,
// by the clock. That signal may interrupt a system call, as the ticks may: with SA_RESTART the
// kernel resumes reads, writes and locks. Processes end sooner without all this, and are left
// alone.
#pragma once

namespace sennit::mpi {

// The calling thread is about to call the bare MPI_Init or MPI_Finalize, until the end of the
// object.
class CrowdedStart {
  public:
    CrowdedStart();
    ~CrowdedStart();
    CrowdedStart(const CrowdedStart &) = delete;
    CrowdedStart &operator=(const CrowdedStart &) = delete;
};

} // namespace sennit::mpi
