/* SPDX-License-Identifier: Apache-2.0
 *
 * mpi-detach.h - mpix_detach.h by the name that the authors of MPI detach give it.
 */
#include "mpix_detach.h"
