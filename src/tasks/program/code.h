// SPDX-License-Identifier: Apache-2.0
// What a task's machine code tells before the first task of its kind has run: does it call a send
// (names.h)? The policy fa starts with that, also in binaries that no compiler of ours has marked
// (tasks/program/marks.h). Otherwise each rank would run its tasks in the wrong order until its
// first send.
//
// The code from the function's begin to the next function's (.eh_frame_hdr lists them, also in
// stripped binaries) is searched for calls, direct or through the PLT or GOT, whose name is that of
// a send. Functions of the same object that it calls are searched too, a few levels down. Bytes are
// not decoded: bytes that only look like a call would have to point exactly at a send's stub.
#pragma once

#include <cstdint>
#include <optional>

namespace sennit::program {

// True: it does, on some path. Nothing: not found; it may still, in other ways. x86-64 only. Reads
// the object's tables each time. Any thread.
std::optional<bool> calls_send(const void *entry);

// The same for any kind of functions: is wanted(symbol) of one that it calls? False: not found.
bool calls(const void *entry, int (*wanted)(const char *symbol));

// Where the stub of a procedure linkage table at `stub` leads by now: 0 if there is no stub. Before
// its first call a stub that is bound lazily leads back into the table. x86-64 only.
std::uintptr_t function_behind_stub(std::uintptr_t stub);

// Does some task of the program send? So it is where a function that makes tasks names another one
// that calls a send. Of all loaded objects, or of the one that contains an address. Only objects
// that know both a compiler's entry point for tasks and a send are searched.
bool process_has_sending_tasks();
bool has_sending_tasks(const void *in_object);

} // namespace sennit::program
