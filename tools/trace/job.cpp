// SPDX-License-Identifier: Apache-2.0
#include "trace/job.h"

#include "base/printable.h"
#include "trace/replay.h"
#include "trace/trace_file.h"

#include <algorithm>
#include <string>
#include <utility>

namespace sennit::trace {

Job build_job(TraceFolder folder) {
    Job job{};
    job.notes = std::move(folder.notes);
    job.begin = kNever;
    job.end = 0;
    for (TraceFile &file : folder.files) {
        job.processes.push_back(build_process(std::move(file)));
        Process &process = job.processes.back();
        if (process.rank < 0)
            process.rank = static_cast<int>(job.processes.size()) - 1;
        if (process.strange > 0)
            job.notes.push_back(printable(process.file.path.filename().string()) + ": " +
                                std::to_string(process.strange) +
                                " events fit no story and were ignored");
        job.begin = std::min(job.begin, process.begin);
        job.end = std::max(job.end, process.end);
    }
    match_messages(job);
    return job;
}

Job read_job(const std::filesystem::path &folder) {
    return build_job(read_folder(folder));
}

} // namespace sennit::trace
