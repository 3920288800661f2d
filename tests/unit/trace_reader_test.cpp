// SPDX-License-Identifier: Apache-2.0
// tools/trace/: damaged files are refused with the place and the reason, cut ones are read up to
// there; hand-made traces have the story that they were made with.
#include "trace/replay.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <gtest/gtest.h>
#include <string>
#include <unistd.h>
#include <vector>

using namespace sennit::trace;
namespace fs = std::filesystem;

namespace {

// A trace in memory, a tick a nanosecond.
struct MadeTrace {
    std::vector<char> bytes;

    explicit MadeTrace(int rank = 0, int ranks = 1) : bytes(kHeaderBytes) {
        Header &made = header();
        std::memcpy(made.magic, kMagic, sizeof kMagic);
        made.version = kVersion;
        made.header_bytes = kHeaderBytes;
        made.chunk_bytes = kChunkBytes;
        made.flags = kFinished;
        made.rank = rank;
        made.ranks = ranks;
        made.begin = {1000, 1000};
        made.end = {1'000'000, 1'000'000};
        std::strcpy(made.boot_id, "here");
    }
    Header &header() { return *reinterpret_cast<Header *>(bytes.data()); }

    // Words of a chunk from `first` on.
    Word *words(std::size_t chunk, std::size_t first = 0) {
        return reinterpret_cast<Word *>(bytes.data() + kHeaderBytes + chunk * kChunkBytes +
                                        sizeof(ChunkHeader)) +
               first;
    }
    std::size_t add_chunk(int row, std::uint32_t thread, std::uint32_t kind = kEventChunk) {
        const std::size_t at = bytes.size();
        bytes.resize(at + kChunkBytes);
        auto &chunk = *reinterpret_cast<ChunkHeader *>(bytes.data() + at);
        chunk.kind = kind;
        chunk.row = row;
        chunk.thread = thread;
        used_.push_back(0);
        return header().chunks++;
    }
    void add(std::size_t chunk, Ns at, Kind kind, std::vector<Word> arguments = {}) {
        Word *place = words(chunk, used_[chunk]);
        place[0] = stamp(static_cast<Word>(at), kind);
        std::copy(arguments.begin(), arguments.end(), place + 1);
        used_[chunk] += kWords[static_cast<std::size_t>(kind)];
    }
    fs::path write(const fs::path &folder, std::size_t size = ~std::size_t{0}) const {
        const fs::path path =
            folder /
            ("rank-" + std::to_string(reinterpret_cast<const Header *>(bytes.data())->rank) +
             ".sennit");
        std::ofstream(path, std::ios::binary)
            .write(bytes.data(), static_cast<std::streamsize>(std::min(size, bytes.size())));
        return path;
    }

  private:
    std::vector<std::size_t> used_;
};

class TraceReader : public testing::Test {
  protected:
    void SetUp() override {
        std::string name = (fs::temp_directory_path() / "sennit-reader-XXXXXX").string();
        ASSERT_NE(mkdtemp(name.data()), nullptr);
        folder_ = name;
    }
    void TearDown() override { fs::remove_all(folder_); }

    // Why it is refused; "" when it is not.
    std::string refusal(MadeTrace trace) {
        try {
            TraceFile::read(trace.write(folder_));
        } catch (const TraceError &error) {
            return error.what();
        }
        return "";
    }
    fs::path folder_;
};

MadeTrace sound() {
    MadeTrace trace;
    const std::size_t chunk = trace.add_chunk(0, 0);
    trace.add(chunk, 2000, Kind::create, {1, 0, 0xabc});
    trace.add(chunk, 3000, Kind::start, {1, 0xabc});
    trace.add(chunk, 5000, Kind::end, {1});
    trace.add(chunk, 5100, Kind::complete, {1});
    return trace;
}

void expect_refused(const std::string &said, const std::string &place, const std::string &reason) {
    EXPECT_NE(said.find("rank-0.sennit: byte " + place + ":"), std::string::npos) << said;
    EXPECT_NE(said.find(reason), std::string::npos) << said;
}

} // namespace

TEST_F(TraceReader, ASoundTraceIsRead) {
    const Process process = build_process(TraceFile::read(sound().write(folder_)));
    EXPECT_TRUE(process.file.notes.empty());
    ASSERT_EQ(process.tasks.size(), 2u);
    EXPECT_EQ(process.tasks[1].created, 2000);
    EXPECT_EQ(process.tasks[1].running, 2000);
    EXPECT_EQ(process.tasks[1].completed, 5100);
}

