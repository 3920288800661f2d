// SPDX-License-Identifier: Apache-2.0
#include "base/source_lines.h"

#include "base/array.h"
#include "base/clock.h"
#include "base/environment.h"
#include "base/system_call.h"

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <memory>
#include <new>
#include <poll.h>
#include <sched.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>

namespace sennit {
namespace {

constexpr std::int64_t kNsPerMs = 1'000'000;
constexpr std::int64_t kMostNs = 5'000 * kNsPerMs; // for a report
constexpr std::size_t kMostAddresses = 256;        // of it
constexpr std::size_t kMostFiles = 16;

struct Free {
    void operator()(void *memory) const { std::free(memory); }
};

struct Command {
    static constexpr std::size_t kStack = std::size_t{16} * 1024;
    // Of the two processes, which have this process's memory until the second is addr2line.
    alignas(16) char first_stack[kStack];
    alignas(16) char second_stack[kStack];

    char path[4096] = "";
    char offsets[kMostLooked][20];
    char *words[kMostLooked + 4] = {};
    char search[4096] = ""; // PATH, LD_LIBRARY_PATH
    char libraries[4096] = "";
    char *environment[3] = {};
    int output = -1;
    int helper = -1;

    bool find();
    void ask(const char *file, const std::uint64_t *wanted, std::size_t count);
    bool start();
};

// In folders that PATH names in full.
bool Command::find() {
    const char *at = trusted_environment("PATH");
    while (at && *at) {
        const auto length = static_cast<int>(std::strcspn(at, ":"));
        std::snprintf(path, sizeof path, "%.*s/addr2line", length, at);
        if (*at == '/' && access(path, X_OK) == 0)
            return true;
        at += length;
        at += *at == ':';
    }
    return false;
}

// No variable that makes it load a library of ours, or look for debug information elsewhere.
void Command::ask(const char *file, const std::uint64_t *wanted, std::size_t count) {
    static char exact[] = "-e";
    std::size_t used = 0;
    words[used++] = path;
    words[used++] = exact;
    words[used++] = const_cast<char *>(file);
    for (std::size_t i = 0; i < count; ++i) {
        std::snprintf(offsets[i], sizeof offsets[i], "0x%llx",
                      static_cast<unsigned long long>(wanted[i]));
        words[used++] = offsets[i];
    }
    used = 0;
    for (auto &&[name, text] :
         {std::pair<const char *, char(*)[4096]>{"PATH", &search}, {"LD_LIBRARY_PATH", &libraries}})
        if (const char *value = trusted_environment(name)) {
            std::snprintf(*text, sizeof *text, "%s=%s", name, value);
            environment[used++] = *text;
        }
}

// The program's own files are none of the helper's: a pipe would stay open.
int become_addr2line(void *argument) {
    auto &command = *static_cast<Command *>(argument);
    const long null = system_call(SYS_openat, AT_FDCWD, "/dev/null", O_RDWR);
    system_call(SYS_dup3, null, 0, 0);
    system_call(SYS_dup3, null, 2, 0);
    system_call(SYS_dup3, command.output, 1, 0);
    system_call(SYS_close_range, 3, ~0U, 0);
    system_call(SYS_execve, static_cast<const char *>(command.path), command.words,
                command.environment);
    return 127;
}

int start_and_end(void *argument) {
    auto &command = *static_cast<Command *>(argument);
    command.helper = clone(become_addr2line, command.second_stack + Command::kStack,
                           CLONE_VM | CLONE_VFORK | SIGCHLD, argument);
    return 0;
}

// By a process in between that ends at once, and whose end is no signal.
bool Command::start() {
    sigset_t all;
    sigset_t before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before); // a handler must not run in the other processes
    const int between = clone(start_and_end, first_stack + kStack, CLONE_VM | CLONE_VFORK, this);
    if (between > 0)
        system_call(SYS_wait4, between, 0, __WCLONE, 0);
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    return helper > 0;
}

// What is not yet a whole line stays in `text_`.
class Answers {
  public:
    Answers(SourceLine *lines, std::size_t count) : lines_(lines), left_(count) {}

    bool want_more() const { return left_ > 0; }
    void take(const char *bytes, std::size_t size) {
        for (const char *at = bytes; at < bytes + size && left_ > 0; ++at)
            if (*at == '\n')
                end_line();
            else if (length_ + 1 < sizeof text_)
                text_[length_++] = *at;
    }

