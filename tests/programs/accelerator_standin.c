/* SPDX-License-Identifier: Apache-2.0
 * simple: api=cuda|hip out={accelerator} compiler=gcc if="not sanitized"
 *     compile='{stock} -O2 -g {language_flags}' -D{api.upper()} -fPIC -shared
 *     -Wl,-soname,{soname} -- -lpthread
 * In place of an accelerator and its runtime library, with the rules of the API: two devices with
 * default streams, an order of streams, events, a last error of each thread, handles that have to
 * live. Nothing runs by itself: whoever asks or waits looks what of the queues is done by now.
 * CUDA's queries do not count as errors, HIP's do, as in its old versions. */
#include "accelerator.h"
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { devices = 2, most_streams = 4096, most_memories = 256 };

/* What is in a stream. */
struct work {
    enum { kernel, copy, record } what;
    unsigned long number; /* counts all work of the process */
    const int *flag;
    int result;
    struct copy3d bytes;
    event_t event;
    struct work *next;
};
struct stream {
    int is_legacy, device, is_alive, error; /* of its work, not told yet */
    struct work *first, **end;
};
struct event {
    int device, is_alive, result;
    unsigned long recorded,
        reached; /* records put into streams, and the latest that has happened */
    int users;   /* records under way: a destroyed event lives as long */
};
struct memory {
    char *start;
    size_t bytes;
    int type; /* 1: page-locked, 2: the device's */
};

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static stream_t streams[most_streams];
static int stream_count;
static unsigned long numbers, waits;
static struct stream legacy[devices];
static struct memory memories[most_memories];
static int memory_count;
static __thread stream_t own[devices];
static __thread int device, last_error;

static int said(int result) {
#ifdef HIP
    const int counts = result != success;
#else
    const int counts = result != success && result != not_ready;
#endif
    if (counts)
        last_error = result;
    return result;
}

static stream_t new_stream(void) {
    stream_t stream = calloc(1, sizeof *stream);
    stream->device = device;
    stream->is_alive = 1;
    stream->end = &stream->first;
    if (stream_count == most_streams)
        abort();
    streams[stream_count++] = stream;
    return stream;
}

/* With the mutex. Null: there is no such stream. */
static stream_t find(stream_t stream) {
    if (stream == LEGACY || stream == (stream_t)1) {
        stream_t found = &legacy[device];
        if (!found->end) {
            found->is_legacy = found->is_alive = 1;
            found->device = device;
            found->end = &found->first;
        }
        return found;
    }
    if (stream == PER_THREAD) {
        if (!own[device])
            own[device] = new_stream();
        return own[device];
    }
    for (int i = 0; i < stream_count; ++i)
        if (streams[i] == stream)
            return stream->is_alive ? stream : NULL;
    return NULL;
}

static int is_behind(stream_t first, const struct work *work) {
    return first->first && first->first->number < work->number;
}

/* The legacy stream waits for the others of its device, and they for it. */
static int may_run(stream_t stream) {
    if (!stream->is_legacy)
        return !is_behind(&legacy[stream->device], stream->first);
    for (int i = 0; i < stream_count; ++i)
        if (streams[i]->device == stream->device && is_behind(streams[i], stream->first))
            return 0;
    return 1;
}

static void run(stream_t stream, const struct work *work) {
    if (work->what == kernel && work->result != success) {
        stream->error = work->result;
    } else if (work->what == copy) {
        for (size_t row = 0; row < work->bytes.extent[1]; ++row)
            memcpy((char *)work->bytes.to.start + row * work->bytes.to.pitch,
                   (char *)work->bytes.from.start + row * work->bytes.from.pitch,
                   work->bytes.extent[0]);
    } else if (work->what == record) {
        work->event->reached = work->number;
        work->event->result = stream->error;
        --work->event->users;
    }
}

static int step(stream_t stream) {
    struct work *const work = stream->first;
    if (!work || !may_run(stream) ||
        (work->what == kernel && !__atomic_load_n(work->flag, __ATOMIC_ACQUIRE)))
        return 0;
    run(stream, work);
    stream->first = work->next;
    if (!work->next)
        stream->end = &stream->first;
    free(work);
    return 1;
}

static void advance(void) {
    for (int moved = 1; moved;) {
        moved = 0;
        for (int i = 0; i < devices; ++i)
            moved |= step(&legacy[i]);
        for (int i = 0; i < stream_count; ++i)
            moved |= step(streams[i]);
    }
}

