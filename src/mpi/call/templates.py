# SPDX-License-Identifier: Apache-2.0
"""What generate.py makes, as C++ with fields to fill in.

A Wrapper has the fields; each template begins with what it is for.
"""

PREAMBLE = """// Generated from calls.txt by generate.py: do not edit.
#include "mpi/call/blocked_mark.h"
#include "mpi/call/table.h"
#include "mpi/chaos/chaos.h"
#include "mpi/crowd/volume.h"
#include "mpi/engine/delegate.h"
#include "mpi/engine/engine.h"
#include "mpi/engine/delegate.h"
#include "mpi/engine/engine.h"
#include "mpi/extensions/batch.h"
#include "mpi/extensions/continuations.h"
#include "mpi/quirks/dist_graph.h"
#include "mpi/quirks/parts_with_data.h"
#include "mpi/quirks/test_all.h"
#include "mpi/quirks/unfit_twins.h"
#include "mpi/record/traced.h"
#include "mpi/wrap/collectives.h"
#include "mpi/wrap/spawn.h"

#include "TAMPI.h"

using namespace sennit::mpi;

"""

# What most messages take: their code is placed side by side (SENNIT_HOT).
FREQUENT = {"Send", "Recv", "Isend", "Irecv", "Sendrecv", "Wait", "Waitall", "Test", "Barrier", "Bcast", "Reduce",
            "Allreduce"}


def hot(template):
    return template.replace("[[gnu::noinline]] static int", "[[gnu::noinline]] SENNIT_HOT static int").replace(
        'extern "C" ', 'extern "C" SENNIT_HOT ')


EXPORT = """extern "C" SENNIT_EXPORT int MPI_{name}({parameters})
    __attribute__((alias("sennit_MPI_{name}")));
extern "C" SENNIT_EXPORT int PMPI_{name}({parameters})
    __attribute__((alias("sennit_MPI_{name}")));

"""

# Where there are no tasks, nothing stands before the bare call but the mark, and no branch is taken.
ENTRY = """{entry}({parameters}) {{
    static constexpr auto bare = {bare};
    const CallPath path = call_path();
    if (path == CallPath::marked && !is_marked()) [[likely]] {{
        {first_mark}
        return bare({arguments});
    }}
    return path == CallPath::bare ? bare({arguments}) : attended_{name}({arguments});
}}
"""

IN_TASK = """[[gnu::noinline]] static int attended_{name}({parameters}) {{
    static constexpr auto bare = {bare};
    {traced}
    {numbered}
    if (!{suspends}) {{
        {mark}
        return bare({arguments});
    }}
    const Operation operation{{"MPI_{name}", Notice::{notice}, {peer}, {number}, {object}, {turn},
                              {count}, {requests}, {handles}}};
    if (const int error = g_chaos.failure(operation))
        return error;
"""

START = """[[gnu::noinline]] static int attended_{name}({parameters}) {{
    static constexpr auto bare = {bare};
    static constexpr auto twin = SENNIT_BARE({twin});
    {traced}
    if (!{suspends}) {{
        {mark}
        return bare({arguments});
    }}
    const auto start = [&](MPI_Request *request) {{
        const int error = twin({twin_arguments});
        {rings}
        return error;
    }};
    Attempt attempt;
    if (Attempt::is_allowed(Notice::{notice}, {count}) &&
        attempt.is_over(Notice::{notice}, start, {status})) [[likely]]
        return attempt.error;
    const Operation operation{{"MPI_{name}", Notice::{notice}, {peer}, {number}, {object}, {turn},
                              {count}, {requests}, {handles}, nullptr, {type}}};
    if (attempt.started)
        return go_on(attempt, operation, {status});
    if (const int error = g_chaos.failure(operation))
        return error;
    return start_and_wait(operation, {status}, start);
}}
""" + ENTRY

# A collective: which form it has is decided in one place, for all ranks have to decide alike.
COLLECTIVE = """[[gnu::noinline]] static int attended_{name}({parameters}) {{
    static constexpr auto bare = {bare};
    static constexpr auto twin = SENNIT_BARE({twin});
    {traced}
    const auto blocking = [&] {{ return bare({arguments}); }};
    const bool crowded = crowds({communicator});
    const CollectiveForm form = collective_form({has_twin}, crowded);
    {numbered_by_form}
    if (form == CollectiveForm::blocking) {{
        {mark}
        return blocking();
    }}
    Operation operation{{"MPI_{name}", Notice::{notice}, {peer}, {number}, {object}, {turn},
                        {count}, {requests}, {handles}}};
    {longer}
    {parts}
    const auto start = [&](MPI_Request *request) {{
        const int error = twin({form_arguments});
        {longer_started}
        {rings}
        return error;
    }};
    if (form == CollectiveForm::started)
        return start_and_stay(operation, start);
    if (const int error = g_chaos.failure(operation))
        return error;
    {assembled}
    return form == CollectiveForm::delegated ? delegate(operation, blocking)
                                             : {start_and_wait}(operation, {status}, start);
}}
""" + ENTRY

# A call that makes a communicator is made_..., as its row says; how calls on the new one are made is agreed on then.
ADOPTION = """[[gnu::noinline]] static int attended_{name}({parameters}) {{
    Adoption adoption("MPI_{name}", {parent}, {gathers});
    const int error = made_{name}(adoption, {arguments});
    adoption.end(error == MPI_SUCCESS ? *{child} : MPI_COMM_NULL);
    return error;
}}
"""

