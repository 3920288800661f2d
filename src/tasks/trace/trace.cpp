// SPDX-License-Identifier: Apache-2.0
// The recorder: where each thread is in its chunk, ids, names, set-up.
#include "tasks/trace/trace.h"

#include "base/config.h"
#include "base/dlb_options.h"
#include "base/environment.h"
#include "base/hash.h"
#include "base/message.h"
#include "base/rank.h"
#include "base/spin.h"
#include "tasks/trace/counters.h"
#include "tasks/trace/spent_time.h"
#include "tasks/trace/trace_output.h"

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cxxabi.h>
#include <dlfcn.h>
#include <link.h>
#include <new>
#include <unistd.h>

namespace sennit::trace {

bool g_on = false;
bool g_records = false;

namespace {

constexpr std::uint64_t kIdBlock = 256;

// Where the calling thread is in its chunk. The initial thread of a program may record before it is
// a worker: `room` stays 0 or below until its row is known, which sends each event through
// append_slow.
struct Cursor {
    Word *at;
    std::ptrdiff_t room; // words from `at` to the end of the chunk
    Chunk *chunk;
    std::uint64_t id, id_end; // the thread's block of task ids
    std::uint32_t thread;     // 1 + its number
    std::uint32_t sequence;
    bool lost; // a chunk could not be had: for good
    // Rounds of polling that are not recorded yet.
    std::uint64_t polls_begin, polls_spent;
    std::uint32_t polls, completions;
};
SENNIT_TLS Cursor t_cursor{};

bool g_aside = false;    // an event means more than its record: spent_time.h, counters.h
bool g_counters = false; // are in the file
int (*g_row_of_thread)() = nullptr;
std::atomic<bool> g_over{false}; // the process exits: no more chunks
alignas(kCacheLine) std::atomic<std::uint64_t> g_next_id{1};
std::atomic<std::uint32_t> g_next_thread{0};

// The addresses whose names are in the file. Any thread looks at the cells, without a lock; a cell
// forgets an address for another one, and then the look at what is known tells.
class Names {
  public:
    bool seem_written(std::uint64_t key) const {
        return key == 0 || cells_[cell_of(key)].load(std::memory_order_relaxed) == key;
    }
    // Of a function, and where it is.
    SENNIT_COLD void write_entry(std::uint64_t entry);
    SENNIT_COLD void write_literal(std::uint64_t key, const char *name);
    void forget(); // in the child of fork()

  private:
    struct Known {
        Symbols symbols;
        WordMap<unsigned char> written;
    };
    static constexpr unsigned kCellBits = 10;
    static std::size_t cell_of(std::uint64_t key) { return hash_place(key, kCellBits); }
    bool claim(std::uint64_t key) SENNIT_REQUIRES(lock_);

