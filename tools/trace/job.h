// SPDX-License-Identifier: Apache-2.0
// All processes of a job together.
#pragma once

#include "trace/trace_file.h"

#include <filesystem>

namespace sennit::trace {

Job build_job(TraceFolder folder);
// The whole way; throws TraceError.
Job read_job(const std::filesystem::path &folder);

} // namespace sennit::trace
