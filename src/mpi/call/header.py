# SPDX-License-Identifier: Apache-2.0
"""What an MPI's own header declares."""

import re


class Header:
    """What an MPI declares."""

    def __init__(self, path):
        with open(path, encoding="utf-8") as header:
            text = re.sub(r"^#.*$", "", header.read(), flags=re.MULTILINE)
        text = re.sub(r"\s+", " ", text)
        standard = re.search(r"sennit_mpi_standard\[\] = \{ ?(\d+), (\d+)", text)
        self.standard = float(f"{standard.group(1)}.{standard.group(2)}")
        # The standard ABI leaves Fortran to a library of its own.
        self.has_fortran = "sennit_mpi_fortran" in text
        self.is_openmpi = "ompi_communicator_t" in text
        self.is_mpich = "sennit_mpich" in text
        self.collectives = set()  # those that have no row
        self.tampi = set(re.findall(r"\bint TAMPI_(\w+)\(", text))
        self.text = text
        self.prototypes = self.declared("MPI")

    def declared(self, prefix):
        """Functions that return an error code: name without the prefix -> list of (declaration, argument name)."""
        prototypes = {}
        for match in re.finditer(rf"\bint {prefix}_(\w+)\(([^()]*)\)", self.text):
            declarations = [part.strip() for part in match.group(2).split(",")]
            if declarations == ["void"]:
                declarations = []
            if "..." in declarations:
                continue
            names = [re.search(r"(\w+)\s*(\[[^\]]*\]\s*)*$", part).group(1)
                     for part in declarations]
            prototypes[match.group(1)] = list(zip(declarations, names))
        return prototypes

    def has_by_hand(self, name):
        """See wrap/file_queue.h."""
        return self.is_mpich and re.match(r"File_i(read|write)(_at)?_all", name)

    def makes_request(self, name):
        """Where MPI writes a request: the last argument of many calls. Others are given theirs."""
        arguments = self.prototypes[name]
        if len(arguments) < 2 or not re.match(r"MPI_Request ?\* ?\w+$", arguments[-1][0]):
            return None
        return None if arguments[-1][1].startswith("array") else arguments[-1][1]

    def declares_tampi(self, name):
        return name in self.tampi

    def has(self, name):
        return name in self.prototypes

    def has_wrong(self, name):
        """Open MPI's mix up the blocks of the two neighbors along a periodic dimension of one or two ranks, as
        the blocking forms do not (its issue 14430)."""
        return self.is_openmpi and name.startswith("Ineighbor_alltoall")

    def is_alone(self, name):
        """Open MPI's starts collectives of its own on the communicator while it is tested. Of another collective
        that is under way there, ranks would have these before it or behind it, by chance."""
        return self.is_openmpi and name.startswith("Comm_idup")
