// SPDX-License-Identifier: Apache-2.0
// Names of hosts: libc asks servers, reads files and calls libraries, which nobody can wait for
// from outside. So a helper thread makes the whole call. It asks as the system is set up: what a
// thread has changed in its own `_res` is not the helper's.
//
// gethostbyname() and the like block: their result is one for the process, and the next task's call
// would change it before the first one's task goes on.
#include "tasks/libc/calls.h"
#include "tasks/libc/elsewhere.h"
#include "tasks/pthread/bare.h"

namespace sennit::libc {

using pthread::bare;

namespace {

template <class Call>
int ask(const void *caller, Call call) {
    sched::Worker *const worker = worker_of_task(caller);
    return worker ? function_elsewhere(*worker, CallEnds::by_itself, call) : call();
}

} // namespace

int getaddrinfo(const char *host, const char *service, const addrinfo *hints, addrinfo **result,
                const void *caller) {
    return ask(caller, [=] { return bare.getaddrinfo(host, service, hints, result); });
}

int getnameinfo(const sockaddr *address, socklen_t length, char *host, socklen_t host_size,
                char *service, socklen_t service_size, int flags, const void *caller) {
    return ask(caller, [=] {
        return bare.getnameinfo(address, length, host, host_size, service, service_size, flags);
    });
}

int gethostbyname_r(const char *host, hostent *result, char *buffer, std::size_t size,
                    hostent **found, int *error, const void *caller) {
    return ask(caller,
               [=] { return bare.gethostbyname_r(host, result, buffer, size, found, error); });
}

int gethostbyname2_r(const char *host, int family, hostent *result, char *buffer, std::size_t size,
                     hostent **found, int *error, const void *caller) {
    return ask(caller, [=] {
        return bare.gethostbyname2_r(host, family, result, buffer, size, found, error);
    });
}

int gethostbyaddr_r(const void *address, socklen_t length, int family, hostent *result,
                    char *buffer, std::size_t size, hostent **found, int *error,
                    const void *caller) {
    return ask(caller, [=] {
        return bare.gethostbyaddr_r(address, length, family, result, buffer, size, found, error);
    });
}

} // namespace sennit::libc
