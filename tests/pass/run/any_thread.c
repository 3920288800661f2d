/* SPDX-License-Identifier: Apache-2.0
 * Tied tasks that know no thread go on on another one, while the one that began them computes. */
// set: SENNIT_UNTIED=anywhere
#define UNTIED
#define CHECK_THREAD(is_first)
#include "../../mpi/programs/untied.c"
