// SPDX-License-Identifier: Apache-2.0
#include "fake.h"

#include "mpi/call/bare.h"
#include "mpi/call/runtime.h"
#include "mpi/crowd/crowd.h"
#include "mpi/crowd/reduction.h"
#include "mpi/crowd/spins.h"
#include "mpi/record/timeline.h"

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <string>
#include <unistd.h>
#include <utility>

namespace {

struct Request {
    bool complete = false;
    int error = MPI_SUCCESS;
    int bytes = 0;
};

std::mutex g_mutex; // of all that follows
std::map<MPI_Request, Request> g_requests;
MPI_Request g_last = MPI_REQUEST_NULL;
std::vector<MPI_Request> g_tested;
std::map<int, int> g_resumed;
std::vector<int> g_resumed_order;
bool g_hides = false;
int g_at_once = 0;
std::uint64_t g_key = 0;
void (*g_work)() = nullptr;
std::atomic<int> g_sends_noted{0};
std::atomic<bool> g_wanted{true};
std::atomic<int> g_rings{0};
std::atomic<int> g_deaf_rings{0};
bool g_somebody_rings = false;
bool g_asking = false;
int g_asks = 0;
thread_local bool t_armed = false;
std::vector<std::int64_t> g_long_messages; // of the test's own thread
std::vector<int> g_rung_slots;
const sennit::mpi::Ranks *g_ranks = nullptr;
int g_sizes_asked = 0;
int g_probes = 0;
int g_rings_own = 0;
std::atomic<int> g_tests{0};
std::atomic<int> g_testers{0};
std::atomic<int> g_most_testers{0};
std::atomic<std::int64_t> g_pending{0};
std::atomic<bool> g_in_task{true};
std::atomic<bool> g_has_others{true};
std::atomic<int> g_calls_begun{0};

int should_suspend() {
    return g_in_task;
}
int call_begins(int) {
    ++g_calls_begun;
    return g_in_task && g_has_others;
}
// Tasks may call MPI, as after MPI_Init.
const bool g_initialized = (sennit::mpi::set_multiple(true), true);

class Tester {
  public:
    Tester() {
        const int now = g_testers.fetch_add(1) + 1;
        int most = g_most_testers.load();
        while (most < now && !g_most_testers.compare_exchange_weak(most, now)) {
        }
    }
    ~Tester() { g_testers.fetch_sub(1); }
};

// With g_mutex: null, or the request, which is complete.
Request *look_at(MPI_Request request) {
    ++g_tests;
    g_tested.push_back(request);
    const auto found = g_requests.find(request);
    return found != g_requests.end() && found->second.complete ? &found->second : nullptr;
}

int take(MPI_Request &request, MPI_Status *status) {
    const Request taken = g_requests[request];
    g_requests.erase(request);
    if (status)
        *status = {0, request, taken.error, taken.bytes};
    request = MPI_REQUEST_NULL;
    return taken.error;
}

// ---- MPI's functions ----------------------------------------------------------------------------

int test(MPI_Request *request, int *flag, MPI_Status *status) {
    const Tester tester;
    const std::lock_guard guard(g_mutex);
    *flag = *request == MPI_REQUEST_NULL || look_at(*request);
    return *flag && *request != MPI_REQUEST_NULL ? take(*request, status) : MPI_SUCCESS;
}

int test_some(int count, MPI_Request requests[], int *done, int indices[], MPI_Status statuses[]) {
    const Tester tester;
    const std::lock_guard guard(g_mutex);
    int error = MPI_SUCCESS;
    *done = 0;
    for (int i = 0; i < count; ++i) {
        const Request *there = look_at(requests[i]);
        if (!there)
            continue;
        if (there->error != MPI_SUCCESS && g_hides)
            return there->error;
        indices[*done] = i;
        if (take(requests[i], &statuses[*done]) != MPI_SUCCESS)
            error = MPI_ERR_IN_STATUS;
        ++*done;
    }
    return error;
}

int get_count(const MPI_Status *status, MPI_Datatype, int *count) {
    *count = status->bytes;
    return MPI_SUCCESS;
}

int type_size(MPI_Datatype type, MPI_Count *size) {
    ++g_sizes_asked;
    *size = type;
    return MPI_SUCCESS;
}

bool g_refuses_packing = false;

int pack(const void *in, int count, MPI_Datatype type, void *out, int size, int *position,
         MPI_Comm) {
    const int bytes = count * type;
    if (g_refuses_packing || *position + bytes > size)
        return MPI_ERR_OTHER;
    for (int i = 0; i < bytes; ++i)
        static_cast<char *>(out)[(*position)++] = static_cast<const char *>(in)[2 * i];
    return MPI_SUCCESS;
}

int unpack(const void *in, int size, int *position, void *out, int count, MPI_Datatype type,
           MPI_Comm) {
    const int bytes = count * type;
    if (g_refuses_packing || *position + bytes > size)
        return MPI_ERR_OTHER;
    for (int i = 0; i < bytes; ++i)
        static_cast<char *>(out)[2 * i] = static_cast<const char *>(in)[(*position)++];
    return MPI_SUCCESS;
}

int probe(int, int, MPI_Comm, int *flag, MPI_Status *) {
    ++g_probes;
    *flag = 0;
    return MPI_SUCCESS;
}

// One key.
MPI_Comm_delete_attr_function *g_free_attribute = nullptr;
void *g_extra = nullptr;
std::map<MPI_Comm, void *> g_attributes;
bool g_refuses_attributes = false;

int create_keyval(MPI_Comm_copy_attr_function *, MPI_Comm_delete_attr_function *free, int *key,
                  void *extra) {
    *key = 1;
    g_free_attribute = free;
    g_extra = extra;
    return MPI_SUCCESS;
}

int get_attr(MPI_Comm comm, int, void *value, int *flag) {
    const auto found = g_attributes.find(comm);
    *flag = found != g_attributes.end();
    if (*flag)
        *static_cast<void **>(value) = found->second;
    return MPI_SUCCESS;
}

int set_attr(MPI_Comm comm, int, void *value) {
    if (g_refuses_attributes)
        return MPI_ERR_OTHER;
    g_attributes[comm] = value;
    return MPI_SUCCESS;
}

int abort_all(MPI_Comm, int) {
    _exit(77);
}

[[noreturn]] void unexpected(const char *name) {
    std::fprintf(stderr, "the engine called %s, which this test does not expect\n", name);
    std::abort();
}

} // namespace

