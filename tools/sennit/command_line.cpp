// SPDX-License-Identifier: Apache-2.0
#include "command_line.h"

#include "common/failure.h"
#include "common/shell_text.h"
#include "launch/policy.h"

#include "node/pool.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string_view>
#include <unistd.h>

namespace sennit::tool {

const char *const help_footer = R"(
Exit code: that of the program; 128 + S if signal S ended a rank or the job was interrupted by it;
2 if Sennit refuses to start it (one line on stderr says why).
The runtime's own options: sennit doctor --options. SENNIT_HOME: where Sennit's lib/ is.)";

namespace {

constexpr int most_ranks = 1000000;
constexpr int most_threads = 65536;
constexpr int most_split = 64;
constexpr const char *default_trace = "sennit-trace";
constexpr const char *virtual_processes = "processes"; // --virtual alone
constexpr const char *virtual_fibers = "fibers";

// What people type out of habit: options of MPICH's and Open MPI's mpiexec, without their dashes.
constexpr std::string_view mpiexec_options =
    " H N bind-to bynode byslot c cpu-set configfile env envall envlist envnone f genv genvall "
    "genvlist genvnone gmca gpus-per-proc hf host hostfile hosts iface l launcher launcher-exec "
    "machine machinefile map-by mca membind nolocal npernode npersocket outfile-pattern "
    "output-filename oversubscribe pernode ppn prefix prepend-rank print-all-exitcodes rank-by "
    "rankfile report-bindings rf rmk rr tag-output timestamp-output tune usize wd wdir x ";

[[noreturn]] void refuse_option(const std::string &word) {
    const std::size_t start = word.find_first_not_of('-');
    const std::string name =
        start == std::string::npos ? "" : word.substr(start, word.find('=', start) - start);
    if (mpiexec_options.find(fmt::format(" {} ", name)) != std::string_view::npos)
        fail("'{}' is an option of mpiexec, sennit run has none like it: start the ranks yourself, "
             "mpiexec {} ... sennit exec ./app",
             word, word);
    fail("unknown option '{}': see sennit --help-all", word);
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

// The option that `word` gives, with or without a value in it.
const CLI::Option &find_option(const CLI::App &command, const std::string &word) {
    std::string name = word.substr(0, word.find('='));
    if (!word.starts_with("--") && word.size() > 2) {
        if (!is_ranks_in_one_word(word)) // nothing else may follow a single dash
            refuse_option(word);
        name = "-n";
    }
    const CLI::Option *option =
        name == "-" || name == "--" ? nullptr : command.get_option_no_throw(name);
    if (!option)
        refuse_option(word);
    return *option;
}

} // namespace

CommandLine split_command_line(const CLI::App &command, std::vector<std::string> words) {
    std::size_t at = 0;
    for (; at < words.size() && words[at].starts_with('-') && words[at] != "--"; ++at) {
        std::string &word = words[at];
        if (word == "-np") // as many launchers spell it
            word = "-n";
        const CLI::Option &option = find_option(command, word);
        const bool has_value =
            word.starts_with("--") ? word.find('=') != std::string::npos : word.size() > 2;
        if (word == "--trace" && !is_trace_folder(words, at + 1))
            word = fmt::format("--trace={}", default_trace);
        else if (word == "--virtual")
            word = fmt::format("--virtual={}", virtual_processes);
        else if (!has_value && option.get_items_expected_min() > 0)
            ++at; // its value is the next word
    }
    at = std::min(at, words.size());
    const auto middle = words.begin() + static_cast<std::ptrdiff_t>(at);
    const bool separated = middle != words.end() && *middle == "--";
    return {{words.begin(), middle}, {middle + (separated ? 1 : 0), words.end()}};
}

std::vector<std::vector<std::string>> take_other_programs(std::vector<std::string> &words) {
    const auto starts_other = [&](std::size_t at) {
        if (words[at] != ":" || at + 1 >= words.size())
            return false;
        const std::string &next = words[at + 1];
        return next == "-n" || next == "-np" || is_ranks_in_one_word(next);
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

void set_command(Request &request, const std::vector<std::string> &words, bool set_here) {
    auto at = words.begin();
    for (; at != words.end() && is_assignment(*at); ++at) {
        const std::size_t equals = at->find('=');
        request.settings.push_back({at->substr(0, equals), at->substr(equals + 1)});
        if (set_here)
            setenv(request.settings.back().name.c_str(), request.settings.back().value.c_str(), 1);
    }
    if (at == words.end() && !words.empty())
        fail("no program behind '{}'", words.back());
    request.command.assign(at, words.end());
}

void RunOptions::add_ranks_to(CLI::App &command) {
    command.add_option("-n,--ranks", ranks_, "number of MPI ranks (default 1)");
    command.add_flag("--apart", apart_,
                     "the programs of ./a : -n 2 ./b are jobs of their own, each with its own "
                     "MPI_COMM_WORLD, and share the cores");
    command.add_flag("--one-world", one_world_,
                     "they are one job with one MPI_COMM_WORLD, as where nothing is said");
}

// Those that a program of --apart may have behind its ':'.
void RunOptions::add_program_options_to(CLI::App &command) {
    command.add_option("--threads", threads_, "threads of each rank (OMP_NUM_THREADS)");
    command.add_option("--split", split_,
                       "threads for each of these, as the program sees it: who is done takes over "
                       "what others have not begun. auto: 8, offered as far as others took them "
                       "lately. loops: threads stay as they are, loops are lent that `sennit cc` "
                       "has let go (SENNIT_SPLIT)");
    command.add_option("--policy", policy_,
                       fmt::format("which ready task runs next (SENNIT_POLICY): {}",
                                   fmt::join(known_policies(), ", ")));
    command.add_option("--mpi", mpi_, "the MPI it uses: auto (look), mpich, openmpi");
    command.add_option("--share", share_,
                       "its part of the pool's cores, relative to the other programs': 3/4, 0.75, "
                       "2 (default 1)");
    command.add_option("--priority", priority_,
                       "which program gets free cores first: a number, the greater one first "
                       "(default 0), or leftover: it gets only what others leave");
}

void RunOptions::add_to(CLI::App &command) {
    add_program_options_to(command);
    add_common_options_to(command);
    command.footer(help_footer);
}

void RunOptions::add_common_options_to(CLI::App &command) {
    command.add_option("--trace", trace_,
                       fmt::format("record a trace into this folder (SENNIT_TRACE); --trace alone: "
                                   "into {}. Look at it with sennit report",
                                   default_trace));
    command.add_option("--pool", pool_, "the pool whose cores it shares (sennit pool start NAME)");
    command.add_option(
        "--virtual", virtual_,
        "all ranks of a node in one address space, each with its own libraries and MPI; "
        "--virtual=fibers: there, ranks that wait for messages take turns without the kernel");
    command.add_flag("--dry-run", dry_run_, "print what would be set and started, start nothing");
    command.add_flag("--verbose", verbose_, "print it, then start it");
}

// An environment that has a pool, as that of a rank's own `sennit run`, means it, too.
void RunOptions::set_pool(Request &request) const {
    const char *const pool = pool_.empty() ? std::getenv("SENNIT_POOL") : pool_.c_str();
    if (pool && *pool)
        request.pool = pool;
    if (!request.pool && !apart_ && (!share_.empty() || !priority_.empty()))
        fail("{} needs --pool NAME", share_.empty() ? "--priority" : "--share");
    double share = 1;
    if (!share_.empty() && !node::read_share(share_, share))
        fail("--share '{}' is no share: write 3/4, 0.75 or 2", share_);
    node::Precedence precedence;
    if (!priority_.empty() && !node::read_priority(priority_, precedence))
        fail("--priority '{}' is neither a whole number nor leftover", priority_);
    if (!share_.empty())
        request.share = share_;
    if (!priority_.empty())
        request.priority = priority_;
}

// "-n 2 NAME=value ./b y"; what is set is for that program alone.
Request RunOptions::other(const std::vector<std::string> &words) {
    Request result;
    std::size_t at = 0;
    std::string ranks = is_ranks_in_one_word(words[at]) ? words[at].substr(2) : "";
    if (ranks.empty() && ++at < words.size())
        ranks = words[at];
    result.ranks = parse_count("-n", ranks, most_ranks);
    for (++at; at < words.size() && is_assignment(words[at]); ++at) {
        const std::size_t equals = words[at].find('=');
        result.settings.push_back({words[at].substr(0, equals), words[at].substr(equals + 1)});
    }
    if (at >= words.size())
        fail("no program behind ': -n {}'", ranks);
    result.command.assign(words.begin() + static_cast<std::ptrdiff_t>(at), words.end());
    return result;
}

// "-n 2 --threads 3 NAME=value ./b y", a program of --apart: what it does not say is said in front
// of all. Its variables are not this process's, nor the other programs'.
Request RunOptions::apart(std::vector<std::string> words) const {
    CLI::App command("run");
    RunOptions own = *this;
    own.ranks_.clear();
    command.add_option("-n,--ranks", own.ranks_);
    own.add_program_options_to(command);
    own.add_common_options_to(command);
    CommandLine line = split_command_line(command, std::move(words));
    std::reverse(line.options.begin(), line.options.end()); // CLI11 takes them from the back
    command.parse(std::move(line.options));
    for (const char *common : {"--trace", "--pool", "--virtual", "--dry-run", "--verbose"})
        if (command.count(common) > 0)
            fail("{} behind ':' is for all programs: write it in front of the first", common);
    if (line.program.empty())
        fail("no program behind ': -n {}'", own.ranks_);
    return own.make(line.program);
}

Request RunOptions::request(const std::vector<std::string> &program) const {
    if (program.empty())
        fail("no program given: sennit run [options] ./app [arguments]");
    std::vector<std::string> first = program;
    const std::vector<std::vector<std::string>> others = take_other_programs(first);
    if (first.empty())
        fail("no program in front of ':'");
    if (apart_ && one_world_)
        fail("--apart and --one-world say the opposite of each other: leave one away");
    if (apart_) {
        Request result = make(first);
        result.apart = true;
        for (const std::vector<std::string> &words : others)
            result.others.push_back(apart(words));
        return result;
    }
    Request result = make(first);
    for (const std::vector<std::string> &words : others)
        result.others.push_back(other(words));
    for (Request &one : result.others) { // all but what `other` has read is said once, for all
        Request whole = result;
        whole.others.clear();
        whole.command = one.command;
        whole.settings = one.settings;
        whole.ranks = one.ranks;
        one = std::move(whole);
    }
    return result;
}

Request RunOptions::make(const std::vector<std::string> &program) const {
    Request result;
    set_command(result, program, !apart_);
    result.mpi = parse_mpi(mpi_);
    if (!ranks_.empty())
        result.ranks = parse_count("-n", ranks_, most_ranks);
    if (!threads_.empty())
        result.threads = parse_count("--threads", threads_, most_threads);
    if (!split_.empty())
        result.split = split_ == "auto" || split_ == "loops"
                           ? split_
                           : std::to_string(parse_count("--split", split_, most_split));
    if (!policy_.empty())
        result.policy = parse_policy(policy_);
    if (!trace_.empty())
        result.trace = std::filesystem::absolute(trace_).string();
    set_pool(result);
    result.as_virtual = !virtual_.empty();
    result.as_fibers = virtual_ == virtual_fibers;
    if (result.as_virtual && !result.as_fibers && virtual_ != virtual_processes)
        fail("--virtual={}: it is --virtual alone, or --virtual={}", virtual_, virtual_fibers);
    result.dry_run = dry_run_;
    result.verbose = verbose_;
    return result;
}

} // namespace sennit::tool
