// SPDX-License-Identifier: Apache-2.0
// Where Sennit's own files are: SENNIT_HOME, or the folder above the one that holds this command.
#pragma once

#include "common/mpi_kind.h"

#include <string>
#include <vector>

namespace sennit::tool {

class Installation {
  public:
    // Throws Failure when no folder can be told.
    static Installation locate();
    explicit Installation(std::string home);

    const std::string &home() const { return home_; }
    const std::string &library_folder() const { return library_folder_; }
    // The folder whose entries carry the names of the stock OpenMP runtimes.
    const std::string &openmp_folder() const { return openmp_folder_; }
    std::string openmp_library() const { return library_folder() + "/libsennit-omp.so"; }
    std::string mpi_library(MpiKind kind) const;
    std::string stub() const { return library_folder() + "/sennit-stub"; }     // src/ranks/loader
    std::string python() const { return library_folder() + "/sennit-python"; } // python_launcher.c
    std::string session_library() const;             // for launchers, see one_session.c
    std::string network_library(MpiKind kind) const; // SENNIT_NETWORK: addons/network
    std::string worlds_library(MpiKind kind) const;  // SENNIT_WORLDS: addons/worlds
    std::string accelerator_library(const Accelerator &accelerator) const; // addons/accelerators

    // What a build may leave out, by the words that it is for, and those of its files that are not
    // here. An installation that was made without it has none of them.
    struct Part {
        std::string words;
        std::size_t files;
        std::vector<std::string> missing;
    };
    std::vector<Part> parts() const;

    // Every file that a run with this MPI (or with none) needs and that is absent.
    std::vector<std::string> missing_files(const MpiKind *kind) const;

  private:
    std::string home_;
    // lib/sennit where installed, lib where built; by a link if the loader cannot take home_.
    std::string library_folder_;
    std::string openmp_folder_;
};

// This command's own file.
std::string own_executable();

} // namespace sennit::tool
