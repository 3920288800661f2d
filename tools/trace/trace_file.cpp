// SPDX-License-Identifier: Apache-2.0
#include "trace/trace_file.h"

#include "base/printable.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <iterator>
#include <map>
#include <set>
#include <sys/stat.h>
#include <system_error>
#include <tuple>
#include <unistd.h>
#include <utility>

namespace sennit::trace {
namespace {

struct CloseFile {
    void operator()(std::FILE *file) const { std::fclose(file); }
};

// In a line for people: one of a folder of somebody else's may have any name.
std::string shown(const std::filesystem::path &path) {
    return printable(path.string());
}

using OpenFile = std::unique_ptr<std::FILE, CloseFile>;

// `count` bytes that may lack a terminating zero. What all readers of traces show: somebody else
// may have written it.
std::string text_of(const char *bytes, std::size_t count) {
    return printable({bytes, strnlen(bytes, count)});
}

template <std::size_t size>
void make_printable(char (&text)[size]) {
    std::snprintf(text, size, "%s", text_of(text, size).c_str());
}

std::uintmax_t memory_of_machine() {
    return static_cast<std::uintmax_t>(sysconf(_SC_PHYS_PAGES)) *
           static_cast<std::uintmax_t>(sysconf(_SC_PAGESIZE));
}

// A file whose bytes there is room for; a pipe by that name is not waited for.
OpenFile open_trace(const std::filesystem::path &path, struct stat &facts) {
    const int number = ::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    OpenFile file(number < 0 ? nullptr : fdopen(number, "rb"));
    if (!file || fstat(number, &facts) != 0)
        throw TraceError(shown(path) +
                         ": cannot be opened: " + std::generic_category().message(errno));
    if (!S_ISREG(facts.st_mode))
        throw TraceError(shown(path) + ": not a trace of Sennit: it is no regular file");
    if (static_cast<std::uintmax_t>(facts.st_size) > memory_of_machine())
        throw TraceError(shown(path) + ": its " + std::to_string(facts.st_size) +
                         " bytes are more than the memory of this machine");
    return file;
}

const char *kind_name(std::size_t kind) {
    static constexpr const char *names[] = {
#define SENNIT_TRACE_KIND(name, words) #name,
        SENNIT_TRACE_KINDS(SENNIT_TRACE_KIND)
#undef SENNIT_TRACE_KIND
    };
    return names[kind];
}

} // namespace

void TraceFile::refuse(std::uint64_t at, const std::string &reason) const {
    throw TraceError(shown(path) + ": byte " + std::to_string(at) + ": " + reason);
}

TraceFile TraceFile::read(const std::filesystem::path &path) {
    TraceFile file;
    file.path = path;
    struct stat facts{};
    const OpenFile source = open_trace(path, facts);
    file.is_own = facts.st_uid == geteuid() || facts.st_uid == 0;
    const auto size = static_cast<std::size_t>(facts.st_size);
    // The header first: what is no trace need not be read, however long it is.
    auto words = std::make_shared<std::vector<Word>>(kHeaderBytes / sizeof(Word));
    file.words_ = words;
    std::size_t got = std::fread(words->data(), 1, kHeaderBytes, source.get());
    file.read_header(got);
    if (got == kHeaderBytes && size > kHeaderBytes) {
        words->resize((size + sizeof(Word) - 1) / sizeof(Word));
        got += std::fread(words->data() + kHeaderBytes / sizeof(Word), 1, size - kHeaderBytes,
                          source.get());
    }
    for (std::size_t at = kHeaderBytes; at < got; at += kChunkBytes)
        file.read_chunk(at, std::min(got - at, kChunkBytes));
    const std::uint64_t there = (got - kHeaderBytes + kChunkBytes - 1) / kChunkBytes;
    if (there < file.header.chunks)
        file.notes.push_back("the file is cut: " + std::to_string(file.header.chunks - there) +
                             " of " + std::to_string(file.header.chunks) + " chunks are missing");
    else if (file.cut_)
        file.notes.emplace_back("the file is cut in the middle of a record");
    if (!file.finished())
        file.notes.emplace_back("the process did not end in order: the trace is what it had "
                                "recorded up to then");
    if (file.header.flags & kIncomplete)
        file.notes.push_back("there was no room for everything: " +
                             std::to_string(file.header.dropped) + " events are missing");

    // Threads by number; their chunks by sequence.
    for (auto &[number, chunks] : file.chunks_) {
        Thread thread;
        std::uint32_t expected = 0;
        for (auto &[sequence, chunk] : chunks) {
            if (sequence != expected++)
                break; // of a thread whose chunk is missing, later ones make no sense
            thread.row = std::max(thread.row, chunk.first.row);
            thread.thread_id = chunk.first.thread_id;
            thread.pieces.push_back(chunk.second);
        }
        if (!thread.pieces.empty())
            file.threads.push_back(std::move(thread));
    }
    file.chunks_.clear();
    const ClockPoint &begin = file.header.begin;
    if (file.latest_.ticks > begin.ticks)
        file.rate_ = static_cast<double>(file.latest_.monotonic_ns - begin.monotonic_ns) /
                     static_cast<double>(file.latest_.ticks - begin.ticks);
    file.end_ = file.last_stamp_ ? file.own_ns(file.last_stamp_) : begin.monotonic_ns;
    if (file.finished())
        file.end_ = std::max(file.end_, file.header.end.monotonic_ns);
    return file;
}

void TraceFile::read_header(std::size_t size) {
    if (size < sizeof(Header))
        refuse(size, "too short for a trace of Sennit: the header ends here");
    std::memcpy(&header, words_->data(), sizeof header);
    if (std::memcmp(header.magic, kMagic, sizeof kMagic) != 0)
        refuse(0, "not a trace of Sennit");
    if (header.version != kVersion)
        refuse(offsetof(Header, version), "version " + std::to_string(header.version) +
                                              " of the format; this is for version " +
                                              std::to_string(kVersion));
    if (header.header_bytes != kHeaderBytes || header.chunk_bytes != kChunkBytes)
        refuse(offsetof(Header, header_bytes), "sizes of header and chunks that version " +
                                                   std::to_string(kVersion) + " does not have");
    if (header.meetings > kMostMeetings)
        refuse(offsetof(Header, meetings), "more clock readings than there is room for");
    if (header.ranks >= 0 && header.rank >= header.ranks)
        refuse(offsetof(Header, rank), "rank " + std::to_string(header.rank) + " of a job of " +
                                           std::to_string(header.ranks));
    make_printable(header.boot_id);
    make_printable(header.host);
    make_printable(header.program);
    make_printable(header.policy);
    make_printable(header.generator);
    for (auto &name : header.counters)
        make_printable(name);
    make_printable(header.job);
    note_clock(header.end);
}

void TraceFile::note_clock(const ClockPoint &point) {
    if (point.ticks > latest_.ticks && point.monotonic_ns > header.begin.monotonic_ns)
        latest_ = point;
}

void TraceFile::read_chunk(std::size_t at, std::size_t size) {
    if (size < sizeof(ChunkHeader)) {
        cut_ = true;
        return;
    }
    ChunkHeader chunk;
    std::memcpy(&chunk, words_->data() + at / sizeof(Word), sizeof chunk);
    const bool whole = size == kChunkBytes;
    const std::span<const Word> words(words_->data() + (at + sizeof chunk) / sizeof(Word),
                                      (size - sizeof chunk) / sizeof(Word));
    const std::size_t first = at + sizeof chunk;
    if (chunk.kind == 0)
        return; // taken when the process died
    if (chunk.kind != kEventChunk && chunk.kind != kTableChunk)
        refuse(at, "neither a chunk of events nor a table");
    note_clock(chunk.opened);
    if (chunk.kind == kTableChunk) {
        read_table(first, words, whole);
        return;
    }
    const std::size_t used = read_events(first, words, whole);
    auto &chunks = chunks_[chunk.thread];
    if (!chunks.try_emplace(chunk.sequence, chunk, words.first(used)).second)
        refuse(at, "thread " + std::to_string(chunk.thread) + " has two chunks number " +
                       std::to_string(chunk.sequence));
}

// Words of whole records.
std::size_t TraceFile::read_events(std::size_t first, std::span<const Word> words, bool whole) {
    // The processors' counters may differ by a hair.
    constexpr Word kSlack = Word{1} << 24;
    std::size_t at = 0;
    Word before = header.begin.ticks & kTickMask;
    while (at < words.size() && words[at] != 0) {
        const std::size_t kind = words[at] & 0xff;
        const std::size_t place = first + at * sizeof(Word);
        if (kind == 0 || kind >= kKinds)
            refuse(place, "an event of the unknown kind " + std::to_string(kind));
        if (at + kWords[kind] > words.size()) {
            if (whole)
                refuse(place,
                       std::string("the event '") + kind_name(kind) + "' ends behind its chunk");
            cut_ = true;
            break;
        }
        const Word now = words[at] >> 8;
        if (now + kSlack < before)
            refuse(place, std::string("the event '") + kind_name(kind) +
                              "' is earlier than the one before it");
        if (Kind(kind) == Kind::wait_begin && words[at + 2] >= static_cast<Word>(WaitReason::count))
            refuse(place, "a wait for the unknown reason " + std::to_string(words[at + 2]));
        if (Kind(kind) == Kind::core &&
            (words[at + 1] & 0xffffffff) >= static_cast<Word>(CoreStep::count))
            refuse(place, "an unknown step of a core, " + std::to_string(words[at + 1]));
        if (Kind(kind) == Kind::moved && words[at + 4] >> 32 >= static_cast<Word>(MovedHow::count))
            refuse(place, "a call that was moved in an unknown way, " +
                              std::to_string(words[at + 4] >> 32));
        before = std::max(before, now);
        at += kWords[kind];
    }
    if (at > 0)
        last_stamp_ = std::max(last_stamp_, before << 8);
    return at;
}

void TraceFile::read_table(std::size_t first, std::span<const Word> words, bool whole) {
    std::size_t at = 0;
    while (at < words.size() && words[at] != 0) {
        const std::size_t place = first + at * sizeof(Word);
        const std::size_t bytes = words[at] >> 8;
        const std::size_t type = words[at] & 0xff;
        if (bytes < 3 * sizeof(Word) || bytes % sizeof(Word) != 0 ||
            bytes > kChunkBytes - sizeof(ChunkHeader))
            refuse(place, "an entry of the table of " + std::to_string(bytes) + " bytes");
        if (at + bytes / sizeof(Word) > words.size()) {
            if (whole)
                refuse(place, "an entry of the table ends behind its chunk");
            cut_ = true;
            return;
        }
        const Word key = words[at + 1];
        const auto *body = reinterpret_cast<const char *>(&words[at + 2]);
        const std::size_t length = bytes - 2 * sizeof(Word);
        switch (static_cast<TableType>(type)) {
        case TableType::name:
            names[key] = text_of(body, length);
            break;
        case TableType::place:
            places[key] = {text_of(body + sizeof(Word), length - sizeof(Word)), words[at + 2]};
            break;
        case TableType::group: {
            const std::size_t listed = words[at + 2] & 0xffffffff;
            Group group;
            group.size = static_cast<int>(words[at + 2] >> 32);
            if (listed * sizeof(int) > length - sizeof(Word) ||
                (listed != 0 && listed != static_cast<std::size_t>(group.size)))
                refuse(place, "a group of " + std::to_string(group.size) + " with " +
                                  std::to_string(listed) + " ranks");
            group.ranks.resize(listed);
            if (listed != 0) // memcpy wants two addresses
                std::memcpy(group.ranks.data(), body + sizeof(Word), listed * sizeof(int));
            const std::size_t used = sizeof(Word) + listed * sizeof(int);
            group.name = text_of(body + used, length - used);
            groups[key] = std::move(group);
            break;
        }
        default:
            refuse(place, "an entry of the unknown type " + std::to_string(type) + " in the table");
        }
        at += bytes / sizeof(Word);
    }
}

std::int64_t TraceFile::own_ns(Word stamp) const {
    const Word passed = ((stamp >> 8) - header.begin.ticks) & kTickMask;
    if (passed > kTickMask / 2) // another core's counter, a hair behind
        return header.begin.monotonic_ns;
    return header.begin.monotonic_ns + ticks_to_ns(passed);
}

std::int64_t TraceFile::to_common(std::int64_t own) const {
    const std::uint32_t count = header.meetings;
    if (count == 0)
        return own;
    const ClockOffset &first = header.meeting[0];
    const ClockOffset &last = header.meeting[count - 1];
    if (count == 1 || last.monotonic_ns <= first.monotonic_ns)
        return own + first.offset_ns;
    const double part = static_cast<double>(own - first.monotonic_ns) /
                        static_cast<double>(last.monotonic_ns - first.monotonic_ns);
    return own + first.offset_ns +
           static_cast<std::int64_t>(part * static_cast<double>(last.offset_ns - first.offset_ns));
}

std::string TraceFile::name_of(std::uint64_t key) const {
    if (key == 0)
        return "task";
    if (const auto found = names.find(key); found != names.end())
        return found->second;
    char text[32];
    std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(key));
    return text;
}

