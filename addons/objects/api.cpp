// SPDX-License-Identifier: Apache-2.0
// The functions of sennit_balance.h. Arguments are checked here, and no exception gets out.
#include "base/environment.h"
#include "base/message.h"
#include "objects/set.h"

#include <cmath>
#include <cstring>
#include <exception>
#include <memory>
#include <string>

// In the C header it has no members.
struct sennit_objects {
    sennit::objects::Set set;
};

namespace sennit::objects {

namespace {

int wrong(const char *function, const char *what, int object) {
    warn("%s: object %d %s", function, object, what);
    return MPI_ERR_ARG;
}

const char *fault_of(const sennit_objects *set, int object) {
    if (!set->set.exists(object))
        return "does not exist";
    return set->set.is_here(object) ? nullptr : "is on another rank";
}

// The C++ library may throw. In these functions that means that memory is missing.
template <class Body>
int guarded(const char *function, Body body) {
    try {
        return body();
    } catch (const std::exception &error) {
        warn("%s: %s", function, error.what());
        return MPI_ERR_NO_MEM;
    }
}

// The other ranks wait in the same call. So a rank that cannot go on ends the job, as MPI itself
// does.
template <class Body>
int collective(const char *function, Body body) {
    const int code = guarded(function, body);
    if (code == MPI_ERR_NO_MEM)
        MPI_Abort(MPI_COMM_WORLD, 1);
    return code;
}

int set_strategy(Set &set, const char *name, const char *who) {
    if (const balance::Strategy *strategy = name ? balance::strategy_of(name) : nullptr) {
        set.set_strategy(*strategy);
        return MPI_SUCCESS;
    }
    std::string names;
    for (const std::string_view one : balance::strategy_names())
        names += (names.empty() ? "" : ", ") + std::string(one);
    warn("%s: there is no strategy '%s'; use one of %s", who, name ? name : "(null)",
         names.c_str());
    return MPI_ERR_ARG;
}

int add(sennit_objects *set, int object, void *data, std::size_t bytes, const char *function) {
    if (!set || !set->set.exists(object))
        return wrong(function, "does not exist", object);
    if (set->set.committed())
        return wrong(function, "comes after sennit_objects_commit", object);
    if (set->set.is_here(object))
        return wrong(function, "was added before", object);
    if (!data)
        return wrong(function, "has no data", object);
    return guarded(function, [&] {
        set->set.add(object, data, bytes);
        return MPI_SUCCESS;
    });
}

} // namespace
} // namespace sennit::objects

using namespace sennit::objects;
using sennit::warn;

#define SENNIT_API extern "C" [[gnu::visibility("default")]]

SENNIT_API int sennit_objects_create(MPI_Comm comm, int count, const sennit_object_type *type,
                                     sennit_objects **set) {
    if (!set || count < 1 || (type && (!type->size || !type->pack || !type->unpack))) {
        warn("sennit_objects_create: it needs a place for the set, one object at least, and size, "
             "pack and unpack");
        return MPI_ERR_ARG;
    }
    *set = nullptr;
    return collective("sennit_objects_create", [&] {
        auto made = std::unique_ptr<sennit_objects>(new sennit_objects{{comm, count, type}});
        if (const char *name = sennit::trusted_environment("SENNIT_BALANCE"); name && *name)
            set_strategy(made->set, name, "SENNIT_BALANCE"); // if it is unknown: greedy
        *set = made.release();
        return MPI_SUCCESS;
    });
}

SENNIT_API int sennit_objects_add(sennit_objects *set, int object, void *data) {
    if (set && set->set.is_memory())
        return wrong("sennit_objects_add", "is a range of memory: use sennit_objects_add_memory",
                     object);
    return add(set, object, data, 0, "sennit_objects_add");
}

SENNIT_API int sennit_objects_add_memory(sennit_objects *set, int object, void *memory,
                                         size_t bytes) {
    if (set && !set->set.is_memory())
        return wrong("sennit_objects_add_memory", "has a type: use sennit_objects_add", object);
    return add(set, object, memory, bytes, "sennit_objects_add_memory");
}

SENNIT_API int sennit_objects_position(sennit_objects *set, int object, double x, double y,
                                       double z) {
    if (!set)
        return wrong("sennit_objects_position", "does not exist", object);
    if (const char *fault = fault_of(set, object))
        return wrong("sennit_objects_position", fault, object);
    if (set->set.committed())
        return wrong("sennit_objects_position", "has been committed", object);
    if (!std::isfinite(x) || !std::isfinite(y) || !std::isfinite(z))
        return wrong("sennit_objects_position", "is nowhere", object);
    return guarded("sennit_objects_position", [&] {
        set->set.set_position(object, {x, y, z});
        return MPI_SUCCESS;
    });
}

SENNIT_API int sennit_objects_commit(sennit_objects *set) {
    if (!set || set->set.committed()) {
        warn("sennit_objects_commit: %s", set ? "once is enough" : "there is no set");
        return MPI_ERR_ARG;
    }
    return collective("sennit_objects_commit", [&] { return set->set.commit(); });
}

