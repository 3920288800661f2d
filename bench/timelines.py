# SPDX-License-Identifier: Apache-2.0
"""When the threads of a job compute, from the Paraver files that `sennit report --paraver` writes of its trace. Used by
paper_runs.py, for the timelines of the paper on task-aware MPI (Figure 10)."""

import pathlib
import re
import subprocess

PROGRAM = 15  # a state: the program outside of tasks
TASK, CALL = 60000001, 50000001  # types of events: the function of a task, an MPI call; 0: it is over
PAUSE = .002  # of a run's time: less is no pause
BLOCK = .001  # of what a thread does outside of tasks and MPI: less is no block of the grid


def names_of(pcf, kind):
    """{number: name} of a type of events"""
    values = pcf.partition(f"    {kind}\nVALUES\n")[2].partition("\n\n")[0]
    return {int(number): name for number, name in re.findall(r"^([1-9]\d*) +(.*)$", values, re.M)}


def without(spans, others):
    """What of the spans is in none of the others; both by begin, each free of overlaps."""
    left, at = [], 0
    for begin, end in spans:
        while at < len(others) and others[at][1] <= begin:
            at += 1
        for other_begin, other_end in others[at:]:
            if other_begin >= end:
                break
            if other_begin > begin:
                left.append((begin, other_begin))
            begin = max(begin, other_end)
        if begin < end:
            left.append((begin, end))
    return left


def merged(spans, gap=0):
    """Spans that overlap, or have less than a gap between them, are one."""
    joined = []
    for begin, end in sorted(spans):
        if joined and begin - joined[-1][1] <= gap:
            joined[-1] = (joined[-1][0], max(end, joined[-1][1]))
        else:
            joined.append((begin, end))
    return joined


def read(sennit, folder):
    """The timeline of folder/trace."""
    subprocess.run([sennit, "report", f"{folder}/trace", "--paraver", f"{folder}/lines"], capture_output=True, text=True, check=True,
                   timeout=120)
    return Timeline(*(pathlib.Path(folder, f"lines.{end}").read_text() for end in ("prv", "pcf")))


def length_of(spans):
    return sum(end - begin for begin, end in spans)


class Records:
    """Of a .prv file, by (rank, thread): `program`, spans outside of tasks; `calls` and `tasks`, by name and then in order; and
    `received`: by rank, when messages were there."""

    def __init__(self, prv, pcf):
        self.program, self.calls, self.tasks, self.received = {}, {}, {}, {}
        kinds = {TASK: (names_of(pcf, "Task"), self.tasks), CALL: (names_of(pcf, "MPI call"), self.calls)}
        begun = {}
        for line in prv.splitlines()[1:]:
            kind, _cpu, _application, rank, thread, *rest = map(int, line.split(":"))
            row = rank - 1, thread - 1
            if kind == 1 and rest[2] == PROGRAM:
                self.program.setdefault(row, []).append((rest[0], rest[1]))
            if kind == 3:
                self.received.setdefault(rest[4] - 1, []).append(rest[7])
            for what, value in zip(rest[1::2], rest[2::2]) if kind == 2 else ():
                if what in kinds and value:
                    begun[row, what] = rest[0], kinds[what][0][value]
                elif what in kinds and (row, what) in begun:
                    start, name = begun.pop((row, what))
                    kinds[what][1].setdefault(row, {}).setdefault(name, []).append((start, rest[0]))


class Timeline:
    """Of the part of a run between its first two barriers. Times are ns since the first one; `rows`: by (rank, thread), the spans
    in which it computes. These are the tasks of the function that takes longest; of a program without tasks they are its time
    outside of MPI, once it has got a message."""

    def __init__(self, prv, pcf):
        records = Records(prv, pcf)
        barriers = {rank: own["MPI_Barrier"] for (rank, _), own in records.calls.items() if "MPI_Barrier" in own}
        begin, end = (max(own[at][1] for own in barriers.values()) for at in (0, 1))
        self.length = end - begin
        took = {}
        for own in records.tasks.values():
            for name, spans in own.items():
                took[name] = took.get(name, 0) + length_of(spans)
        self.rows = {}
        for row in sorted({*records.program, *records.tasks}):
            if took:  # a suspended call is no time of its thread, so calls do not count
                spans = merged(records.tasks.get(row, {}).get(max(took, key=took.get), []))
            else:
                calls = merged(span for own in records.calls.get(row, {}).values() for span in own)
                first = min((at for at in records.received[row[0]] if at > barriers[row[0]][0][1]), default=end)
                spans = [span for span in without(merged(records.program[row]), calls) if span[0] >= first]
            inside = [(max(0, first - begin), min(last, end) - begin) for first, last in spans if first < end and last > begin]
            least = 0 if took else BLOCK * length_of(inside)
            self.rows[row] = [(first, last) for first, last in inside if last - first > least]

    def of_rank(self, rank):
        """When any of its threads computes."""
        return merged(span for (own, _), spans in self.rows.items() if own == rank for span in spans)

    def spans(self, rank):
        """When it computes, short pauses left out."""
        return merged(self.of_rank(rank), self.length * PAUSE)

    def last_rank_starts(self):
        return self.of_rank(max(rank for rank, _ in self.rows))[0][0]

    def first_rank_pauses(self):
        """The end of what the first rank computes when the last one starts, or has computed then."""
        starts = self.last_rank_starts()
        return max((end for begin, end in self.spans(0) if begin < starts), default=starts)

    def together(self):
        """The part of the time in which the first two ranks compute at once."""
        first = self.of_rank(0)
        return (length_of(first) - length_of(without(first, self.of_rank(1)))) / self.length