int TraceFile::world_rank(std::uint64_t group, int peer) const {
    const auto found = groups.find(group);
    return found == groups.end() ? peer : found->second.rank_of(peer);
}

bool TraceFile::shares_clock(const TraceFile &other) const {
    return *header.boot_id && std::strcmp(header.boot_id, other.header.boot_id) == 0;
}

bool TraceFile::is_of_job_of(const TraceFile &other) const {
    if (*header.job && *other.header.job)
        return std::strcmp(header.job, other.header.job) == 0;
    if (header.rank < 0 || other.header.rank < 0)
        return true; // no ranks: processes side by side
    const int ranks = std::max(header.ranks, other.header.ranks);
    if (header.ranks < 0 || other.header.ranks < 0)
        return ranks < 0 || std::max(header.rank, other.header.rank) < ranks;
    if (header.ranks != other.header.ranks)
        return false;
    return !shares_clock(other) ||
           (header.begin.monotonic_ns <= other.end_ && other.header.begin.monotonic_ns <= end_);
}

void FileNotes::add(const std::filesystem::path &file, const std::string &note) {
    std::string key;
    std::copy_if(note.begin(), note.end(), std::back_inserter(key),
                 [](char c) { return c < '0' || c > '9'; });
    const auto known =
        std::find_if(said_.begin(), said_.end(), [&](const Said &said) { return said.key == key; });
    if (known == said_.end())
        said_.push_back({note, key, shown(file.filename()), 1});
    else
        ++known->files;
}

