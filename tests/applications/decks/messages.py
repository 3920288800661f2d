# SPDX-License-Identifier: Apache-2.0
"""Arrays go around a ring; sums and pickled objects are collected."""
from mpi4py import MPI
import numpy

comm = MPI.COMM_WORLD
rank, size = comm.rank, comm.size
sent = numpy.arange(1000, dtype="d") + rank
got = numpy.empty_like(sent)
for _ in range(50):
    comm.Sendrecv(sent, (rank + 1) % size, 0, got, (rank - 1) % size, 0)
    sent[:] = got
    total = comm.allreduce(float(sent.sum()))
objects = comm.gather({"rank": rank, "sum": total})
if rank == 0:
    print("final", sum(each["sum"] for each in objects), size)
