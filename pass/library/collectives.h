/* SPDX-License-Identifier: Apache-2.0
 *
 * What a program that is compiled with -sennit-collectives calls in place of MPI_Bcast and its
 * like, three functions for each:
 *
 *     sennit_pass_Bcast        what MPI_Bcast does
 *     sennit_pass_start_Bcast  it is waited for later: with a batch (batch.h) before the arguments
 *     sennit_pass_bound_Bcast  the task that calls it ends without waiting for it, under Sennit
 *
 * Before a start, sennit_pass_part and sennit_pass_parts say what memory it uses.
 *
 * All three call the non-blocking form, or all three the blocking one: MPI does not match the two.
 */
#pragma once

#include "batch.h"

#ifdef __cplusplus
extern "C" {
#endif

/* `count` elements, at this rank or, with `by_rank`, for each; `root`: the rank whose memory it is,
 * -1: everybody's. */
void sennit_pass_part(struct sennit_pass_batch *batch, const void *memory, int count, long type,
                      int by_rank, int root, int receives, long communicator);
/* For each rank a number of elements, and a place. */
void sennit_pass_parts(struct sennit_pass_batch *batch, const void *memory, const int *counts,
                       const int *places, long type, int root, int receives, long communicator);

/* Is every collective call of the loaded objects one of these? As it was when this object was
 * loaded, so it is alike on all ranks of a program. */
int sennit_pass_moves_collectives(void);
/* Who calls a blocking one; "": the program itself. Null: nobody, or it is known already. */
const char *sennit_pass_new_blocking_caller(void);

#ifdef __cplusplus
}
#endif
