// SPDX-License-Identifier: Apache-2.0
// Runs random task programs and compares each with its sequential interpretation.
//
//   task-graphs [--seed N] [--programs N | --seconds N] [--users N | --league N]
//               [--limit SECONDS] [--without newer,suspend,lock_yield,nested,cancel,detach,pool]
//
// Program i has seed N + i, on OMP_NUM_THREADS threads; `users` threads of the process, or the
// initial threads of a league, each run their share. Exit code 1 at the first difference, with the
// command that repeats it.
#include "execution.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <string>
#include <thread>

namespace {

using namespace stress;

struct Options {
    std::uint64_t seed = 1;
    std::uint64_t programs = 100;
    long seconds = 0; // 0: `programs` decides
    int users = 1;
    bool league = false; // the users are its initial threads
    int limit_s = 120;
    Features features;
    std::string without; // as it was given
};

[[noreturn]] void usage(const char *argument) {
    std::fprintf(stderr, "task-graphs: unknown argument '%s'; see main.cpp\n", argument);
    std::exit(2);
}

void leave_out(Features &features, std::string list) {
    struct {
        const char *name;
        bool *feature;
    } const names[] = {{"newer", &features.newer},
                       {"suspend", &features.suspend},
                       {"lock_yield", &features.lock_yield},
                       {"nested", &features.nested},
                       {"cancel", &features.cancel},
                       {"detach", &features.detach},
                       {"pool", &features.pool}};
    for (char *word = std::strtok(list.data(), ","); word; word = std::strtok(nullptr, ",")) {
        bool known = false;
        for (const auto &name : names)
            if (std::strcmp(word, name.name) == 0) {
                *name.feature = false;
                known = true;
            }
        if (!known)
            usage(word);
    }
}

Options read(int argc, char **argv) {
    Options options;
#ifndef __clang__
    options.features.newer = false;
#endif
    options.features.suspend = can_suspend();
    options.features.pool = can_offer();
    for (int i = 1; i < argc; i += 2) {
        const char *name = argv[i];
        if (i + 1 == argc)
            usage(name);
        char *value = argv[i + 1];
        if (std::strcmp(name, "--seed") == 0)
            options.seed = std::strtoull(value, nullptr, 10);
        else if (std::strcmp(name, "--programs") == 0)
            options.programs = std::strtoull(value, nullptr, 10);
        else if (std::strcmp(name, "--seconds") == 0)
            options.seconds = std::atol(value);
        else if (std::strcmp(name, "--users") == 0 || std::strcmp(name, "--league") == 0) {
            options.users = std::atoi(value);
            options.league = std::strcmp(name, "--league") == 0;
        } else if (std::strcmp(name, "--limit") == 0)
            options.limit_s = std::atoi(value);
        else if (std::strcmp(name, "--without") == 0) {
            options.without = value;
            leave_out(options.features, options.without);
        } else
            usage(name);
    }
    return options;
}

void report(const Options &options, const Program &program, const std::vector<std::string> &lines,
            int threads) {
    std::fprintf(stderr, "seed %llu, %d threads: %zu differences\n",
                 static_cast<unsigned long long>(program.seed), threads, lines.size());
    for (std::size_t i = 0; i < lines.size() && i < 10; ++i)
        std::fprintf(stderr, "  %s\n", lines[i].c_str());
    std::fprintf(stderr, "again: OMP_NUM_THREADS=%d task-graphs --seed %llu --programs %d%s%s%s\n",
                 threads, static_cast<unsigned long long>(program.seed), options.users,
                 options.league ? " --league 1" : "", options.without.empty() ? "" : " --without ",
                 options.without.c_str());
    std::_Exit(1);
}

struct Totals {
    std::atomic<std::uint64_t> programs{0}, nodes{0};
};

// The programs of one thread: every users-th.
void run_user(const Options &options, int user, int threads, Totals &totals) {
    omp_set_dynamic(0);
    omp_set_max_active_levels(4);
    const std::time_t end = std::time(nullptr) + options.seconds;
    const auto step = static_cast<std::uint64_t>(options.users);
    for (auto i = static_cast<std::uint64_t>(user);
         options.seconds ? std::time(nullptr) < end : i < options.programs; i += step) {
        const Program program = generate(options.seed + i, threads, options.features);
        Execution run(program);
        watch(user, &run);
        run.run();
        watch(user, nullptr);
        const std::vector<std::string> lines = differences(run);
        if (!lines.empty())
            report(options, program, lines, threads);
        totals.programs += 1;
        totals.nodes += program.nodes.size();
    }
}

void run_threads(const Options &options, int threads, Totals &totals) {
    std::vector<std::thread> users;
    for (int user = 1; user < options.users; ++user)
        users.emplace_back([&, user] { run_user(options, user, threads, totals); });
    run_user(options, 0, threads, totals);
    for (std::thread &user : users)
        user.join();
}

void run_league(const Options &options, int threads, Totals &totals) {
#pragma omp teams num_teams(options.users) shared(options, threads, totals)
    run_user(options, omp_get_team_num(), threads, totals);
}

} // namespace

int main(int argc, char **argv) {
    const Options options = read(argc, argv);
    const int threads = omp_get_max_threads();
    start_outside(options.limit_s);
    Totals totals;
    if (options.league)
        run_league(options, threads, totals);
    else
        run_threads(options, threads, totals);
    stop_outside();
    std::printf("%llu programs, %llu nodes: no difference\n",
                static_cast<unsigned long long>(totals.programs.load()),
                static_cast<unsigned long long>(totals.nodes.load()));
    return 0;
}
