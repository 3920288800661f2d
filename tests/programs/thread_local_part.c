/* SPDX-License-Identifier: Apache-2.0
 * build: compiler=gcc if="not sanitized" -fPIC -- -shared
 *
 * thread_local_part.c - a library that sennit_split_opened.c opens: calls, by kernel thread where
 * it has thread-local data.
 */
#ifdef PLAIN
static int calls;
#else
static _Thread_local int calls;
#endif

int count_calls(void) {
    return ++calls;
}