SENNIT_API int sennit_objects_free(sennit_objects **set) {
    if (!set || !*set)
        return MPI_ERR_ARG;
    delete *set;
    *set = nullptr;
    return MPI_SUCCESS;
}

SENNIT_API int sennit_objects_local(const sennit_objects *set, const int **objects) {
    if (objects)
        *objects = set->set.local().data();
    return static_cast<int>(set->set.local().size());
}

SENNIT_API int sennit_object_rank(const sennit_objects *set, int object) {
    return set->set.exists(object) ? set->set.rank_of(object) : -1;
}

SENNIT_API void *sennit_object_data(const sennit_objects *set, int object) {
    return set->set.is_here(object) ? set->set.held(object).data : nullptr;
}

SENNIT_API int sennit_object_begin(sennit_objects *set, int object) {
    if (const char *fault = fault_of(set, object))
        return wrong("sennit_object_begin", fault, object);
    return guarded("sennit_object_begin", [&] {
        set->set.meter().begin(object, set->set.held(object).load.account());
        return MPI_SUCCESS;
    });
}

SENNIT_API int sennit_object_end(sennit_objects *set, int object) {
    if (const char *fault = fault_of(set, object))
        return wrong("sennit_object_end", fault, object);
    const auto worked_ns = set->set.meter().end(object);
    if (!worked_ns)
        return wrong("sennit_object_end", "is not the one that this task has begun last", object);
    set->set.held(object).load.add(*worked_ns);
    return MPI_SUCCESS;
}

SENNIT_API int sennit_object_load(sennit_objects *set, int object, double seconds) {
    if (const char *fault = fault_of(set, object))
        return wrong("sennit_object_load", fault, object);
    const bool is_load = seconds >= 0 && seconds < 1e9; // not so with a NaN
    if (!is_load)
        return wrong("sennit_object_load", "cannot have this load", object);
    set->set.held(object).load.add(static_cast<std::int64_t>(seconds * 1e9));
    return MPI_SUCCESS;
}

SENNIT_API int sennit_object_traffic(sennit_objects *set, int object, int other, size_t bytes) {
    if (const char *fault = fault_of(set, object))
        return wrong("sennit_object_traffic", fault, object);
    if (!set->set.exists(other))
        return wrong("sennit_object_traffic: other", "does not exist", other);
    return guarded("sennit_object_traffic", [&] {
        set->set.traffic().add(object, other, bytes, true);
        return MPI_SUCCESS;
    });
}

SENNIT_API int sennit_objects_speed(sennit_objects *set, double speed) {
    const bool is_speed = speed > 0 && std::isfinite(speed);
    if (!is_speed) {
        warn("sennit_objects_speed: %g is no speed", speed);
        return MPI_ERR_ARG;
    }
    set->set.set_speed(speed);
    return MPI_SUCCESS;
}

SENNIT_API int sennit_object_send(sennit_objects *set, int from, int to, int tag,
                                  const void *buffer, size_t bytes) {
    if (const char *fault = fault_of(set, from))
        return wrong("sennit_object_send: from", fault, from);
    if (!set->set.exists(to) || !set->set.committed())
        return wrong("sennit_object_send: to", "does not exist, or not yet", to);
    if (tag < 0) {
        warn("sennit_object_send: tag %d is negative", tag);
        return MPI_ERR_TAG;
    }
    return guarded("sennit_object_send", [&] {
        set->set.traffic().add(from, to, bytes, false);
        return set->set.mailbox().send(set->set.rank_of(to),
                                       Message({from, to, tag}, buffer, bytes));
    });
}

SENNIT_API int sennit_object_recv(sennit_objects *set, int to, int from, int tag, void *buffer,
                                  size_t bytes, sennit_object_status *status) {
    if (const char *fault = fault_of(set, to))
        return wrong("sennit_object_recv: to", fault, to);
    if (from != SENNIT_ANY && !set->set.exists(from))
        return wrong("sennit_object_recv: from", "does not exist", from);
    return guarded("sennit_object_recv", [&]() -> int {
        Message message(0);
        const int code = set->set.mailbox().receive({to, from, tag}, message);
        if (code != MPI_SUCCESS)
            return code;
        const Envelope envelope = message.envelope();
        if (status)
            *status = {envelope.from, envelope.tag, message.bytes()};
        if (message.bytes() > bytes)
            return MPI_ERR_TRUNCATE;
        if (message.bytes() > 0)
            std::memcpy(buffer, message.data(), message.bytes());
        return MPI_SUCCESS;
    });
}

SENNIT_API int sennit_balance(sennit_objects *set, sennit_balance_info *info) {
    if (!set || !set->set.committed()) {
        warn("sennit_balance: %s", set ? "sennit_objects_commit comes first" : "there is no set");
        return MPI_ERR_ARG;
    }
    if (!set->set.meter().idle()) {
        warn("sennit_balance: some thread has not called sennit_object_end; its work counts in the "
             "next period");
    }
    return collective("sennit_balance", [&] {
        sennit_balance_info found{};
        const int code = set->set.balance(found);
        if (info)
            *info = found;
        return code;
    });
}

SENNIT_API int sennit_balance_strategy(sennit_objects *set, const char *name) {
    return set_strategy(set->set, name, "sennit_balance_strategy");
}
