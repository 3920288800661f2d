// SPDX-License-Identifier: Apache-2.0
#include "mpi/wrap/launcher.h"

#include "base/environment.h"
#include "base/launcher_link.h"
#include "base/rank.h"

#include <cstdio>

namespace sennit::mpi {
namespace {

// A launcher that was stopped must not keep the job for ever.
constexpr int kPatienceSeconds = 5;

int open_link() {
    const char *const address = trusted_environment("SENNIT_HANG_LINK");
    return address && rank_of_environment() >= 0 ? connect_to_launcher(address, kPatienceSeconds)
                                                 : -1;
}

void tell(int link, const char *what) {
    char message[48];
    const int size = std::snprintf(message, sizeof message, "%s\t%d\t%d", what,
                                   rank_of_environment(), ranks_of_environment());
    if (link >= 0)
        send(link, message, static_cast<std::size_t>(size), MSG_NOSIGNAL);
}

void close_link(int link) {
    if (link >= 0)
        close(link);
}

} // namespace

InInitialization::InInitialization() : link_(open_link()) {
    tell(link_, "begin");
}

InInitialization::~InInitialization() {
    tell(link_, "begun");
    close_link(link_);
}

void tell_launcher_of_session() {
    const int link = open_link();
    tell(link, "begun");
    close_link(link);
}

} // namespace sennit::mpi
