// SPDX-License-Identifier: Apache-2.0
#include "ranks/loader/rank.h"

#include "base/random_bytes.h"
#include "base/rank.h"
#include "base/small_file.h"
#include "ranks/loader/first_stack.h"
#include "ranks/loader/image.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <elf.h>
#include <fcntl.h>
#include <new>
#include <sched.h>
#include <sys/auxv.h>

namespace sennit::loader {
namespace {

// What "unlimited" is taken for: more than a node's memory lets anybody use, little of the 128 TiB
// that all ranks share. Where the kernel counts memory that nobody has touched, it is to be a size
// of which there may be many.
constexpr std::size_t kUnlimitedStack = std::size_t{16} << 30;
constexpr std::size_t kUnlimitedWhereCounted = std::size_t{64} << 20;
constexpr std::size_t kLeastStack = std::size_t{256} << 10;
constexpr std::size_t kEntranceStack = 4096; // for enter_rank

// What the kernel has told this process of itself, the processor, the vDSO.
std::vector<Elf64_auxv_t> own_auxiliary_vector() {
    std::vector<Elf64_auxv_t> entries(64);
    const Descriptor file(open("/proc/self/auxv", O_RDONLY | O_CLOEXEC));
    const ssize_t size =
        file ? read(file.number(), entries.data(), entries.size() * sizeof entries[0]) : 0;
    entries.resize(size > 0 ? static_cast<std::size_t>(size) / sizeof entries[0] : 0);
    entries.erase(std::find_if(entries.begin(), entries.end(),
                               [](const Elf64_auxv_t &entry) { return entry.a_type == AT_NULL; }),
                  entries.end());
    return entries;
}

// Has this dynamic linker the option (glibc 2.33 and later)?
bool knows_argv0(const Image &linker) {
    constexpr char option[] = "--argv0";
    return memmem(linker.memory.low(),
                  static_cast<std::size_t>(linker.memory.high() - linker.memory.low()), option,
                  sizeof option) != nullptr;
}

// As a command: "ld.so program arguments". It then does what the kernel does in execve, and knows
// the program by its path, since /proc/self/exe is the loader.
std::vector<std::string> linker_command(const RankRequest &request, const Image &linker,
                                        const std::string &linker_path) {
    std::vector<std::string> words = {linker_path};
    const std::vector<std::string> &given = request.arguments;
    if (!given.empty() && given[0] != request.program && knows_argv0(linker))
        words.insert(words.end(), {"--argv0", given[0]});
    words.push_back(request.program);
    if (!given.empty())
        words.insert(words.end(), given.begin() + 1, given.end());
    return words;
}

// What the rank has in front of libc (src/ranks/inside), beside this program: by the path by which
// this was started (ranks/stub/stub.cpp), for LD_PRELOAD takes no folder with a space.
const std::string &inner_library() {
    static const std::string path = [] {
        const std::string loader = reinterpret_cast<const char *>(getauxval(AT_EXECFN));
        return loader.substr(0, loader.rfind('/') + 1) + "libsennit-rank.so";
    }();
    return path;
}

// In front of all others, whose calls it is to see, too. The library takes itself out again.
std::vector<std::string> with_inner_library(std::vector<std::string> environment) {
    const std::string variable = "LD_PRELOAD=";
    for (std::string &text : environment)
        if (text.compare(0, variable.size(), variable) == 0) {
            const std::string others = text.substr(variable.size());
            text = variable + inner_library() + (others.empty() ? "" : ":" + others);
            return environment;
        }
    environment.push_back(variable + inner_library());
    return environment;
}

std::size_t stack_size(const rlimit &limit) {
    std::size_t size = limit.rlim_cur;
    if (limit.rlim_cur == RLIM_INFINITY)
        size = counts_promised_memory() ? kUnlimitedWhereCounted : kUnlimitedStack;
    return page_up(std::max(std::min(size, std::size_t{1} << 40), kLeastStack));
}

} // namespace

Rank::Rank(const RankRequest &request, const std::vector<Descriptor> &descriptors,
           exported::Registry &registry, virt::RankFiber *fiber)
    : fiber_(fiber) {
    if (!start(request, descriptors, registry))
        process_ = 0;
    else if (fiber_) {
        fiber_->thread.store(process_);
        fiber_->process.store(process_);
    }
}

// Guarded below and above: it must not grow into another's memory, nor be joined to it (libc takes
// the end of the mapping for the end of the stack).
bool Rank::make_stack(const RankRequest &request, bool executable) {
    const std::size_t size = stack_size(request.limits[RLIMIT_STACK]);
    stack_ = Mapping(size + 2 * kPage, PROT_NONE, MAP_NORESERVE | MAP_STACK);
    const int protection = PROT_READ | PROT_WRITE | (executable ? PROT_EXEC : 0);
    // MAP_GROWSDOWN: the dynamic linker can make no other stack executable later.
    if (!stack_ ||
        mmap(stack_.low() + kPage, size, protection,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE | MAP_STACK | MAP_GROWSDOWN,
             -1, 0) == MAP_FAILED) {
        error_ = std::string("no memory for its stack: ") + std::strerror(errno);
        return false;
    }
    // A huge page would be all its memory at once.
    madvise(stack_.low() + kPage, size, MADV_NOHUGEPAGE);
    return true;
}

// As the kernel does in execve. `linker`: the path of the dynamic linker that runs the program, or
// null. Null, and an error, if it cannot be.
char *Rank::lay_out_stack(const RankRequest &request, const Image &image, const std::string *linker,
                          exported::Registry &registry) {
    FirstStack contents;
    contents.program = request.program;
    contents.arguments = linker ? linker_command(request, image, *linker) : request.arguments;
    contents.environment = linker ? with_inner_library(request.environment) : request.environment;
    contents.auxiliary = own_auxiliary_vector();
    set_auxiliary(contents.auxiliary, AT_PHDR, image.segments);
    set_auxiliary(contents.auxiliary, AT_PHNUM, image.segment_count);
    set_auxiliary(contents.auxiliary, AT_ENTRY, image.entry);
    set_auxiliary(contents.auxiliary, AT_BASE, 0);
    set_auxiliary(contents.auxiliary, AT_SECURE, 0);
    set_auxiliary(contents.auxiliary, kVirtualRankEntry,
                  reinterpret_cast<std::uintptr_t>(&registry));
    if (fiber_)
        set_auxiliary(contents.auxiliary, kRankFiberEntry,
                      reinterpret_cast<std::uintptr_t>(fiber_));
    char *const low = stack_.low() + kPage, *const top = stack_.high() - kPage;
    set_auxiliary(contents.auxiliary, kStackLowEntry, reinterpret_cast<std::uintptr_t>(low));
    set_auxiliary(contents.auxiliary, kStackHighEntry, reinterpret_cast<std::uintptr_t>(top));
    const std::uint64_t random[] = {random_word(), random_word()};
    static_assert(sizeof random == sizeof contents.random);
    std::memcpy(contents.random, random, sizeof random);
    char *const stack_pointer = lay_out(contents, low, top);
    if (!stack_pointer)
        error_ = "its arguments and environment are too long for its stack: raise ulimit -s";
    return stack_pointer;
}

// For the way there only, below the first stack's contents: the entrance, its lists above it. Below
// that is room for the stack of enter_rank.
Entrance &Rank::make_entrance(const RankRequest &request,
                              const std::vector<Descriptor> &descriptors, char *stack_pointer) {
    char *at = stack_pointer - 256;
    const auto take = [&](std::size_t size) {
        at -= (size + 63) / 64 * 64;
        at -= reinterpret_cast<std::uintptr_t>(at) % 64;
        return at;
    };
    auto *moves =
        reinterpret_cast<Entrance::Move *>(take(descriptors.size() * sizeof(Entrance::Move)));
    char *affinity = take(request.affinity.size());
    Entrance &entrance = *new (take(sizeof(Entrance))) Entrance{};
    std::copy(request.affinity.begin(), request.affinity.end(), affinity);
    entrance.failure = failure_.get();
    entrance.stack_pointer = stack_pointer;
    entrance.host = getpid();
    entrance.working_directory = -1;
    entrance.descriptors = moves;
    entrance.first_free = 3;
    for (std::size_t i = 0; i < descriptors.size(); ++i) {
        const int number = request.descriptors[i];
        if (number == kWorkingDirectory) {
            entrance.working_directory = descriptors[i].number();
            continue;
        }
        moves[entrance.descriptor_count++] = {descriptors[i].number(), number};
        entrance.first_free = std::max(entrance.first_free, number + 1);
    }
    entrance.file_mask = request.file_mask;
    entrance.blocked_signals = request.blocked_signals;
    entrance.ignored_signals = request.ignored_signals;
    std::copy(request.limits.begin(), request.limits.end(), entrance.limits);
    entrance.affinity = affinity;
    entrance.affinity_size = static_cast<unsigned>(request.affinity.size());
    const std::string name = request.program.substr(request.program.rfind('/') + 1);
    std::snprintf(entrance.name, sizeof entrance.name, "%s", name.c_str());
    return entrance;
}

bool Rank::start(const RankRequest &request, const std::vector<Descriptor> &descriptors,
                 exported::Registry &registry) {
    const ElfProgram program = read_program(request.program);
    const bool dynamic = !program.interpreter.empty();
    const std::string &file = dynamic ? program.interpreter : request.program;
    const ElfProgram first = dynamic ? read_program(file) : program;
    for (const ElfProgram *each : {&program, &first})
        if (!each->refusal.empty()) {
            error_ = each->refusal;
            return false;
        }
    Image image = map_image(file, first);
    if (!image.error.empty()) {
        error_ = image.error;
        return false;
    }
    if (dynamic && access(inner_library().c_str(), R_OK) != 0) {
        error_ = "'" + inner_library() + "' is missing: build or install Sennit again";
        return false;
    }
    if (!make_stack(request, program.executable_stack))
        return false;

    char *const stack_pointer = lay_out_stack(request, image, dynamic ? &file : nullptr, registry);
    if (!stack_pointer)
        return false;
    Entrance &entrance = make_entrance(request, descriptors, stack_pointer);
    entrance.entry = reinterpret_cast<void *>(image.entry);
    // On a small stack below.
    process_ = clone(enter_rank, &entrance, CLONE_VM | SIGCHLD, &entrance);
    if (process_ < 0) {
        error_ = std::string("no process for it: ") + std::strerror(errno);
        return false;
    }
    image.memory.release();
    return true;
}

std::string Rank::failure() const {
    if (!failure_->step)
        return "";
    const std::string step = failure_->step;
    return failure_->error == 0 ? step : step + ": " + std::strerror(failure_->error);
}

} // namespace sennit::loader
