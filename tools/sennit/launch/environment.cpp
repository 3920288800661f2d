// SPDX-License-Identifier: Apache-2.0
#include "launch/environment.h"

#include "base/loaded_object.h"
#include "common/failure.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>

namespace sennit::tool {
namespace {

constexpr const char *openmpi_name = "libmpi.so.40";

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

constexpr std::string_view session_library = "libsennit-session.so";

bool is_same_file(const std::string &a, const std::string &b) {
    std::error_code error;
    return std::filesystem::equivalent(a, b, error) && !error;
}

bool is_among(const std::vector<std::string> &files, const std::string &file) {
    return std::any_of(files.begin(), files.end(), [&](const std::string &each) {
        return each == file || is_same_file(each, file);
    });
}

// What is preloaded already stays in front: sanitizer runtimes must be first, and a profiler's
// MPI_X calls PMPI_X, which Sennit answers. Ours are in their own order, also those that were
// there. And the MPI itself has to be behind them.
std::vector<std::string> compose_preload(const std::string &before,
                                         const std::vector<std::string> &ours) {
    std::vector<std::string> list;
    std::vector<std::string> behind;
    if (!before.empty())
        for (const std::string &item : split_path_list(before, ": "))
            if (item != "." &&                                               // an empty element
                std::filesystem::path(item).filename() != session_library && // the launcher's
                !is_among(ours, item))
                append_once(classify_mpi_library(item) ? behind : list, item);
    for (const std::string &item : ours)
        append_once(classify_mpi_library(item) ? behind : list, item);
    for (const std::string &item : behind)
        append_once(list, item);
    return list;
}

// As where only a library of the program needs OpenMP. libc's functions are then reached before
// ours.
bool comes_after_libc(const Program &program, const LoadedLibrary &library) {
    const auto place = [&](std::string_view name) {
        return std::find_if(program.libraries.begin(), program.libraries.end(),
                            [&](const LoadedLibrary &each) { return each.name == name; });
    };
    return place("libc.so.6") < place(library.name);
}

// The OpenMP library looks whether its process stands still.
bool is_watched(const Plan &plan, const JobSpec &spec, const EnvironmentReader &environment) {
    return spec.watched && plan.mpi && !plan.program.starts_ranks &&
           given_text(spec, environment, "SENNIT_HANG") != "off";
}

// LD_LIBRARY_PATH loses against DT_RPATH, an absolute NEEDED and a name that we have no link for,
// and a script may put other folders in front of it. Then only a preload puts our symbols in front
// of the stock runtime's; so it does for what comes later with a name of its own.
bool must_preload_openmp(Plan &plan, const JobSpec &spec, const Installation &installation,
                         const EnvironmentReader &environment) {
    const Program &program = plan.program;
    bool must = program.script && !program.openmp_libraries.empty();
    if (spec.pool && program.openmp_libraries.empty()) {
        must = true;
        plan.notes.push_back("Sennit's OpenMP library is preloaded: it takes and lends the cores "
                             "of the pool");
    }
    const bool is_traced = spec.trace || !text_of(environment("SENNIT_TRACE")).empty();
    if (is_traced && program.openmp_libraries.empty()) {
        must = true;
        plan.notes.push_back("Sennit's OpenMP library is preloaded: it records the trace, which "
                             "has only MPI calls unless the program loads an OpenMP runtime");
    }
    const bool is_counted = spec.talp || text_of(environment("SENNIT_TALP")) == "on";
    if (is_counted && program.openmp_libraries.empty()) {
        must = true;
        plan.notes.push_back("Sennit's OpenMP library is preloaded: it counts how time is spent");
    }
    if (!must && program.openmp_libraries.empty() && is_watched(plan, spec, environment)) {
        must = plan.only_watched = true;
        plan.notes.push_back("Sennit's OpenMP library is preloaded: it tells when the job hangs "
                             "(not with SENNIT_HANG=off)");
    }
    if (program.imports.brings_more && !program.uses_mpi_or_openmp()) {
        must = true;
        plan.notes.push_back("what it loads or starts cannot be seen before: Sennit's OpenMP "
                             "library is preloaded, in front also of those that Python's wheels "
                             "bring along (libgomp-*.so)");
    }
    for (const OpenMpUse &use : program.openmp_libraries) {
        if (comes_after_libc(program, use.library)) {
            must = true;
            plan.notes.push_back(
                fmt::format("{} comes after libc in the order of its libraries: Sennit's OpenMP "
                            "library is preloaded, so that tasks wait for libc's locks as tasks",
                            use.library.name));
        }
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

// Where a launcher lies in PATH, there is its MPI; else where the loader looks.
std::string find_openmpi(const std::vector<std::string> &library_path, const char *path) {
    std::error_code ignored;
    for (const std::string &folder : split_path_list(text_of(path))) {
        const std::string candidate = folder + "/../lib/" + openmpi_name;
        if (std::filesystem::exists(folder + "/mpiexec", ignored) &&
            std::filesystem::exists(candidate, ignored))
            return std::filesystem::path(candidate).lexically_normal().string();
    }
    return find_preloaded(openmpi_name, library_path);
}

// Open MPI's constants are objects, whose addresses our library has to know when it is loaded: an
// MPI that comes with a library which the program opens comes too late for that.
void bring_openmpi_forward(Plan &plan, const std::vector<std::string> &library_path,
                           const EnvironmentReader &environment,
                           std::vector<std::string> &preload) {
    if (plan.mpi != MpiKind::openmpi || plan.program.uses(MpiKind::openmpi))
        return;
    std::string library = find_openmpi(library_path, environment("PATH"));
    if (library.empty()) {
        plan.notes.push_back(fmt::format("{} is not found and cannot be preloaded: tasks are "
                                         "suspended only if it is there from the start",
                                         openmpi_name));
        return;
    }
    plan.notes.push_back(fmt::format("Open MPI may come while it runs: {} is preloaded", library));
    preload.push_back(std::move(library));
}

// Libraries of AddressSanitizer end a program in which another library comes first, as what is
// preloaded does. They do so for the sake of libraries that stand in front of malloc and the like:
// ours do not. A preload of the sanitizer's own library would reach each shell that the program
// starts, and look for leaks there.
void let_ours_come_first(Plan &plan, const EnvironmentReader &environment) {
    const auto checks_order = [](const LoadedLibrary &library) {
        return library.name.starts_with("libasan.") || library.name.starts_with("libclang_rt.asan");
    };
    if (!std::any_of(plan.program.libraries.begin(), plan.program.libraries.end(), checks_order))
        return;
    std::string before = text_of(environment("ASAN_OPTIONS"));
    for (const Setting &setting : plan.settings)
        if (setting.name == "ASAN_OPTIONS")
            before = setting.value;
    constexpr std::string_view option = "verify_asan_link_order";
    if (before.find(option) != std::string::npos)
        return;
    plan.settings.push_back(
        {"ASAN_OPTIONS", fmt::format("{}{}{}=0", before, before.empty() ? "" : ":", option)});
}

// What the program does not tell the launcher does, if this is a rank already.
std::optional<MpiKind> mpi_of_plan(Plan &plan, const JobSpec &spec,
                                   const EnvironmentReader &environment) {
    const std::optional<MpiKind> kind = choose_mpi(plan.program, spec.mpi);
    if (kind || !plan.program.imports.brings_more)
        return kind;
    if (const auto job = find_job_context(environment); job && job->launcher_kind) {
        plan.notes.push_back(fmt::format("it is taken for a program of {}, which started it (--mpi "
                                         "says otherwise)",
                                         job->launcher));
        return job->launcher_kind;
    }
    // A single process may have nothing to do with the MPI that lies there.
    if (spec.ranks && !plan.program.starts_ranks)
        plan.program.mpi_beside = find_mpi_beside(plan.program);
    const std::optional<MpiUse> &beside = plan.program.mpi_beside;
    if (!beside || !beside->kind)
        return std::nullopt;
    plan.notes.push_back(fmt::format("it is taken for a program of {}, whose {} is the only MPI "
                                     "that lies there (--mpi says otherwise)",
                                     traits(*beside->kind).name, beside->library.path));
    return beside->kind;
}

// A world for each program of the job. The library is in front of ours, which is told of the
// program's world as of any other communicator.
void divide_world(Plan &plan, const std::string &ranks, const Installation &installation,
                  std::vector<std::string> &preload) {
    if (!plan.mpi || ranks.empty())
        return;
    const std::string library = installation.worlds_library(*plan.mpi);
    std::error_code ignored;
    if (!std::filesystem::is_regular_file(library, ignored))
        fail("--worlds needs {}, which is missing; there is one for MPICH and one for Open MPI, by "
             "their own ABIs",
             library);
    preload.insert(preload.begin(), library);
    plan.settings.push_back({"SENNIT_WORLDS", ranks});
}

// What `sennit run` is to put in front of the library of an accelerator, and of which.
std::vector<const Accelerator *> accelerators_of(const Program &program, const std::string &said) {
    std::vector<const Accelerator *> found;
    if (said == "off")
        return found;
    if (const Accelerator *const named = accelerator_from_word(said))
        return {named};
    if (!said.empty() && said != "auto")
        fail("SENNIT_ACCELERATORS='{}' is unknown: use one of auto, cuda, hip, off", said);
    for (const LoadedLibrary &library : program.libraries)
        if (const Accelerator *const its = classify_accelerator_library(library.name);
            its && std::find(found.begin(), found.end(), its) == found.end())
            found.push_back(its);
    return found;
}

void suspend_at_accelerators(Plan &plan, const std::string &said, const Installation &installation,
                             std::vector<std::string> &preload) {
    const std::vector<const Accelerator *> found = accelerators_of(plan.program, said);
    for (const Accelerator *const one : found) {
        const std::string library = installation.accelerator_library(*one);
        std::error_code ignored;
        if (!std::filesystem::is_regular_file(library, ignored))
            fail("{} is missing, by which tasks wait for {}: install Sennit again, or set "
                 "SENNIT_ACCELERATORS=off",
                 library, one->name);
        preload.push_back(library);
        plan.notes.push_back(
            fmt::format("tasks that wait for {} are suspended (SENNIT_ACCELERATORS)", one->name));
    }
    if (said == "off" || !found.empty())
        return;
    ElfFile file(plan.program.file.c_str());
    if (!file.section(".nv_fatbin").empty())
        plan.notes.push_back("CUDA's runtime is linked into it statically, as nvcc does by itself: "
                             "tasks that wait for CUDA block their threads (build it with "
                             "-cudart shared)");
    file.close_file();
}

// By the linker, from libgomp.a or libomp.a: no library comes in front of it.
bool has_runtime_inside(const Program &program) {
    ElfFile file(program.file.c_str());
    const bool has = file.find_function([](std::string_view name, const ElfW(Sym) &) {
        return name == "GOMP_parallel" || name == "__kmpc_fork_call";
    }) != nullptr;
    file.close_file();
    return has;
}

void note_what_is_missing(Plan &plan) {
    const Program &program = plan.program;
    if (program.openmp_libraries.empty() && !plan.warning && has_runtime_inside(program))
        plan.warning = fmt::format("'{}' has an OpenMP runtime linked into it, which Sennit cannot "
                                   "replace: its tasks block their threads (link the runtime's "
                                   "shared library)",
                                   program.file);
    else if (!program.mpi_libraries.empty() && program.openmp_libraries.empty())
        plan.notes.push_back("it needs no OpenMP runtime: its MPI calls stay as they are unless it "
                             "loads one while it runs");
    if (plan.mpi)
        return;
    std::string text = "no MPI is seen in it: tasks that wait in MPI are suspended only if --mpi "
                       "mpich, openmpi or mpiabi names it";
    if (program.starts_ranks)
        plan.warning = fmt::format("'{}' starts ranks, {}", program.path, text);
    else if (program.imports.brings_more)
        plan.notes.push_back(std::move(text));
    else
        plan.notes.push_back("it uses no MPI: only the OpenMP runtime is replaced");
}

void refuse_incomplete(const Installation &installation, const std::optional<MpiKind> &mpi) {
    const std::vector<std::string> missing = installation.missing_files(mpi ? &*mpi : nullptr);
    if (!missing.empty())
        fail("Sennit is not installed completely, missing: {}: build or install it again, or "
             "correct SENNIT_HOME",
             fmt::join(missing, ", "));
}

// What is missing may be its MPI, or need it.
void refuse_without_libraries(const Program &program) {
    for (const LoadedLibrary &library : program.libraries)
        if (library.path.empty())
            fail("'{}' needs {}, which is not found: install it, or add its folder to "
                 "LD_LIBRARY_PATH",
                 program.path, library.name);
}

// By `NAME=value` in front of the program?
bool is_set(const JobSpec &spec, std::string_view name) {
    return std::any_of(spec.settings.begin(), spec.settings.end(),
                       [&](const Setting &setting) { return setting.name == name; });
}

} // namespace

std::string given_text(const JobSpec &spec, const EnvironmentReader &environment,
                       const char *name) {
    for (const Setting &setting : spec.settings)
        if (setting.name == name)
            return setting.value;
    return text_of(environment(name));
}

Plan make_plan(const JobSpec &spec, const Installation &installation,
               const EnvironmentReader &environment) {
    const std::vector<std::string> library_path = compose_library_path(installation, environment);
    Plan plan;
    plan.program = inspect_program(spec.command, library_path);
    plan.mpi = mpi_of_plan(plan, spec, environment);
    if (!plan.program.warning.empty())
        plan.warning = plan.program.warning;
    if (!plan.mpi && plan.program.openmp_libraries.empty() && !plan.program.imports.brings_more) {
        refuse_without_libraries(plan.program);
        plan.runs_as_it_is = true;
        plan.settings = spec.settings;
        plan.warning = fmt::format("'{}' uses neither MPI nor OpenMP and loads nothing while it "
                                   "runs: it runs as it is (was it to be built with -fopenmp?)",
                                   plan.program.path);
        return plan;
    }
    refuse_incomplete(installation, plan.mpi);

    std::vector<std::string> preload;
    if (plan.mpi)
        preload.push_back(installation.mpi_library(*plan.mpi));
    if (must_preload_openmp(plan, spec, installation, environment))
        preload.push_back(installation.openmp_library());
    if (plan.mpi &&
        !text_of(environment("SENNIT_NETWORK")).empty()) // behind ours: it is the network
        preload.push_back(installation.network_library(*plan.mpi));
    suspend_at_accelerators(plan, given_text(spec, environment, "SENNIT_ACCELERATORS"),
                            installation, preload);
    bring_openmpi_forward(plan, library_path, environment, preload);
    note_what_is_missing(plan);

    plan.settings = spec.settings;
    divide_world(plan, text_of(environment("SENNIT_WORLDS")), installation, preload);
    plan.settings.push_back({"LD_LIBRARY_PATH", fmt::format("{}", fmt::join(library_path, ":"))});
    const std::string before = text_of(environment("LD_PRELOAD"));
    const auto preloaded = compose_preload(before, preload);
    if (!preloaded.empty() || before.find(session_library) != std::string::npos)
        plan.settings.push_back({"LD_PRELOAD", fmt::format("{}", fmt::join(preloaded, ":"))});
    if (!preloaded.empty())
        let_ours_come_first(plan, environment);
    if (plan.mpi && !environment("SENNIT_DOORBELLS") && !is_set(spec, "SENNIT_DOORBELLS"))
        plan.settings.push_back({"SENNIT_DOORBELLS", "auto"});
    if (plan.only_watched || environment("SENNIT_ONLY_WATCHED")) // else that of an outer command
        plan.settings.push_back({"SENNIT_ONLY_WATCHED", plan.only_watched ? "1" : "0"});
    if (spec.threads)
        plan.settings.push_back({"OMP_NUM_THREADS", std::to_string(*spec.threads)});
    if (spec.split)
        plan.settings.push_back({"SENNIT_SPLIT", *spec.split});
    if (spec.policy)
        plan.settings.push_back({"SENNIT_POLICY", *spec.policy});
    if (spec.bind)
        plan.settings.push_back({"OMP_PROC_BIND", spec.bind->proc_bind});
    if (spec.bind && spec.bind->places)
        plan.settings.push_back({"OMP_PLACES", spec.bind->places});
    if (spec.trace)
        plan.settings.push_back({"SENNIT_TRACE", *spec.trace});
    if (spec.talp)
        plan.settings.push_back({"SENNIT_TALP", "on"});
    return plan;
}

void set_pool(Plan &plan, const JobSpec &spec, int cores, const EnvironmentReader &environment) {
    if (!spec.pool)
        return;
    std::erase_if(plan.settings, [&](const Setting &setting) {
        return setting.name == "SENNIT_POOL" ||
               (setting.name == "SENNIT_DOORBELLS" && !is_set(spec, "SENNIT_DOORBELLS"));
    });
    plan.settings.push_back({"SENNIT_POOL", *spec.pool});
    if (spec.share)
        plan.settings.push_back({"SENNIT_SHARE", *spec.share});
    if (spec.priority)
        plan.settings.push_back({"SENNIT_PRIORITY", *spec.priority});
    if (plan.mpi && !environment("SENNIT_DOORBELLS") && !is_set(spec, "SENNIT_DOORBELLS"))
        plan.settings.push_back({"SENNIT_DOORBELLS", "on"});
    if (spec.threads || environment("OMP_NUM_THREADS"))
        return;
    plan.settings.push_back({"OMP_NUM_THREADS", std::to_string(cores)});
    plan.notes.push_back(fmt::format("OMP_NUM_THREADS is not set: each rank has a thread for each "
                                     "of the {} cores of pool '{}'",
                                     cores, *spec.pool));
}

void set_local_ranks(Plan &plan, int ranks, std::optional<int> processors,
                     const EnvironmentReader &environment) {
    plan.settings.push_back({"SENNIT_LOCAL_RANKS", std::to_string(ranks)});
    const auto said = [](const Setting &setting) { return setting.name == "OMP_NUM_THREADS"; };
    if (ranks == 1 || !processors || environment("OMP_NUM_THREADS") ||
        std::any_of(plan.settings.begin(), plan.settings.end(), said))
        return;
    plan.settings.push_back({"OMP_NUM_THREADS", std::to_string(std::max(1, *processors / ranks))});
    plan.notes.push_back(fmt::format("OMP_NUM_THREADS is not set: {} ranks share {} processors",
                                     ranks, *processors));
}

} // namespace sennit::tool
