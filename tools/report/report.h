// SPDX-License-Identifier: Apache-2.0
// `sennit report`: what a trace shows, as text, as a page, and in formats that other tools read.
#pragma once

#include "analysis.h"

#include <cstdio>
#include <filesystem>
#include <string>
#include <vector>

namespace sennit::report {

struct Titled {
    std::string title; // the folder
    Job job;
    Findings found; // in the job
};

void print_tables(const Titled &run, bool by_thread, std::FILE *to);
// What differs between the first run and each other.
void print_changes(const std::vector<Titled> &runs, std::FILE *to);
std::vector<std::string> changes(const Titled &from, const Titled &to);

// Each throws std::runtime_error when a file cannot be written.
void write_page(const std::vector<Titled> &runs, const std::string &path);    // self-contained HTML
void write_numbers(const std::vector<Titled> &runs, const std::string &path); // JSON
void write_perfetto(const Job &job, const std::string &path);                 // Chrome's JSON
void write_paraver(const Job &job, const std::string &prefix);                // .prv, .pcf, .row

struct ReportSpec {
    std::vector<std::string> folders;
    std::string page, numbers, perfetto, paraver;
    bool by_thread = false;
    bool check = false; // only: is it readable?
};
// The exit code of the command. Throws trace::TraceError and std::runtime_error.
int run_report(const ReportSpec &spec);

// What most of the lost time is lost for, and what to do about it: at most three lines, what costs
// most first. None where nothing costs much.
std::vector<std::string> hints(const Findings &found);
// Those of a run that began then and has just ended, on stderr. Functions keep the names that the
// trace has: asking addr2line takes long. A trace that cannot be read says nothing.
void print_hints_of(const std::string &folder, std::filesystem::file_time_type since);
// Has the folder a trace, of that run alone, that is read in no time? A bigger one is left to the
// report. Files that are older could not be removed.
bool worth_reading_at_once(const std::string &folder, std::filesystem::file_time_type since);

// "waited for later", "together with 3".
std::string how_moved(const MovedKind &kind);
// "1.234 s", "12.3 ms", "4.0 us".
std::string duration(Ns ns);
std::string bytes_text(std::uint64_t bytes);

// A file that is whole or not there; or what is no file, such as /dev/stdout. What another user has
// put there is not written to (base/own_file.h).
class Output {
  public:
    explicit Output(const std::string &path);
    ~Output();
    Output(const Output &) = delete;
    Output &operator=(const Output &) = delete;
    std::FILE *file() const { return file_; }
    void write(const std::string &text);
    void finish();

  private:
    std::string path_, place_, part_; // as given; without links; what takes the name at the end
    std::FILE *file_ = nullptr;
    int error_ = 0; // of the first text that could not be written
};

} // namespace sennit::report