  private:
    static constexpr int kMostText = sizeof(SourceLine::text) - 1;

    void end_line() {
        text_[length_] = '\0';
        length_ = 0;
        if (char *more = std::strstr(text_, " (discriminator "))
            *more = '\0';
        const char *slash = std::strrchr(text_, '/');
        const char *name = slash ? slash + 1 : text_;
        const char *number = std::strrchr(name, ':');
        if (number && number[1] >= '1' && number[1] <= '9' && std::strncmp(name, "??", 2) != 0)
            std::snprintf(lines_->text, sizeof lines_->text, "%.*s", kMostText, name);
        ++lines_;
        --left_;
    }

    SourceLine *lines_;
    std::size_t left_;
    char text_[4096];
    std::size_t length_ = 0;
};

// Returns whether the other end was closed: else the helper is still there.
bool read_until(int input, Answers &answers, std::int64_t until) {
    for (;;) {
        const std::int64_t left = until - monotonic_ns();
        pollfd file{input, POLLIN, 0};
        if (left <= 0 || !answers.want_more())
            return false;
        const int ready = ::poll(&file, 1, static_cast<int>(left / kNsPerMs) + 1);
        if (ready < 0 && errno != EINTR)
            return false;
        if (ready <= 0)
            continue;
        char bytes[4096];
        const ssize_t got = read(input, bytes, sizeof bytes);
        if (got == 0)
            return true;
        if (got > 0)
            answers.take(bytes, static_cast<std::size_t>(got));
        else if (errno != EINTR)
            return false;
    }
}

// The name that the report has, and the file.
struct Module {
    int process = 0;
    char name[64] = "";
    char *path = nullptr; // null: unknown, or several have the name
};

struct CodeAddress {
    const char *end; // the closing bracket
    std::size_t module;
    std::uint64_t offset;
    SourceLine line;
};

bool may_be_read(const char *path) {
    struct stat facts{};
    return stat(path, &facts) == 0 && S_ISREG(facts.st_mode) && access(path, R_OK) == 0;
}

// What the process has mapped by that name.
char *path_of(int process, const char *name) {
    char maps[64];
    std::snprintf(maps, sizeof maps, "/proc/%d/maps", process);
    std::FILE *file = std::fopen(maps, "re");
    if (!file)
        return nullptr;
    char *found = nullptr;
    char *line = nullptr;
    std::size_t room = 0;
    bool is_sure = true;
    while (getline(&line, &room, file) > 0) {
        line[std::strcspn(line, "\n")] = '\0';
        const char *path = std::strchr(line, '/');
        if (!path || std::strcmp(std::strrchr(path, '/') + 1, name) != 0)
            continue;
        if (!found)
            found = strdup(path);
        else if (std::strcmp(found, path) != 0)
            is_sure = false;
    }
    std::free(line);
    std::fclose(file);
    if (found && is_sure && may_be_read(found))
        return found;
    std::free(found);
    return nullptr;
}

class Looker {
  public:
    ~Looker() {
        for (const Module &module : modules_)
            std::free(module.path);
    }

    // Returns whether there is any line.
    bool look_up(const char *report, std::int64_t until) {
        int process = 0;
        for (const char *at = report; *at;) {
            const char *end = at + std::strcspn(at, "\n");
            note_process(at, end, process);
            if (process > 0)
                find_addresses(at, end, process);
            at = *end ? end + 1 : end;
        }
        bool any = false;
        for (std::size_t module = 0; module < modules_.size(); ++module)
            if (modules_[module].path && !is_file_of_earlier(module))
                any |= ask(modules_[module].path, until);
        return any;
    }

    void write(const char *report, std::FILE *out) const {
        for (const CodeAddress &address : addresses_) {
            std::fwrite(report, 1, static_cast<std::size_t>(address.end - report), out);
            if (*address.line.text)
                std::fprintf(out, ", %s", address.line.text);
            report = address.end;
        }
        std::fputs(report, out);
    }

