// SPDX-License-Identifier: Apache-2.0
// A world for each program of one MPI job:
//
//     sennit run --worlds -n 4 ./ocean : -n 2 ./ice
//
// This library stands between the program and Sennit. MPI_Init divides the job's MPI_COMM_WORLD; in
// each call that the program makes then, MPI_COMM_WORLD is exchanged for its part. So for Sennit
// and MPI it is a communicator among others, and the job is one: its board, its hang reports and
// its traces count the ranks of all programs. The paper mpi-process-virtualization, section 4.2,
// exchanges the communicator in MPI's own context; a library in front does so in any MPI.
//
// The handle MPI_COMM_WORLD remains what the program passes, compares and converts (MPI_Comm_c2f).
// The new communicator's own handle is seen only by functions of the program that MPI calls for it.
//
// Without SENNIT_WORLDS, in a process that is a job of its own, and in processes that a program has
// spawned, nothing is exchanged.
#pragma once

#include "mpi/interpose/bare.h"
#include "mpi/interpose/mpi_names.h"

#include <mpi.h>

#include <atomic>

namespace sennit::worlds {

// Of the libraries behind this one. Ends the process if none has it.
void *find_behind(const char *name);

// A program of the job. Its ranks in the job follow each other, as the launchers number them.
struct Program {
    int number; // as MPI_APPNUM; -1: none
    int first;
    int ranks;
};

// The number that begins at `at`, of digits alone; `at` is then behind it. -1: there is none.
int read_number(const char *&at);

// SENNIT_WORLDS, "4,2": how many ranks each program has.
class Programs {
  public:
    Programs() : Programs(text_of_job()) {}
    explicit Programs(const char *text);     // null: none
    bool is_wrong() const { return wrong_; } // the variable says something else: there are none
    const char *text() const { return text_; }
    int count() const { return count_; }       // less than 2: there is nothing to divide
    long long ranks() const { return ranks_; } // of all
    Program number(int number) const;
    Program of(int rank) const; // in the job

  private:
    static const char *text_of_job();

    const char *text_;
    bool wrong_ = false;
    int count_ = 0;
    long long ranks_ = 0;
};

class Worlds {
  public:
    // In MPI_Init, on all ranks of the job.
    int begin();
    // What stands for `comm`. Any thread, for MPI_Init is over when others call.
    MPI_Comm own(MPI_Comm comm) const { return comm == MPI_COMM_WORLD && divided() ? own_ : comm; }
    MPI_Comm all() const { return divided() ? all_ : MPI_COMM_WORLD; }
    bool divided() const { return own_ != MPI_Comm{}; }
    // What the program's world is called in reports.
    const char *name() const { return name_; }
    // SENNIT_WORLDS as it was in MPI_Init, which takes it from the environment: it is not for what
    // a rank starts. Null: there was none, or MPI_Init is not over.
    const char *text() const { return text_.load(std::memory_order_acquire); }

  private:
    int divide(const Program &program, int rank);

    MPI_Comm own_{}; // written in MPI_Init
    MPI_Comm all_{};
    char name_[MPI_MAX_OBJECT_NAME] = "";
    std::atomic<const char *> text_{}; // threads with sessions read it, beside MPI_Init
};

extern Worlds g_worlds;

// Where its attribute `key` is: MPI has set some, of the job, on its own MPI_COMM_WORLD alone.
MPI_Comm attributes_of(MPI_Comm comm, int key);

inline MPI_Comm own_world(MPI_Comm comm) {
    return g_worlds.own(comm);
}

// The communicator for programs that call nothing of Sennit's: a key of MPI_COMM_WORLD's info.
inline constexpr const char *kAllKey = "sennit_comm_all";

} // namespace sennit::worlds

#define BEHIND_AS(name, ...)                                                                       \
    (sennit::interpose::Bare<sennit::worlds::find_behind, name, __VA_ARGS__>{})
// As any library of a language and any tool, this one calls the profiling interface.
#define BEHIND_MPI(name) BEHIND_AS("P" #name, decltype(name))
#define BEHIND_MPIX(name) BEHIND_AS("P" #name, decltype(name))
#define BEHIND_TAMPI(name) BEHIND_AS(#name, decltype(name))
