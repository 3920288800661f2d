// SPDX-License-Identifier: Apache-2.0
#include "omp/sync/directives.h"

#include "omp/team/entry.h"
#include "omp/team/team.h"

namespace sennit::omp {
namespace {

SENNIT_TLS Combine t_combine; // between begin and end no code runs that could switch fibers

SENNIT_COLD void tell_reduction(ompt::Site site, ompt::Endpoint endpoint) {
    const ompt::Entry entry(site);
    ompt::g_tool.reduction(ompt::kReduction, endpoint, &member_of(entry.worker()).team->tool.data,
                           ompt::data_of(entry.record()), entry.code());
}

} // namespace

SENNIT_COLD void tell_flush(ompt::Site site) {
    const ompt::Entry entry(site);
    ompt::g_tool.flush(&ompt::t_thread.data, entry.code());
}

SENNIT_COLD void tell_error_slow(ompt::Site site, bool fatal, const char *message,
                                 std::size_t length) {
    const ompt::Entry entry(site);
    ompt::g_tool.error(fatal ? ompt::kFatal : ompt::kWarning, message, length, entry.code());
}

Combine begin_reduction(ompt::Site site, Mutex &mutex, bool has_atomics) {
    const Team &team = *member_of(here()).team;
    const bool alone = team.size == 1 && team.league.size == 1;
    const bool told = ompt::on();
    t_combine = alone ? Combine::alone : has_atomics && !told ? Combine::atomic : Combine::locked;
    if (t_combine == Combine::locked)
        mutex.lock();
    if (told)
        tell_reduction(site, ompt::kBegin);
    return t_combine;
}

void end_reduction(ompt::Site site, Mutex &mutex) {
    if (ompt::on() && t_combine != Combine::atomic)
        tell_reduction(site, ompt::kEnd);
    if (t_combine == Combine::locked)
        mutex.unlock();
}

} // namespace sennit::omp
