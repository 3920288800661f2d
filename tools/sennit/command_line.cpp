// SPDX-License-Identifier: Apache-2.0
#include "command_line.h"

#include "common/failure.h"
#include "common/nearest.h"
#include "common/shell_text.h"
#include "launch/policy.h"

#include "node/pool.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string_view>
#include <type_traits>
#include <unistd.h>
#include <utility>

namespace sennit::tool {

const char *const help_footer = R"(
Exit code: that of the program; 128 + S if signal S ended a rank or the job was interrupted by it;
2 if Sennit refuses to start it (one line on stderr says why).
The runtime's own options: sennit doctor --options. SENNIT_HOME: where Sennit's lib/ is.)";

std::string meant_option(const CLI::App &command, const std::string &word) {
    std::vector<std::string> names;
    for (const CLI::Option *const option : command.get_options())
        for (const std::string &name : option->get_lnames())
            names.push_back("--" + name);
    return meant_instead(word.substr(0, word.find('=')), names);
}

namespace {

constexpr int most_ranks = 1000000;
constexpr int most_threads = 65536;
constexpr int most_split = 64;
constexpr const char *default_trace = "sennit-trace";
constexpr const char *virtual_processes = "processes"; // --virtual alone
constexpr const char *virtual_fibers = "fibers";

[[noreturn]] void refuse_option(const CLI::App &command, const std::string &word) {
    const bool starts_job = command.get_option_no_throw("--one-world") != nullptr;
    fail("unknown option '{}'{}: see sennit {} --help{}", word, meant_option(command, word),
         command.get_name(),
         starts_job ? fmt::format(". An option of mpiexec that is not there is handed on by "
                                  "--mpiexec '{}'",
                                  word)
                    : "");
}

bool is_file(const std::string &word) {
    std::error_code ignored;
    return std::filesystem::is_regular_file(word, ignored);
}

bool can_be_started(const std::string &word) {
    try {
        const std::string path = resolve_command(word);
        return is_file(path) && access(path.c_str(), X_OK) == 0;
    } catch (const Failure &) {
        return false;
    }
}

// `--trace` may stand alone. Is the word at `at`, behind it, the folder? Where it could be both,
// that is asked for, for a program that is taken for a folder does not run.
bool is_trace_folder(const std::vector<std::string> &words, std::size_t at) {
    if (at + 1 >= words.size() || words[at].starts_with('-'))
        return false;
    const std::string &word = words[at];
    std::error_code ignored;
    if (std::filesystem::is_directory(word, ignored))
        return true;
    if (!is_file(word) && !can_be_started(word))
        return true;
    if (!can_be_started(words[at + 1]))
        return false;
    fail("is '{}' behind --trace the folder or the program? Write --trace={} or --trace={} {}",
         word, word, default_trace, word);
}

// "-n4"
bool is_ranks_in_one_word(const std::string &word) {
    return word.size() > 2 && word.starts_with("-n") &&
           word.find_first_not_of("0123456789", 2) == std::string::npos;
}

// As launchers spell "-n": "-np 4", "--np=4", "-c 4".
void name_ranks_as_ours(std::string &word) {
    for (const std::string_view name : {"-np", "--np", "--n", "-c"}) {
        if (word == name)
            word = "-n";
        else if (word.starts_with(name) && word[name.size()] == '=')
            word = fmt::format("--ranks{}", word.substr(name.size()));
    }
}

// The option of ours that `word` gives, with or without a value in it. Null: it is none.
const CLI::Option *find_own_option(const CLI::App &command, const std::string &word) {
    if (is_ranks_in_one_word(word))
        return command.get_option_no_throw("-n");
    const std::string name = word.substr(0, word.find('='));
    if (name == "-" || name == "--" || (!name.starts_with("--") && name.size() > 2))
        return nullptr; // nothing else may follow a single dash
    return command.get_option_no_throw(name);
}

// One of mpiexec's, for a command that starts one.
LauncherWord take_launcher_option(const CLI::App &command, const std::vector<std::string> &words,
                                  std::size_t &at) {
    const std::string &typed = words[at];
    auto word = read_launcher_option(words, at);
    if (!word)
        refuse_option(command, typed);
    if (!command.get_option_no_throw("-n"))
        fail("'{}' is an option of mpiexec: write it in front of sennit {}, mpiexec {} ... "
             "sennit {} ./app",
             typed, command.get_name(), typed, command.get_name());
    return *word;
}

// A path of the program begins in the folder where its ranks start, as for mpiexec.
void set_launcher_options(JobSpec &spec, const std::vector<LauncherWord> &options) {
    check_hostfiles(options);
    spec.launcher_options = options;
    const std::string folder = folder_of(options);
    std::string &program = spec.command.at(0);
    if (!folder.empty() && program.find('/') != std::string::npos)
        program = std::filesystem::absolute(std::filesystem::path(folder) / program)
                      .lexically_normal()
                      .string();
}

// Does a program of its own begin there: options of mpiexec, and a number of ranks among them?
bool starts_program(std::vector<std::string> words, std::size_t at) {
    for (; at < words.size() && words[at].starts_with('-'); ++at) {
        name_ranks_as_ours(words[at]);
        if (words[at] == "-n" || words[at].starts_with("--ranks=") ||
            is_ranks_in_one_word(words[at]))
            return true;
        try {
            if (!read_launcher_option(words, at))
                return false;
        } catch (const Failure &) {
            return false;
        }
    }
    return false;
}

} // namespace

