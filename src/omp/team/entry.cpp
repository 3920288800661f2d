// SPDX-License-Identifier: Apache-2.0
#include "omp/team/entry.h"

#include "omp/team/team.h"

namespace sennit::ompt {

Entry::Entry(Site site) : worker_(omp::here()), record_(worker_.task->tool), code_(site.code) {
    if (record_->frame.enter) {
        record_ = nullptr;
        code_ = t_thread.code;
        return;
    }
    record_->frame.enter = site.cfa;
    t_thread.code = site.code;
}

Entry::~Entry() {
    if (record_)
        record_->frame.enter = nullptr;
}

void stay_in_application(task::ToolRecord &record, Site site, void *frame_pointer) {
    constexpr std::uintptr_t kLargestFrame = 1 << 20;
    const auto above = reinterpret_cast<std::uintptr_t>(site.cfa);
    const auto frame = reinterpret_cast<std::uintptr_t>(frame_pointer);
    const bool is_frame = frame >= above && frame - above < kLargestFrame;
    record.frame.exit = is_frame ? frame_pointer : site.cfa;
    record.frame.exit_flags = kFrameApplication | (is_frame ? kFramePointer : kFrameStackAddress);
}

} // namespace sennit::ompt
