/* SPDX-License-Identifier: Apache-2.0
 * build: api=cuda|hip out={bin}/{compiler}/{program}.{api}
 *     compile='{stock} -O2 -g {language_flags} {openmp} -D{api.upper()}'
 *     if="not sanitized and (api == 'cuda' or compiler == 'gcc')" -- {accelerator}
 *     -Wl,-rpath,{bin}/{api} -lpthread
 * run: omp.{program}.{api}.{compiler}.t{threads} api=cuda|hip threads=1|4
 *     exe={bin}/{compiler}/{program}.{api} run='{sennit} run {exe}' LD_LIBRARY_PATH=
 * run: omp.{program}.still.{compiler} compiler=gcc threads=1 SENNIT_HANG=abort SENNIT_HANG_GRACE=1
 *     exe={bin}/{compiler}/{program}.cuda run='{sennit} run {exe}' LD_LIBRARY_PATH=
 *     fail='nothing has moved' -- still
 * docs/user/openmp.md, "CUDA and HIP": tasks that wait for streams, events, a device or copies are
 * suspended. What a kernel waits for is done by a task that begins later, so on one thread a call
 * that blocks never returns. Results, errors, the last error and the current device are those of
 * the API. A device that computes for long is not taken for a hang. */
#include "accelerator.h"
#include "check.h"
#include "libc_calls.h"
#include <pthread.h>

static int go, launched;
static stream_t stream;
static event_t event;
static char *on_device, *also_on_device, *pinned, pageable[1 << 17];
enum { large = sizeof pageable };

static void launch_that_ends_with(int result, stream_t into) {
    __atomic_store_n(&go, 0, __ATOMIC_RELEASE);
    CHECK_EQ(standin_launch(into, &go, result), success);
    __atomic_store_n(&launched, 1, __ATOMIC_RELEASE);
}
static void launch(stream_t into) {
    launch_that_ends_with(success, into);
}
static void let_go(void) {
    __atomic_store_n(&go, 1, __ATOMIC_RELEASE);
}
/* In a task beside the one that launches: it may be ahead of that. */
static void await_launch(void) {
    while (!__atomic_exchange_n(&launched, 0, __ATOMIC_ACQ_REL)) {
#pragma omp taskyield
    }
}
static void await_and_let_go(void) {
    await_launch();
    let_go();
}
static void check_went(void) {
    CHECK_EQ(__atomic_load_n(&go, __ATOMIC_ACQUIRE), 1);
    CHECK_EQ(CALL(GetLastError)(), success);
}

/* ---- calls that wait ---- */

static void for_stream(void) {
    launch(stream);
    CHECK_EQ(CALL(StreamSynchronize)(stream), success);
}
static void for_legacy_stream(void) {
    launch(stream); /* for which the legacy one waits */
    CHECK_EQ(CALL(StreamSynchronize)(LEGACY), success);
}
static void for_stream_of_thread(void) {
    launch(PER_THREAD);
    CHECK_EQ(CALL(StreamSynchronize)(PER_THREAD), success);
}
static void for_stream_of_thread_by_name(void) {
    launch(PER_THREAD);
    CHECK_EQ(OF_THREADS_STREAM(StreamSynchronize)(LEGACY), success);
}
static void for_event(void) {
    launch(stream);
    CHECK_EQ(CALL(EventRecord)(event, stream), success);
    CHECK_EQ(CALL(EventSynchronize)(event), success);
}
static void for_device(void) {
    launch(stream);
    CHECK_EQ(CALL(DeviceSynchronize)(), success);
}

static void fill(char *memory, int value) {
    memset(memory, value, large);
}
static void check_filled(const char *memory, int value) {
    for (size_t i = 0; i < large; ++i)
        CHECK_EQ(memory[i], value);
}
static void out_to(char *host, int kind) {
    launch(LEGACY);
    fill(on_device, 1);
    CHECK_EQ(CALL(Memcpy)(host, on_device, large, kind), success);
    check_filled(host, 1);
}
static void out_to_pageable(void) {
    fill(pageable, 0);
    out_to(pageable, device_to_host);
}
static void out_to_pinned(void) {
    fill(pinned, 0);
    out_to(pinned, device_to_host);
}
static void out_by_address(void) {
    fill(pinned, 0);
    out_to(pinned, by_address);
}
static void in_from(const char *host, int value) {
    launch(LEGACY);
    CHECK_EQ(CALL(Memcpy)(on_device, host, large, host_to_device), success);
    check_filled(on_device, value);
}
static void in_from_pageable(void) {
    fill(pageable, 2);
    in_from(pageable, 2);
}
static void in_from_pinned(void) {
    fill(pinned, 3);
    in_from(pinned, 3);
}
static void by_own_stream(void) {
    fill(on_device, 4);
    fill(pinned, 0);
    launch(PER_THREAD);
    CHECK_EQ(OF_THREAD(Memcpy)(pinned, on_device, large, device_to_host), success);
    check_filled(pinned, 4);
}
static void by_rows(void) {
    fill(on_device, 5);
    fill(pinned, 0);
    launch(LEGACY);
    const struct copy3d rows = {.from = {.start = on_device, .pitch = large / 4},
                                .to = {.start = pinned, .pitch = large / 4},
                                .extent = {large / 4, 4, 1},
                                .kind = device_to_host};
    CHECK_EQ(CALL(Memcpy3D)(&rows), success);
    check_filled(pinned, 5);
}
static void set_pinned(void) {
    launch(LEGACY);
    CHECK_EQ(CALL(Memset)(pinned, 6, large), success);
    check_filled(pinned, 6);
}