TEST_F(TraceReader, ATaskThatItsMakerRunsAtOnce) {
    MadeTrace trace;
    const std::size_t maker = trace.add_chunk(0, 0);
    trace.add(maker, 1000, Kind::create, {1, 0, 0xabc});
    trace.add(maker, 1100, Kind::start, {1, 0xabc}); // at once
    trace.add(maker, 1200, Kind::end, {1});
    trace.add(maker, 1300, Kind::create, {2, 0, 0xabc});
    trace.add(maker, 1400, Kind::wait_begin, {0, static_cast<Word>(WaitReason::children)});
    trace.add(maker, 1500, Kind::start, {2, 0xabc}); // while it waits
    trace.add(maker, 1600, Kind::end, {2});
    trace.add(maker, 1700, Kind::wait_end, {0});
    trace.add(maker, 1800, Kind::create, {3, 0, 0xabc});
    trace.add(maker, 1900, Kind::create, {4, 0, 0xabc});
    trace.add(maker, 2000, Kind::start, {3, 0xabc}); // not the latest
    trace.add(maker, 2100, Kind::end, {3});
    const std::size_t other = trace.add_chunk(1, 1);
    trace.add(other, 2200, Kind::start, {4, 0xabc});
    trace.add(other, 2300, Kind::end, {4});
    const Process process = build_process(TraceFile::read(trace.write(folder_)));
    ASSERT_EQ(process.tasks.size(), 5u);
    EXPECT_TRUE(process.tasks[1].at_once);
    for (const int task : {2, 3, 4})
        EXPECT_FALSE(process.tasks[static_cast<std::size_t>(task)].at_once) << task;
}

TEST_F(TraceReader, DamageIsRefusedWithItsPlaceAndReason) {
    MadeTrace trace = sound();
    trace.header().magic[0] = 'X';
    expect_refused(refusal(trace), "0", "not a trace of Sennit");

    trace = sound();
    trace.header().version = 7;
    expect_refused(refusal(trace), "8", "version 7 of the format");

    trace = sound();
    trace.header().chunk_bytes = 17;
    expect_refused(refusal(trace), "12", "sizes of header and chunks");

    trace = sound();
    trace.header().ranks = 0;
    expect_refused(refusal(trace), "24", "rank 0 of a job of 0");

    trace = sound();
    trace.header().meetings = 99;
    expect_refused(refusal(trace), "92", "more clock readings");

    trace = sound();
    trace.words(0)[4] = stamp(3000, static_cast<Kind>(200));
    expect_refused(refusal(trace), std::to_string(kHeaderBytes + 64 + 4 * 8), "unknown kind 200");

    trace = sound();
    trace.words(0)[4] = stamp(3000, Kind::none) | Word{1} << 40;
    expect_refused(refusal(trace), std::to_string(kHeaderBytes + 64 + 4 * 8), "unknown kind 0");

    trace = sound();
    trace.words(0)[4] = stamp(Word{1} << 40, Kind::start);
    expect_refused(refusal(trace), std::to_string(kHeaderBytes + 64 + 7 * 8),
                   "'end' is earlier than the one before");

    trace = sound();
    *reinterpret_cast<std::uint32_t *>(trace.bytes.data() + kHeaderBytes) = 1234;
    expect_refused(refusal(trace), std::to_string(kHeaderBytes), "neither a chunk of events nor");

    trace = sound();
    trace.add_chunk(0, 0);
    expect_refused(refusal(trace), std::to_string(kHeaderBytes + kChunkBytes),
                   "two chunks number 0");

    trace = sound();
    trace.words(trace.add_chunk(0, 0, kTableChunk))[0] = Word{9} << 8 | 1;
    expect_refused(refusal(trace), std::to_string(kHeaderBytes + kChunkBytes + 64),
                   "an entry of the table of 9 bytes");

    trace = sound();
    trace.words(trace.add_chunk(0, 0, kTableChunk))[0] = Word{24} << 8 | 77;
    expect_refused(refusal(trace), std::to_string(kHeaderBytes + kChunkBytes + 64),
                   "unknown type 77");

    trace = sound();
    const std::size_t table = trace.add_chunk(0, 0, kTableChunk);
    trace.words(table)[0] = Word{32} << 8 | static_cast<Word>(TableType::group);
    trace.words(table)[2] = Word{500} << 32 | 500;
    expect_refused(refusal(trace), std::to_string(kHeaderBytes + kChunkBytes + 64),
                   "a group of 500 with 500 ranks");

    trace = sound();
    const std::size_t full = trace.add_chunk(0, 1);
    for (std::ptrdiff_t at = 0; at < kChunkWords; ++at)
        trace.words(full)[at] = stamp(3000, Kind::idle);
    trace.words(full)[kChunkWords - 1] = stamp(3000, Kind::post);
    expect_refused(refusal(trace), std::to_string(kHeaderBytes + 2 * kChunkBytes - 8),
                   "'post' ends behind its chunk");

    trace = sound();
    trace.add(0, 6000, Kind::wait_begin, {1, 55});
    expect_refused(refusal(trace), std::to_string(kHeaderBytes + 64 + 11 * 8), "unknown reason 55");

    trace = sound();
    trace.add(0, 6000, Kind::moved, {1, 0x5000, 0x6000, pair(3, 1), 0, 0});
    expect_refused(refusal(trace), std::to_string(kHeaderBytes + 64 + 11 * 8), "unknown way, 3");
}