namespace sennit::interpose {
void *find_next(const char *) {
    return nullptr;
}
} // namespace sennit::interpose

namespace sennit::mpi {

void *find_bare(const char *name) {
    static const std::map<std::string, void *> functions = {
        {"PMPI_Test", reinterpret_cast<void *>(test)},
        {"PMPI_Testsome", reinterpret_cast<void *>(test_some)},
        {"PMPI_Get_count", reinterpret_cast<void *>(get_count)},
        {"PMPI_Type_size_x", reinterpret_cast<void *>(type_size)},
        {"PMPI_Iprobe", reinterpret_cast<void *>(probe)},
        {"PMPI_Pack", reinterpret_cast<void *>(pack)},
        {"PMPI_Unpack", reinterpret_cast<void *>(unpack)},
        {"PMPI_Comm_create_keyval", reinterpret_cast<void *>(create_keyval)},
        {"PMPI_Comm_get_attr", reinterpret_cast<void *>(get_attr)},
        {"PMPI_Comm_set_attr", reinterpret_cast<void *>(set_attr)},
        {"PMPI_Abort", reinterpret_cast<void *>(abort_all)},
    };
    const auto found = functions.find(name);
    if (found == functions.end())
        unexpected(name);
    return found->second;
}
void *find_in_runtime(const char *name) {
    static const std::map<std::string, void *> functions = {
        {"sennit_should_suspend", reinterpret_cast<void *>(should_suspend)},
        {"sennit_call_begins", reinterpret_cast<void *>(call_begins)},
    };
    const auto found = functions.find(name);
    return found == functions.end() ? nullptr : found->second;
}

bool is_accepted(MPI_Datatype) {
    return true;
}

constinit thread_local unsigned t_tests_in_vain = 0;

// No rank has a bell or is a fiber, and no call spins.
constinit thread_local Spins t_spins;
void Spins::rest() {}
constinit Crowd g_crowd;
void Neighbours::ring(MPI_Comm, int) {}
void Neighbours::note(MPI_Comm, int, std::int64_t bytes) {
    g_long_messages.push_back(bytes);
}
void Neighbours::ring_for(const Operation &, bool) {
    ++g_rings;
    if (!t_armed)
        ++g_deaf_rings;
}
int Neighbours::slot_of(MPI_Comm, int peer) {
    return peer;
}
void Neighbours::ring_partners(MPI_Comm, int) {}
void Neighbours::note_partners(MPI_Comm, int, std::int64_t bytes) {
    g_long_messages.push_back(bytes);
}
void Neighbours::ring_slot(int slot) {
    g_rung_slots.push_back(slot);
}
void Neighbours::note_slot(int, std::int64_t bytes) {
    g_long_messages.push_back(bytes);
}
const Ranks *Neighbours::ranks_of(MPI_Comm) {
    return g_ranks;
}
int Neighbours::ranks_on_node(MPI_Comm) {
    return g_ranks ? g_ranks->size : 0;
}
void Neighbours::ring_each(const Ranks *) {
    g_rung_slots.push_back(-1);
}
void Neighbours::claim_end() {}
void Neighbours::ring_own() {
    ++g_rings_own;
}
std::uint32_t Neighbours::arm() {
    t_armed = true;
    return 0;
}
bool Neighbours::sleep(std::uint32_t, std::int64_t) {
    t_armed = false;
    return g_somebody_rings;
}
void Neighbours::ask_for(const Operation &) {
    ++g_asks;
    g_asking = true;
}
void Neighbours::answer() {}
void Neighbours::ask_nobody() {
    g_asking = false;
}
int Neighbours::answers(const Operation &) {
    return 64;
}

// Sums of ints are what ranks make among themselves.
void Reduction::learn_types() {}
bool Reduction::fits(std::size_t most) {
    bytes = static_cast<std::size_t>(count) * sizeof(int);
    return type == MPI_INT && op == MPI_SUM && bytes <= most;
}
std::uint32_t Reduction::number() const {
    return CallNumber::of(has_root() ? CallNumber::kReduce : 0, bytes, has_root() ? root : 0);
}
bool Reduction::combine(const void *a, void *b) const {
    for (std::int64_t i = 0; i < count; ++i)
        static_cast<int *>(b)[i] += static_cast<const int *>(a)[i];
    return true;
}

bool runtime_present() {
    return true;
}
sennit_task *current_task() {
    return fake::task(0);
}
bool worker_wanted() {
    return g_wanted;
}
int task_urgency() {
    return -1;
}
void note_send() {
    ++g_sends_noted;
}
void add_helpers(int) {}
void lend_core() {}
void reclaim_core() {}
void count_pending(int more) {
    g_pending += more;
}
int send_order(std::uint64_t &key) {
    key = g_key;
    return g_at_once;
}
void suspend(sennit_task *task, const Operation &) {
    const int before = fake::resumed(task);
    while (fake::resumed(task) == before)
        g_work();
}
// Nobody traces.
Described Timeline::describe(const CallFacts &, std::uint64_t) {
    return {};
}
void Timeline::post(Described, const MPI_Request *) {}

void resume(sennit_task *task) {
    const std::lock_guard guard(g_mutex);
    const int number = static_cast<int>(reinterpret_cast<std::intptr_t>(task)) - 1;
    ++g_resumed[number];
    g_resumed_order.push_back(number);
}

} // namespace sennit::mpi

