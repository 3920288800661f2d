// SPDX-License-Identifier: Apache-2.0
#include "common/elf_image.h"

#include "support.h"

#include <elf.h>

#include <cstdint>
#include <cstring>

namespace sennit::tool {
namespace {

using Kind = ElfImage::Kind;

std::string header_of(unsigned char elf_class, std::uint16_t machine) {
    Elf64_Ehdr header = {};
    std::memcpy(header.e_ident, ELFMAG, SELFMAG);
    header.e_ident[EI_CLASS] = elf_class;
    header.e_ident[EI_DATA] = ELFDATA2LSB;
    header.e_ident[EI_VERSION] = EV_CURRENT;
    header.e_type = ET_EXEC;
    header.e_machine = machine;
    return {reinterpret_cast<const char *>(&header), sizeof header};
}

TEST(ElfImage, OfThisProgramNamesItsLoaderAndLibraries) {
    const ElfImage image = read_elf(program("two-mpis"));
    ASSERT_EQ(image.kind, Kind::native);
    EXPECT_TRUE(contains(image.interpreter, "ld-linux"));
    EXPECT_TRUE(image.dynamic);
    EXPECT_EQ(std::count(image.needed.begin(), image.needed.end(), "libmpich.so.12"), 1);
    EXPECT_EQ(std::count(image.needed.begin(), image.needed.end(), "libmpi.so.40"), 1);
}

TEST(ElfImage, OfALibraryHasItsSoname) {
    EXPECT_EQ(read_elf(program("libmpich.so.12")).soname, "libmpich.so.12");
}

TEST(ElfImage, TellsRpathFromRunpath) {
    const ElfImage by_rpath = read_elf(program("openmp-by-rpath"));
    EXPECT_FALSE(by_rpath.rpath.empty());
    EXPECT_TRUE(by_rpath.runpath.empty());
    const ElfImage by_runpath = read_elf(program("openmp-by-runpath"));
    EXPECT_TRUE(by_runpath.rpath.empty());
    EXPECT_FALSE(by_runpath.runpath.empty());
}

TEST(ElfImage, TellsWhoSpawnsSeveralPrograms) {
    const TemporaryFolder folder;
    EXPECT_FALSE(read_elf(program("plain")).imports.spawns_several);
    for (const char *name : {"MPI_Comm_spawn_multiple", "mpi_comm_spawn_multiple_"}) {
        const std::string file = folder.write("spawns", importing(name, program("plain")));
        EXPECT_TRUE(read_elf(file).imports.spawns_several) << name;
    }
}

TEST(ElfImage, OfAStaticProgramHasNoInterpreter) {
    EXPECT_TRUE(read_elf(program("static-program")).interpreter.empty());
    const ElfImage pie = read_elf(program("static-pie-program"));
    EXPECT_TRUE(pie.interpreter.empty());
    EXPECT_TRUE(pie.position_independent_program);
}

TEST(ElfImage, OfAnotherMachineIsForeignAndSaysWhich) {
    const TemporaryFolder folder;
    const ElfImage small = read_elf(folder.write("x86", header_of(ELFCLASS32, EM_386)));
    EXPECT_EQ(small.kind, Kind::foreign);
    EXPECT_EQ(small.machine, "32-bit x86");
    const ElfImage power = read_elf(folder.write("power", header_of(ELFCLASS64, EM_PPC64)));
    EXPECT_EQ(power.kind, Kind::foreign);
    EXPECT_EQ(power.machine, "64-bit PowerPC");
    const ElfImage odd = read_elf(folder.write("odd", header_of(ELFCLASS64, 0x7777)));
    EXPECT_EQ(odd.machine, "64-bit machine type 30583");
}

TEST(ElfImage, TextAndEmptyFilesAreNotElf) {
    const TemporaryFolder folder;
    EXPECT_EQ(read_elf(folder.write("script", "#!/bin/sh\nexit 0\n" + std::string(100, '#'))).kind,
              Kind::other);
    EXPECT_EQ(read_elf(folder.write("empty", "")).kind, Kind::other);
    EXPECT_EQ(read_elf(folder.write("short", "\177ELF")).kind, Kind::other);
}

TEST(ElfImage, UnreadableFilesSayWhy) {
    EXPECT_EQ(read_elf("/nonexistent/file").error_number, ENOENT);
    EXPECT_EQ(read_elf("/").error_number, EISDIR);
}

// Whatever is cut off or overwritten, the reader answers and stays inside of the file.
TEST(ElfImage, DamagedFilesNeverCrashTheReader) {
    const TemporaryFolder folder;
    const std::string whole = content_of(program("openmp-by-rpath"));
    for (std::size_t size = 0; size < whole.size(); size += 97)
        EXPECT_NE(read_elf(folder.write("cut", whole.substr(0, size))).kind, Kind::unreadable);
    const std::size_t headers = std::min<std::size_t>(whole.size(), 0x400);
    for (std::size_t at = SELFMAG + 4; at + 8 < headers; at += 3) {
        std::string broken = whole;
        broken.replace(at, 8, 8, '\xff');
        EXPECT_NE(read_elf(folder.write("broken", broken)).kind, Kind::unreadable);
    }
    EXPECT_EQ(read_elf(folder.write("head", whole.substr(0, sizeof(Elf64_Ehdr)))).kind,
              Kind::damaged);
}

TEST(PathList, AnEmptyElementIsTheCurrentFolder) {
    EXPECT_EQ(split_path_list(""), std::vector<std::string>{});
    EXPECT_EQ(split_path_list("/a::/b:"), (std::vector<std::string>{"/a", ".", "/b", "."}));
    EXPECT_EQ(split_path_list("/a;/b:/c", ":;"), (std::vector<std::string>{"/a", "/b", "/c"}));
}

} // namespace
} // namespace sennit::tool
