// SPDX-License-Identifier: Apache-2.0
#include "mpi/wrap/wrap.h"

#include "base/environment.h"
#include "mpi/engine/engine.h"

#include <climits>
#include <cstdio>
#include <cstring>
#include <deque>
#include <unistd.h>
#include <vector>

namespace sennit::mpi {

namespace {

constexpr char kEnv[] = "/usr/bin/env";

// The parent's folder for traces, its link to the launcher, and how its world is divided, are only
// for ranks of its MPI_COMM_WORLD.
constexpr const char *kOfThisWorld[] = {"SENNIT_TRACE", "SENNIT_HANG_LINK", "SENNIT_WORLDS"};

bool begins_with(const char *text, const char *start) {
    return std::strncmp(text, start, std::strlen(start)) == 0;
}

// Of "NAME=value".
bool is_named(const char *setting, const char *name) {
    return begins_with(setting, name) && setting[std::strlen(name)] == '=';
}

// Was this process started under Sennit by preloading? If a process links our libraries, its
// children do so, too.
bool under_sennit() {
    const char *preload = trusted_environment("LD_PRELOAD");
    return preload && std::strstr(preload, "libsennit-") && access(kEnv, X_OK) == 0;
}

// What children have of our environment.
bool passed_on(const char *setting) {
    for (const char *name : kOfThisWorld)
        if (is_named(setting, name))
            return false;
    for (const char *name : {"LD_PRELOAD", "LD_LIBRARY_PATH", "OMP_NUM_THREADS"})
        if (is_named(setting, name))
            return true;
    return begins_with(setting, "SENNIT_");
}

// The value of an info key. False: it is not there.
bool info_value(MPI_Info info, const char *key, char (&value)[PATH_MAX]) {
    static constexpr auto get = SENNIT_BARE(Info_get);
    int there = 0;
    if (info == MPI_INFO_NULL || get(info, key, sizeof value - 1, value, &there) != MPI_SUCCESS)
        return false;
    return there != 0;
}

// Is `name` in one of the folders an executable file? Then `found` has its path.
bool search(const char *folders, const char *name, char (&found)[PATH_MAX]) {
    for (const char *at = folders; *at != '\0';) {
        const std::size_t length = std::strcspn(at, ":");
        const int size =
            std::snprintf(found, sizeof found, "%.*s/%s", static_cast<int>(length), at, name);
        if (size < PATH_MAX && access(found, X_OK) == 0)
            return true;
        at += length + (at[length] == ':' ? 1 : 0);
    }
    return false;
}

// One command of a program: as given, or through env.
class Command {
  public:
    Command(const char *command, char **arguments, MPI_Info info)
        : command_(const_cast<char *>(command)), arguments_(arguments) {
        if (!find(info))
            return; // the MPI says why not
        for (const char *name : kOfThisWorld)
            for (const char *word : {"-u", name})
                words_.push_back(const_cast<char *>(word));
        for (char **setting = environ; *setting; ++setting)
            if (passed_on(*setting))
                words_.push_back(*setting);
        words_.push_back(program_);
        for (char **at = arguments; at && *at; ++at)
            words_.push_back(*at);
        words_.push_back(nullptr);
        command_ = const_cast<char *>(kEnv);
        arguments_ = words_.data();
    }

    Command(const Command &) = delete;
    Command &operator=(const Command &) = delete;

    char *command() const { return command_; }
    char **arguments() const { return arguments_; }

  private:
    // As MPI and env would find it. A name must not be one that env takes for a setting.
    bool find(MPI_Info info) {
        char folders[PATH_MAX];
        if (!command_ || !*command_ || std::strchr(command_, '='))
            return false;
        std::snprintf(program_, sizeof program_, "%s", command_);
        if (*command_ == '/')
            return access(command_, X_OK) == 0;
        if (std::strchr(command_, '/')) {
            char there[PATH_MAX];
            return search(info_value(info, "wdir", folders) ? folders : ".", command_, there);
        }
        if (info_value(info, "path", folders) && search(folders, command_, program_))
            return true;
        const char *path = trusted_environment("PATH");
        return path && search(path, command_, program_);
    }

    char program_[PATH_MAX] = "";
    char *command_;
    char **arguments_;
    std::vector<char *> words_;
};

// Only the root's arguments say what to start.
bool is_root(int root, MPI_Comm comm) {
    static constexpr auto get_rank = SENNIT_BARE(Comm_rank);
    int rank = -1;
    return comm != MPI_COMM_NULL && get_rank(comm, &rank) == MPI_SUCCESS && rank == root;
}

} // namespace

int spawn(const char *command, char *argv[], int maxprocs, MPI_Info info, int root, MPI_Comm comm,
          MPI_Comm *intercomm, int errcodes[]) {
    static constexpr auto bare = SENNIT_BARE(Comm_spawn);
    meet_others();
    if (!under_sennit() || !is_root(root, comm))
        return bare(command, argv, maxprocs, info, root, comm, intercomm, errcodes);
    const Command ours(command, argv, info);
    return bare(ours.command(), ours.arguments(), maxprocs, info, root, comm, intercomm, errcodes);
}

int spawn_multiple(int count, char *commands[], char **argvs[], const int maxprocs[],
                   const MPI_Info infos[], int root, MPI_Comm comm, MPI_Comm *intercomm,
                   int errcodes[]) {
    static constexpr auto bare = SENNIT_BARE(Comm_spawn_multiple);
    meet_others();
    if (!under_sennit() || count < 1 || !is_root(root, comm))
        return bare(count, commands, argvs, maxprocs, infos, root, comm, intercomm, errcodes);
    std::deque<Command> ours; // which stay where they are
    std::vector<char *> our_commands;
    std::vector<char **> our_argvs;
    for (int i = 0; i < count; ++i) {
        const Command &one = ours.emplace_back(commands[i], argvs ? argvs[i] : nullptr, infos[i]);
        our_commands.push_back(one.command());
        our_argvs.push_back(one.arguments());
    }
    return bare(count, our_commands.data(), our_argvs.data(), maxprocs, infos, root, comm,
                intercomm, errcodes);
}

int accept_others(const char *port, MPI_Info info, int root, MPI_Comm comm, MPI_Comm *other) {
    static constexpr auto bare = SENNIT_BARE(Comm_accept);
    meet_others();
    return bare(port, info, root, comm, other);
}

int connect_others(const char *port, MPI_Info info, int root, MPI_Comm comm, MPI_Comm *other) {
    static constexpr auto bare = SENNIT_BARE(Comm_connect);
    meet_others();
    return bare(port, info, root, comm, other);
}

int join_others(int socket, MPI_Comm *other) {
    static constexpr auto bare = SENNIT_BARE(Comm_join);
    meet_others();
    return bare(socket, other);
}

} // namespace sennit::mpi
