// SPDX-License-Identifier: Apache-2.0
// Sessions (MPI 4.0, section 11.3) name sets of processes instead of communicators: "mpi://WORLD"
// has the ranks of the program, "sennit://all" those of the job, and "sennit://world/0" those of
// the job's first program. A program that only opens sessions is in no MPI_Init, so which ranks
// these are is told by SENNIT_WORLDS alone. Without it MPI is asked only what the program asks.
#include "worlds/worlds.h"

#include <cstdio>
#include <cstring>

#ifdef MPI_MAX_PSET_NAME_LEN // Open MPI 5 has sessions, and calls itself 3.1

using namespace sennit::worlds;

#define DEFINE(name, ...) SENNIT_INTERPOSE(worlds_##name, name, P##name, __VA_ARGS__)

namespace {

constexpr const char kWorld[] = "mpi://WORLD";
constexpr const char kAll[] = "sennit://all";
constexpr const char kOfProgram[] = "sennit://world/";

// The ranks of MPI's own "mpi://WORLD", or some of them. Without worlds nobody asks for them.
class JobGroup {
  public:
    JobGroup(MPI_Session session, const Programs &programs) {
        if (programs.count() < 2)
            return;
        error_ = BEHIND_MPI(MPI_Group_from_session_pset)(session, kWorld, &group_);
        if (error_ == MPI_SUCCESS)
            error_ = BEHIND_MPI(MPI_Group_size)(group_, &size_);
        if (error_ == MPI_SUCCESS)
            error_ = BEHIND_MPI(MPI_Group_rank)(group_, &rank_);
    }
    ~JobGroup() {
        if (group_ != MPI_GROUP_NULL)
            BEHIND_MPI(MPI_Group_free)(&group_);
    }
    JobGroup(const JobGroup &) = delete;
    JobGroup &operator=(const JobGroup &) = delete;

    int rank() const { return rank_; }
    bool is_divided_by(const Programs &programs) const {
        return error_ == MPI_SUCCESS && programs.count() > 1 && size_ == programs.ranks();
    }
    // All of it; then it is the caller's.
    int give(MPI_Group *group) {
        *group = group_;
        group_ = MPI_GROUP_NULL;
        return error_;
    }
    int give(const Program &program, MPI_Group *group) const {
        int range[1][3] = {{program.first, program.first + program.ranks - 1, 1}};
        return BEHIND_MPI(MPI_Group_range_incl)(group_, 1, range, group);
    }

  private:
    MPI_Group group_ = MPI_GROUP_NULL;
    int size_ = 0;
    int rank_ = 0;
    int error_ = MPI_SUCCESS;
};

// The number in "sennit://world/1"; -1: it is another name.
int program_of(const char *set) {
    const std::size_t length = std::strlen(kOfProgram);
    if (std::strncmp(set, kOfProgram, length) != 0)
        return -1;
    const char *at = set + length;
    const int number = read_number(at);
    return *at ? -1 : number;
}

// The program that is meant by a set's name, of those of which there are some; -1: none.
Program named(const char *set, const Programs &programs, const JobGroup &job) {
    return std::strcmp(set, kWorld) == 0 ? programs.of(job.rank())
                                         : programs.number(program_of(set));
}

// How many sets MPI itself has.
int sets_of_mpi(MPI_Session session, MPI_Info info) {
    int count = 0;
    const int error = BEHIND_MPI(MPI_Session_get_num_psets)(session, info, &count);
    return error == MPI_SUCCESS ? count : -1;
}

} // namespace

DEFINE(MPI_Group_from_session_pset, MPI_Session session, const char *set, MPI_Group *group) {
    const Programs programs;
    JobGroup job(session, programs);
    if (job.is_divided_by(programs)) {
        if (std::strcmp(set, kAll) == 0)
            return job.give(group);
        if (const Program program = named(set, programs, job); program.number >= 0)
            return job.give(program, group);
    }
    return BEHIND_MPI(MPI_Group_from_session_pset)(session, set, group);
}

DEFINE(MPI_Session_get_num_psets, MPI_Session session, MPI_Info info, int *count) {
    const Programs programs;
    const int error = BEHIND_MPI(MPI_Session_get_num_psets)(session, info, count);
    if (error == MPI_SUCCESS && JobGroup(session, programs).is_divided_by(programs))
        *count += 1 + programs.count();
    return error;
}

// Ours stand behind those of MPI: first that of the job, then those of its programs.
DEFINE(MPI_Session_get_nth_pset, MPI_Session session, MPI_Info info, int n, int *length,
       char *name) {
    const Programs programs;
    const int before = programs.count() < 2 ? -1 : sets_of_mpi(session, info);
    if (before < 0 || n < before || n - before > programs.count() ||
        !JobGroup(session, programs).is_divided_by(programs))
        return BEHIND_MPI(MPI_Session_get_nth_pset)(session, info, n, length, name);
    char set[sizeof kOfProgram + 12];
    if (n == before)
        std::snprintf(set, sizeof set, "%s", kAll);
    else
        std::snprintf(set, sizeof set, "%s%d", kOfProgram, n - before - 1);
    if (*length > 0)
        std::snprintf(name, static_cast<std::size_t>(*length), "%s", set);
    *length = static_cast<int>(std::strlen(set)) + 1;
    return MPI_SUCCESS;
}

// Its one key that the standard knows is "mpi_size".
DEFINE(MPI_Session_get_pset_info, MPI_Session session, const char *set, MPI_Info *info) {
    const Programs programs;
    const JobGroup job(session, programs);
    const bool is_all = std::strcmp(set, kAll) == 0;
    if (!job.is_divided_by(programs) || (!is_all && named(set, programs, job).number < 0))
        return BEHIND_MPI(MPI_Session_get_pset_info)(session, set, info);
    const int error = BEHIND_MPI(MPI_Session_get_pset_info)(session, kWorld, info);
    if (error != MPI_SUCCESS)
        return error;
    char size[16];
    std::snprintf(size, sizeof size, "%d",
                  is_all ? static_cast<int>(programs.ranks()) : named(set, programs, job).ranks);
    return BEHIND_MPI(MPI_Info_set)(*info, "mpi_size", size);
}

#endif