CommandLine split_command_line(const CLI::App &command, std::vector<std::string> words) {
    CommandLine line;
    line.command = command.get_name();
    std::size_t at = 0;
    for (; at < words.size() && words[at].starts_with('-') && words[at] != "--"; ++at) {
        name_ranks_as_ours(words[at]);
        const CLI::Option *const option = find_own_option(command, words[at]);
        if (!option) {
            line.launcher_options.push_back(take_launcher_option(command, words, at));
            continue;
        }
        std::string word = words[at];
        const bool has_value =
            word.starts_with("--") ? word.find('=') != std::string::npos : word.size() > 2;
        if (word == "--trace" && !is_trace_folder(words, at + 1))
            word = fmt::format("--trace={}", default_trace);
        else if (word == "--virtual")
            word = fmt::format("--virtual={}", virtual_processes);
        else if (word == "--counters")
            word = "--counters=on";
        line.options.push_back(word);
        const bool is_whole = has_value || word.find('=') != std::string::npos;
        if (!is_whole && option->get_items_expected_min() > 0 && at + 1 < words.size())
            line.options.push_back(words[++at]); // its value is the next word
    }
    if (at < words.size() && words[at] == "--")
        ++at;
    line.program.assign(words.begin() + static_cast<std::ptrdiff_t>(at), words.end());
    return line;
}

std::vector<std::vector<std::string>> take_other_programs(std::vector<std::string> &words) {
    const auto starts_other = [&](std::size_t at) {
        return words[at] == ":" && starts_program(words, at + 1);
    };
    std::vector<std::vector<std::string>> others;
    std::size_t first_end = words.size();
    for (std::size_t at = 0; at < words.size(); ++at) {
        if (starts_other(at)) {
            first_end = std::min(first_end, at);
            others.emplace_back();
        } else if (!others.empty()) {
            others.back().push_back(words[at]);
        }
    }
    words.resize(first_end);
    return others;
}

void set_command(JobSpec &spec, const std::vector<std::string> &words, bool set_here) {
    auto at = words.begin();
    for (; at != words.end() && is_assignment(*at); ++at) {
        const std::size_t equals = at->find('=');
        spec.settings.push_back({at->substr(0, equals), at->substr(equals + 1)});
        if (set_here)
            setenv(spec.settings.back().name.c_str(), spec.settings.back().value.c_str(), 1);
    }
    if (at == words.end() && !words.empty())
        fail("no program behind '{}'", words.back());
    spec.command.assign(at, words.end());
}

