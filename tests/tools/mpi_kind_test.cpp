// SPDX-License-Identifier: Apache-2.0
#include "common/mpi_kind.h"

#include "support.h"

namespace sennit::tool {
namespace {

TEST(MpiLibrary, NameAndNumberTellWhoseItIs) {
    for (const char *name :
         {"libmpich.so.12", "libmpi.so.12", "libmpichcxx.so.12", "libmpichfort.so.12",
          "libmpifort.so.12", "libmpi.so.12.2.2", "/opt/mpich/lib/libmpi.so.12"})
        EXPECT_EQ(classify_mpi_library(name)->kind, MpiKind::mpich) << name;
    for (const char *name :
         {"libmpi.so.40", "libmpi_mpifh.so.40", "libmpi_usempif08.so.40",
          "libmpi_usempi_ignore_tkr.so.40", "libmpi_cxx.so.40", "libmpi_mpifh-gfortran.so.40"})
        EXPECT_EQ(classify_mpi_library(name)->kind, MpiKind::openmpi) << name;
}

TEST(MpiLibrary, OfTheStandardAbi) {
    for (const char *name : {"libmpi_abi.so.1", "libmpifort_abi.so.1"})
        EXPECT_EQ(classify_mpi_library(name)->kind, MpiKind::mpiabi) << name;
    EXPECT_TRUE(launches(MpiKind::openmpi, MpiKind::mpiabi));
    EXPECT_FALSE(launches(MpiKind::openmpi, MpiKind::mpich));
}

TEST(MpiLibrary, OfAnotherAbiIsAnMpiOfNoKind) {
    for (const char *name :
         {"libmpi.so.20", "libmpi_abi.so.0", "libmpi.so", "libmpich.so.10", "libmpi_abi.so.40"}) {
        ASSERT_TRUE(classify_mpi_library(name)) << name;
        EXPECT_FALSE(classify_mpi_library(name)->kind) << name;
    }
}

TEST(MpiLibrary, SennitsTellWhoseTheyAre) {
    EXPECT_EQ(mpi_of_sennit_library("/opt/sennit/lib/libsennit-mpich.so"), MpiKind::mpich);
    EXPECT_EQ(mpi_of_sennit_library("libsennit-openmpi.so"), MpiKind::openmpi);
    for (const char *name : {"libsennit-omp.so", "libsennit-network-mpich.so", "libmpich.so.12"})
        EXPECT_FALSE(mpi_of_sennit_library(name)) << name;
}

TEST(MpiLibrary, OtherNamesAreNoMpi) {
    for (const char *name : {"libc.so.6", "libmpiP.so.3", "libmpiblacs.so.40", "libmpi", "",
                             "libmpfr.so.6", "libmpicnot.so.12"})
        EXPECT_FALSE(classify_mpi_library(name)) << name;
}

TEST(OpenMpRuntime, IsKnownByItsExactName) {
    for (const char *name :
         {"libgomp.so.1", "libomp.so.5", "libiomp5.so", "libomp.so", "libsennit-omp.so"})
        EXPECT_NE(classify_openmp_library(name), nullptr) << name;
    for (const char *name : {"libgomp-a34b3233.so.1.0.0", "libgomp-98b21ff3.so.1", "libomp-7.so.5"})
        EXPECT_NE(classify_openmp_library(name), nullptr) << name; // as Python's wheels call them
    for (const char *name :
         {"libgomp.so.2", "libgomp-.so.1", "libompi.so", "libgomp-plugin-nvptx.so.1"})
        EXPECT_EQ(classify_openmp_library(name), nullptr) << name;
}

TEST(Launcher, IsRecognizedByItsVersionText) {
    EXPECT_EQ(mpi_kind_from_version("HYDRA build details:\n    Version:   4.0.2"), MpiKind::mpich);
    EXPECT_EQ(mpi_kind_from_version("Intel(R) MPI Library for Linux* OS"), MpiKind::mpich);
    EXPECT_EQ(mpi_kind_from_version("mpiexec (OpenRTE) 4.1.4"), MpiKind::openmpi);
    EXPECT_EQ(mpi_kind_from_version("mpiexec (Open MPI) 5.0.3"), MpiKind::openmpi);
    EXPECT_EQ(mpi_kind_from_version("slurm 23.02"), std::nullopt);
    EXPECT_EQ(mpi_kind_from_version(""), std::nullopt);
}

} // namespace
} // namespace sennit::tool
