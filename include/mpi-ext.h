/* SPDX-License-Identifier: Apache-2.0
 *
 * mpi-ext.h - extensions of MPI by the name that Open MPI gives this header: what the MPI has, and
 * continuations.
 */
#ifndef SENNIT_MPI_EXT_H
#define SENNIT_MPI_EXT_H

#include <mpi.h>

#if defined __has_include_next
#if __has_include_next(<mpi-ext.h>)
#include_next <mpi-ext.h>
#endif
#endif

#ifndef OMPI_HAVE_MPI_EXT_CONTINUE
#define OMPI_HAVE_MPI_EXT_CONTINUE 1
#include <mpix_continue.h>
#endif

#endif