  private:
    // Lines of waiters begin with more spaces.
    static void note_process(const char *line, const char *end, int &process) {
        constexpr char kBegin[] = "sennit: ";
        constexpr char kProcess[] = "process ";
        constexpr std::size_t kLength = sizeof kBegin - 1;
        if (std::strncmp(line, kBegin, kLength) != 0 || line[kLength] == ' ')
            return;
        const char *at = std::strstr(line, kProcess);
        if (at && at < end)
            if (const int number = std::atoi(at + sizeof kProcess - 1); number > 0)
                process = number;
    }

    void find_addresses(const char *line, const char *end, int process) {
        while ((line = static_cast<const char *>(
                    std::memchr(line, '[', static_cast<std::size_t>(end - line))))) {
            ++line;
            const char *plus = std::strstr(line, "+0x");
            if (!plus || plus >= end)
                return;
            char *after = nullptr;
            const std::uint64_t offset = std::strtoull(plus + 1, &after, 16);
            if (*after != ']')
                continue;
            const std::size_t module = module_of(process, line, plus);
            if (module < modules_.size() && addresses_.size() < kMostAddresses)
                addresses_.push({after, module, offset, {}});
        }
    }

    // Past the end: there is no room for it.
    std::size_t module_of(int process, const char *begin, const char *end) {
        Module module{.process = process};
        const auto length = static_cast<std::size_t>(end - begin);
        if (length >= sizeof module.name)
            return modules_.size();
        std::memcpy(module.name, begin, length);
        std::size_t at = 0;
        while (at < modules_.size() && (modules_[at].process != process ||
                                        std::strcmp(modules_[at].name, module.name) != 0))
            ++at;
        if (at == modules_.size() && at < kMostAddresses) {
            module.path = path_of(process, module.name);
            if (!modules_.push(module))
                std::free(module.path);
        }
        return at;
    }

    bool is_same_file(std::size_t one, std::size_t other) const {
        return modules_[one].path && modules_[other].path &&
               std::strcmp(modules_[one].path, modules_[other].path) == 0;
    }

    bool is_file_of_earlier(std::size_t module) const {
        for (std::size_t other = 0; other < module; ++other)
            if (is_same_file(other, module))
                return true;
        return false;
    }

    // Ranks mostly have the same program: it is read once.
    bool ask(const char *path, std::int64_t until) {
        std::uint64_t offsets[kMostAddresses];
        SourceLine lines[kMostAddresses];
        std::size_t count = 0;
        auto each = [&](auto visit) {
            for (CodeAddress &address : addresses_)
                if (modules_[address.module].path &&
                    std::strcmp(modules_[address.module].path, path) == 0)
                    visit(address);
        };
        each([&](CodeAddress &address) { offsets[count++] = address.offset; });
        if (++asked_ > kMostFiles)
            return false;
        look_up_lines(path, offsets, count, lines, until);
        bool any = false;
        count = 0;
        each([&](CodeAddress &address) {
            address.line = lines[count++];
            any |= *address.line.text != '\0';
        });
        return any;
    }

    ScopedArray<Module> modules_;
    ScopedArray<CodeAddress> addresses_;
    std::size_t asked_ = 0;
};

} // namespace

void look_up_lines(const char *file, const std::uint64_t *offsets, std::size_t count,
                   SourceLine *lines, std::int64_t until) {
    const std::unique_ptr<Command, Free> command(
        static_cast<Command *>(std::malloc(sizeof(Command))));
    int ends[2];
    if (!command || count == 0 || count > kMostLooked || until <= monotonic_ns() ||
        !(new (command.get()) Command)->find() || pipe2(ends, O_CLOEXEC) != 0)
        return;
    command->ask(file, offsets, count);
    command->output = fcntl(ends[1], F_DUPFD_CLOEXEC, 3); // the helper's first three are others
    close(ends[1]);
    const bool is_started = command->output >= 0 && command->start();
    close(command->output);
    Answers answers(lines, count);
    // As long as the helper has its end of the pipe, the number is the helper's.
    if (is_started && !read_until(ends[0], answers, until) && answers.want_more())
        kill(command->helper, SIGKILL);
    close(ends[0]);
}

char *with_source_lines(const char *report) {
    Looker looker;
    if (!looker.look_up(report, monotonic_ns() + kMostNs))
        return nullptr;
    char *text = nullptr;
    std::size_t size = 0;
    if (std::FILE *out = open_memstream(&text, &size)) {
        looker.write(report, out);
        std::fclose(out);
    }
    return text;
}

} // namespace sennit