// The command's options, taken from the words; what is left of them.
CommandLine RunOptions::parsed(CLI::App &command, std::vector<std::string> words) {
    CommandLine line = split_command_line(command, std::move(words));
    std::reverse(line.options.begin(), line.options.end()); // CLI11 takes them from the back
    command.parse(line.options);
    return line;
}

namespace {

constexpr const char *of_job = "The job";
constexpr const char *of_looking = "Look on";
constexpr const char *of_several = "Several programs";
constexpr const char *of_experts = "For experts";

// `value`: what its value is called.
template <typename Value>
CLI::Option *add(CLI::App &command, const char *group, const char *names, Value &to,
                 const char *value, const std::string &help) {
    CLI::Option *const option = std::is_same_v<Value, bool> ? command.add_flag(names, to, help)
                                                            : command.add_option(names, to, help);
    option->group(group);
    if (*value)
        option->type_name(value);
    return option;
}

// `Usage: sennit run [OPTIONS] PROGRAM [ARGUMENTS]`, and `--virtual[=fibers]` for what may stand
// alone.
class ProgramUsage : public CLI::Formatter {
  public:
    std::string make_usage(const CLI::App *command, std::string) const override {
        return fmt::format("Usage: sennit {} [OPTIONS] {}[ARGUMENTS]\n", command->get_name(),
                           command->get_name() == "python" ? "" : "PROGRAM ");
    }

    std::string make_option_opts(const CLI::Option *option) const override {
        if (option->get_items_expected_min() > 0 || option->get_items_expected_max() == 0)
            return CLI::Formatter::make_option_opts(option);
        return fmt::format("[={}]", option->get_type_name());
    }
};

// The names with their values, in lines.
std::string list_of_launcher_options() {
    constexpr std::size_t width = 96;
    std::string text;
    std::string line = " ";
    for (int i = 0; i < launcher_option_count; ++i) {
        const LauncherOption &option = launcher_options[i];
        if (option.effect == LauncherEffect::refused)
            continue;
        const std::string word = fmt::format(" {}", option.typed());
        if (line.size() + word.size() > width)
            text += std::exchange(line, " ") + "\n";
        line += word + ",";
    }
    line.pop_back();
    return text + line + "\n";
}

} // namespace

void RunOptions::add_to(CLI::App &command, bool starts_job) {
    command.formatter(std::make_shared<ProgramUsage>());
    if (starts_job)
        add(command, of_job, "-n,--ranks", ranks_, "RANKS", "number of MPI ranks (default 1)");
    add_options_to(command);
    if (starts_job)
        add_world_options_to(command);
    command.footer(
        starts_job
            ? fmt::format("Options of mpiexec, handed on to that of the program's MPI (sennit "
                          "doctor --options says more):\n{}{}",
                          list_of_launcher_options(), help_footer)
            : help_footer);
}

void RunOptions::add_world_options_to(CLI::App &command) {
    add(command, of_several, "--apart", apart_, "",
        "the programs of ./a : -n 2 ./b are jobs of their own, each with its own MPI_COMM_WORLD, "
        "and share the cores");
    add(command, of_several, "--worlds", worlds_, "",
        "they are one job, and each has its own MPI_COMM_WORLD; sennit_comm_all() has all ranks");
    add(command, of_several, "--one-world", one_world_, "",
        "they are one job with one MPI_COMM_WORLD, as where nothing is said");
}

// What is asked is what `run` would do with these.
void RunOptions::add_doctor_to(CLI::App &command) {
    add(command, of_job, "-n,--ranks", ranks_, "RANKS", "number of MPI ranks (default 1)");
    add(command, of_job, "--mpi", mpi_, "MPI",
        "the MPI it uses: auto (look), mpich, openmpi, mpiabi");
    add(command, of_job, "--bind", bind_, "WHERE", bind_help());
}

