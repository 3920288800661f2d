// SPDX-License-Identifier: Apache-2.0
// The parts of the loader (src/ranks/loader) that start no process.
#include "ranks/fibers/home.h"
#include "ranks/inside/address_set.h"
#include "ranks/loader/first_stack.h"
#include "ranks/loader/host.h"
#include "ranks/loader/image.h"
#include "ranks/loader/meeting.h"
#include "ranks/loader/rank_request.h"
#include "ranks/stub/stub.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <map>
#include <sys/socket.h>
#include <sys/stat.h>
#include <thread>

namespace {

using namespace sennit::loader;
using namespace std::string_literals;

// What a program would read at `stack_pointer`.
struct Seen {
    std::vector<std::string> arguments, environment;
    std::map<std::uint64_t, std::uint64_t> auxiliary;
};

Seen look(const char *stack_pointer) {
    Seen seen;
    const auto *word = reinterpret_cast<const std::uint64_t *>(stack_pointer);
    const std::uint64_t count = *word++;
    for (; *word; ++word)
        seen.arguments.emplace_back(reinterpret_cast<const char *>(*word));
    EXPECT_EQ(seen.arguments.size(), count);
    for (++word; *word; ++word)
        seen.environment.emplace_back(reinterpret_cast<const char *>(*word));
    for (++word; word[0] != AT_NULL; word += 2)
        seen.auxiliary[word[0]] = word[1];
    return seen;
}

TEST(LoaderStack, IsAsTheKernelLaysItOut) {
    std::vector<char> memory(64 * 1024);
    FirstStack contents;
    contents.program = "/folder/program";
    set_auxiliary(contents.auxiliary, AT_PAGESZ, 4096);
    set_auxiliary(contents.auxiliary, AT_ENTRY, 1);
    set_auxiliary(contents.auxiliary, AT_ENTRY, 77);
    contents.random[3] = 9;
    for (int arguments = 0; arguments < 4; ++arguments) {
        contents.environment.push_back("A=" + std::to_string(arguments));
        char *at = lay_out(contents, memory.data(), memory.data() + memory.size());
        ASSERT_NE(at, nullptr);
        EXPECT_EQ(reinterpret_cast<std::uintptr_t>(at) % 16, 0u);
        const Seen seen = look(at);
        EXPECT_EQ(seen.arguments, contents.arguments);
        EXPECT_EQ(seen.environment, contents.environment);
        EXPECT_EQ(seen.auxiliary.at(AT_PAGESZ), 4096u);
        EXPECT_EQ(seen.auxiliary.at(AT_ENTRY), 77u);
        EXPECT_STREQ(reinterpret_cast<char *>(seen.auxiliary.at(AT_EXECFN)), "/folder/program");
        EXPECT_EQ(std::memcmp(reinterpret_cast<char *>(seen.auxiliary.at(AT_RANDOM)),
                              contents.random, sizeof contents.random),
                  0);
        contents.arguments.push_back("word " + std::to_string(arguments));
    }
}

TEST(LoaderStack, TextsFollowEachOther) {
    std::vector<char> memory(64 * 1024);
    FirstStack contents;
    contents.program = "/folder/program";
    contents.arguments = {"first", "", "third"};
    contents.environment = {"A=1", "B="};
    const auto *word = reinterpret_cast<const std::uint64_t *>(
        lay_out(contents, memory.data(), memory.data() + memory.size()));
    const Seen seen = look(reinterpret_cast<const char *>(word));
    const auto texts = "first\0\0third\0A=1\0B=\0/folder/program\0"s;
    EXPECT_EQ(std::string(reinterpret_cast<const char *>(word[1]), texts.size()), texts);
    EXPECT_EQ(seen.auxiliary.at(kEnvironmentTexts), word[5]);
    EXPECT_EQ(seen.auxiliary.at(kEnvironmentEnd), seen.auxiliary.at(AT_EXECFN));
}

TEST(LoaderAddressSet, IsTheSetOfWhatWasAddedAndNotRemoved) {
    using namespace sennit::loader::inside;
    constexpr std::size_t pages = 97;
    std::srand(5);
    for (int round = 0; round < 40; ++round) {
        AddressSet set;
        std::vector<bool> model(pages);
        for (int step = 0; step < 300; ++step) {
            const auto low = static_cast<std::size_t>(std::rand()) % pages;
            const auto high = low + 1 + static_cast<std::size_t>(std::rand()) % 9;
            const Range range = {low, std::min(high, pages)};
            const bool adds = std::rand() % 2 != 0;
            adds ? set.add(range) : set.remove(range);
            for (std::size_t at = range.low; at < range.high; ++at)
                model[at] = adds;
            for (std::size_t from = 0; from < pages; from += 7) {
                std::size_t gap = from;
                while (gap < pages && model[gap])
                    ++gap;
                std::size_t end = gap;
                while (end < pages && !model[end])
                    ++end;
                const Range found = set.first_gap({from, pages});
                ASSERT_EQ(found.empty(), gap == pages);
                if (gap < pages) {
                    ASSERT_EQ(found.low, gap);
                    ASSERT_EQ(found.high, end);
                }
                ASSERT_EQ(set.contains({from, pages}), gap == pages);
            }
        }
        for (const Range *each = set.begin(); each + 1 < set.end(); ++each)
            ASSERT_LT(each[0].high, each[1].low); // neighbours are one
        set.clear();
        EXPECT_EQ(set.first_gap({0, pages}).size(), pages);
    }
}

TEST(LoaderAddressSet, HasRoomForMany) {
    using namespace sennit::loader::inside;
    AddressSet set;
    for (std::uintptr_t i = 0; i < 5000; ++i)
        set.add({10 * i, 10 * i + 5});
    for (std::uintptr_t i = 0; i < 5000; ++i)
        ASSERT_TRUE(set.contains({10 * i, 10 * i + 5}) && !set.contains({10 * i, 10 * i + 6}));
    set.remove({1, 49998});
    EXPECT_EQ(set.end() - set.begin(), 1);
    set.clear();
}

TEST(LoaderStack, LeavesTheProgramThreeQuarters) {
    std::vector<char> memory(16 * 1024);
    FirstStack contents;
    contents.arguments = {std::string(5000, 'x')};
    EXPECT_EQ(lay_out(contents, memory.data(), memory.data() + memory.size()), nullptr);
}

// As a stub makes it.
struct SomeRequest {
    std::string texts = std::string("/bin/program\0program\0\0a b\0A=1\0B=\0", 33);
    std::string affinity = std::string("\x03\0\0\0\0\0\0\0", 8);
    std::vector<std::int32_t> numbers = {0, 1, 2, 7, kWorkingDirectory};

