// SPDX-License-Identifier: Apache-2.0
#include "worlds/worlds.h"

#include "base/environment.h"
#include "base/message.h"

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iterator>

namespace sennit::worlds {

constinit Worlds g_worlds;

void *find_behind(const char *name) {
    void *found = sennit::interpose::find_next(name);
    if (!found) {
        std::fprintf(stderr, "sennit: the MPI library has no %s: it cannot be called\n", name);
        std::abort();
    }
    return found;
}

int read_number(const char *&at) {
    const char *digit = at;
    long long number = 0;
    for (; *digit >= '0' && *digit <= '9' && number <= INT_MAX; ++digit)
        number = 10 * number + (*digit - '0');
    if (digit == at || number > INT_MAX)
        return -1;
    at = digit;
    return static_cast<int>(number);
}

// Looked for twice: MPI_Init may take it meanwhile.
const char *Programs::text_of_job() {
    const char *text = g_worlds.text();
    if (!text)
        text = trusted_environment("SENNIT_WORLDS");
    return text ? text : g_worlds.text();
}

Programs::Programs(const char *text) : text_(text) {
    if (!text || !*text)
        return;
    for (const char *at = text;; ++at) {
        const int ranks = read_number(at);
        wrong_ = ranks < 1 || (*at != ',' && *at != '\0');
        count_ = wrong_ ? 0 : count_ + 1;
        ranks_ += ranks;
        if (wrong_ || *at == '\0')
            return;
    }
}

Program Programs::number(int number) const {
    const char *at = text_;
    int first = 0;
    for (int i = 0; i < count_; ++i, ++at) {
        const int ranks = read_number(at);
        if (i == number)
            return {i, first, ranks};
        first += ranks;
    }
    return {-1, 0, 0};
}

Program Programs::of(int rank) const {
    for (int i = 0; i < count_; ++i)
        if (const Program program = number(i); rank < program.first + program.ranks)
            return program;
    return {-1, 0, 0};
}

namespace {

bool is_spawned() {
    MPI_Comm parent = MPI_COMM_NULL;
    return BEHIND_MPI(MPI_Comm_get_parent)(&parent) == MPI_SUCCESS && parent != MPI_COMM_NULL;
}

// The rank that has said why ends the job. The others wait for it, and their programs do not begin.
int end_job(bool has_said) {
    if (!has_said)
        return BEHIND_MPI(MPI_Barrier)(MPI_COMM_WORLD);
    let_last_words_through();
    return BEHIND_MPI(MPI_Abort)(MPI_COMM_WORLD, 2);
}

void say_that_it_is_wrong(const Programs &programs) {
    std::fprintf(stderr,
                 "sennit: SENNIT_WORLDS='%s' is ignored: it is a number of ranks for each program, "
                 "with commas between them\n",
                 programs.text());
}

// A process on its own need not be of the job that the variable is about.
void say_that_it_is_another(const Programs &programs, int size) {
    std::fprintf(stderr, "sennit: SENNIT_WORLDS=%s names %lld rank%s, but the job has %d: %s\n",
                 programs.text(), programs.ranks(), programs.ranks() == 1 ? "" : "s", size,
                 size == 1 ? "it is ignored" : "correct it");
}

// As the launcher numbers programs; -1: it does not.
int number_by_launcher() {
    void *value = nullptr;
    int flag = 0;
    const int error = BEHIND_MPI(MPI_Comm_get_attr)(MPI_COMM_WORLD, MPI_APPNUM,
                                                    static_cast<void *>(&value), &flag);
    return error == MPI_SUCCESS && flag ? *static_cast<const int *>(value) : -1;
}

struct Found { // MPI_2INT
    int is_none;
    int rank;
};

// The launcher might have numbered ranks in another order. But if it has the number 0 for all, it
// takes the job for one program: a script starts each, or srun --multi-prog.
int end_if_another(const Program &program, int rank) {
    const int number = number_by_launcher();
    const Found mine[] = {{number <= 0, rank}, {number < 0 || number == program.number, rank}};
    Found first[2] = {};
    const int error =
        BEHIND_MPI(MPI_Allreduce)(mine, first, 2, MPI_2INT, MPI_MINLOC, MPI_COMM_WORLD);
    const auto &[numbered, misplaced] = first;
    if (error != MPI_SUCCESS || numbered.is_none || misplaced.is_none)
        return error;
    if (misplaced.rank == rank)
        std::fprintf(
            stderr,
            "sennit: rank %d of the job is one of program %d, and by SENNIT_WORLDS of program %d: "
            "leave options of mpiexec away that give ranks other numbers\n",
            rank, number, program.number);
    return end_job(misplaced.rank == rank);
}

} // namespace

MPI_Comm attributes_of(MPI_Comm comm, int key) {
    const int of_job[] = {MPI_TAG_UB,        MPI_HOST,         MPI_IO,    MPI_WTIME_IS_GLOBAL,
                          MPI_UNIVERSE_SIZE, MPI_LASTUSEDCODE, MPI_APPNUM};
    const bool is_found = std::find(std::begin(of_job), std::end(of_job), key) != std::end(of_job);
    return is_found ? comm : own_world(comm);
}

int Worlds::begin() {
    const char *const given = trusted_environment("SENNIT_WORLDS");
    if (!given)
        return MPI_SUCCESS;
    const bool is_of_job = !is_spawned();
    if (is_of_job)
        text_.store(strdup(given), std::memory_order_release);
    unsetenv("SENNIT_WORLDS");
    const Programs programs(text());
    int size = 0;
    int rank = 0;
    if (!is_of_job || BEHIND_MPI(MPI_Comm_size)(MPI_COMM_WORLD, &size) != MPI_SUCCESS ||
        BEHIND_MPI(MPI_Comm_rank)(MPI_COMM_WORLD, &rank) != MPI_SUCCESS)
        return MPI_SUCCESS;
    if (rank == 0 && programs.is_wrong())
        say_that_it_is_wrong(programs);
    const bool is_another = programs.count() > 0 && programs.ranks() != size;
    if (rank == 0 && is_another)
        say_that_it_is_another(programs, size);
    if (is_another && size > 1)
        return end_job(rank == 0);
    if (programs.count() < 2 || is_another)
        return MPI_SUCCESS;
    const Program program = programs.of(rank);
    const int error = end_if_another(program, rank);
    return error == MPI_SUCCESS ? divide(program, rank) : error;
}

// Reports name a communicator as MPI does. "MPI_COMM_WORLD" alone is the whole job there.
int Worlds::divide(const Program &program, int rank) {
    std::snprintf(name_, sizeof name_, "MPI_COMM_WORLD of program %d (%.24s)", program.number,
                  program_invocation_short_name);
    MPI_Comm own = MPI_COMM_NULL;
    // Sennit assembles collectives for three communicators at most. MPI_Comm_idup's result is not
    // among them, so the program's own are.
    MPI_Request request = MPI_REQUEST_NULL;
    int error = BEHIND_MPI(MPI_Comm_idup)(MPI_COMM_WORLD, &all_, &request);
    if (error == MPI_SUCCESS)
        error = BEHIND_MPI(MPI_Wait)(&request, MPI_STATUS_IGNORE);
    if (error == MPI_SUCCESS)
        error = BEHIND_MPI(MPI_Comm_set_name)(all_, "sennit_comm_all");
    if (error == MPI_SUCCESS)
        error = BEHIND_MPI(MPI_Comm_split)(MPI_COMM_WORLD, program.number, rank, &own);
    if (error == MPI_SUCCESS)
        error = BEHIND_MPI(MPI_Comm_set_name)(own, name_);
    if (error == MPI_SUCCESS)
        own_ = own;
    return error;
}

} // namespace sennit::worlds