// Those that a program of --apart may have behind its ':', as far as it may.
void RunOptions::add_options_to(CLI::App &command) {
    add(command, of_job, "--threads", threads_, "THREADS",
        "threads of each rank (OMP_NUM_THREADS; default: its share of the cores)");
    add(command, of_job, "--bind", bind_, "WHERE", bind_help());
    add(command, of_job, "--mpi", mpi_, "MPI",
        "the MPI it uses: auto (look), mpich, openmpi, mpiabi");
    add(command, of_looking, "--dry-run", dry_run_, "",
        "print what would be set and started, start nothing");
    add(command, of_looking, "--verbose", verbose_, "", "print it, then start it");
    add(command, of_looking, "--trace", trace_, "FOLDER",
        fmt::format("record a trace into this folder (SENNIT_TRACE); --trace alone: into {}. Look "
                    "at it with sennit report",
                    default_trace));
    add(command, of_looking, "--counters", counters_, "NAME,...",
        "also record what processors count (SENNIT_COUNTERS); --counters alone: instructions, "
        "cycles and cache misses");
    add(command, of_looking, "--talp", talp_, "",
        "count how the threads spend their time (SENNIT_TALP): for sennit top, and for DLB's TALP "
        "calls");
    add(command, of_several, "--pool", pool_, "NAME",
        "the pool whose cores it shares (sennit pool start NAME)");
    add(command, of_several, "--share", share_, "SHARE",
        "its part of the pool's cores, relative to the other programs': 3/4, 0.75, 2 (default 1)");
    add(command, of_several, "--priority", priority_, "NUMBER",
        "which program gets free cores first: a number, the greater one first (default 0), or "
        "leftover: it gets only what others leave");
    add(command, of_experts, "--policy", policy_, "POLICY",
        fmt::format("which ready task runs next (SENNIT_POLICY): {}",
                    fmt::join(known_policies(), ", ")));
    add(command, of_experts, "--split", split_, "THREADS",
        "threads for each of these, as the program sees it: who is done takes over what others "
        "have "
        "not begun. auto: 8, offered as far as others took them lately, and of regions in tasks "
        "and "
        "regions, too. inner: of these alone. loops: threads stay as they are, loops are lent that "
        "`sennit cc` has let go (SENNIT_SPLIT)");
    add(command, of_experts, "--virtual", virtual_, virtual_fibers,
        "all ranks of a node in one address space, each with its own libraries and MPI; "
        "--virtual=fibers: there, ranks that wait for messages take turns without the kernel")
        ->expected(0, 1);
}

// An environment that has a pool, as that of a rank's own `sennit run`, means it, too.
void RunOptions::set_pool(JobSpec &spec) const {
    const char *const pool = pool_.empty() ? std::getenv("SENNIT_POOL") : pool_.c_str();
    if (pool && *pool)
        spec.pool = pool;
    if (!spec.pool && !apart_ && (!share_.empty() || !priority_.empty()))
        fail("{} needs --pool NAME", share_.empty() ? "--priority" : "--share");
    double share = 1;
    if (!share_.empty() && !node::read_share(share_, share))
        fail("--share '{}' is no share: write 3/4, 0.75 or 2", share_);
    node::Precedence precedence;
    if (!priority_.empty() && !node::read_priority(priority_, precedence))
        fail("--priority '{}' is neither a whole number nor leftover", priority_);
    if (!share_.empty())
        spec.share = share_;
    if (!priority_.empty())
        spec.priority = priority_;
}

// "-n 2 --host h NAME=value ./b y"; what is set is for that program alone.
JobSpec RunOptions::other(const std::vector<std::string> &words) {
    CLI::App command("run");
    RunOptions own;
    command.add_option("-n,--ranks", own.ranks_);
    const CommandLine line = parsed(command, words);
    JobSpec result;
    result.ranks = parse_count("-n", own.ranks_, most_ranks);
    if (line.program.empty())
        fail("no program behind ': -n {}'", own.ranks_);
    set_command(result, line.program, false);
    set_launcher_options(result, line.launcher_options);
    return result;
}

