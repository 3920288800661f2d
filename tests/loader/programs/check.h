/* SPDX-License-Identifier: Apache-2.0
 * A claim of a test program: if it does not hold, the program ends with 1 and says which. */
#pragma once
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#define CHECK(what)                                                                                \
    do {                                                                                           \
        if (!(what)) {                                                                             \
            fprintf(stderr, "%s:%d: does not hold: %s (errno %d)\n", __FILE__, __LINE__, #what,    \
                    errno);                                                                        \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)