TEST_F(TraceReader, AFileThatIsCutAnywhereIsReadUpToThereOrRefused) {
    const MadeTrace trace = sound();
    const std::size_t first = kHeaderBytes + sizeof(ChunkHeader);
    for (std::size_t size = 0; size <= first + 16 * sizeof(Word); size += 4) {
        const fs::path path = trace.write(folder_, size);
        if (size < sizeof(Header)) {
            EXPECT_THROW(TraceFile::read(path), TraceError) << size;
            continue;
        }
        if (size < kHeaderBytes)
            continue; // nothing but the header matters
        const TraceFile file = TraceFile::read(path);
        std::size_t events = 0;
        for (const auto &thread : file.threads)
            file.each(thread, [&](const Event &) { ++events; });
        const std::size_t words = size < first ? 0 : (size - first) / sizeof(Word);
        EXPECT_EQ(events, words >= 11  ? 4u
                          : words >= 9 ? 3u
                          : words >= 7 ? 2u
                          : words >= 4 ? 1u
                                       : 0u)
            << size;
    }
    const TraceFile cut = TraceFile::read(trace.write(folder_, first + 5 * sizeof(Word)));
    ASSERT_EQ(cut.notes.size(), 1u);
    EXPECT_NE(cut.notes[0].find("cut in the middle"), std::string::npos);
}

TEST_F(TraceReader, ChunksThatAreMissingAreSaid) {
    MadeTrace trace = sound();
    trace.header().chunks = 5;
    const TraceFile file = TraceFile::read(trace.write(folder_));
    ASSERT_EQ(file.notes.size(), 1u);
    EXPECT_NE(file.notes[0].find("4 of 5 chunks are missing"), std::string::npos);
}

