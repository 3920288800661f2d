// SPDX-License-Identifier: Apache-2.0
#include "environment.h"

#include "failure.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>

namespace sennit::tool {
namespace {

std::string text_of(const char *value) {
    return value ? value : "";
}

void append_once(std::vector<std::string> &list, const std::string &item) {
    if (std::find(list.begin(), list.end(), item) == list.end())
        list.push_back(item);
}

// Our folder first, the others in their order.
std::vector<std::string> compose_library_path(const Installation &installation,
                                              const EnvironmentReader &environment) {
    std::vector<std::string> folders = {installation.openmp_folder()};
    for (const std::string &folder : split_path_list(text_of(environment("LD_LIBRARY_PATH")), ":;"))
        append_once(folders, folder);
    return folders;
}

// What is preloaded already stays in front: sanitizer runtimes must be first, and a profiler's
// MPI_X calls PMPI_X, which Sennit answers. But the MPI itself has to be behind ours.
std::vector<std::string> compose_preload(const std::string &before,
                                         const std::vector<std::string> &ours) {
    std::vector<std::string> list;
    std::vector<std::string> behind;
    if (!before.empty())
        for (const std::string &item : split_path_list(before, ": "))
            if (item != ".") // an empty element
                append_once(classify_mpi_library(item) ? behind : list, item);
    for (const std::string &item : ours)
        append_once(list, item);
    for (const std::string &item : behind)
        append_once(list, item);
    return list;
}

bool is_same_file(const std::string &a, const std::string &b) {
    std::error_code error;
    return std::filesystem::equivalent(a, b, error) && !error;
}

// LD_LIBRARY_PATH loses against DT_RPATH, an absolute NEEDED and a name that we have no link for.
// Then only a preload puts our symbols in front of the stock runtime's.
bool must_preload_openmp(Plan &plan, const Installation &installation) {
    bool must = false;
    for (const OpenMpUse &use : plan.program.openmp_libraries) {
        if (use.library.path.empty() ||
            is_same_file(use.library.path, installation.openmp_library()))
            continue;
        must = true;
        plan.notes.push_back(fmt::format(
            "{} is found as {}{}: LD_LIBRARY_PATH cannot replace it, so Sennit's OpenMP library is "
            "preloaded as well",
            use.library.name, use.library.path,
            use.library.found_by_rpath ? " through the DT_RPATH of " + use.library.needed_by : ""));
    }
    return must;
}

void refuse_incomplete(const Installation &installation, const std::optional<MpiKind> &mpi) {
    const std::vector<std::string> missing = installation.missing_files(mpi ? &*mpi : nullptr);
    if (!missing.empty())
        fail("Sennit is not installed completely, missing: {}: build or install it again, or "
             "correct SENNIT_HOME",
             fmt::join(missing, ", "));
}

} // namespace

Plan make_plan(const Request &request, const Installation &installation,
               const EnvironmentReader &environment) {
    const std::vector<std::string> library_path = compose_library_path(installation, environment);
    Plan plan;
    plan.program = inspect_program(request.command.at(0), library_path, request.mpi.has_value());
    plan.mpi = choose_mpi(plan.program, request.mpi);
    if (!plan.mpi && plan.program.openmp_libraries.empty())
        fail("'{}' uses neither MPI nor OpenMP, there is nothing for Sennit to do: if it loads MPI "
             "while it runs, name it with --mpi",
             plan.program.path);
    refuse_incomplete(installation, plan.mpi);

    std::vector<std::string> preload;
    if (plan.mpi)
        preload.push_back(installation.mpi_library(*plan.mpi));
    if (must_preload_openmp(plan, installation))
        preload.push_back(installation.openmp_library());
    if (plan.mpi &&
        !text_of(environment("SENNIT_NETWORK")).empty()) // behind ours: it is the network
        preload.push_back(installation.network_library(*plan.mpi));
    if (plan.program.elf && plan.mpi && plan.program.openmp_libraries.empty())
        plan.notes.push_back("it needs no OpenMP runtime: its MPI calls stay as they are unless it "
                             "loads one while it runs");
    if (!plan.mpi)
        plan.notes.push_back("it uses no MPI: only the OpenMP runtime is replaced");

    plan.settings.push_back({"LD_LIBRARY_PATH", fmt::format("{}", fmt::join(library_path, ":"))});
    const auto preloaded = compose_preload(text_of(environment("LD_PRELOAD")), preload);
    if (!preloaded.empty())
        plan.settings.push_back({"LD_PRELOAD", fmt::format("{}", fmt::join(preloaded, ":"))});
    if (request.threads)
        plan.settings.push_back({"OMP_NUM_THREADS", std::to_string(*request.threads)});
    if (request.policy)
        plan.settings.push_back({"SENNIT_POLICY", *request.policy});
    if (request.trace)
        plan.settings.push_back({"SENNIT_TRACE", *request.trace});
    return plan;
}

void set_local_ranks(Plan &plan, int ranks) {
    plan.settings.push_back({"SENNIT_LOCAL_RANKS", std::to_string(ranks)});
}

} // namespace sennit::tool
