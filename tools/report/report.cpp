// SPDX-License-Identifier: Apache-2.0
#include "report.h"

#include "base/own_file.h"
#include "base/printable.h"
#include "trace/replay.h"

#include <cerrno>
#include <climits>
#include <filesystem>
#include <fmt/format.h>
#include <stdexcept>
#include <sys/stat.h>

namespace sennit::report {

std::string duration(Ns ns) {
    const double value = static_cast<double>(ns);
    if (ns < 0)
        return fmt::format("-{}", duration(-ns));
    if (ns < 10'000)
        return fmt::format("{:.1f} us", value / 1e3);
    if (ns < 1'000'000)
        return fmt::format("{:.0f} us", value / 1e3);
    if (ns < 1'000'000'000)
        return fmt::format("{:.{}f} ms", value / 1e6,
                           ns < 10'000'000    ? 2
                           : ns < 100'000'000 ? 1
                                              : 0);
    return fmt::format("{:.3f} s", value / 1e9);
}

std::string how_moved(const MovedKind &kind) {
    if (kind.how == trace::MovedHow::bound)
        return "bound to its task";
    if (kind.how == trace::MovedHow::at_once)
        return "where it stood";
    return kind.together > 1 ? fmt::format("together with {}", kind.together - 1)
                             : "waited for later";
}

std::string bytes_text(std::uint64_t bytes) {
    const double value = static_cast<double>(bytes);
    if (bytes < 10'000)
        return fmt::format("{} B", bytes);
    if (bytes < 10'000'000)
        return fmt::format("{:.0f} KB", value / 1e3);
    if (bytes < 10'000'000'000)
        return fmt::format("{:.0f} MB", value / 1e6);
    return fmt::format("{:.1f} GB", value / 1e9);
}

namespace {
std::runtime_error cannot_write(const std::string &path, int error) {
    return std::runtime_error("cannot write '" + path + "': " + own_file_error(error));
}
} // namespace

Output::Output(const std::string &path) : path_(path) {
    char place[PATH_MAX];
    const std::size_t length = path.copy(place, sizeof place - 1);
    place[length] = '\0';
    if (length < path.size())
        throw cannot_write(path_, ENAMETOOLONG);
    if (!resolve_own_links(place))
        throw cannot_write(path_, errno);
    struct stat facts{};
    char part[PATH_MAX] = "";
    const bool special =
        lstat(place, &facts) == 0 && !S_ISREG(facts.st_mode) && !S_ISDIR(facts.st_mode);
    const int file = special ? open_special_file(place) : create_part(place, part);
    file_ = file < 0 ? nullptr : fdopen(file, "w");
    if (!file_)
        throw cannot_write(path_, errno);
    place_ = place;
    part_ = part;
}

Output::~Output() {
    if (!file_)
        return;
    std::fclose(file_);
    if (!part_.empty())
        std::remove(part_.c_str());
}

void Output::write(const std::string &text) {
    if (std::fwrite(text.data(), 1, text.size(), file_) != text.size() && error_ == 0)
        error_ = errno;
}

void Output::finish() {
    // What could not be written before is tried again here, and fails for the same reason.
    if (std::fflush(file_) != 0 && error_ == 0)
        error_ = errno;
    const bool failed = std::ferror(file_) != 0 || error_ != 0;
    const bool closed = std::fclose(file_) == 0;
    file_ = nullptr;
    if (failed || !closed || (!part_.empty() && std::rename(part_.c_str(), place_.c_str()) != 0)) {
        const int error = !failed ? errno : error_ != 0 ? error_ : EIO;
        if (!part_.empty())
            std::remove(part_.c_str());
        throw cannot_write(path_, error);
    }
}

int run_report(const ReportSpec &spec) {
    std::vector<Titled> runs;
    for (const std::string &folder : spec.folders) {
        std::string title = std::filesystem::path(folder).lexically_normal().string();
        while (title.size() > 1 && title.back() == '/')
            title.pop_back();
        runs.push_back({printable(title), trace::read_job(folder), {}});
        name_by_source(runs.back().job);
    }
    for (const Titled &run : runs)
        for (const std::string &note : run.job.notes)
            fmt::print(stderr, "sennit: {}: {}\n", run.title, note);
    if (spec.check)
        return 0;
    for (Titled &run : runs)
        run.found = Findings(run.job);
    if (!spec.page.empty())
        write_page(runs, spec.page);
    if (!spec.numbers.empty())
        write_numbers(runs, spec.numbers);
    if (!spec.perfetto.empty())
        write_perfetto(runs.front().job, spec.perfetto);
    if (!spec.paraver.empty())
        write_paraver(runs.front().job, spec.paraver);
    for (const Titled &run : runs)
        print_tables(run, spec.by_thread, stdout);
    if (runs.size() > 1)
        print_changes(runs, stdout);
    for (const std::string &path : {spec.page, spec.numbers, spec.perfetto, spec.paraver})
        if (!path.empty())
            fmt::print("wrote {}\n", path);
    return 0;
}

} // namespace sennit::report