TEST_F(TraceReader, RandomDamageNeverDoesWorse) {
    std::uint32_t random = 12345;
    const auto next = [&] { return random = random * 1664525u + 1013904223u; };
    for (int round = 0; round < 400; ++round) {
        MadeTrace trace = sound();
        const std::size_t used = kHeaderBytes + sizeof(ChunkHeader) + 16 * sizeof(Word);
        for (int i = 0; i < 4; ++i)
            trace.bytes[(next() >> 8) % used] = static_cast<char>(next() >> 16);
        try {
            const Process process = build_process(TraceFile::read(trace.write(folder_)));
            EXPECT_LE(process.tasks.size(), 500'000u);
        } catch (const TraceError &) {
        }
        for (const auto &file : fs::directory_iterator(folder_))
            fs::remove(file);
    }
}

TEST_F(TraceReader, ClocksOfOtherHostsAreCorrectedAlongTheWay) {
    MadeTrace trace = sound();
    trace.header().meetings = 2;
    trace.header().meeting[0] = {1000, 100, 5};
    trace.header().meeting[1] = {5000, 500, 5};
    const Process process = build_process(TraceFile::read(trace.write(folder_)));
    EXPECT_EQ(process.tasks[1].created, 2000 + 200);
    EXPECT_EQ(process.tasks[1].ended, 5000 + 500);
}

TEST_F(TraceReader, FilesOfALargerJobBeforeAreLeftOut) {
    MadeTrace old(3, 4);
    old.add_chunk(0, 0);
    old.write(folder_);
    MadeTrace fresh = sound();
    fresh.header().realtime_ns = 100;
    fresh.write(folder_);
    const TraceFolder folder = read_folder(folder_);
    EXPECT_EQ(folder.files.size(), 1u);
    EXPECT_EQ(folder.missing, 0);
    const std::vector<std::string> notes = folder.notes.lines();
    ASSERT_EQ(notes.size(), 1u);
    EXPECT_NE(notes[0].find("rank-3.sennit: of another run"), std::string::npos);
}

TEST_F(TraceReader, RanksOfTwoJobsAreToldApart) {
    const auto write = [&](int rank, int ranks, const char *job, const char *program,
                           Ns begin = 1000) {
        MadeTrace trace(rank, ranks);
        trace.add_chunk(0, 0);
        std::strcpy(trace.header().job, job);
        std::strcpy(trace.header().program, program);
        trace.header().begin = {static_cast<std::uint64_t>(begin), begin};
        trace.header().end = {static_cast<std::uint64_t>(begin) + 1000, begin + 1000};
        trace.header().realtime_ns = begin;
        trace.write(folder_);
    };
    const auto said = [&]() -> std::string {
        try {
            return read_folder(folder_).notes.lines().empty() ? "" : "a note";
        } catch (const TraceError &error) {
            return error.what();
        }
    };
    write(0, 2, "first", "heat");
    write(1, 2, "first", "ocean", 2500); // a job may have several programs
    EXPECT_EQ(said(), "");
    write(1, 2, "second", "ocean", 2500);
    EXPECT_NE(said().find("ranks of two jobs: rank-0.sennit is of 'heat' with 2 ranks, "
                          "rank-1.sennit is of 'ocean' with 2 ranks of a later run"),
              std::string::npos)
        << said();
    write(0, 2, "", "heat"); // nobody has said what the job is called
    write(1, 2, "", "heat", 1500);
    EXPECT_EQ(said(), "");
    write(1, 2, "", "heat", 2500);
    EXPECT_NE(said().find("ranks of two jobs"), std::string::npos) << said();
    write(1, 3, "", "heat");
    EXPECT_NE(said().find("ranks of two jobs"), std::string::npos) << said();
}

TEST_F(TraceReader, RanksThatAreMissingAreSaid) {
    for (const int rank : {0, 2}) {
        MadeTrace trace(rank, 4);
        trace.add_chunk(0, 0);
        trace.header().flags = 0;
        trace.header().chunks = static_cast<std::uint32_t>(5 + rank);
        trace.write(folder_);
    }
    const Job job = read_job(folder_);
    EXPECT_EQ(job.processes.size(), 2u);
    EXPECT_EQ(job.missing, "2 of 4 ranks left no trace here (1, 3)");
    // The same of several files is one line.
    ASSERT_EQ(job.notes.size(), 3u);
    EXPECT_NE(job.notes[0].find(job.missing), std::string::npos);
    EXPECT_NE(job.notes[1].find("2 files, such as rank-0.sennit: the file is cut: 4 of 5 chunks"),
              std::string::npos)
        << job.notes[1];
    EXPECT_NE(job.notes[2].find("2 files, such as rank-0.sennit: the process did not end"),
              std::string::npos)
        << job.notes[2];
}

TEST_F(TraceReader, AHeaderMayClaimAnyNumberOfRanks) {
    MadeTrace trace(0, INT32_MAX);
    trace.add_chunk(0, 0);
    trace.write(folder_);
    EXPECT_EQ(read_job(folder_).missing,
              "2147483646 of 2147483647 ranks left no trace here (1, 2, 3, 4, 5, 6, 7, 8, ...)");
}

TEST_F(TraceReader, ObjectsAndTheCallsThatBalanceThem) {
    MadeTrace trace;
    const std::size_t chunk = trace.add_chunk(0, 0);
    const Word strategy = 0x5000;
    trace.add(chunk, 2000, Kind::object,
              {77, pair(3, 12), pair(1, 2), 5'000'000, 640, std::bit_cast<Word>(2.5)});
    trace.add(chunk, 3000, Kind::balanced,
              {77, pair(9, 1), 5760, pair(half_of(1.5), half_of(.25)),
               pair(half_of(.125), 4 << 1 | 1), 300, strategy});
    const Process process = build_process(TraceFile::read(trace.write(folder_)));
    EXPECT_EQ(process.strange, 0u);
    ASSERT_EQ(process.objects.size(), 1u);
    const ObjectStay &stay = process.objects[0];
    EXPECT_EQ(stay.set, 77u);
    EXPECT_EQ(stay.call, 3);
    EXPECT_EQ(stay.object, 12);
    EXPECT_EQ(stay.from, 1);
    EXPECT_EQ(stay.to, 2);
    EXPECT_EQ(stay.work, 5'000'000);
    EXPECT_EQ(stay.bytes, 640u);
    EXPECT_EQ(stay.speed, 2.5);
    ASSERT_EQ(process.balance_calls.size(), 1u);
    const BalanceCall &call = process.balance_calls[0];
    EXPECT_EQ(call.end - call.begin, 300);
    EXPECT_EQ(call.set, 77u);
    EXPECT_EQ(call.moved, 9);
    EXPECT_EQ(call.failed, 1);
    EXPECT_TRUE(call.declined);
    EXPECT_EQ(call.ranks, 4);
    EXPECT_EQ(call.bytes, 5760u);
    EXPECT_EQ(call.imbalance, 1.5);
    EXPECT_EQ(call.node_imbalance, .25);
    EXPECT_EQ(call.promised, .125);
    EXPECT_EQ(call.strategy, strategy);
}

TEST_F(TraceReader, CallsThatWereMoved) {
    MadeTrace trace;
    const std::size_t chunk = trace.add_chunk(0, 0);
    const Word call = 0x5000, place = 0x6000, request = 0x7000;
    const auto moved = [&](Ns at, Word task, MovedHow how, int together, Word until, Word wait) {
        trace.add(chunk, at, Kind::moved,
                  {task, call, place, pair(static_cast<int>(how), together), until, wait});
    };
    moved(2000, 0, MovedHow::later, 3, 400, 100);
    // The first of the task's calls is complete at once, its end waits for the second.
    trace.add(chunk, 3000, Kind::create, {1, 0, 0xabc});
    trace.add(chunk, 3000, Kind::start, {1, 0xabc});
    moved(3200, 1, MovedHow::bound, 1, 0, 50);
    trace.add(chunk, 3300, Kind::post, {1, call, pair(0, 5), 8, 0, kReceive, request});
    trace.add(chunk, 3310, Kind::waits_for, {1, request});
    moved(3320, 1, MovedHow::bound, 1, 0, 60);
    trace.add(chunk, 3400, Kind::end, {1});
    trace.add(chunk, 5000, Kind::complete, {1});
    moved(6000, 0, MovedHow::at_once, 1, 0, 70);
    const Process process = build_process(TraceFile::read(trace.write(folder_)));
    EXPECT_EQ(process.strange, 0u);
    ASSERT_EQ(process.moved.size(), 4u);
    const auto expect = [&](std::size_t at, Ns started, Ns waits, Ns over, std::uint32_t task) {
        EXPECT_EQ(process.moved[at].started, started);
        EXPECT_EQ(process.moved[at].waits, waits);
        EXPECT_EQ(process.moved[at].over, over);
        EXPECT_EQ(process.moved[at].task, task);
        EXPECT_EQ(process.moved[at].name, call);
        EXPECT_EQ(process.moved[at].place, place);
    };
    expect(0, 1500, 1900, 2000, 0);
    EXPECT_EQ(process.moved[0].together, 3);
    expect(1, 3150, 3150, 3200, 1);
    expect(2, 3260, 5000, 5000, 1);
    expect(3, 5930, 5930, 6000, 0);
    EXPECT_EQ(process.moved[3].how, MovedHow::at_once);
}

TEST_F(TraceReader, APartInARegionIsTheProgramsOrItsTasks) {
    MadeTrace trace;
    const std::size_t chunk = trace.add_chunk(0, 0);
    const Word first = 111;
    const Word second = 222; // fibers
    trace.add(chunk, 2000, Kind::part_begin, {7, 4096, 2});
    trace.add(chunk, 2100, Kind::wait_begin, {0, static_cast<Word>(WaitReason::barrier)});
    trace.add(chunk, 2200, Kind::fiber_switch, {first, second});
    trace.add(chunk, 2300, Kind::part_begin, {7, 4096, 2}); // of a thread that had not begun
    trace.add(chunk, 2500, Kind::part_end, {7});
    trace.add(chunk, 2600, Kind::fiber_switch, {second, first});
    trace.add(chunk, 2700, Kind::wait_end, {0});
    trace.add(chunk, 2800, Kind::offer, {7, pair(3, 1)});
    trace.add(chunk, 2900, Kind::part_end, {7});
    trace.add(chunk, 3000, Kind::create, {1, 0, 8192});
    trace.add(chunk, 3000, Kind::start, {1, 8192});
    trace.add(chunk, 3100, Kind::part_begin, {8, 4096, 2}); // a region that the task encounters
    trace.add(chunk, 3300, Kind::part_end, {8});
    trace.add(chunk, 3400, Kind::end, {1});
    const std::size_t other = trace.add_chunk(1, 1); // its part is not over
    trace.add(other, 2000, Kind::part_begin, {7, 4096, 2});
    const Process process = build_process(TraceFile::read(trace.write(folder_)));
    EXPECT_EQ(process.strange, 0u);
    ASSERT_EQ(process.parts.size(), 4u);
    EXPECT_EQ(process.parts[0].end - process.parts[0].begin, 900);
    EXPECT_EQ(process.parts[1].end - process.parts[1].begin, 200);
    EXPECT_EQ(process.parts[2].region, 8u);
    EXPECT_EQ(process.parts[3].end, process.end);
    EXPECT_EQ(process.parts[3].thread, 1u);
    EXPECT_EQ(process.parts[0].function, 4096u);
    EXPECT_EQ(process.parts[0].workers, 2);
    ASSERT_EQ(process.offers.size(), 1u);
    EXPECT_EQ(process.offers[0].region, 7u);
    EXPECT_EQ(process.offers[0].offered, 3);
    EXPECT_EQ(process.offers[0].taken, 1);
    EXPECT_EQ(process.tasks[1].running, 400);
    std::vector<std::pair<Ns, State>> seen;
    for (const Interval &interval : process.threads[0].intervals)
        if (interval.begin < 3000)
            seen.emplace_back(interval.end - process.begin, interval.state);
    const std::vector<std::pair<Ns, State>> expected{{1100, State::program},
                                                     {1300, State::outside},
                                                     {1500, State::program},
                                                     {1700, State::outside},
                                                     {2000, State::program}};
    EXPECT_EQ(seen, expected);
}

TEST_F(TraceReader, CoresAreUsedFromATakeToTheNextStep) {
    MadeTrace trace;
    const auto step = [](int core, CoreStep what) { return pair(core, static_cast<int>(what)); };
    const std::size_t chunk = trace.add_chunk(0, 0);
    trace.add(chunk, 2000, Kind::core, {step(3, CoreStep::own), 77, 0});
    trace.add(chunk, 3000, Kind::core, {step(3, CoreStep::lends), 0, 0});
    trace.add(chunk, 4000, Kind::core, {step(5, CoreStep::borrowed), 88, 250});
    trace.add(chunk, 5000, Kind::core, {step(5, CoreStep::leaves), 0, 0});
    trace.add(chunk, 5500, Kind::core, {step(-1, CoreStep::without), 0, 500});
    const std::size_t other = trace.add_chunk(1, 1); // its use is not over
    trace.add(other, 2500, Kind::core, {step(4, CoreStep::own), 77, 0});
    const Process process = build_process(TraceFile::read(trace.write(folder_)));
    ASSERT_EQ(process.cores.size(), 4u);
    const CoreUse &own = process.cores[0], &open = process.cores[1], &borrowed = process.cores[2],
                  &without = process.cores[3];
    EXPECT_EQ(own.end - own.begin, 1000);
    EXPECT_EQ(own.core, 3);
    EXPECT_EQ(own.end_step, CoreStep::lends);
    EXPECT_EQ(open.thread, 1u);
    EXPECT_EQ(open.end_step, CoreStep::count);
    EXPECT_EQ(open.end, process.end);
    EXPECT_EQ(borrowed.owner, 88);
    EXPECT_EQ(borrowed.waited, 250);
    EXPECT_EQ(borrowed.end_step, CoreStep::leaves);
    EXPECT_EQ(without.core, -1);
    EXPECT_EQ(without.step, CoreStep::without);
    MadeTrace bad;
    bad.add(bad.add_chunk(0, 0), 2000, Kind::core, {pair(1, 9), 0, 0});
    expect_refused(refusal(bad), "4160", "unknown step of a core");
}

TEST_F(TraceReader, AnEmptyFolderIsRefused) {
    EXPECT_THROW(read_folder(folder_), TraceError);
    EXPECT_THROW(read_folder(folder_ / "nowhere"), TraceError);
}

// What the completion of a task waits for is no matter of the call that the task is in elsewhere.
TEST_F(TraceReader, ARequestIsNotThatOfAnotherThreadsCall) {
    constexpr Word request = 9, one = Word{1} << 8;
    MadeTrace trace;
    const std::size_t first = trace.add_chunk(0, 0);
    const std::size_t second = trace.add_chunk(1, 1);
    for (const Word task : {1, 2})
        trace.add(first, 2000, Kind::create, {task, 0, 0});
    trace.add(first, 2100, Kind::start, {1, 0});
    trace.add(first, 2200, Kind::span_begin, {1, 0, pair(-1, -1), 0, 0, kNeither | one});
    trace.add(second, 2300, Kind::start, {2, 0});
    trace.add(second, 2400, Kind::post, {2, 0, pair(0, 0), 8, 0, kSend | one, request});
    trace.add(second, 2500, Kind::waits_for, {1, request});
    trace.add(second, 2600, Kind::end, {2});
    const Process process = build_process(TraceFile::read(trace.write(folder_)));
    ASSERT_EQ(process.calls.size(), 2u);
    const Call &post = process.calls[process.calls[0].post ? 0 : 1];
    EXPECT_EQ(post.bound, 1u);
    EXPECT_EQ(post.wait, kNone);
}

TEST_F(TraceReader, WhatIsCountedBelongsToWhatTheThreadDidBefore) {
    MadeTrace trace;
    std::strcpy(trace.header().counters[0], "cycles");
    const std::size_t chunk = trace.add_chunk(0, 0);
    const std::size_t other = trace.add_chunk(1, 1);
    const Word first = 111;
    const Word second = 222;
    const Word third = 333; // fibers
    trace.add(chunk, 2000, Kind::create, {1, 0, 4096});
    trace.add(chunk, 2000, Kind::create, {2, 0, 4096});
    trace.add(chunk, 2090, Kind::counted, {1, 0, 0, 0}); // in the program
    trace.add(chunk, 2100, Kind::fiber_switch, {first, second});
    trace.add(chunk, 2190, Kind::counted, {2, 0, 0, 0}); // in the runtime
    trace.add(chunk, 2200, Kind::start, {1, 4096});
    trace.add(chunk, 2290, Kind::counted, {10, 0, 0, 0}); // in the task, which is suspended
    trace.add(chunk, 2300, Kind::fiber_switch, {second, first});
    trace.add(chunk, 2390, Kind::counted, {4, 0, 0, 0});
    trace.add(chunk, 2400, Kind::start, {2, 4096}); // another task on the same thread
    trace.add(chunk, 2490, Kind::counted, {100, 0, 0, 0});
    trace.add(chunk, 2500, Kind::end, {2});
    trace.add(other, 2600, Kind::wait_begin, {0, static_cast<Word>(WaitReason::barrier)});
    trace.add(other, 2700, Kind::fiber_switch, {third, second}); // the first task goes on elsewhere
    trace.add(other, 2700, Kind::start, {1, 4096});
    trace.add(other, 2790, Kind::counted, {30, 0, 0, 0});
    trace.add(other, 2800, Kind::end, {1});
    const Process process = build_process(TraceFile::read(trace.write(folder_)));
    ASSERT_EQ(process.counted.size(), 3u);
    EXPECT_EQ(process.counted[0][0], 5u);
    EXPECT_EQ(process.counted[1][0], 40u);
    EXPECT_EQ(process.counted[2][0], 100u);
    EXPECT_EQ(process.counted_outside[0], 2u);
}
