# SPDX-License-Identifier: Apache-2.0
"""How well could the nodes of a `sennit bench front` have been balanced, if all loads had been known?

`front --loads FILE` writes what each domain cost in each step. Here, domains are assigned to nodes once
for a period, with the loads of that period: first those that the front is in, the heaviest first, each to
the node that has least in the steps in which the domain is heavy; then single domains change nodes as long as
that helps. Nobody can be perfect here (it is bin packing), so the true bound may be lower still.
"""

import array
import pathlib

PASSES = 3  # over all domains that the front is in


def read(path, domains):
    """[step][domain] seconds"""
    numbers = array.array("f")
    numbers.frombytes(pathlib.Path(path).read_bytes())
    return [numbers[at:at + domains] for at in range(0, len(numbers), domains)]


def most_and_all(steps, nodes):
    """Of one period, with its best assignment: sums over the steps of the node that has most, and of all work."""
    domains = range(len(steps[0]))
    least = [min(step[domain] for step in steps) for domain in domains]
    courses = [[(at, step[domain] - least[domain]) for at, step in enumerate(steps) if step[domain] > 1.5 * least[domain]]
               for domain in domains]
    extra = [sum(load for _, load in course) for course in courses]
    work = [[0.0] * len(steps) for _ in range(nodes)]

    def rise(node, course):
        """of the sum of squares"""
        return sum(load * (2 * work[node][at] + load) for at, load in course)

    def add(node, course, sign=1):
        for at, load in course:
            work[node][at] += sign * load

    node_of = {}
    struck = sorted((domain for domain in domains if courses[domain]), key=lambda domain: -extra[domain])
    for number in range(1 + PASSES):
        for domain in struck:
            if number:
                add(node_of[domain], courses[domain], -1)
            node_of[domain] = min(range(nodes), key=lambda node: rise(node, courses[domain]))
            add(node_of[domain], courses[domain])
    always = [0.0] * nodes  # what domains cost in each step
    for domain, node in node_of.items():
        always[node] += least[domain]
    for domain in sorted((domain for domain in domains if domain not in node_of), key=lambda domain: -least[domain]):
        always[always.index(min(always))] += least[domain]
    most = sum(max(always[node] + work[node][at] for node in range(nodes)) for at in range(len(steps)))
    return most, sum(always) * len(steps) + sum(map(sum, work))


def imbalance(loads, nodes, period, count_from):
    """Percent, as the program counts it: steps weigh by their work."""
    periods = [loads[at:at + period] for at in range(count_from, len(loads), period)]
    most, work = map(sum, zip(*(most_and_all(steps, nodes) for steps in periods)))
    return 100 * (most * nodes / work - 1)
