# SPDX-License-Identifier: Apache-2.0
"""More ranks than cores: bare MPICH, bare Open MPI, which then yields, and each under Sennit. Every
way of a row is run in each round, in an order of its own: what is compared was measured within the same
seconds. A run prints the best of five repetitions; the table has the median of the rounds, and
their least and greatest."""

import random
import subprocess

import kernels
import lending
import machine
import moves
import report
import small_collectives
import two_programs

RANKS = (4, 8, 16)
# Repetitions of a row: what is bare and spins takes milliseconds each.
ROWS = {"hop": ("a token that goes from rank to rank", 1024, 32), "allreduce": ("MPI_Allreduce of one double", 512, 16),
        "halo": ("some 100 us of work, then 4 KiB to and from both neighbours", 256, 32)}
WAIT_MS = 2000
WAYS = ("MPICH", "MPICH, Sennit", "Open MPI", "Open MPI, Sennit")


def command(build, way, row, ranks, count):
    mpi = "mpich" if way.startswith("MPICH") else "openmpi"
    program = [str(build / f"bench/gcc-{mpi}/crowd"), row, str(count)]
    if way.endswith("Sennit"):
        return [str(build / "bin/sennit"), "run", "--mpi", mpi, "-n", str(ranks), "--threads", "1", *program]
    if mpi == "mpich":
        return ["mpiexec.mpich", "-n", str(ranks), *program]
    return ["mpiexec.openmpi", "--allow-run-as-root", "--oversubscribe", "-n", str(ranks), *program]


def run_once(build, way, row, ranks, timeout):
    """Microseconds, or for `wait` a part of a core; None: it took too long."""
    few = way == "MPICH"
    count = WAIT_MS if row == "wait" else max(ROWS[row][2 if few else 1], ranks)
    environment = machine.plain_environment()
    try:
        done = subprocess.run(command(build, way, row, ranks, count), capture_output=True, text=True, env=environment,
                              timeout=timeout, check=False)
    except subprocess.TimeoutExpired:
        return None
    return int(done.stdout) / 1000 if done.returncode == 0 else None


def measure(build, rounds, seed, timeout, progress):
    order = random.Random(seed)
    cells = {(row, ranks): {way: [] for way in WAYS} for row in ROWS for ranks in RANKS}
    for number in range(rounds):
        places = list(cells)
        order.shuffle(places)
        for row, ranks in places:
            for way in order.sample(WAYS, len(WAYS)):
                cells[row, ranks][way].append(run_once(build, way, row, ranks, timeout))
        progress(f"round {number + 1} of {rounds}")
    return cells


def waiting(build, rounds, seed, timeout, progress):
    """How much of a core a rank takes that waits for a message, from the call on; of the ranks the one that takes
    most. A bare rank would like all of it, and gets what the others leave."""
    order = random.Random(seed)
    cells = {ranks: {way: [] for way in WAYS} for ranks in RANKS}
    for number in range(rounds):
        for ranks, ways in cells.items():
            for way in order.sample(WAYS, len(WAYS)):
                took = run_once(build, way, "wait", ranks, timeout)
                if took is not None:
                    ways[way].append(100 * took)
        progress(f"waiting: round {number + 1} of {rounds}")
    lines = [[ranks, *(report.median_text(values, "{:.1f}") for values in ways.values())]
             for ranks, ways in cells.items()]
    return "\n\n".join(["## A rank that waits", " ".join(waiting.__doc__.split()) + " Percent of a core.",
                        report.markdown(["ranks", *WAYS], lines)])


def table(cells):
    lines = []
    for (row, ranks), ways in cells.items():
        def ratio(one, other, form):
            both = [(a, b) for a, b in zip(ways[one], ways[other]) if a is not None and b is not None]
            return report.median_text([a / b for a, b in both], form)
        lines.append([row, ranks, *(report.median_text([took for took in values if took is not None], "{:.1f}")
                                    for values in ways.values()),
                      ratio("MPICH", "MPICH, Sennit", "{:.0f}"), ratio("Open MPI, Sennit", "Open MPI", "{:.2f}")])
    return report.markdown(["row", "ranks", *WAYS, "MPICH: bare by Sennit", "Open MPI: Sennit by bare"], lines)


def page(build, facts, notes, rounds, seed, timeout, progress):
    cells = measure(build, rounds, seed, timeout, progress)
    parts = ["# More ranks than cores", "\n".join(f"- {name}: {text}" for name, text in facts),
             "\n".join(f"**{note}**" for note in notes), " ".join(__doc__.split()),
             "\n".join(f"- {row}: {what[0]}" for row, what in ROWS.items()) + "\n\nMicroseconds.", table(cells),
             waiting(build, rounds, seed, timeout, progress),
             small_collectives.section(build, rounds, seed, timeout, progress),
             kernels.section(build, rounds, seed, timeout, progress),
             lending.section(build, ("mpich", "openmpi"), rounds, seed, timeout, progress),
             two_programs.section(build, ("mpich", "openmpi"), rounds, seed, timeout, progress),
             moves.section(build, rounds, timeout, progress)]
    return "\n\n".join(part for part in parts if part) + "\n"
