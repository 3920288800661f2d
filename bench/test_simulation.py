#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""bench/simulation.py writes a section over the one of its heading, and leaves all others alone."""
import simulation

PAGE = """# Page

Intro.

## Paper: old title

old

### Part of it

old too

## Simulated against measured

by another command

## Speed

old
"""

EXPECTED = """# Page

Intro.

## Paper: new title

new

## Fresh

one

## Simulated against measured

by another command

## Speed

fast
"""

NEW = "## Paper: new title\n\nnew\n\n## Fresh\n\none\n\n## Speed\n\nfast\n\n"
assert simulation.updated(PAGE, NEW) == EXPECTED, simulation.updated(PAGE, NEW)
assert simulation.updated(EXPECTED, NEW) == EXPECTED, "not the same when it is written again"
assert simulation.updated(PAGE, "# Page\n\nOther intro.\n") == PAGE.replace("Intro.", "Other intro.")
