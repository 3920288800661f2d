// SPDX-License-Identifier: Apache-2.0
// The words of the notes that marks.h describes. The compiler plug-in (pass/) writes them.
#pragma once

#include <cstdint>

namespace sennit::program::note {

inline constexpr char kSection[] = ".note.sennit";
inline constexpr char kName[] = "Sennit";
inline constexpr std::uint32_t kSenders = 0x53454e44; // "SEND"
inline constexpr std::uint32_t kRecords = 0x4d41524b; // "MARK"

enum Flag : std::uint32_t { kSends = 1, kReceives = 2, kBlocks = 4, kUnknown = 8 };
inline constexpr int kCallsShift = 16;
inline constexpr std::uint32_t kMostCalls = 0xffff;

} // namespace sennit::program::note
