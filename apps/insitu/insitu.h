/* SPDX-License-Identifier: Apache-2.0
 * What the simulation and its analysis have in common: names "field.0", "field.1", ... are the
 * parts of the field, "read" counts in its versions how many of theirs have been read. */
#include <sennit_export.h>

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static const int64_t a_minute = 60000000000;

static void must(int error, const char *what) {
    if (error == SENNIT_EXPORT_SUCCESS)
        return;
    fprintf(stderr, "%s: error %d%s\n", what, error,
            error == SENNIT_EXPORT_NOT_VIRTUAL ? ": start it with sennit run --virtual" : "");
    exit(3);
}