    RequestHead head() const {
        RequestHead head;
        head.text_size = texts.size();
        head.descriptors = static_cast<std::uint32_t>(numbers.size());
        head.affinity_size = static_cast<std::uint32_t>(affinity.size());
        head.arguments = 3;
        head.environment = 2;
        head.mappings = 123;
        head.file_mask = 027;
        head.blocked_signals = 5;
        head.ignored_signals = 1;
        head.limits[RLIMIT_STACK] = {1, 2};
        return head;
    }
    std::string behind() const {
        return std::string(reinterpret_cast<const char *>(numbers.data()),
                           numbers.size() * sizeof numbers[0]) +
               affinity + texts;
    }
};

void expect_all(const std::optional<RankRequest> &seen, const SomeRequest &sent) {
    if (!seen) {
        ADD_FAILURE() << "damaged";
        return;
    }
    const RankRequest &request = *seen;
    EXPECT_EQ(request.program, "/bin/program");
    EXPECT_EQ(request.arguments, (std::vector<std::string>{"program", "", "a b"}));
    EXPECT_EQ(request.environment, (std::vector<std::string>{"A=1", "B="}));
    EXPECT_EQ(request.descriptors, sent.numbers);
    EXPECT_EQ(request.affinity, sent.affinity);
    EXPECT_EQ(request.mappings, 123u);
    EXPECT_EQ(request.file_mask, 027u);
    EXPECT_EQ(request.blocked_signals, 5u);
    EXPECT_EQ(request.ignored_signals, 1u);
    EXPECT_EQ(request.limits[RLIMIT_STACK].rlim_max, 2u);
    EXPECT_FALSE(request.fiber);
}

TEST(LoaderRequest, ComesOutAsItWentIn) {
    const SomeRequest sent;
    expect_all(decode(sent.head(), sent.behind()), sent);
}

TEST(LoaderRequest, DamagedIsRefused) {
    const SomeRequest sent;
    const std::string bytes = sent.behind();
    for (std::size_t size = 0; size < bytes.size(); ++size)
        EXPECT_FALSE(decode(sent.head(), bytes.substr(0, size))) << size;
    EXPECT_FALSE(decode(sent.head(), bytes + "x"));
    EXPECT_FALSE(decode(sent.head(), bytes.substr(0, bytes.size() - 1) + "x"));
    // Lengths and counts that lie.
    for (std::size_t at = 0; at + 8 <= sizeof(RequestHead); at += 4) {
        RequestHead damaged = sent.head();
        std::memset(reinterpret_cast<char *>(&damaged) + at, 0xff, 8);
        if (at < offsetof(RequestHead, mappings)) {
            EXPECT_FALSE(decode(damaged, bytes)) << at;
        }
    }
}

TEST(LoaderChannel, DescriptorsTravelInTheirOrder) {
    int ends[2];
    ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    Descriptor stub(ends[0]);
    const Descriptor host(ends[1]);
    EXPECT_TRUE(is_same_user(host.number()));
    SomeRequest request;
    request.numbers.clear();
    std::vector<int> sent;
    for (int i = 0; i < 600; ++i) { // more than one message takes
        const char *path = i == 599 ? "/" : "/dev/null";
        sent.push_back(open(path, O_RDONLY | O_CLOEXEC));
        request.numbers.push_back(i);
    }
    stub::Outgoing outgoing;
    outgoing.head = request.head();
    outgoing.numbers = request.numbers.data();
    outgoing.descriptors = sent.data();
    outgoing.affinity = request.affinity.data();
    outgoing.text = request.texts.data();
    ASSERT_EQ(stub::send(stub.number(), outgoing), 0);
    for (const int number : sent)
        close(number);
    std::vector<Descriptor> received;
    bool too_many = true;
    expect_all(receive_request(host.number(), received, too_many), request);
    EXPECT_FALSE(too_many);
    ASSERT_EQ(received.size(), 600u);
    struct stat status{};
    EXPECT_EQ(fstat(received[599].number(), &status), 0);
    EXPECT_TRUE(S_ISDIR(status.st_mode));
    EXPECT_EQ(fstat(received[0].number(), &status), 0);
    EXPECT_TRUE(S_ISCHR(status.st_mode));
    stub.reset();
    EXPECT_FALSE(receive_request(host.number(), received, too_many));
    EXPECT_FALSE(too_many);
}

TEST(LoaderSpace, TakesRanksUpToTheLimit) {
    AddressSpace space(1000);
    EXPECT_TRUE(space.take(400));
    EXPECT_TRUE(space.take(400));
    EXPECT_FALSE(space.take(400));
    EXPECT_TRUE(space.take(150));
    AddressSpace small(100);
    EXPECT_TRUE(small.take(5000)) << "one rank there may always be";
    EXPECT_FALSE(small.take(1));
}

TEST(LoaderElf, ReadsThisProgram) {
    const ElfProgram program = read_program("/proc/self/exe");
    EXPECT_EQ(program.refusal, "");
    EXPECT_NE(program.interpreter, "");
    const Image image = map_image(program.interpreter, read_program(program.interpreter));
    EXPECT_EQ(image.error, "");
    EXPECT_EQ(std::memcmp(reinterpret_cast<char *>(image.bias), ELFMAG, SELFMAG), 0);
    EXPECT_EQ(image.segments - image.bias, reinterpret_cast<Elf64_Ehdr *>(image.bias)->e_phoff);
}

// What the host maps itself is looked at there: it must not end with all its ranks.
TEST(LoaderElf, RefusesWhatIsCutOff) {
    const std::string whole = read_program("/proc/self/exe").interpreter;
    const ElfProgram program = read_program(whole);
    std::uint64_t end = 0;
    for (const Elf64_Phdr &segment : program.segments)
        if (segment.p_type == PT_LOAD)
            end = std::max<std::uint64_t>(end, segment.p_offset + segment.p_filesz);
    char path[] = "/tmp/sennit-test-XXXXXX";
    const Descriptor file(mkstemp(path));
    ASSERT_TRUE(file);
    std::filesystem::copy_file(whole, path, std::filesystem::copy_options::overwrite_existing);
    for (const std::uint64_t size : {end, end - 1, end - 8192}) {
        std::filesystem::resize_file(path, size);
        const std::string error = map_image(path, program).error;
        EXPECT_EQ(error == "", size == end) << error;
        EXPECT_EQ(error.find("cut off") != std::string::npos, size != end) << error;
    }
    unlink(path);
}

ElfProgram read_bytes(const std::string &bytes) {
    return read_program("it", [&](void *to, std::size_t size, std::uint64_t offset) {
        if (offset > bytes.size() || size > bytes.size() - offset)
            return false;
        std::memcpy(to, bytes.data() + offset, size);
        return true;
    });
}

TEST(LoaderElf, FindsAnInterpreterWhereverItsNameIs) {
    std::string bytes(4096, '\0');
    const Descriptor file(open("/proc/self/exe", O_RDONLY | O_CLOEXEC));
    ASSERT_EQ(pread(file.number(), bytes.data(), bytes.size(), 0), 4096);
    const std::string name = "/far/away/ld.so";
    const std::size_t place = std::size_t{1} << 20;
    auto *header = reinterpret_cast<Elf64_Ehdr *>(bytes.data());
    auto *segments = reinterpret_cast<Elf64_Phdr *>(bytes.data() + header->e_phoff);
    for (int i = 0; i < header->e_phnum; ++i)
        if (segments[i].p_type == PT_INTERP) {
            segments[i].p_offset = place;
            segments[i].p_filesz = segments[i].p_memsz = name.size() + 1;
            segments[i].p_vaddr = place;
        }
    EXPECT_NE(read_bytes(bytes).refusal, "") << "there is no name yet";
    bytes.resize(place);
    bytes.append(name.c_str(), name.size() + 1);
    EXPECT_EQ(read_bytes(bytes).refusal, "");
    EXPECT_EQ(read_bytes(bytes).interpreter, name);
    char path[] = "/tmp/sennit-test-XXXXXX";
    const Descriptor copy(mkstemp(path));
    ASSERT_EQ(write(copy.number(), bytes.data(), bytes.size()), static_cast<ssize_t>(bytes.size()));
    EXPECT_EQ(read_program(path).refusal, "");
    EXPECT_EQ(read_program(path).interpreter, name);
    unlink(path);
}

TEST(LoaderElf, RefusesWithCauseAndRemedy) {
    std::string bytes(4096, '\0');
    const Descriptor file(open("/proc/self/exe", O_RDONLY | O_CLOEXEC));
    ASSERT_EQ(pread(file.number(), bytes.data(), bytes.size(), 0), 4096);
    const auto refusal = [&](const std::string &damaged) { return read_bytes(damaged).refusal; };
    EXPECT_EQ(refusal(bytes), "");
    EXPECT_NE(refusal("#!/bin/sh\n").find("script"), std::string::npos);
    auto *header = reinterpret_cast<Elf64_Ehdr *>(bytes.data());
    const auto with = [&](auto &field, auto value) {
        const auto before = field;
        field = static_cast<decltype(+field)>(value);
        std::string text = refusal(bytes);
        field = before;
        return text;
    };
    EXPECT_NE(with(header->e_type, ET_EXEC).find("-pie"), std::string::npos);
    EXPECT_NE(with(header->e_machine, EM_386).find("machine"), std::string::npos);
    EXPECT_NE(with(header->e_phnum, 60000), "");
    EXPECT_NE(with(header->e_phoff, ~std::uint64_t{0}), "");
    for (std::size_t at = sizeof *header; at + 8 < 1024; at += 8) {
        std::string damaged = bytes;
        damaged.replace(at, 8, 8, '\xff');
        (void)refusal(damaged); // whatever it is: no crash
    }
    EXPECT_NE(read_program("/no/such/file").refusal, "");
}

TEST(RankFibers, AreRefusedWhereTheMachineCannot) {
    constexpr unsigned long may_write_thread_pointer = 2; // HWCAP2_FSGSBASE
    constexpr unsigned long others = ~may_write_thread_pointer;
    EXPECT_EQ(sennit::virt::impediment_of(may_write_thread_pointer, true), "");
    EXPECT_NE(sennit::virt::impediment_of(others, true).find("FSGSBASE"), std::string::npos);
    EXPECT_NE(sennit::virt::impediment_of(others, false).find("FSGSBASE"), std::string::npos);
    EXPECT_NE(sennit::virt::impediment_of(may_write_thread_pointer, false).find("Linux 5.11"),
              std::string::npos);
}

TEST(LoaderMeeting, IsForOneUserAndGoesWithTheLastHost) {
    char folder[] = "/tmp/sennit-test-XXXXXX";
    ASSERT_NE(mkdtemp(folder), nullptr);
    const std::string place = std::string(folder) + "/user/job";
    mkdir((std::string(folder) + "/user").c_str(), 0700);
    Meeting meeting(place);
    ASSERT_EQ(meeting.enter(), "");
    EXPECT_FALSE(meeting.find(0));
    std::string error;
    const Descriptor listener = meeting.offer(0, error);
    ASSERT_TRUE(listener) << error;
    EXPECT_TRUE(meeting.find(0));
    struct stat status{};
    ASSERT_EQ(stat((place + "/host-0").c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 0777, 0600u);
    meeting.close(0);
    meeting.leave();
    EXPECT_FALSE(std::filesystem::exists(place));
    mkdir(place.c_str(), 0755);
    chmod(place.c_str(), 0755);
    EXPECT_NE(meeting.enter().find("yours alone"), std::string::npos);
    std::filesystem::remove_all(folder);
}

TEST(LoaderMeeting, IsEnteredWhileAnotherHostEnds) {
    char folder[] = "/tmp/sennit-test-XXXXXX";
    ASSERT_NE(mkdtemp(folder), nullptr);
    const std::string place = std::string(folder) + "/job";
    const auto come_and_go = [&] {
        Meeting meeting(place);
        for (int i = 0; i < 2000; ++i) {
            ASSERT_EQ(meeting.enter(), "");
            meeting.close(0);
            meeting.leave();
        }
    };
    std::thread other(come_and_go);
    come_and_go();
    other.join();
    std::filesystem::remove_all(folder);
}

} // namespace
