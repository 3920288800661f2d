// SPDX-License-Identifier: Apache-2.0
#include "mpi/wrap/file_queue.h"

#include "mpi/wrap/wrap.h"

#ifdef MPICH_NUMVERSION

#include "base/spin.h"
#include "mpi/call/errors.h"
#include "mpi/engine/engine.h"

#include <dlfcn.h>
#include <sched.h>

namespace sennit::mpi {

struct FileAccess {
    // starting: its caller is about to start it (-> started) or to let it wait (-> queued)
    enum class State : unsigned char { starting, queued, started };

    FileQueue &queue;
    FileCall call;
    bool owns_type = false;
    std::atomic<State> state{State::starting};
    MPI_Request request = MPI_REQUEST_NULL; // the program's
    MPI_Request real = MPI_REQUEST_NULL;
    MPI_Count bytes = 0;
    int error = MPI_SUCCESS;
    FileAccess *next = nullptr;      // on the file
    FileAccess *next_file = nullptr; // of the oldest
};

// One thread at a time works. It tests what is started, starts what is queued, and takes out what
// is complete.
class FileQueue::Work {
  public:
    explicit Work(FileQueue &files) : files_(files) {}
    ~Work() { files_.working_.store(false, std::memory_order_release); }
    Work(const Work &) = delete;
    Work &operator=(const Work &) = delete;
    static bool may_begin(FileQueue &files) {
        return !files.working_.exchange(true, std::memory_order_acquire);
    }

  private:
    FileQueue &files_;
    Inside inside_;
    QuietTests quiet_;
};

// Is it the only operation on its file?
bool FileQueue::put_in(FileAccess &access) {
    const Guard guard(lock_);
    count_.fetch_add(1, std::memory_order_relaxed);
    FileAccess *last = oldest_;
    while (last && last->call.file != access.call.file)
        last = last->next_file;
    if (!last) {
        access.next_file = oldest_;
        oldest_ = &access;
        return true;
    }
    while (last->next)
        last = last->next;
    last->next = &access;
    return false;
}

FileAccess *FileQueue::oldest() {
    const Guard guard(lock_);
    return oldest_;
}

// Returns the next operation on the file, or null.
FileAccess *FileQueue::take_out(const FileAccess &oldest) {
    const Guard guard(lock_);
    count_.fetch_sub(1, std::memory_order_relaxed);
    FileAccess **at = &oldest_;
    while (*at != &oldest)
        at = &(*at)->next_file;
    FileAccess *next = oldest.next;
    if (next)
        next->next_file = oldest.next_file;
    *at = next ? next : oldest.next_file;
    return next;
}

namespace {

bool is_named(MPI_Datatype type) {
    static constexpr auto get_envelope = SENNIT_BARE(Type_get_envelope);
    int integers = 0;
    int addresses = 0;
    int types = 0;
    int combiner = MPI_COMBINER_NAMED;
    get_envelope(type, &integers, &addresses, &types, &combiner);
    return combiner == MPI_COMBINER_NAMED;
}

void free_type(MPI_Datatype type) {
    static constexpr auto bare = SENNIT_BARE(Type_free);
    if (!is_named(type))
        bare(&type);
}

// A test in MPICH sets the file pointer. The new place is where it was at the start of the
// operation, or behind what the operation reads or writes.
class KeptPosition {
  public:
    explicit KeptPosition(MPI_File file) : file_(file), position_(get(file)) {}
    ~KeptPosition() {
        static constexpr auto seek = SENNIT_BARE(File_seek);
        if (get(file_) != position_)
            seek(file_, position_, MPI_SEEK_SET);
    }
    KeptPosition(const KeptPosition &) = delete;
    KeptPosition &operator=(const KeptPosition &) = delete;