# A wait for the program's requests: some may be continuation requests.
WAIT = """[[gnu::noinline]] static int attended_{name}({parameters}) {{
    static constexpr auto bare = {bare};
    {test}
    {traced}
    const Completions completions(g_record.requests, {requests}, {handles});
    const auto over = [&](int *flag) {{
        const int error = test({twin_arguments});
        {set_flag}
        return error;
    }};
    const Operation operation{{"MPI_{name}", Notice::{notice}, {peer}, {tag}, {object}, {turn},
                              {count}, {requests}, {handles}}};
    if (g_extensions.continuations.any() && !inside_mpi())
        return wait_attending(operation, {all}, {requests}, {handles}, {statuses}, in_task(), over);
    if (!must_not_block()) {{
        {mark}
        return bare({arguments});
    }}
    if (const int error = g_chaos.failure(operation))
        return error;
    return poll_and_wait(operation, over);
}}
""" + ENTRY

POLL = IN_TASK + """    {test}
    return poll_and_wait(operation, [&](int *flag) {{
        const int error = test({twin_arguments});
        {set_flag}
        return error;
    }});
}}
""" + ENTRY

# TAMPI's calls without a request: as the blocking call, and the task's completion waits. Those that
# are collective are the non-blocking form everywhere.
BOUND = """extern "C" SENNIT_EXPORT int TAMPI_{twin}({parameters}) {{
    {bound_outside}
    static constexpr auto twin = SENNIT_BARE({twin});
    {numbered_twin}
    Operation operation{{"TAMPI_{twin}", Notice::{notice}, {peer}, {number}, {object}, {turn},
                        {count}, 0, nullptr, nullptr, {type}}};
    const auto start = [&](MPI_Request *request) {{
        const int error = twin({twin_arguments});
        {rings}
        return error;
    }};
    {bound_blocks}
    if (const int error = g_chaos.failure(operation))
        return error;
    return start_and_bind(operation, {status}, start);
}}

"""

# The same for Fortran.
BOUND_FORTRAN = """extern "C" SENNIT_EXPORT void tampi_{lower}_({fortran_parameters}) {{
    *fortran_error = TAMPI_{twin}({from_fortran});
}}

"""

DELEGATED = "delegate(operation, [&] {{ return bare({arguments}); }})"
DELEGATE = IN_TASK + f"    return {DELEGATED};\n}}}}\n" + ENTRY

# The runtime's policies are told of sends. Without tasks, no more is to be done than to note the request.
POSTS = """[[gnu::noinline]] static int attended_{name}({parameters}) {{
    static constexpr auto bare = {bare};
    if (call_path() == CallPath::marked) {{
        const int error = bare({arguments});
        {noted}
        return error;
    }}
    {begins}
    const int error = outside_task([&] {{ return bare({arguments}); }});
    {rings}
    {noted}
    g_record.timeline.post({facts}, {request}, {bytes});
    {receive_posted}
    return error;
}}
extern "C" int sennit_MPI_{name}({parameters}) {{
    static constexpr auto bare = {bare};
    return request_call_path() == CallPath::attended ? attended_{name}({arguments}) : bare({arguments});
}}
"""

# Other calls that make a request: those without a row, and those with an entry of their own.
POST = """extern "C" int sennit_MPI_{name}({parameters}) {{
    static constexpr auto bare = {posts};
    {numbered_post}
    const int error = {posted};
    {rings_post}
    {noted}
    {remembered}
    return error;
}}
"""

# A test that finds nothing, again and again, must not keep the thread from tasks that are suspended on it.
TEST = """[[gnu::noinline]] static int attended_{name}({parameters}) {{
    static constexpr auto bare = {bare};
    {own_status}
    const int error = outside_task([&] {{ return bare({arguments}); }});
    has_called_mpi();
    if (error == MPI_SUCCESS && *flag == 0)
        note_test_in_vain();
    {found}
    return error;
}}
extern "C" int sennit_MPI_{name}({parameters}) {{
    static constexpr auto bare = {bare};
    return call_path() == CallPath::attended ? attended_{name}({arguments}) : bare({arguments});
}}
"""

# What MPI_Start will not say, and who detaches a request has to know.
PERSISTENT = """[[gnu::noinline]] static int attended_{name}({parameters}) {{
    static constexpr auto bare = {bare};
    const int error = outside_task([&] {{ return bare({arguments}); }});
    if (error == MPI_SUCCESS)
        g_record.remember(Notice::{notice}, {facts}, *request, {bytes});
    {noted}
    return error;
}}
extern "C" int sennit_MPI_{name}({parameters}) {{
    static constexpr auto bare = {bare};
    return inside_mpi() ? bare({arguments}) : attended_{name}({arguments});
}}
"""

# Is a symbol of machine code the name of a call that may block?
MAY_BLOCK = """#include <strings.h>

int sennit::mpi::is_blocking(const char *symbol) {{
    static constexpr struct {{
        const char *name;
        std::size_t length;
    }} calls[] = {{{rows}}};
    symbol += *symbol == 'P' || *symbol == 'p';
    if (strncasecmp(symbol, "mpi_", 4) != 0)
        return 0;
    // What follows is Fortran's: _, _f08_; or stands for large counts: _c.
    for (const auto &call : calls)
        if (strncasecmp(symbol + 4, call.name, call.length) == 0 &&
            (symbol[4 + call.length] == 0 || symbol[4 + call.length] == '_'))
            return 1;
    return 0;
}}

"""