static void (*const waits[])(void) = {
    for_stream,     for_legacy_stream, for_stream_of_thread, for_stream_of_thread_by_name,
    for_event,      for_device,        out_to_pageable,      out_to_pinned,
    out_by_address, in_from_pageable,  in_from_pinned,       by_own_stream,
    by_rows,        set_pinned,
};

static void (*wait_now)(void);
static void wait_and_check(void) {
    wait_now();
    check_went();
}

/* ---- what is not waited for ---- */

/* What a later task puts into the stream meanwhile, and that waits for this one. */
static int later;
static unsigned long waits_before;
static void wait_once(void) {
    waits_before = standin_waits();
    for_stream();
    __atomic_store_n(&later, 1, __ATOMIC_RELEASE);
}
static void put_more(void) {
    await_launch();
    while (standin_waits() == waits_before) { /* what it waits for is decided then */
#pragma omp taskyield
    }
    CHECK_EQ(standin_launch(stream, &later, success), success);
    let_go();
}

static void copy_on_device(void) {
    launch(LEGACY);
    CHECK_EQ(CALL(Memcpy)(on_device, also_on_device, large, device_to_device), success);
    CHECK_EQ(CALL(Memcpy)(on_device, also_on_device, large, by_address), success);
    CHECK_EQ(CALL(Memset)(on_device, 0, large), success);
    let_go();
    CHECK_EQ(CALL(StreamSynchronize)(LEGACY), success);
}
static void nothing(void) {}

/* ---- errors ---- */

static void fail_in_kernel(void) {
    stream_t own;
    CHECK_EQ(CALL(StreamCreate)(&own), success);
    launch_that_ends_with(launch_failed, own);
    CHECK_EQ(CALL(StreamSynchronize)(own), launch_failed);
    CHECK_EQ(CALL(GetLastError)(), launch_failed);
    CHECK_EQ(CALL(StreamDestroy)(own), success);
    CHECK_EQ(CALL(StreamSynchronize)(own), invalid_handle);
    CHECK_EQ(CALL(GetLastError)(), invalid_handle);
    CHECK_EQ(CALL(Memcpy)(on_device, pinned, large, 77), invalid_kind);
    CHECK_EQ(CALL(GetLastError)(), invalid_kind);
}

static int stops;
static void *keep_letting_go(void *none) {
    while (!__atomic_load_n(&stops, __ATOMIC_RELAXED)) {
        usleep(500);
        let_go();
    }
    return none;
}
/* `body` blocks its thread. */
static void beside_a_thread(void (*body)(void)) {
    pthread_t thread;
    stops = 0;
    CHECK_EQ(pthread_create(&thread, NULL, keep_letting_go, NULL), 0);
    body();
    __atomic_store_n(&stops, 1, __ATOMIC_RELAXED);
    CHECK_EQ(pthread_join(thread, NULL), 0);
}

/* An error that the task has not asked for is not given to another task of its thread. */
static void wait_with_error(void) {
    CHECK_EQ(CALL(Memcpy)(on_device, pinned, large, 77), invalid_kind);
    for_stream();
#ifndef HIP /* which forgets it in a wait, as its old versions did */
    CHECK_EQ(CALL(PeekAtLastError)(), invalid_kind);
#endif
    CALL(GetLastError)();
}
static void keep_error(void) {
    beside_a_thread(wait_with_error);
}
static void ask_for_error(void) {
    CHECK_EQ(CALL(GetLastError)(), success);
}

/* ---- devices ---- */

