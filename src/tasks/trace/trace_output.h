// SPDX-License-Identifier: Apache-2.0
// The file that a process records to: its name, its header, chunks to fill, and the table of names.
#pragma once

#include "tasks/trace/format.h"

namespace sennit::trace {

// Where files go; false, and errno, when that is no folder to write to.
bool choose_folder(const char *path);

struct Chunk {
    ChunkHeader header;
    Word words[kChunkWords];
};
static_assert(sizeof(Chunk) == kChunkBytes);

// A fresh chunk of zeros in the process's file, which is made by the first; null, with one warning,
// when there is no room for it. Unmapped by `give_back`.
Chunk *take_chunk(std::uint32_t kind);
void give_back(Chunk *chunk);

// What could not be recorded. Any thread.
void count_dropped();

// Two words and `size` bytes, once for each key and type of the process; ignored when there is no
// room.
void write_table(TableType type, Word key, const void *first, std::size_t first_size,
                 const void *second = nullptr, std::size_t second_size = 0);

void put_rank(int rank, int ranks);
void put_meeting(const ClockOffset &meeting);
// The process ends in order.
void finish_file();
// What was recorded is the parent's.
void forget_file();

ClockPoint clock_now();

} // namespace sennit::trace