std::vector<std::string> FileNotes::lines() const {
    std::vector<std::string> lines;
    for (const Said &said : said_)
        lines.push_back((said.files == 1
                             ? said.first
                             : std::to_string(said.files) + " files, such as " + said.first) +
                        ": " + said.note);
    return lines;
}

namespace {

// A header may say any number, so the time is that of the files, not of the ranks.
void find_missing(TraceFolder &folder) {
    constexpr std::size_t kMostNamed = 8;
    std::set<std::int32_t> there;
    for (const TraceFile &file : folder.files) {
        folder.ranks = std::max(folder.ranks, file.header.ranks);
        if (file.header.rank >= 0)
            there.insert(file.header.rank);
    }
    folder.missing = std::max(0, folder.ranks - static_cast<int>(there.size()));
    for (int rank = 0; rank < folder.ranks && folder.first_missing.size() < kMostNamed; ++rank)
        if (!there.contains(rank))
            folder.first_missing.push_back(rank);
}

std::string job_of(const TraceFile &file) {
    return shown(file.path.filename()) + " is of '" + file.header.program + "'" +
           (file.header.ranks < 0 ? "" : " with " + std::to_string(file.header.ranks) + " ranks");
}

// `latest` is a file of the job that the folder is of.
void leave_out_others(TraceFolder &folder, const TraceFile &latest) {
    std::vector<TraceFile> own, others;
    for (TraceFile &file : folder.files)
        (file.is_of_job_of(latest) ? own : others).push_back(std::move(file));
    folder.files = std::move(own);
    find_missing(folder);
    if (others.empty())
        return;
    if (folder.missing > 0)
        throw TraceError(shown(latest.path.parent_path()) +
                         ": ranks of two jobs: " + job_of(others.front()) + ", " + job_of(latest) +
                         " of a later run, and neither is whole: give each job a folder of its "
                         "own");
    for (const TraceFile &file : others)
        folder.notes.add(file.path, "of another run than the rest, left out");
}

} // namespace

