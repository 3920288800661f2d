// SPDX-License-Identifier: Apache-2.0
#include "job/rank_ends.h"

#include "common/message_words.h"

#include <fmt/ranges.h>

namespace sennit::tool {

bool RankEnds::hear(std::string_view message, int sender) {
    const auto words = split(message, '\t');
    int rank = -1;
    const bool is_begin = words[0] == "begin" && words.size() == 3;
    const bool is_begun = words[0] == "begun" && words.size() == 3;
    const bool is_end = words[0] == "end" && words.size() == 7;
    const bool is_watch = words[0] == "watch" && words.size() == 3;
    if (!(is_begin || is_begun || is_end || is_watch) || !read(words[1], rank))
        return false;
    if (is_watch) {
        if (is_rank(rank))
            watched_.insert(rank);
    } else if (is_end) {
        RankReport report = {rank, 0, 0, 0, words[6] == "1"};
        if (!read(words[3], report.pid) || !read(words[4], report.signal) ||
            !read(words[5], report.code))
            return false;
        end(report);
    } else if (int size = -1;
               read(words[2], size) && (size == size_ || size < 0) && is_rank(rank)) {
        began_[rank] = is_begin ? sender : 0;
    }
    return true;
}

void RankEnds::end(const RankReport &report) {
    const bool is_failure = report.code != 0 || report.signal != 0;
    if (is_failure && !failure_)
        failure_ = report;
    const auto began = began_.find(report.rank);
    if (began != began_.end())
        began->second = 0;
    else if (is_rank(report.rank))
        without_.emplace(report.rank, report);
}

std::optional<RankEnds::Verdict> RankEnds::verdict() {
    if (told_ || without_.empty())
        return std::nullopt;
    Verdict verdict;
    std::vector<int> waiting;
    for (const auto &[rank, process] : began_)
        if (process != 0) {
            waiting.push_back(rank);
            verdict.processes.push_back(process);
        }
    if (waiting.empty())
        return std::nullopt;
    told_ = true;
    const auto cause = failure_ ? without_.find(failure_->rank) : without_.begin();
    RankReport report = (cause == without_.end() ? without_.begin() : cause)->second;
    if (report.signal == 0) // else it is told when the job has ended
        verdict.text =
            fmt::format("sennit: {}, in which rank{} {} wait{} for it: the job is ended\n",
                        describe_early_end(report), waiting.size() == 1 ? "" : "s",
                        fmt::join(waiting, ", "), waiting.size() == 1 ? "s" : "");
    if (!failure_) {
        report.code = 1; // as that of Open MPI's mpiexec
        failure_ = report;
    }
    return verdict;
}

} // namespace sennit::tool