namespace fake {

void refuse_attributes(bool refuse) {
    g_refuses_attributes = refuse;
}

void refuse_packing(bool refuse) {
    g_refuses_packing = refuse;
}

void free_communicator(MPI_Comm comm) {
    if (const auto found = g_attributes.extract(comm))
        g_free_attribute(comm, 1, found.mapped(), g_extra);
}

void know_ranks(const sennit::mpi::Ranks *ranks) {
    g_ranks = ranks;
}

MPI_Request make_request() {
    const std::lock_guard guard(g_mutex);
    g_requests[++g_last] = {};
    return g_last;
}

void complete(MPI_Request request, int error, int bytes) {
    const std::lock_guard guard(g_mutex);
    g_requests[request] = {true, error, bytes};
}

void hide_failures(bool hide) {
    g_hides = hide;
}
int tests() {
    return g_tests;
}
int rings() {
    return g_rings;
}
int deaf_rings() {
    return g_deaf_rings;
}
void somebody_rings(bool rings) {
    g_somebody_rings = rings;
}
int asks() {
    return g_asks;
}
bool is_asking() {
    return g_asking;
}
int probes() {
    return g_probes;
}
int rings_own() {
    return std::exchange(g_rings_own, 0);
}
int sizes_asked() {
    return g_sizes_asked;
}
std::vector<int> rung_slots() {
    return std::exchange(g_rung_slots, {});
}
std::vector<std::int64_t> long_messages() {
    return std::exchange(g_long_messages, {});
}
void be_wanted(bool wanted) {
    g_wanted = wanted;
}
int sends_noted() {
    return g_sends_noted;
}
int most_testers() {
    return g_most_testers;
}
std::vector<MPI_Request> tested() {
    const std::lock_guard guard(g_mutex);
    return std::exchange(g_tested, {});
}

sennit_task *task(int number) {
    return reinterpret_cast<sennit_task *>(static_cast<std::intptr_t>(number + 1));
}
int resumed(sennit_task *task) {
    const std::lock_guard guard(g_mutex);
    return g_resumed[static_cast<int>(reinterpret_cast<std::intptr_t>(task)) - 1];
}
std::vector<int> resumed() {
    const std::lock_guard guard(g_mutex);
    return g_resumed_order;
}
std::int64_t pending() {
    return g_pending;
}
void order_sends(int at_once, std::uint64_t key) {
    g_at_once = at_once;
    g_key = key;
}
void while_suspended(void (*work)()) {
    g_work = work;
}

void be_in_task(bool in_task, bool has_others) {
    g_in_task = in_task;
    g_has_others = has_others;
}
int calls_begun() {
    return g_calls_begun.exchange(0);
}

void reset() {
    const std::lock_guard guard(g_mutex);
    g_requests.clear();
    g_tested.clear();
    g_resumed.clear();
    g_resumed_order.clear();
    g_hides = false;
    g_at_once = 0;
    g_work = nullptr;
    g_tests = 0;
    g_sends_noted = 0;
    g_wanted = true;
    g_most_testers = 0;
    g_pending = 0;
    g_refuses_attributes = false;
    g_ranks = nullptr;
    be_in_task(true, true);
}

} // namespace fake
