// SPDX-License-Identifier: Apache-2.0
// The other end of the engine in its unit tests: an MPI and a task runtime that do as they are
// told.
#pragma once

#include <cstdint>
#include <mpi.h>
#include <vector>

struct sennit_task;
namespace sennit::mpi {
struct Ranks;
}

namespace fake {

// ---- MPI ----------------------------------------------------------------------------------------

MPI_Request make_request();
// It is complete from now on: at the next test, with this error. Any thread.
void complete(MPI_Request request, int error = MPI_SUCCESS, int bytes = 0);
// A failing Testsome does not say which request it was.
void hide_failures(bool hide);
// How often a request was tested, and by how many threads at once at most.
int tests();
int most_testers();
// The requests that were tested, in order, since the last time.
std::vector<MPI_Request> tested();

// How often somebody has asked for messages. MPI_Abort ends the process with 77.
int probes();
// A derived type is as large as its handle. How often somebody has asked for a size.
int sizes_asked();
// The bytes of a derived type are two apart in memory. Is packing them an error?
void refuse_packing(bool refuse);

// Are attributes refused? What belongs to the communicator is freed with it.
void refuse_attributes(bool refuse);
void free_communicator(MPI_Comm comm);
// The ranks of any communicator; null, as after reset(): nobody knows them.
void know_ranks(const sennit::mpi::Ranks *ranks);

// ---- the runtime --------------------------------------------------------------------------------

sennit_task *task(int number);
// How often the task was resumed; of which the engine has resumed any, in order.
int resumed(sennit_task *task);
std::vector<int> resumed();
// How often a thread that waits has woken those on whom its operation may depend.
int rings();
// Those by a thread whose own bell was not armed.
int deaf_rings();
// From now on each sleep ends by a ring, or by its timer.
void somebody_rings(bool rings);
// How often others were asked to ring, and whether they still are.
int asks();
bool is_asking();
// Whose bells were rung since the last time; a rank's slot is its number, -1 all of them.
std::vector<int> rung_slots();
// How often a thread of this rank was woken by another one, since the last time.
int rings_own();
// Of the messages that were noted as long since the last time: how many bytes.
std::vector<std::int64_t> long_messages();
// How many sends the runtime was told of.
int sends_noted();
// What the runtime was told of pending operations.
std::int64_t pending();
// What the policy says: how many long sends may be under way (0: any number), and the key of the
// next one.
void order_sends(int at_once, std::uint64_t key);
// Has the task's thread anything else to do? It has after reset().
void be_wanted(bool wanted);
// Is the caller a task, and could its thread run another one meanwhile? Both after reset().
void be_in_task(bool in_task, bool has_others);
// How often the runtime was told of a call that may block, since the last time.
int calls_begun();
// When a task is suspended, until it is resumed: work() again and again.
void while_suspended(void (*work)());

void reset();

} // namespace fake
