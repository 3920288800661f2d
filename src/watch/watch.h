// SPDX-License-Identifier: Apache-2.0
// When nothing of the program can go on, say what waits for what.
//
// The ticker looks now and then. A worker that found nothing to do says since when. Of a thread
// that blocks in calls of an asynchronous library we see whether it is still in the same call. If
// every one of them shows the same at two looks, none of them did anything in between. A program is
// reported only if that is so for the whole grace time, and never while a thread runs code that we
// do not know. So we may be silent about a slow program, but we never report one that is only slow.
//
// One process knows only about itself. If it waits for other ranks, it tells `sennit run`. That
// speaks up when all ranks stood still *at the same time* (tools/sennit/hang_watch.h).
#pragma once

namespace sennit::watch {

struct Regions;                     // regions.h
void setup(const Regions &regions); // which stay
void after_fork_in_child();
void note_others(); // the process may wait for processes that are not of the job

} // namespace sennit::watch
