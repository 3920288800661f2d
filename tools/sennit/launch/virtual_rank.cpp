// SPDX-License-Identifier: Apache-2.0
#include "launch/virtual_rank.h"

#include "common/elf_image.h"
#include "common/failure.h"
#include "common/host_name.h"
#include "launch/job_context.h"
#include "launch/library_search.h"
#include "pool/pool_board.h"

#include "base/random_bytes.h"
#include "node/identity.h"

#include <elf.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string_view>

namespace sennit::tool {
namespace {

std::uint64_t mapping_limit() {
    std::uint64_t limit = 65530;
    std::ifstream("/proc/sys/vm/max_map_count") >> limit;
    return limit;
}

// One for all ranks of a node, where each process has had its own.
void refuse_limit(__rlimit_resource_t resource, const char *option) {
    rlimit limit{};
    if (getrlimit(resource, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY)
        fail("ulimit {} is {} KiB, and virtual ranks share one address space: `ulimit {} "
             "unlimited`, or leave --virtual away",
             option, limit.rlim_cur / 1024, option);
}

// Each of them needs fixed addresses, or every instruction.
constexpr std::string_view sanitizers[] = {"libasan.",   "libtsan.", "liblsan.",
                                           "libhwasan.", "libmsan.", "libclang_rt."};

void refuse_sanitizer(const Plan &plan, const ElfImage &image) {
    bool found = image.sanitized;
    for (const LoadedLibrary &library : plan.program.libraries)
        for (const std::string_view name : sanitizers)
            found |= library.name.starts_with(name);
    if (found)
        fail("'{}' is built with a sanitizer, whose shadow memory has one place in an address "
             "space: build it without, or leave --virtual away",
             plan.program.path);
}

// "python3.11", whatever the links to it are called.
std::string python_name(const std::string &path) {
    std::error_code error;
    const std::string name = std::filesystem::canonical(path, error).filename().string();
    return name.starts_with("python3.") ? name : "";
}

std::string python_soname(const std::string &path) {
    return fmt::format("lib{}.so.1.0", python_name(path));
}

bool needs_python_launcher(const std::string &path) {
    return !python_name(path).empty() && read_elf(path).type == ET_EXEC;
}

// Beside the interpreter, else where the system finds it; empty: nowhere.
std::string python_library(const std::string &path) {
    const auto prefix = std::filesystem::canonical(path).parent_path().parent_path();
    const std::string beside = (prefix / "lib" / python_soname(path)).string();
    return access(beside.c_str(), R_OK) == 0 ? beside : find_preloaded(python_soname(path), {});
}

// By its file, for SENNIT_BOARD may say that pools of one name are two.
std::string job_of_pool(const std::string &name) {
    return fmt::format("pool-{:x}-{}", std::hash<std::string>{}(pool_file(name)), name);
}

// A part of a file's name. What is too long or has other characters is told apart by a number.
std::string file_part(const std::string &name, std::size_t most) {
    constexpr std::size_t of_number = 17;
    std::string part = name;
    std::replace_if(
        part.begin(), part.end(), [](unsigned char c) { return !std::isalnum(c) && c != '-'; },
        '-');
    if (part == name && part.size() <= most)
        return part;
    return fmt::format("{}-{:016x}", part.substr(0, most - of_number),
                       std::hash<std::string>{}(name));
}

// Told apart from an earlier process with that number.
std::string parent_process() {
    return fmt::format("parent-{}-{:x}", getppid(), node::identity_of(getppid()));
}

} // namespace

void refuse_virtual(const Plan &plan, const EnvironmentReader &environment) {
    const std::string &path = plan.program.path;
    if (plan.program.script)
        fail("'{}' is a script, only the program in it can be a virtual rank: put `sennit exec "
             "--virtual` in front of the program there",
             path);
    if (text_of(environment("LD_PRELOAD")).find("vgpreload") != std::string::npos)
        fail("valgrind cannot follow virtual ranks: leave --virtual away");
    const ElfImage image = read_elf(path);
    if (needs_python_launcher(path)) {
        if (python_library(path).empty())
            fail("'{}' is linked to fixed addresses, and its shared library {} is missing: install "
                 "it (Debian: the package lib{}), or leave --virtual away",
                 path, python_soname(path), python_name(path));
    } else if (image.type == ET_EXEC)
        fail("'{}' is linked to fixed addresses, so there can be only one of it in an address "
             "space: link it with -pie, or leave --virtual away",
             path);
    refuse_sanitizer(plan, image);
    refuse_limit(RLIMIT_AS, "-v");
    refuse_limit(RLIMIT_DATA, "-d");
}

void set_for_virtual(Plan &plan, const EnvironmentReader &environment) {
    if (needs_python_launcher(plan.program.path)) {
        plan.settings.push_back({"SENNIT_PYTHON", python_library(plan.program.path)});
        // For what the rank asks of itself (src/ranks/inside).
        plan.settings.push_back(
            {"SENNIT_PYTHON_PROGRAM", std::filesystem::absolute(plan.program.path).string()});
    }
    const auto set_default = [&](const char *name, const char *value) {
        if (!environment(name) &&
            std::none_of(plan.settings.begin(), plan.settings.end(),
                         [&](const Setting &setting) { return setting.name == name; }))
            plan.settings.push_back({name, value});
    };
    // A window at one address on all ranks: in one address space each try is in vain.
    if (plan.mpi == MpiKind::mpich || plan.mpi == MpiKind::mpiabi)
        set_default("MPIR_CVAR_SHM_SYMHEAP_RETRY", "0");
    // Buffers for messages from ranks of the node, which the UCX of MPICH makes 512 at a time: its
    // queue takes 257, and each costs a page. How many a rank makes is for itself alone. Where not
    // all transports are used, UCX would warn of settings for the others.
    if ((plan.mpi == MpiKind::mpich || plan.mpi == MpiKind::mpiabi) && !environment("UCX_TLS"))
        for (const char *name : {"UCX_POSIX_RX_BUFS_GROW", "UCX_SYSV_RX_BUFS_GROW"})
            set_default(name, "260");
    // PMIx's memory that lies at one address in all processes, where its server has that.
    if (text_of(environment("PMIX_GDS_MODULE")).find("shmem") != std::string::npos)
        set_default("PMIX_MCA_gds", "hash");
}

std::uint32_t expected_mappings(const Plan &plan, int threads, int ranks) {
    constexpr std::uint32_t of_any = 24; // stack, heap, the dynamic linker, the program
    constexpr std::uint32_t of_library = 6;
    constexpr std::uint32_t of_thread = 6;    // stack, guard, arena; fibers come in slabs
    constexpr std::uint32_t of_mpich = 200;   // 266 were counted of a small program
    constexpr std::uint32_t of_python = 200;  // its modules are libraries, too
    constexpr std::uint32_t of_openmpi = 400; // its components are libraries: 399
    // The memory that a rank shares with each other one of its node: counted of 4, 32 and 64 ranks
    // after MPI_Alltoall.
    constexpr std::uint32_t of_neighbour_mpich = 3;
    constexpr std::uint32_t of_neighbour_openmpi = 1;
    const auto libraries = static_cast<std::uint32_t>(plan.program.libraries.size());
    const auto own_threads = static_cast<std::uint32_t>(std::max(threads, 1));
    std::uint32_t mappings = of_any + of_library * libraries;
    if (!plan.program.openmp_libraries.empty() || own_threads > 1)
        mappings += of_thread * own_threads;
    if (needs_python_launcher(plan.program.path))
        mappings += of_python;
    const auto neighbours = static_cast<std::uint32_t>(std::max(ranks, 1)) - 1;
    if (plan.mpi && *plan.mpi == MpiKind::openmpi)
        mappings += of_openmpi + of_neighbour_openmpi * neighbours;
    else if (plan.mpi)
        mappings += of_mpich + of_neighbour_mpich * neighbours;
    return mappings;
}

std::string virtual_job(const JobSpec &spec, const EnvironmentReader &environment) {
    std::string name = spec.pool ? job_of_pool(*spec.pool) : "";
    for (const char *variable : {virtual_job_variable, "PMIX_NAMESPACE"})
        if (name.empty())
            name = text_of(environment(variable));
    if (name.empty() && environment("SLURM_STEP_ID"))
        name = fmt::format("slurm-{}-{}", text_of(environment("SLURM_JOB_ID")),
                           text_of(environment("SLURM_STEP_ID")));
    if (name.empty())
        name = parent_process();
    return file_part(name, 40);
}

std::string new_job_name() {
    return fmt::format("run-{}-{:016x}", getpid(), random_word());
}

std::vector<std::string> virtual_command(const Plan &plan, const JobSpec &spec,
                                         const Installation &installation,
                                         const EnvironmentReader &environment) {
    const std::string stub = installation.stub();
    if (access(stub.c_str(), X_OK) != 0)
        fail("'{}' is missing: build or install Sennit again", stub);
    const std::string tmp = text_of(environment("TMPDIR"));
    // Absolute: the host leaves this folder.
    const std::string parent = std::filesystem::absolute(tmp.empty() ? "/tmp" : tmp).string();
    const std::string folder =
        fmt::format("{}/sennit-virtual-{}/{}-{}", parent, geteuid(), file_part(host_name(), 24),
                    virtual_job(spec, environment));
    int threads = spec.threads.value_or(0);
    for (const Setting &setting : plan.settings)
        if (setting.name == "OMP_NUM_THREADS")
            threads = std::atoi(setting.value.c_str());
    const std::optional<JobContext> job = find_job_context(environment);
    const int ranks = job ? job->local_size.value_or(1) : 1;
    const std::uint32_t mappings = expected_mappings(plan, threads, ranks);
    if (const std::uint64_t limit = mapping_limit(); mappings > limit)
        fail("'{}' needs about {} mappings, the kernel allows {}: raise vm.max_map_count",
             plan.program.path, mappings, limit);
    std::vector<std::string> command = {stub};
    if (spec.as_fibers)
        command.emplace_back("--fiber");
    command.insert(command.end(), {folder, std::to_string(mappings),
                                   needs_python_launcher(plan.program.path)
                                       ? installation.python()
                                       : std::filesystem::absolute(plan.program.path).string()});
    command.insert(command.end(), spec.command.begin(), spec.command.end());
    return command;
}

} // namespace sennit::tool
