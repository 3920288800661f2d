// SPDX-License-Identifier: Apache-2.0
#include "trace_writer.h"

#include "base/own_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <memory>

namespace sennit::sim {
namespace {

using namespace trace;

constexpr std::size_t kChunkWords = (kChunkBytes - sizeof(ChunkHeader)) / sizeof(Word);
constexpr std::uint64_t kOwnFiber = 1;
constexpr Time kForever = INT64_MAX;
// Keys of the table.
constexpr Word kSendName = 1, kReceiveName = 2, kWorld = 3, kBeginSendName = 4,
               kBeginReceiveName = 5, kWaitName = 6, kFirstFunction = 16;
constexpr Word kOneRequest = Word{1} << 8; // beside the direction

Word entry_of(int function) {
    return kFirstFunction + static_cast<Word>(function);
}

void set_text(char *to, std::size_t room, const std::string &text) {
    text.copy(to, room - 1); // zeros follow
}

// An entry of a table: what is in it, then zeros up to a whole word.
void add_entry(std::vector<Word> &table, TableType type, Word key, const std::vector<Word> &numbers,
               const std::string &text) {
    const std::size_t text_words = text.size() / sizeof(Word) + 1;
    const std::size_t words = 2 + numbers.size() + text_words;
    const std::size_t at = table.size();
    table.resize(at + words);
    table[at] = words * sizeof(Word) << 8 | static_cast<Word>(type);
    table[at + 1] = key;
    std::copy(numbers.begin(), numbers.end(), table.begin() + static_cast<std::ptrdiff_t>(at) + 2);
    std::memcpy(&table[at + 2 + numbers.size()], text.data(), text.size());
}

// Of one end of a message; never 0.
Word request_of(const Recorder::Ran &what) {
    return (what.message << 1 | Word{what.kind == sim::Kind::send}) + 1;
}

} // namespace

TraceWriter::TraceWriter(const std::filesystem::path &folder, const Machine &machine,
                         const About &about)
    : team_(static_cast<std::size_t>(machine.thread_count())), program_(about.program),
      policy_(about.policy), ranks_(static_cast<std::size_t>(machine.rank_count())),
      threads_(ranks_.size() * team_) {
    begun_ = std::chrono::duration_cast<std::chrono::nanoseconds>(
                 std::chrono::system_clock::now().time_since_epoch())
                 .count();
    std::error_code error;
    std::filesystem::create_directories(folder, error);
    if (error)
        throw std::runtime_error(
            fmt::format("{} cannot be made: {}", folder.string(), error.message()));
    for (int r = 0; r < machine.rank_count(); ++r) {
        rank_of(r).path = folder / fmt::format("rank-{}.sennit", r);
        write_header(r, false, 0);
        write_table(r, about);
        for (int t = 0; t < machine.thread_count(); ++t) {
            thread_of(r, t).fiber = kOwnFiber;
            if (t > 0) // the first one's own fiber is the program's
                switch_to(r, t, 0, new_fiber(thread_of(r, t)));
        }
    }
}

void TraceWriter::finish(Time end) {
    for (int r = 0; r < static_cast<int>(ranks_.size()); ++r) {
        for (int t = 0; t < static_cast<int>(team_); ++t) {
            catch_up(r, t, kForever);
            flush(r, t);
        }
        write_header(r, true, end);
    }
}

// ---- files --------------------------------------------------------------------------------------

void TraceWriter::put(const Rank &rank, std::uint64_t at, const void *bytes, std::size_t count,
                      bool fresh) const {
    const int number = fresh ? open_own_file(rank.path.c_str()) : reopen_file(rank.path.c_str());
    std::FILE *file = number < 0 ? nullptr : fdopen(number, "r+b");
    bool good = file && std::fseek(file, static_cast<long>(at), SEEK_SET) == 0 &&
                std::fwrite(bytes, 1, count, file) == count;
    int reason = errno;
    if (file && std::fclose(file) != 0 && good) {
        good = false;
        reason = errno;
    }
    if (!good)
        throw std::runtime_error(
            fmt::format("{} cannot be written: {}", rank.path.string(), own_file_error(reason)));
}

void TraceWriter::write_header(int number, bool finished, Time end) {
    const Rank &rank = rank_of(number);
    Header header{};
    std::memcpy(header.magic, kMagic, sizeof kMagic);
    header.version = kVersion;
    header.header_bytes = kHeaderBytes;
    header.chunk_bytes = kChunkBytes;
    header.flags = finished ? static_cast<std::uint32_t>(kFinished) : 0;
    header.rank = number;
    header.ranks = static_cast<std::int32_t>(ranks_.size());
    header.process = static_cast<std::uint64_t>(number);
    header.realtime_ns = begun_;
    header.end = {static_cast<std::uint64_t>(end), end};
    header.chunks = rank.chunks;
    set_text(header.boot_id, sizeof header.boot_id, "simulated"); // one clock for all
    set_text(header.host, sizeof header.host, "simulated");
    set_text(header.program, sizeof header.program, program_);
    set_text(header.policy, sizeof header.policy, policy_);
    set_text(header.generator, sizeof header.generator, "sennit simulate");
    std::vector<char> bytes(kHeaderBytes);
    std::memcpy(bytes.data(), &header, sizeof header);
    put(rank, 0, bytes.data(), bytes.size(), !finished);
}

void TraceWriter::write_table(int number, const About &about) {
    std::vector<Word> table;
    add_entry(table, TableType::name, kSendName, {}, "MPI_Send");
    add_entry(table, TableType::name, kReceiveName, {}, "MPI_Recv");
    add_entry(table, TableType::name, kBeginSendName, {}, "MPI_Isend");
    add_entry(table, TableType::name, kBeginReceiveName, {}, "MPI_Irecv");
    add_entry(table, TableType::name, kWaitName, {}, "MPI_Wait");
    add_entry(table, TableType::group, kWorld, {ranks_.size() << 32}, "MPI_COMM_WORLD");
    for (std::size_t i = 0; i < about.functions.size(); ++i)
        add_entry(table, TableType::name, entry_of(static_cast<int>(i)), {},
                  about.functions[i].substr(0, 400)); // all of them fit into a chunk
    std::vector<char> bytes(kChunkBytes);
    ChunkHeader header{};
    header.kind = kTableChunk;
    header.row = -1;
    std::memcpy(bytes.data(), &header, sizeof header);
    std::memcpy(bytes.data() + sizeof header, table.data(), table.size() * sizeof(Word));
    Rank &rank = rank_of(number);
    put(rank, kHeaderBytes + std::uint64_t{rank.chunks} * kChunkBytes, bytes.data(), bytes.size(),
        false);
    ++rank.chunks;
}

void TraceWriter::flush(int number, int row) {
    Rank &rank = rank_of(number);
    Chunk &chunk = thread_of(number, row).chunk;
    if (chunk.words.empty())
        return;
    ChunkHeader header{};
    header.kind = kEventChunk;
    header.row = row;
    header.thread = static_cast<std::uint32_t>(row);
    header.sequence = chunk.sequence++;
    header.opened = {static_cast<std::uint64_t>(chunk.opened), chunk.opened};
    header.thread_id = static_cast<std::uint64_t>(row);
    std::vector<char> bytes(kChunkBytes);
    std::memcpy(bytes.data(), &header, sizeof header);
    std::memcpy(bytes.data() + sizeof header, chunk.words.data(),
                chunk.words.size() * sizeof(Word));
    put(rank, kHeaderBytes + std::uint64_t{rank.chunks} * kChunkBytes, bytes.data(), bytes.size(),
        false);
    ++rank.chunks;
    chunk.words.clear();
}

// ---- events -------------------------------------------------------------------------------------

void TraceWriter::write(int rank, int row, Time at, trace::Kind kind, const Word *arguments,
                        std::size_t count) {
    Thread &thread = thread_of(rank, row);
    if (thread.chunk.words.size() + 1 + count > kChunkWords)
        flush(rank, row);
    thread.last = std::max(thread.last, at);
    if (thread.chunk.words.empty())
        thread.chunk.opened = thread.last;
    thread.chunk.words.push_back(stamp(static_cast<std::uint64_t>(thread.last), kind));
    thread.chunk.words.insert(thread.chunk.words.end(), arguments, arguments + count);
    if (kind == trace::Kind::fiber_switch)
        thread.fiber = arguments[1];
}

// What was told ahead of its time, up to `at`.
void TraceWriter::catch_up(int rank, int row, Time at) {
    auto &later = thread_of(rank, row).later;
    std::size_t count = 0;
    for (; count < later.size() && later[count].at <= at; ++count)
        write(rank, row, later[count].at, later[count].kind, later[count].arguments.data(),
              later[count].arguments.size());
    later.erase(later.begin(), later.begin() + static_cast<std::ptrdiff_t>(count));
}

void TraceWriter::record(int rank, int row, Time at, trace::Kind kind,
                         std::initializer_list<Word> arguments) {
    catch_up(rank, row, at);
    write(rank, row, at, kind, arguments.begin(), arguments.size());
}

void TraceWriter::switch_to(int rank, int row, Time at, std::uint64_t fiber) {
    catch_up(rank, row, at);
    record(rank, row, at, trace::Kind::fiber_switch, {thread_of(rank, row).fiber, fiber});
}

std::uint64_t TraceWriter::new_fiber(Thread &thread) {
    if (thread.free.empty())
        return ++thread.fibers;
    const std::uint64_t fiber = thread.free.back();
    thread.free.pop_back();
    return fiber;
}

// Both ends of a message have the same tag, no other message of the time has it.
std::uint32_t TraceWriter::tag_of(std::uint64_t message) {
    const auto [at, fresh] = tags_.try_emplace(message, next_tag_);
    const std::uint32_t tag = at->second;
    if (fresh)
        next_tag_ = (next_tag_ + 1) & 0x7fffffff;
    else
        tags_.erase(at);
    return tag;
}

void TraceWriter::created(int rank, std::uint64_t task, int function, Time at) {
    const std::size_t index = task & 0xffffffff;
    const std::size_t serial = task >> 32;
    if (index >= ids_.size())
        ids_.resize(index + 1);
    auto &of_serial = ids_[index].of_serial;
    if (serial >= of_serial.size())
        of_serial.resize(serial + 1);
    of_serial[serial] = static_cast<std::uint32_t>(++rank_of(rank).tasks);
    record(rank, 0, at, trace::Kind::create, {id_of(task), 0, entry_of(function)});
}

void TraceWriter::depends(int rank, std::uint64_t before, std::uint64_t after) {
    record(rank, 0, 0, trace::Kind::edge, {id_of(before), id_of(after)});
}

void TraceWriter::prioritized(int rank, std::uint64_t task, int priority, Time at) {
    record(rank, 0, at, trace::Kind::priority,
           {id_of(task), static_cast<Word>(static_cast<std::int64_t>(priority))});
}

void TraceWriter::ready(int rank, int thread, std::uint64_t task, Time at) {
    record(rank, thread, at, trace::Kind::ready, {id_of(task)});
}

void TraceWriter::ran(const Ran &what) {
    if (what.kind != sim::Kind::compute && what.part == Part::bound)
        return begin_bound(what);
    Thread &thread = thread_of(what.rank, what.thread);
    catch_up(what.rank, what.thread, kForever); // it is free: all that was told of it is over
    const auto at = [&](Time time, trace::Kind kind, std::initializer_list<Word> arguments) {
        thread.later.push_back({time, kind, arguments});
    };
    const Word id = id_of(what.task);
    at(what.begin, trace::Kind::start, {id, entry_of(what.function)});
    if (what.kind == sim::Kind::compute)
        return;
    const bool sends = what.kind == sim::Kind::send;
    const bool waits = what.part == Part::wait;
    const Word nothing = pair(-1, -1);
    const Word ends =
        waits ? nothing : pair(static_cast<int>(what.peer), static_cast<int>(tag_of(what.message)));
    const Word direction = sends ? kSend : kReceive;
    if (what.part == Part::begin || what.part == Part::let_go) {
        at(what.begin, trace::Kind::post,
           {id, sends ? kBeginSendName : kBeginReceiveName, ends, what.bytes, kWorld,
            direction | kOneRequest, what.part == Part::begin ? request_of(what) : 0});
        if (what.part == Part::begin)
            note_begun(what);
        return;
    }
    if (waits) {
        at(what.begin, trace::Kind::span_begin,
           {id, kWaitName, nothing, 0, kWorld, kNeither | kOneRequest});
        at(what.begin, trace::Kind::waits_for, {id, request_of(what)});
        rank_of(what.rank).begun.erase(request_of(what));
    } else {
        at(what.begin, trace::Kind::span_begin,
           {id, sends ? kSendName : kReceiveName, ends, what.bytes, kWorld,
            direction | kOneRequest});
    }
    const Received received = sends || waits ? Received{nothing, 0} : Received{ends, what.bytes};
    if (!what.suspended) {
        at(what.end, trace::Kind::span_end, {id, received.ends, received.bytes});
        return;
    }
    // Its fiber is put aside with it, the thread goes on with another.
    at(what.end, trace::Kind::suspend, {id});
    const std::uint64_t fiber = thread.fiber;
    rank_of(what.rank).suspended[what.task] = {what.thread, fiber, received};
    at(what.end, trace::Kind::fiber_switch, {fiber, new_fiber(thread)});
}

void TraceWriter::note_begun(const Ran &what) {
    Rank &rank = rank_of(what.rank);
    const Begun begun{what.thread, what.begin};
    const auto awaited = rank.awaited.find(request_of(what));
    if (awaited == rank.awaited.end()) {
        rank.begun[request_of(what)] = begun;
        return;
    }
    await(what.rank, awaited->second, request_of(what), begun);
    rank.awaited.erase(awaited);
}

// Its body is over when it begins. What it waits for may be another task's and begin later.
void TraceWriter::begin_bound(const Ran &what) {
    const Word id = id_of(what.task);
    const Word request = request_of(what);
    Rank &rank = rank_of(what.rank);
    record(what.rank, what.thread, what.begin, trace::Kind::start, {id, entry_of(what.function)});
    const auto begun = rank.begun.find(request);
    if (begun == rank.begun.end())
        rank.awaited[request] = id;
    else if (const Begun &post = begun->second;
             post.at < what.begin || (post.at == what.begin && post.thread == what.thread))
        record(what.rank, what.thread, what.begin, trace::Kind::waits_for, {id, request});
    else
        await(what.rank, id, request, post);
    rank.begun.erase(request);
    record(what.rank, what.thread, what.begin, trace::Kind::end, {id});
    rank.bound.insert(what.task);
}

// The thread that begins a request tells, right after, who waits for it.
void TraceWriter::await(int rank, Word task, Word request, const Begun &begun) {
    auto &later = thread_of(rank, begun.thread).later;
    const auto after = std::upper_bound(later.begin(), later.end(), begun.at,
                                        [](Time at, const Event &event) { return at < event.at; });
    later.insert(after, {begun.at, trace::Kind::waits_for, {task, request}});
}

void TraceWriter::unblocked(int rank, std::uint64_t task, Time at) {
    record(rank, 0, at, trace::Kind::unblock, {id_of(task)});
}

// What was suspended has nothing left to do, wherever it goes on; the format has it end where it
// began.
void TraceWriter::ended(int rank, int row, std::uint64_t task, Time at) {
    const Word id = id_of(task);
    if (rank_of(rank).bound.erase(task) > 0)
        return record(rank, row, at, trace::Kind::complete, {id});
    auto &suspended = rank_of(rank).suspended;
    const auto found = suspended.find(task);
    if (found == suspended.end()) {
        record(rank, row, at, trace::Kind::end, {id});
        record(rank, row, at, trace::Kind::complete, {id});
        return;
    }
    const Suspended was = found->second;
    suspended.erase(found);
    Thread &thread = thread_of(rank, was.thread);
    catch_up(rank, was.thread, at);
    const std::uint64_t here = thread.fiber;
    switch_to(rank, was.thread, at, was.fiber);
    record(rank, was.thread, at, trace::Kind::resume, {id});
    record(rank, was.thread, at, trace::Kind::span_end,
           {id, was.received.ends, was.received.bytes});
    record(rank, was.thread, at, trace::Kind::end, {id});
    record(rank, was.thread, at, trace::Kind::complete, {id});
    switch_to(rank, was.thread, at, here);
    thread.free.push_back(was.fiber);
}

// The program's fiber is the thread's own; where the creating thread waits, it leaves it.
void TraceWriter::creator(int number, Creator does, Time at) {
    Rank &rank = rank_of(number);
    const bool waits = does != Creator::creates;
    if (waits == rank.creator_waits)
        return;
    rank.creator_waits = waits;
    Thread &thread = thread_of(number, 0);
    catch_up(number, 0, kForever);
    if (!waits) {
        thread.free.push_back(thread.fiber);
        switch_to(number, 0, at, kOwnFiber);
        record(number, 0, at, trace::Kind::wait_end, {0});
        return;
    }
    const WaitReason reason = does == Creator::waits_for_all ? WaitReason::children
                              : does == Creator::helps       ? WaitReason::nobody
                                                             : WaitReason::barrier;
    record(number, 0, at, trace::Kind::wait_begin, {0, static_cast<Word>(reason)});
    switch_to(number, 0, at, new_fiber(thread));
}

void TraceWriter::idles(int rank, int thread, Time at) {
    record(rank, thread, at, trace::Kind::idle, {});
}

} // namespace sennit::sim
