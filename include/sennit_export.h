/* SPDX-License-Identifier: Apache-2.0
 *
 * sennit_export.h - memory that virtual ranks of one address space show each other by name, without
 * a copy (sennit run --virtual, --virtual=fibers; docs/user/virtual.md). The ranks may be of one
 * program or of several (sennit run --apart): a simulation exports its field, an analysis reads it.
 *
 * The functions live in libsennit-export.so (pkg-config sennit-export). None sets errno; all may be
 * called from any thread. Those that wait block the calling thread, and leave its core to others.
 *
 * What an exporter has written before sennit_publish is seen by who has got that version from
 * sennit_range_get or sennit_range_wait. Who reads while the exporter writes reads nonsense: let
 * the reader export a range of its own, too, and publish it when it has read; the exporter waits
 * for that version.
 */
#ifndef SENNIT_EXPORT_H
#define SENNIT_EXPORT_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum sennit_export_error {
    SENNIT_EXPORT_SUCCESS = 0,
    SENNIT_EXPORT_PARAMETER = 1,   /* a null pointer, no bytes, a name that is empty or too long */
    SENNIT_EXPORT_NOT_VIRTUAL = 2, /* this process has its memory for itself: --virtual is missing,
                                      or it is a child that a rank has forked */
    SENNIT_EXPORT_EXISTS = 3,      /* a rank exports a range of that name */
    SENNIT_EXPORT_FULL = 4,        /* SENNIT_EXPORT_MOST ranges are exported */
    SENNIT_EXPORT_NOT_THERE = 5,   /* no rank exports that name, nor has done so in time */
    SENNIT_EXPORT_NOT_OWN = 6,     /* it is another rank's range */
    SENNIT_EXPORT_ENDED = 7,       /* its exporter has taken it back, or has ended */
    SENNIT_EXPORT_UNCHANGED = 8    /* no newer version was published in time */
};

#define SENNIT_EXPORT_LONGEST_NAME 63
#define SENNIT_EXPORT_MOST 1024 /* ranges of one address space */

/* A range, for all ranks of the address space. Never used again for another one. */
typedef uint64_t sennit_range;

/* From now on others find these bytes by `name`. They have to stay where they are until the range
 * is taken back. Errors: PARAMETER, NOT_VIRTUAL, EXISTS, FULL. */
int sennit_export(const char *name, void *address, uint64_t bytes, sennit_range *range);
/* What it holds now is the next version (the first one is 1): who waits for it goes on. Only the
 * exporter. Errors: NOT_VIRTUAL, NOT_OWN, ENDED. */
int sennit_publish(sennit_range range);
/* Take it back. Others get ENDED from then on; who may still read is not waited for. Only the
 * exporter. A rank that ends, in whatever way, takes back all of its own; its memory stays until
 * the last rank of the address space ends, but for its first stack. Errors: as of sennit_publish.
 */
int sennit_unexport(sennit_range range);

/* The range of that name; it is waited for as long as wait_ns: 0: not at all, negative: for ever.
 * Errors: PARAMETER, NOT_VIRTUAL, NOT_THERE. */
int sennit_import(const char *name, int64_t wait_ns, sennit_range *range);

struct sennit_range_state {
    void *address;
    uint64_t bytes;
    uint64_t version; /* 0: nothing was published yet */
    int64_t exporter; /* its process number */
};
/* A few loads: look whenever you like whether it is still there. Errors: PARAMETER, NOT_VIRTUAL,
 * ENDED. */
int sennit_range_get(sennit_range range, struct sennit_range_state *state);
/* Wait, as sennit_import does, until a version newer than `seen` was published; *version (may be
 * null) is the newest. Errors: NOT_VIRTUAL, UNCHANGED, ENDED. */
int sennit_range_wait(sennit_range range, uint64_t seen, int64_t wait_ns, uint64_t *version);

#ifdef __cplusplus
}
#endif
#endif