    std::atomic<std::uint64_t> cells_[std::size_t{1} << kCellBits]{};
    SpinLock lock_;
    // Never destroyed: tasks may run in exit handlers.
    Known *known_ SENNIT_GUARDED_BY(lock_) SENNIT_POINTS_TO_GUARDED_BY(lock_) = nullptr;
};
constinit Names g_names;

bool next_chunk(Cursor &cursor) {
    if (cursor.lost || g_over.load(std::memory_order_relaxed))
        return false;
    Chunk *fresh = take_chunk(kEventChunk);
    if (!fresh) {
        cursor.lost = true;
        return false;
    }
    if (cursor.thread == 0)
        cursor.thread = g_next_thread.fetch_add(1, std::memory_order_relaxed) + 1;
    fresh->header.thread = cursor.thread - 1;
    fresh->header.sequence = cursor.sequence++;
    if (cursor.chunk) {
        fresh->header.row = cursor.chunk->header.row;
        give_back(cursor.chunk);
    }
    cursor.chunk = fresh;
    cursor.at = fresh->words;
    return true;
}

// Where the calling thread writes its next record, or null: the event is dropped, and counted.
SENNIT_COLD Word *append_slow(Cursor &cursor) {
    std::ptrdiff_t room = cursor.chunk ? cursor.chunk->words + kChunkWords - cursor.at : 0;
    if (room < kMostWords && !next_chunk(cursor)) {
        if (!g_over.load(std::memory_order_relaxed)) // at exit it is no loss
            count_dropped();
        return nullptr;
    }
    room = cursor.chunk->words + kChunkWords - cursor.at;
    int row = cursor.chunk->header.row;
    if (row < 0 && g_row_of_thread) {
        row = g_row_of_thread();
        cursor.chunk->header.row = row;
    }
    cursor.room = row < 0 ? 0 : room;
    return cursor.at;
}

// True for the first who asks.
bool Names::claim(std::uint64_t key) {
    bool first = false;
    if (!known_) {
        void *memory = std::malloc(sizeof(Known));
        if (!memory)
            return false;
        known_ = new (memory) Known;
    }
    if (!known_->written.get(key)) {
        known_->written.set(key, 1);
        first = true;
    }
    cells_[cell_of(key)].store(key, std::memory_order_relaxed);
    return first;
}

void Names::write_entry(std::uint64_t entry) {
    const Guard guard(lock_);
    if (claim(entry)) {
        const char *name = known_->symbols.name_of(entry);
        write_table(TableType::name, entry, name, std::strlen(name) + 1);
        std::uint64_t offset = 0;
        if (const char *module = known_->symbols.module_of(entry, &offset))
            write_table(TableType::place, entry, &offset, sizeof offset, module,
                        std::strlen(module) + 1);
    }
}

void Names::write_literal(std::uint64_t key, const char *name) {
    const Guard guard(lock_);
    if (claim(key))
        write_table(TableType::name, key, name, std::strlen(name) + 1);
}

// What is known is of the parent's file, and another thread may have been in the middle of a
// change.
void Names::forget() {
    lock_.after_fork_in_child();
    for (std::atomic<std::uint64_t> &cell : cells_)
        cell.store(0, std::memory_order_relaxed);
    const Guard guard(lock_);
    known_ = nullptr;
}

void end_tracing() {
    finish_file();
    g_over.store(true, std::memory_order_relaxed);
}

// Does the thread do something else from now on?
constexpr bool is_turn(Kind kind) {
    return kind == Kind::start || kind == Kind::end || kind == Kind::wait_begin ||
           kind == Kind::wait_end || kind == Kind::part_begin || kind == Kind::part_end ||
           kind == Kind::fiber_switch;
}

// What the thread has counted belongs to what it did so far, so it comes first. Once the thread has
// a chunk, the file is there, and says which counters there are.
void record_counters() {
    const Chunk *const chunk = t_cursor.chunk;
    Word counted[kMostCounters];
    if (!chunk || chunk->header.row < 0 || !read_counters(counted))
        return;
    static_assert(kMostCounters == 4);
    if ((counted[0] | counted[1] | counted[2] | counted[3]) != 0)
        record(Kind::counted, counted[0], counted[1], counted[2], counted[3]);
}

SENNIT_COLD void do_aside(Kind kind, Word a, Word b, Word c) {
    if (g_counts)
        count(kind, a, b, c);
    if (g_counters && is_turn(kind))
        record_counters();
}

} // namespace

void begin_to_count() {
    count_time([] { return g_row_of_thread ? g_row_of_thread() : -1; });
    g_on = g_aside = true;
}

void setup() {
    // DLB's own switch, for programs that are started as under DLB: "--lewi --talp".
    if (config().talp == Talp::on || dlb_wants_talp(trusted_environment("DLB_ARGS")))
        begin_to_count();
    const bool counters = ask_for_counters();
    if (!*config().trace)
        return;
    if (!choose_folder(config().trace)) {
        warn("SENNIT_TRACE: cannot write to a folder '%s' (%s): no timeline is recorded",
             config().trace, std::strerror(errno));
        return;
    }
    g_on = g_records = true;
    g_counters = counters;
    g_aside |= counters;
    std::atexit(end_tracing);
}

std::uint64_t next_id() {
    Cursor &cursor = t_cursor;
    if (SENNIT_UNLIKELY(cursor.id == cursor.id_end)) {
        cursor.id = g_next_id.fetch_add(kIdBlock, std::memory_order_relaxed);
        cursor.id_end = cursor.id + kIdBlock;
    }
    return cursor.id++;
}

void record(Kind kind, Word a, Word b, Word c, Word d, Word e, Word f, Word g) {
    if (g_aside)
        do_aside(kind, a, b, c);
    if (!g_records)
        return;
    Cursor &cursor = t_cursor;
    Word *at = cursor.at;
    if (SENNIT_UNLIKELY(cursor.room < kMostWords)) {
        at = append_slow(cursor);
        if (!at)
            return;
    }
    const std::ptrdiff_t size = kWords[static_cast<std::size_t>(kind)];
    cursor.at = at + size;
    cursor.room -= size;
    const Word arguments[] = {a, b, c, d, e, f, g};
    for (std::ptrdiff_t i = 1; i < size; ++i)
        at[i] = arguments[i - 1];
    __atomic_store_n(at, stamp(ticks(), kind), __ATOMIC_RELEASE);
}

void name_entry(std::uint64_t entry) {
    if (g_records && SENNIT_UNLIKELY(!g_names.seem_written(entry)))
        g_names.write_entry(entry);
}

void name_literal(const char *name) {
    const auto key = reinterpret_cast<std::uint64_t>(name);
    if (g_records && SENNIT_UNLIKELY(!g_names.seem_written(key)))
        g_names.write_literal(key, name);
}

void *name_label(const char *label) {
    std::uint64_t key = 0;
    for (const char *at = label; *at; ++at)
        key = hash_after(key, static_cast<unsigned char>(*at));
    key |= std::uint64_t{1} << 63; // no function is there
    if (g_records && SENNIT_UNLIKELY(!g_names.seem_written(key)))
        g_names.write_literal(key, label);
    return reinterpret_cast<void *>(key);
}

void name_group(std::uint64_t group, int size, const int *ranks, const char *name) {
    if (!g_records)
        return;
    // Beyond a chunk's room a list is left out.
    constexpr int kMostRanks = 16 * 1024;
    const int listed = ranks && size <= kMostRanks ? size : 0;
    const auto list = static_cast<std::size_t>(listed) * sizeof(int);
    const std::size_t text = std::strlen(name) + 1;
    auto *both = static_cast<char *>(std::malloc(sizeof(Word) + list));
    if (!both)
        return;
    const Word sizes = static_cast<Word>(size) << 32 | static_cast<Word>(listed);
    std::memcpy(both, &sizes, sizeof sizes);
    if (listed)
        std::memcpy(both + sizeof sizes, ranks, list);
    write_table(TableType::group, group, both, sizeof sizes + list, name, text);
    std::free(both);
}

void set_rank(int rank, int ranks) {
    if (g_records)
        put_rank(rank, ranks);
}

void set_clock(std::int64_t offset_ns, std::int64_t error_ns) {
    if (g_records)
        put_meeting({clock_now().monotonic_ns, offset_ns, error_ns});
}

void set_row_of_thread(int (*row)()) {
    g_row_of_thread = row;
}

void polled(std::uint64_t begin, int completions) {
    constexpr std::uint64_t kMostTicks = 1 << 18; // about a tenth of a millisecond
    Cursor &cursor = t_cursor;
    const std::uint64_t now = ticks();
    if (cursor.polls == 0)
        cursor.polls_begin = begin;
    cursor.polls_spent += now - begin;
    ++cursor.polls;
    cursor.completions += static_cast<std::uint32_t>(completions);
    if (completions == 0 && now - cursor.polls_begin < kMostTicks)
        return;
    record(Kind::polled, now - cursor.polls_begin, cursor.polls_spent,
           std::uint64_t{cursor.polls} << 32 | cursor.completions);
    cursor.polls = cursor.completions = 0;
    cursor.polls_spent = 0;
}

void after_fork_in_child() {
    if (!g_records)
        return;
    forget_file();
    forget_counters();
    g_names.forget();
    g_next_id.store(1, std::memory_order_relaxed);
    g_next_thread.store(0, std::memory_order_relaxed);
    t_cursor = {};
}

namespace {

// The function that contains `address`, counted from the load bias.
const char *find_function_at(const ElfFile &file, std::uint64_t address) {
    return file.find_function([&](const char *, const ElfW(Sym) & symbol) {
        return address >= symbol.st_value &&
               (address < symbol.st_value + symbol.st_size || address == symbol.st_value);
    });
}

char *print(const char *format, const char *text, std::uint64_t number) {
    char *result = nullptr;
    return asprintf(&result, format, text, static_cast<unsigned long long>(number)) < 0 ? nullptr
                                                                                        : result;
}

} // namespace

char *readable_name(const char *symbol) {
    symbol += std::strspn(symbol, ".");
    char *name = strdup(symbol);
    if (!name)
        return nullptr;
    // GCC: <function>._omp_fn.<number>, maybe with the suffix of a clone.
    char *outlined = std::strstr(name, "._omp_fn.");
    const std::uint64_t number = outlined ? std::strtoull(outlined + 9, nullptr, 10) : 0;
    if (outlined)
        *outlined = '\0';
    if (std::strncmp(name, "_Z", 2) == 0) {
        int status = 0;
        if (char *demangled = abi::__cxa_demangle(name, nullptr, nullptr, &status)) {
            std::free(name);
            name = demangled;
        }
    }
    for (std::size_t end = std::strlen(name); end > 1 && name[end - 1] == '.';)
        name[--end] = '\0';
    if (!outlined)
        return name;
    char *result = print("%s task %llu", name, number);
    std::free(name);
    return result;
}

Symbols::~Symbols() {
    for (Module &module : modules_)
        module.file.close_file();
    for (char *name : owned_)
        std::free(name);
}

const char *Symbols::name_of(std::uint64_t address) {
    if (address == 0)
        return "task";
    if (const char *known = names_.get(address))
        return known;
    const char *name = find(address);
    names_.set(address, name);
    return name;
}

const Symbols::Module *Symbols::module_of(const void *link_map, const char *path) {
    for (const Module &known : modules_)
        if (known.link_map == link_map)
            return &known;
    const Module fresh{link_map, ElfFile(path)};
    return modules_.push(fresh) ? modules_.end() - 1 : nullptr;
}

const char *Symbols::module_of(std::uint64_t address, std::uint64_t *offset) {
    static char program[512];
    Dl_info info{};
    link_map *map = nullptr;
    if (dladdr1(reinterpret_cast<void *>(address), &info, reinterpret_cast<void **>(&map),
                RTLD_DL_LINKMAP) == 0 ||
        !map)
        return nullptr;
    *offset = address - map->l_addr;
    if (*map->l_name)
        return map->l_name;
    if (is_virtual_rank())
        return program_file();
    const ssize_t length = readlink(program_file(), program, sizeof program - 1);
    program[length > 0 ? length : 0] = '\0';
    return length > 0 ? program : nullptr;
}

const char *Symbols::find(std::uint64_t address) {
    Dl_info info{};
    link_map *map = nullptr;
    char *name = nullptr;
    const bool in_object = dladdr1(reinterpret_cast<void *>(address), &info,
                                   reinterpret_cast<void **>(&map), RTLD_DL_LINKMAP) != 0;
    if (in_object && info.dli_sname && info.dli_saddr == reinterpret_cast<void *>(address)) {
        name = readable_name(info.dli_sname);
    } else if (in_object && map) {
        // The program itself has no name in the list.
        const char *path = *map->l_name ? map->l_name : program_file();
        const std::uint64_t offset = address - map->l_addr;
        const Module *module = module_of(map, path);
        const char *symbol = module ? find_function_at(module->file, offset) : nullptr;
        name = symbol ? readable_name(symbol)
                      : print("%s+0x%llx",
                              *map->l_name ? basename(map->l_name) : program_invocation_short_name,
                              offset);
    } else {
        name = print("%s0x%llx", "", address);
    }
    if (!name || !owned_.push(name)) {
        std::free(name);
        return "task";
    }
    return name;
}

} // namespace sennit::trace
