/* SPDX-License-Identifier: Apache-2.0
 *
 * The runtime API of CUDA and HIP, as far as tests call it, and what only the stand-in for its
 * library has (accelerator_standin.c). CALL(Memcpy) is cudaMemcpy, or hipMemcpy with -DHIP.
 */
#ifndef ACCELERATOR_H
#define ACCELERATOR_H

#include <stddef.h>

#ifdef HIP
#define CALL(name) hip##name
#define OF_THREAD(name) hip##name##_spt /* for the thread's own default stream */
#define OF_THREADS_STREAM OF_THREAD
#else
#define CALL(name) cuda##name
#define OF_THREAD(name) cuda##name##_ptds
#define OF_THREADS_STREAM(name) cuda##name##_ptsz
#endif

typedef struct stream *stream_t;
typedef struct event *event_t;
#define LEGACY ((stream_t)0)
#define PER_THREAD ((stream_t)2)

enum {
    success = 0,
    invalid_value = 1,
    invalid_kind = 21,
    invalid_handle = 400,
    not_ready = 600,
    launch_failed = 719,
    capture_invalidated = 901
};
enum { capture_global, capture_of_thread, capture_relaxed };
enum { host_to_host, host_to_device, device_to_host, device_to_device, by_address };

struct copy3d {
    void *from_array;
    size_t from_at[3];
    struct pitched {
        void *start;
        size_t pitch, x_size, y_size;
    } from;
    void *to_array;
    size_t to_at[3];
    struct pitched to;
    size_t extent[3];
    int kind;
};

int CALL(GetDevice)(int *device);
int CALL(SetDevice)(int device);
int CALL(PeekAtLastError)(void);
int CALL(GetLastError)(void);
int CALL(Malloc)(void **memory, size_t bytes);
int CALL(HostAlloc)(void **memory, size_t bytes, unsigned flags);
int CALL(PointerGetAttributes)(void *attributes, const void *address);
int CALL(StreamCreate)(stream_t *stream);
int CALL(StreamDestroy)(stream_t stream);
int CALL(StreamQuery)(stream_t stream);
int CALL(StreamSynchronize)(stream_t stream);
int OF_THREADS_STREAM(StreamSynchronize)(stream_t stream);
int CALL(EventCreateWithFlags)(event_t *event, unsigned flags);
int CALL(EventDestroy)(event_t event);
int CALL(EventRecord)(event_t event, stream_t stream);
int CALL(EventQuery)(event_t event);
int CALL(EventSynchronize)(event_t event);
int CALL(DeviceSynchronize)(void);
int CALL(ThreadExchangeStreamCaptureMode)(int *mode);
int CALL(StreamBeginCapture)(stream_t stream, int mode);
int CALL(StreamEndCapture)(stream_t stream, void **graph);
int CALL(Memcpy)(void *to, const void *from, size_t bytes, int kind);
int OF_THREAD(Memcpy)(void *to, const void *from, size_t bytes, int kind);
int CALL(MemcpyAsync)(void *to, const void *from, size_t bytes, int kind, stream_t stream);
int CALL(Memcpy3D)(const struct copy3d *copy);
int CALL(Memcpy3DAsync)(const struct copy3d *copy, stream_t stream);
int CALL(Memset)(void *to, int value, size_t bytes);

/* A kernel that ends when *flag is not 0, with this result. */
int standin_launch(stream_t stream, const int *flag, int result);
/* How many records of events and waits for streams have begun. */
unsigned long standin_waits(void);

#endif
