/* SPDX-License-Identifier: Apache-2.0
 *
 * dlb_errors.h - what the calls of dlb.h and its sisters return. */
#ifndef SENNIT_DLB_ERRORS_H
#define SENNIT_DLB_ERRORS_H

enum DLBErrorCodes {
    DLB_NOUPDT = 2, /* nothing to do */
    DLB_NOTED = 1,
    DLB_SUCCESS = 0,
    DLB_ERR_UNKNOWN = -1,
    DLB_ERR_NOINIT = -2,
    DLB_ERR_INIT = -3, /* twice */
    DLB_ERR_DISBLD = -4,
    DLB_ERR_NOSHMEM = -5, /* in no pool */
    DLB_ERR_NOPROC = -6,
    DLB_ERR_PDIRTY = -7,
    DLB_ERR_PERM = -8,
    DLB_ERR_TIMEOUT = -9,
    DLB_ERR_NOCBK = -10,
    DLB_ERR_NOENT = -11,
    DLB_ERR_NOCOMP = -12,
    DLB_ERR_REQST = -13,
    DLB_ERR_NOMEM = -14,
    DLB_ERR_NOPOL = -15,  /* Sennit has nothing like it */
    DLB_ERR_NOTALP = -16, /* Sennit does not measure that */
    DLB_ERR_NOLEWI = -17,
    DLB_ERR_NOMNGO = -18
};

#endif