// "-n 2 --threads 3 NAME=value ./b y", a program of --apart: what it does not say is said in front
// of all. Its variables are not this process's, nor the other programs'.
JobSpec RunOptions::apart(std::vector<std::string> words,
                          const std::vector<LauncherWord> &common) const {
    CLI::App command("run");
    RunOptions own = *this;
    own.ranks_.clear();
    command.add_option("-n,--ranks", own.ranks_);
    own.add_options_to(command);
    CommandLine line = parsed(command, std::move(words));
    for (const char *name :
         {"--trace", "--counters", "--talp", "--pool", "--virtual", "--dry-run", "--verbose"})
        if (command.count(name) > 0)
            fail("{} behind ':' is for all programs: write it in front of the first", name);
    if (line.program.empty())
        fail("no program behind ': -n {}'", own.ranks_);
    line.launcher_options.insert(line.launcher_options.begin(), common.begin(), common.end());
    return own.make(line);
}

JobSpec RunOptions::spec(const CommandLine &line) const {
    if (line.program.empty())
        fail("no program given: sennit {} [options] ./app [arguments]", line.command);
    CommandLine first = line;
    const std::vector<std::vector<std::string>> others = take_other_programs(first.program);
    if (first.program.empty())
        fail("no program in front of ':'");
    if (apart_ + one_world_ + worlds_ > 1)
        fail("--apart, --worlds and --one-world say the opposite of each other: leave all but one "
             "away");
    JobSpec result = make(first);
    result.worlds = worlds_;
    if (apart_) {
        result.apart = true;
        for (const std::vector<std::string> &words : others)
            result.others.push_back(apart(words, line.launcher_options));
        return result;
    }
    for (const std::vector<std::string> &words : others)
        result.others.push_back(other(words));
    for (JobSpec &one : result.others) { // all but what `other` has read is said once, for all
        JobSpec whole = result;
        whole.others.clear();
        whole.command = one.command;
        whole.settings = one.settings;
        whole.ranks = one.ranks;
        whole.launcher_options = one.launcher_options;
        one = std::move(whole);
    }
    return result;
}

JobSpec RunOptions::make(const CommandLine &line) const {
    JobSpec result;
    set_command(result, line.program, !apart_);
    set_launcher_options(result, line.launcher_options);
    if (ranks_.empty() && has_effect(line.launcher_options, LauncherEffect::counts))
        fail("say how many ranks there are in all, too: -n RANKS. Sennit watches over so many");
    result.mpi = parse_mpi(mpi_);
    if (!ranks_.empty())
        result.ranks = parse_count("-n", ranks_, most_ranks);
    if (!threads_.empty())
        result.threads = parse_count("--threads", threads_, most_threads);
    if (!split_.empty())
        result.split = split_ == "auto" || split_ == "inner" || split_ == "loops"
                           ? split_
                           : std::to_string(parse_count("--split", split_, most_split));
    if (!policy_.empty())
        result.policy = parse_policy(policy_);
    if (!bind_.empty())
        result.bind = parse_bind(bind_);
    if (!trace_.empty())
        result.trace = std::filesystem::absolute(trace_).string();
    if (!counters_.empty()) {
        if (!result.trace && text_of(std::getenv("SENNIT_TRACE")).empty())
            fail("--counters goes with --trace: what is counted is recorded there");
        result.settings.push_back({"SENNIT_COUNTERS", counters_});
        setenv("SENNIT_COUNTERS", counters_.c_str(), 1); // for all programs
    }
    result.talp = talp_;
    set_pool(result);
    result.as_virtual = !virtual_.empty();
    result.as_fibers = virtual_ == virtual_fibers;
    if (result.as_virtual && !result.as_fibers && virtual_ != virtual_processes)
        fail("--virtual={}: it is --virtual alone, or --virtual={}", virtual_, virtual_fibers);
    result.watched = true;
    result.dry_run = dry_run_;
    result.verbose = verbose_;
    return result;
}

} // namespace sennit::tool