static int put(stream_t handle, struct work given) {
    int result = invalid_handle;
    pthread_mutex_lock(&mutex);
    stream_t const stream = find(handle);
    if (stream && (given.what != record || given.event->device == stream->device)) {
        struct work *const work = malloc(sizeof *work);
        *work = given;
        work->number = ++numbers;
        work->next = NULL;
        if (work->what == record) {
            work->event->recorded = work->number;
            ++work->event->users;
            ++waits;
        }
        *stream->end = work;
        stream->end = &work->next;
        result = success;
    }
    pthread_mutex_unlock(&mutex);
    return result;
}

/* One look with the mutex; a wait is look after look. */
typedef int look_at(const void *what, unsigned long number);

static int look(look_at *at, const void *what, unsigned long number) {
    pthread_mutex_lock(&mutex);
    advance();
    const int result = at(what, number);
    pthread_mutex_unlock(&mutex);
    return result;
}

static int wait_until(look_at *at, const void *what, unsigned long number) {
    const time_t begin = time(NULL);
    for (;;) {
        const int result = look(at, what, number);
        if (result != not_ready)
            return result;
        if (time(NULL) > begin + 30) {
            fprintf(stderr, "standin: a thread has blocked for 30 s\n");
            _exit(1);
        }
        usleep(100);
    }
}

static int has_work(const struct stream *stream, unsigned long number) {
    return stream->first && stream->first->number <= number;
}
/* The legacy stream stands for all of its device. */
static int at_stream(const void *what, unsigned long number) {
    stream_t const stream = find((stream_t)what);
    if (!stream)
        return invalid_handle;
    if (has_work(stream, number))
        return not_ready;
    for (int i = 0; stream->is_legacy && i < stream_count; ++i)
        if (streams[i]->device == stream->device && has_work(streams[i], number))
            return not_ready;
    const int error = stream->error;
    stream->error = success;
    return error;
}
static int at_event(const void *what, unsigned long number) {
    const struct event *const event = what;
    return !event->is_alive ? invalid_handle : event->reached < number ? not_ready : event->result;
}
static unsigned long now(void) {
    pthread_mutex_lock(&mutex);
    const unsigned long number = numbers;
    ++waits;
    pthread_mutex_unlock(&mutex);
    return number;
}

unsigned long standin_waits(void) {
    pthread_mutex_lock(&mutex);
    const unsigned long result = waits;
    pthread_mutex_unlock(&mutex);
    return result;
}

int CALL(GetDevice)(int *result) {
    *result = device;
    return success;
}
int CALL(SetDevice)(int number) {
    if (number < 0 || number >= devices)
        return said(101);
    device = number;
    return success;
}
int CALL(PeekAtLastError)(void) {
    return last_error;
}
int CALL(GetLastError)(void) {
    const int result = last_error;
    last_error = success;
    return result;
}

static int allocate(void **result, size_t bytes, int type) {
    pthread_mutex_lock(&mutex);
    if (memory_count == most_memories)
        abort();
    memories[memory_count++] = (struct memory){ *result = calloc(1, bytes), bytes, type};
    pthread_mutex_unlock(&mutex);
    return success;
}
int CALL(Malloc)(void **result, size_t bytes) {
    return allocate(result, bytes, 2);
}
int CALL(HostAlloc)(void **result, size_t bytes, unsigned flags) {
    (void)flags;
    return allocate(result, bytes, 1);
}
static int type_of(const void *address) {
    int type = 0;
    pthread_mutex_lock(&mutex);
    for (int i = 0; i < memory_count; ++i)
        if ((const char *)address >= memories[i].start &&
            (const char *)address < memories[i].start + memories[i].bytes)
            type = memories[i].type;
    pthread_mutex_unlock(&mutex);
    return type;
}
int CALL(PointerGetAttributes)(void *attributes, const void *address) {
    const int type = type_of(address);
#ifdef HIP
    if (type == 0)
        return said(invalid_value);
#endif
    memcpy(attributes, &type, sizeof type);
    return success;
}

int CALL(StreamCreate)(stream_t *stream) {
    pthread_mutex_lock(&mutex);
    *stream = new_stream();
    pthread_mutex_unlock(&mutex);
    return success;
}
int CALL(StreamDestroy)(stream_t stream) {
    pthread_mutex_lock(&mutex);
    stream_t const found = find(stream);
    if (found)
        found->is_alive = 0;
    pthread_mutex_unlock(&mutex);
    return said(found ? success : invalid_handle);
}
int CALL(StreamQuery)(stream_t stream) {
    return said(look(at_stream, stream, -1ul));
}
int CALL(StreamSynchronize)(stream_t stream) {
    return said(wait_until(at_stream, stream, now()));
}
int OF_THREADS_STREAM(StreamSynchronize)(stream_t stream) {
    return CALL(StreamSynchronize)(stream ? stream : PER_THREAD);
}