TraceFolder read_folder(const std::filesystem::path &folder) {
    std::error_code error;
    std::vector<std::filesystem::path> paths;
    for (const auto &entry : std::filesystem::directory_iterator(folder, error))
        if (entry.path().extension() == ".sennit")
            paths.push_back(entry.path());
    if (error)
        throw TraceError(shown(folder) + ": cannot be read: " + error.message());
    if (paths.empty())
        throw TraceError(
            shown(folder) +
            ": no traces (rank-*.sennit) here: record them with sennit run --trace. A run "
            "without tasks, parallel regions and messages leaves none");
    std::sort(paths.begin(), paths.end());
    TraceFolder result;
    for (const auto &path : paths)
        result.files.push_back(TraceFile::read(path));
    std::stable_sort(result.files.begin(), result.files.end(),
                     [](const TraceFile &a, const TraceFile &b) {
                         return static_cast<std::uint32_t>(a.header.rank) <
                                static_cast<std::uint32_t>(b.header.rank);
                     });
    const TraceFile latest = *std::max_element(
        result.files.begin(), result.files.end(), [](const TraceFile &a, const TraceFile &b) {
            return a.header.realtime_ns < b.header.realtime_ns;
        });
    leave_out_others(result, latest);
    const TraceFile &first = result.files.front();
    for (const TraceFile &file : result.files) {
        for (const std::string &note : file.notes)
            result.notes.add(file.path, note);
        if (file.header.meetings == 0 && !file.shares_clock(first))
            result.notes.add(file.path, "its clock was never compared with rank 0's");
    }
    return result;
}

