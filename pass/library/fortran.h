/* SPDX-License-Identifier: Apache-2.0
 *
 * Fortran's calls, in C's shape: handles are Fortran's integers, and buffers may be variables that
 * stand for MPI_BOTTOM. Statuses are laid out as C's; 1 stands for none, whatever the MPI.
 */
#pragma once

#include "batch.h"

/* As those of batch.h without fortran_. */
void sennit_pass_fortran_send(struct sennit_pass_batch *batch, void *buffer, int count, int type,
                              int to, int tag, int communicator);
void sennit_pass_fortran_receive(struct sennit_pass_batch *batch, void *buffer, int count, int type,
                                 int from, int tag, int communicator, void *status);
int sennit_pass_fortran_receive_early(struct sennit_pass_batch *batch, int may, void *buffer,
                                      int count, int type, int from, int tag, int communicator,
                                      void *status);
void sennit_pass_fortran_receive_late(struct sennit_pass_batch *batch, int started, void *buffer,
                                      int count, int type, int from, int tag, int communicator,
                                      void *status);
int sennit_pass_fortran_apart(void *buffer, int count, int type, const void *memory, long bytes,
                              long stride, unsigned long rounds, long stride_2,
                              unsigned long rounds_2, long stride_3, unsigned long rounds_3);
int sennit_pass_fortran_apart_from(void *buffer, int count, int type, void *sent, int sent_count,
                                   int sent_type);
void sennit_pass_fortran_exchange(struct sennit_pass_batch *batch, void *out, int out_count,
                                  int out_type, int to, int out_tag, void *in, int in_count,
                                  int in_type, int from, int in_tag, int communicator,
                                  void *status);

/* Calls that end tasks: what is in the slots of slots.c. The status is that of nobody. */
int sennit_pass_fortran_Isend(void *buffer, int count, int type, int to, int tag, int communicator);
int sennit_pass_fortran_Issend(void *buffer, int count, int type, int to, int tag,
                               int communicator);
int sennit_pass_fortran_Irsend(void *buffer, int count, int type, int to, int tag,
                               int communicator);
int sennit_pass_fortran_Irecv(void *buffer, int count, int type, int from, int tag,
                              int communicator, void *status);
int sennit_pass_fortran_Isendrecv(void *out, int out_count, int out_type, int to, int out_tag,
                                  void *in, int in_count, int in_type, int from, int in_tag,
                                  int communicator, void *status);
int sennit_pass_fortran_Iwait(int *request, void *status);
int sennit_pass_fortran_Iwaitall(int count, int *requests, void *statuses);
