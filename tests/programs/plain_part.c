/* SPDX-License-Identifier: Apache-2.0
 * build: compiler=gcc if="not sanitized" -fPIC -- -shared
 * plain_part.c - thread_local_part.c without thread-local data. */
#define PLAIN
#include "thread_local_part.c"