  private:
    static MPI_Offset get(MPI_File file) {
        static constexpr auto bare = SENNIT_BARE(File_get_position);
        MPI_Offset position = 0;
        bare(file, &position);
        return position;
    }
    MPI_File file_;
    MPI_Offset position_;
};

bool test(FileAccess &access) {
    static constexpr auto bare = SENNIT_BARE(Test);
    static constexpr auto get_elements = SENNIT_BARE(Get_elements_x);
    if (access.real == MPI_REQUEST_NULL)
        return true; // it could not be started
    const KeptPosition kept(access.call.file);
    int over = 0;
    MPI_Status status;
    access.error = bare(&access.real, &over, &status);
    if (over && access.error == MPI_SUCCESS)
        get_elements(&status, MPI_BYTE, &access.bytes);
    return over || access.error != MPI_SUCCESS;
}

// Not while a helper thread makes a blocking call on a file: MPICH would let us wait for its end.
void start(FileAccess &access) {
    const Turn turn(g_engine.turns, file_turn(file_object(access.call.file)), Turn::IfFree{});
    if (!turn.taken())
        return;
    access.error = access.call.start(access.call, &access.real);
    access.state.store(FileAccess::State::started, std::memory_order_relaxed);
}

// Nothing touches it after this.
void complete(FileAccess &access) {
    static constexpr auto bare = SENNIT_BARE(Grequest_complete);
    if (access.owns_type)
        free_type(access.call.type);
    bare(access.request);
}

// ---- what MPICH asks of the request -------------------------------------------------------------

int query(void *arg, MPI_Status *status) {
    static constexpr auto set_elements = SENNIT_BARE(Status_set_elements_x);
    static constexpr auto set_cancelled = SENNIT_BARE(Status_set_cancelled);
    const auto &access = *static_cast<FileAccess *>(arg);
    status->MPI_SOURCE = MPI_UNDEFINED;
    status->MPI_TAG = MPI_UNDEFINED;
    set_cancelled(status, 0);
    set_elements(status, MPI_BYTE, access.bytes);
    return access.error;
}

int free_access(void *arg) {
    delete static_cast<FileAccess *>(arg);
    return MPI_SUCCESS;
}

int cancel(void *, int) {
    return MPI_SUCCESS; // MPICH's are not cancelled either
}

int poll(void *access, MPI_Status *) {
    static_cast<FileAccess *>(access)->queue.work();
    return MPI_SUCCESS;
}

int wait(int count, void **states, double, MPI_Status *) {
    static constexpr auto get_status = SENNIT_BARE(Request_get_status);
    for (int i = 0; i < count; ++i)
        for (int over = 0;;) {
            auto &access = *static_cast<FileAccess *>(states[i]);
            access.queue.work();
            get_status(access.request, &over, MPI_STATUS_IGNORE);
            if (over)
                break;
            sched_yield();
        }
    return MPI_SUCCESS;
}

// MPICH's extension. Tests and waits call `poll` and `wait`.
using Extended = int(MPI_Grequest_query_function *, MPI_Grequest_free_function *,
                     MPI_Grequest_cancel_function *, decltype(poll) *, decltype(wait) *, void *,
                     MPI_Request *);

// ---- the calls ----------------------------------------------------------------------------------

// MPICH does not keep the type, and the program may free it.
void keep_type(FileAccess &access) {
    static constexpr auto dup = SENNIT_BARE(Type_dup);
    const QuietTests quiet; // where it is none, the call itself says so
    access.owns_type =
        !is_named(access.call.type) && dup(access.call.type, &access.call.type) == MPI_SUCCESS;
}

// The operation has to wait. The file pointer goes on.
void claim_position(FileCall &call) {
    static constexpr auto get_size = SENNIT_BARE(Type_size_x);
    static constexpr auto get_view = SENNIT_BARE(File_get_view);
    static constexpr auto get_position = SENNIT_BARE(File_get_position);
    static constexpr auto seek = SENNIT_BARE(File_seek);
    MPI_Offset displacement = 0;
    MPI_Datatype unit = MPI_DATATYPE_NULL;
    MPI_Datatype view = MPI_DATATYPE_NULL;
    char representation[MPI_MAX_DATAREP_STRING];
    get_view(call.file, &displacement, &unit, &view, representation);
    MPI_Count size = 0;
    MPI_Count unit_size = 1;
    get_size(call.type, &size);
    get_size(unit, &unit_size);
    free_type(unit);
    free_type(view);
    get_position(call.file, &call.offset);
    seek(call.file, call.offset + call.count * size / unit_size, MPI_SEEK_SET);
    call.individual = false;
}

} // namespace

int FileQueue::begin(const FileCall &call, MPI_Request *request) {
    static const auto make = reinterpret_cast<Extended *>(dlsym(RTLD_NEXT, "PMPIX_Grequest_start"));
    static constexpr auto wait_for = SENNIT_BARE(Wait);
    if (inside_mpi() || !make)
        return call.start(call, request);
    auto *access = new (std::nothrow) FileAccess{*this, call};
    if (!access)
        return MPI_ERR_NO_MEM;
    const Inside inside;
    int error = make(query, free_access, cancel, poll, wait, access, &access->request);
    if (error != MPI_SUCCESS) {
        delete access;
        return error;
    }
    MPI_Request made = access->request;
    keep_type(*access);
    if (put_in(*access)) {
        error = access->call.start(access->call, &access->real);
        access->state.store(FileAccess::State::started, std::memory_order_release);
    } else {
        while (!Work::may_begin(*this))
            sched_yield();
        const Work work(*this);
        if (call.individual)
            claim_position(access->call);
        access->state.store(FileAccess::State::queued, std::memory_order_release);
    }
    if (error != MPI_SUCCESS)
        wait_for(&made, MPI_STATUS_IGNORE);
    *request = made;
    return error;
}

void FileQueue::work() {
    if (!Work::may_begin(*this))
        return;
    const Work work(*this);
    for (FileAccess *oldest = this->oldest(); oldest;) {
        FileAccess *const of_next_file = oldest->next_file;
        const FileAccess::State state = oldest->state.load(std::memory_order_acquire);
        if (state == FileAccess::State::queued) {
            start(*oldest);
        } else if (state == FileAccess::State::started && test(*oldest)) {
            FileAccess *const next = take_out(*oldest);
            if (next && next->state.load(std::memory_order_acquire) == FileAccess::State::queued)
                start(*next);
            complete(*oldest);
        }
        oldest = of_next_file;
    }
}

} // namespace sennit::mpi