int CALL(EventCreateWithFlags)(event_t *event, unsigned flags) {
    *event = calloc(1, sizeof **event);
    (*event)->device = device;
    (*event)->is_alive = flags == 2; /* for waits alone */
    return success;
}
int CALL(EventDestroy)(event_t event) {
    event->is_alive = 0;
    return success;
}
int CALL(EventRecord)(event_t event, stream_t stream) {
    return said(put(stream, (struct work){.what = record, .event = event}));
}
/* A graph that is captured in the usual, global mode breaks if anybody asks for an event meanwhile,
 * except on threads in the relaxed mode. */
static int captures, captures_broken;
static __thread int capture_mode;

int CALL(ThreadExchangeStreamCaptureMode)(int *mode) {
    const int before = capture_mode;
    capture_mode = *mode;
    *mode = before;
    return success;
}
int CALL(StreamBeginCapture)(stream_t stream, int mode) {
    (void)stream;
    (void)mode; /* 0, global */
    __atomic_store_n(&captures_broken, 0, __ATOMIC_SEQ_CST);
    __atomic_store_n(&captures, 1, __ATOMIC_SEQ_CST);
    return success;
}
int CALL(StreamEndCapture)(stream_t stream, void **graph) {
    (void)stream;
    *graph = NULL;
    __atomic_store_n(&captures, 0, __ATOMIC_SEQ_CST);
    return __atomic_load_n(&captures_broken, __ATOMIC_SEQ_CST) ? said(capture_invalidated)
                                                               : success;
}
static void note_question(void) {
    if (capture_mode != capture_relaxed && __atomic_load_n(&captures, __ATOMIC_SEQ_CST))
        __atomic_store_n(&captures_broken, 1, __ATOMIC_SEQ_CST);
}

int CALL(EventQuery)(event_t event) {
    note_question();
    return said(look(at_event, event, event->recorded));
}
int CALL(EventSynchronize)(event_t event) {
    return said(wait_until(at_event, event, event->recorded));
}
int CALL(DeviceSynchronize)(void) {
    return said(wait_until(at_stream, LEGACY, now()));
}

int standin_launch(stream_t stream, const int *flag, int result) {
    return said(put(stream, (struct work){.what = kernel, .flag = flag, .result = result}));
}

/* As the real ones: a copy from or to pageable memory is done when the call returns, as is one
 * that the call without a stream makes, unless both ends are the device's. */
static int put_copy(const struct copy3d *what, stream_t stream, int waits) {
    const int from = type_of(what->from.start), to = type_of(what->to.start);
    if (what->kind < host_to_host || what->kind > by_address ||
        (what->kind == host_to_device && to != 2) || (what->kind == device_to_host && from != 2))
        return invalid_kind;
    int result = put(stream, (struct work){.what = copy, .bytes = *what});
    if (result == success && (from == 0 || to == 0 || (waits && (from != 2 || to != 2))))
        result = wait_until(at_stream, stream, now());
    return result;
}
static struct copy3d flat(void *to, const void *from, size_t bytes, int kind) {
    return (struct copy3d){.from = {.start = (void *)from, .pitch = bytes},
                           .to = {.start = to, .pitch = bytes},
                           .extent = {bytes, 1, 1},
                           .kind = kind};
}
int CALL(Memcpy)(void *to, const void *from, size_t bytes, int kind) {
    const struct copy3d what = flat(to, from, bytes, kind);
    return said(put_copy(&what, LEGACY, 1));
}
int OF_THREAD(Memcpy)(void *to, const void *from, size_t bytes, int kind) {
    const struct copy3d what = flat(to, from, bytes, kind);
    return said(put_copy(&what, PER_THREAD, 1));
}
int CALL(MemcpyAsync)(void *to, const void *from, size_t bytes, int kind, stream_t stream) {
    const struct copy3d what = flat(to, from, bytes, kind);
    return said(put_copy(&what, stream, 0));
}
int CALL(Memcpy3D)(const struct copy3d *what) {
    return said(!what ? invalid_value : put_copy(what, LEGACY, 1));
}
int CALL(Memcpy3DAsync)(const struct copy3d *what, stream_t stream) {
    return said(put_copy(what, stream, 0));
}
int CALL(Memset)(void *to, int value, size_t bytes) {
    static char values[1 << 20];
    memset(values, value, bytes < sizeof values ? bytes : sizeof values);
    const struct copy3d what = flat(to, values, bytes, by_address);
    int result = put(LEGACY, (struct work){.what = copy, .bytes = what});
    if (result == success && type_of(to) != 2)
        result = wait_until(at_stream, LEGACY, now());
    return said(result);
}