static stream_t on_second;
static void for_stream_of_second(void) {
    launch(on_second);
    CHECK_EQ(CALL(StreamSynchronize)(on_second), success);
}
static void for_legacy_stream_of_second(void) {
    launch(on_second);
    CHECK_EQ(CALL(StreamSynchronize)(LEGACY), success);
}
static void for_second_device(void) {
    launch(on_second);
    CHECK_EQ(CALL(DeviceSynchronize)(), success);
}
static void use_second_device(void) {
    int device = 0;
    CHECK_EQ(CALL(SetDevice)(1), success);
    CHECK_EQ(CALL(StreamCreate)(&on_second), success);
    wait_now();
    check_went();
    CHECK_EQ(CALL(GetDevice)(&device), success);
    CHECK_EQ(device, 1);
    CHECK_EQ(CALL(SetDevice)(0), success);
}
/* Of a stream of another device than the current one, into which no event of this one can be put.
 */
static void wait_from_first_device(void) {
    for_stream_of_second();
    check_went();
}
static void use_first_device(void) {
    CHECK_EQ(CALL(SetDevice)(0), success);
    await_and_let_go();
}

static void copy_nothing(void) {
    CHECK_EQ(CALL(Memcpy3D)(NULL), invalid_value);
    CHECK_EQ(CALL(GetLastError)(), invalid_value);
}

/* Another task waits, and is looked for, while this one captures a graph. */
static void capture_and_let_go(void) {
    stream_t own;
    void *graph;
    await_launch();
    CHECK_EQ(CALL(StreamCreate)(&own), success);
    CHECK_EQ(CALL(StreamBeginCapture)(own, capture_global), success);
    usleep(10000);
    CHECK_EQ(CALL(StreamEndCapture)(own, &graph), success);
    CHECK_EQ(CALL(StreamDestroy)(own), success);
    let_go();
}

/* ---- many ---- */

enum { many = 50 };
static int flags[many];

static void wait_for_many(void) {
#pragma omp parallel
#pragma omp single
    {
        for (int i = 0; i < many; ++i) {
#pragma omp task firstprivate(i)
            {
                stream_t own;
                CHECK_EQ(CALL(StreamCreate)(&own), success);
                CHECK_EQ(standin_launch(own, &flags[i], success), success);
                CHECK_EQ(CALL(StreamSynchronize)(own), success);
                CHECK_EQ(__atomic_load_n(&flags[i], __ATOMIC_ACQUIRE), 1);
                CHECK_EQ(CALL(StreamDestroy)(own), success);
            }
        }
        for (int i = many; i-- > 0;) {
#pragma omp task firstprivate(i)
            __atomic_store_n(&flags[i], 1, __ATOMIC_RELEASE);
        }
    }
}

static void *let_go_late(void *none) {
    sleep(2);
    let_go();
    return none;
}
static void wait_for_long(void) {
    pthread_t thread;
    CHECK_EQ(pthread_create(&thread, NULL, let_go_late, NULL), 0);
    wait_now = for_stream;
    one_after_the_other(wait_and_check, nothing);
    CHECK_EQ(pthread_join(thread, NULL), 0);
}

int main(int argc, char **argv) {
    (void)argv;
    CHECK_EQ(CALL(StreamCreate)(&stream), success);
    CHECK_EQ(CALL(EventCreateWithFlags)(&event, 2), success);
    CHECK_EQ(CALL(Malloc)((void **)&on_device, large), success);
    CHECK_EQ(CALL(Malloc)((void **)&also_on_device, large), success);
    CHECK_EQ(CALL(HostAlloc)((void **)&pinned, large, 0), success);
    if (argc > 1) {
        wait_for_long();
        return 0;
    }
    for (size_t i = 0; i < sizeof waits / sizeof *waits; ++i) {
        wait_now = waits[i];
        beside_a_thread(wait_and_check); /* outside of tasks */
        launched = 0;
        one_after_the_other(wait_and_check, await_and_let_go);
    }
    launched = 0;
    one_after_the_other(wait_once, put_more);
    one_after_the_other(copy_on_device, nothing);
    launched = 0;
    one_after_the_other(fail_in_kernel, await_and_let_go);
    one_after_the_other(keep_error, ask_for_error);
    void (*const of_second[])(void) = {for_stream_of_second, for_legacy_stream_of_second,
                                       for_second_device};
    for (size_t i = 0; i < sizeof of_second / sizeof *of_second; ++i) {
        wait_now = of_second[i];
        launched = 0;
        one_after_the_other(use_second_device, use_first_device);
    }
    launched = 0;
    one_after_the_other(wait_from_first_device, await_and_let_go);
    launched = 0;
    wait_now = for_stream;
    one_after_the_other(wait_and_check, capture_and_let_go);
    one_after_the_other(copy_nothing, nothing);
    wait_for_many();
    return 0;
}