Ns Process::over(const Call &call) const {
    if (!call.post)
        return call.end;
    if (call.bound)
        return tasks[call.bound].completed == kNever ? end : tasks[call.bound].completed;
    return call.wait == kNone ? call.begin : calls[call.wait].end;
}

std::uint32_t Process::waiter_of(const Call &call) const {
    return call.bound ? call.bound : call.wait == kNone ? call.task : calls[call.wait].task;
}

namespace {

// The calls of all processes that send and receive messages which may be each other's, in order.
class Matching {
  public:
    explicit Matching(Job &job) : job_(job) {}

    void run() {
        for (std::uint32_t p = 0; p < job_.processes.size(); ++p)
            collect(p);
        for (const auto &[key, ends] : all_)
            pair(ends);
    }

  private:
    using Key = std::tuple<int, int, int, std::vector<int>>; // from, to, tag, members
    struct End {
        std::uint32_t process, call; // call kNone: a message that was probed, and not received
    };
    struct Ends {
        std::vector<End> sends, receives;
    };
    // An MPI_Mprobe whose message is still to be received.
    struct Probed {
        std::uint32_t call;
        Ends *ends;
        std::size_t place; // in ends->receives
    };

    void collect(std::uint32_t p) {
        Process &process = job_.processes[p];
        std::vector<Probed> probed; // in order
        for (std::uint32_t c = 0; c < process.calls.size(); ++c) {
            const Call &call = process.calls[c];
            const std::string name = process.file.name_of(call.name);
            const bool takes = name == "MPI_Mprobe" || name == "MPI_Improbe";
            if (call.probe && !takes)
                continue;
            const bool has_probed = name.starts_with("MPI_Mrecv") || name.starts_with("MPI_Imrecv");
            if (has_probed && receive_probed(process, c, probed))
                continue;
            if (call.direction == kNeither || call.peer < 0 || call.tag < 0)
                continue;
            Ends &ends = all_[key_of(process, call)];
            if (call.probe) {
                probed.push_back({c, &ends, ends.receives.size()});
                ends.receives.push_back({p, kNone});
            } else {
                (call.direction == kSend ? ends.sends : ends.receives).push_back({p, c});
            }
        }
    }

    static Key key_of(const Process &process, const Call &call) {
        const auto group = process.file.groups.find(call.group);
        std::vector<int> members;
        if (group != process.file.groups.end())
            members = group->second.ranks;
        const bool sends = call.direction == kSend;
        return {sends ? process.rank : call.peer, sends ? call.peer : process.rank, call.tag,
                std::move(members)};
    }

    // MPI_Mprobe and MPI_Improbe take a message from those that others may receive; MPI_Mrecv,
    // which names neither sender nor communicator, receives it. Most likely it is the task's
    // oldest.
    static bool receive_probed(Process &process, std::uint32_t c, std::vector<Probed> &probed) {
        Call &call = process.calls[c];
        const auto fits = [&](const Probed &one) {
            const Call &probe = process.calls[one.call];
            return probe.end <= call.begin && (call.tag < 0 || call.tag == probe.tag);
        };
        auto found = std::find_if(probed.begin(), probed.end(), [&](const Probed &one) {
            return fits(one) && process.calls[one.call].task == call.task;
        });
        if (found == probed.end())
            found = std::find_if(probed.begin(), probed.end(), fits);
        if (found == probed.end())
            return false;
        const Call &probe = process.calls[found->call];
        call.direction = kReceive;
        call.peer = probe.peer;
        call.tag = probe.tag;
        call.group = probe.group;
        process.tasks[call.task].receives |= call.task != 0;
        found->ends->receives[found->place].call = c;
        probed.erase(found);
        return true;
    }

    void pair(const Ends &ends) {
        const std::size_t both = std::min(ends.sends.size(), ends.receives.size());
        job_.unmatched += std::max(ends.sends.size(), ends.receives.size()) - both;
        for (std::size_t i = 0; i < both; ++i) {
            const auto [from, send] = ends.sends[i];
            const auto [to, receive] = ends.receives[i];
            if (receive == kNone) {
                ++job_.unmatched;
                continue;
            }
            const auto number = static_cast<std::uint32_t>(job_.messages.size());
            job_.messages.push_back({from, send, to, receive});
            job_.processes[from].calls[send].message = number;
            job_.processes[to].calls[receive].message = number;
        }
    }

    Job &job_;
    std::map<Key, Ends> all_;
};

} // namespace

void match_messages(Job &job) {
    Matching(job).run();
}

} // namespace sennit::trace