#endif

// The non-blocking collective operations on a file: MPICH's need the queue (file_queue.h).

#ifdef MPICH_NUMVERSION

#include "mpi/call/bare.h"
#include "mpi/record/record.h"

using namespace sennit::mpi;

namespace {

int begin(const sennit_call &said, const FileCall &call, MPI_Request *request) {
    const int error = g_wrap.files.begin(call, request);
    g_record.requests.note(error, request, {&said, -1, -1, 0});
    return error;
}

} // namespace

// Two calls with two types of counts, to read and to write.
#define SENNIT_FILE_CALLS(verb, suffix, Buffer, Count)                                             \
    namespace {                                                                                    \
    int start_##verb##suffix(const FileCall &call, MPI_Request *request) {                         \
        static constexpr auto individual = SENNIT_BARE(File_i##verb##_all##suffix);                \
        static constexpr auto at = SENNIT_BARE(File_i##verb##_at_all##suffix);                     \
        const auto count = static_cast<Count>(call.count);                                         \
        return call.individual                                                                     \
                   ? individual(call.file, call.buffer, count, call.type, request)                 \
                   : at(call.file, call.offset, call.buffer, count, call.type, request);           \
    }                                                                                              \
    }                                                                                              \
    SENNIT_DEFINE(File_i##verb##_all##suffix, MPI_File file, Buffer *buffer, Count count,          \
                  MPI_Datatype type, MPI_Request *request) {                                       \
        static constexpr sennit_call call{"MPI_File_i" #verb "_all" #suffix, 0, 0};                \
        return begin(call,                                                                         \
                     {file, true, 0, const_cast<void *>(static_cast<const void *>(buffer)), count, \
                      type, start_##verb##suffix},                                                 \
                     request);                                                                     \
    }                                                                                              \
    SENNIT_DEFINE(File_i##verb##_at_all##suffix, MPI_File file, MPI_Offset offset, Buffer *buffer, \
                  Count count, MPI_Datatype type, MPI_Request *request) {                          \
        static constexpr sennit_call call{"MPI_File_i" #verb "_at_all" #suffix, 0, 0};             \
        return begin(call,                                                                         \
                     {file, false, offset, const_cast<void *>(static_cast<const void *>(buffer)),  \
                      count, type, start_##verb##suffix},                                          \
                     request);                                                                     \
    }

SENNIT_FILE_CALLS(read, , void, int)
SENNIT_FILE_CALLS(write, , const void, int)
#if MPI_VERSION >= 4
SENNIT_FILE_CALLS(read, _c, void, MPI_Count)
SENNIT_FILE_CALLS(write, _c, const void, MPI_Count)
#endif

#endif
