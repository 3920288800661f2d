# SPDX-License-Identifier: Apache-2.0
"""How a figure of a paper is judged: by numbers alone. A claim is a sentence of the paper, what of ours answers it, and
a rule; a figure's verdict follows from its claims'. Nobody types a verdict. Used by papers.py; the claims are in
paper_figures.py."""

import dataclasses
import statistics
import typing

BETTER, REPRODUCED, NOT_SHOWN = "better", "reproduced", "not shown here"
# An order has to hold in so many of the rounds, or chance may have made it.
ROUNDS_IN_ORDER = 0.75
NO_NUMBER, QUICK = "ours gives no such number", "a quick run"
NOT_EXAMINED = "not examined"


def number_text(value):
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"


@dataclasses.dataclass(frozen=True)
class Claim:
    """`ours` takes the figure's values, {name: a number for each round}, and gives a number for each round.

    rule "less", "more": ours against the paper's number, and which way is better; "same": neither is. "order": ours is a
    quotient, below 1 if the order is the paper's. "drawback": a quotient that the paper has above 1, and nobody wants.
    """
    says: str
    ours: typing.Callable
    rule: str
    theirs: float = 1.0
    tolerance: float = 0.05  # of the paper's number
    because: str = ""  # why ours is another, where it is; if nobody knows, nothing

    def theirs_text(self):
        return {"order": "< 1", "drawback": "> 1"}.get(self.rule) or number_text(self.theirs)


@dataclasses.dataclass(frozen=True)
class Judgement:
    claim: Claim
    numbers: tuple
    verdict: str
    why: str = ""

    def ours_text(self):
        if not self.numbers:
            return "–"
        middle = number_text(statistics.median(self.numbers))
        return middle if len(self.numbers) == 1 else f"{middle} [{number_text(min(self.numbers))} – {number_text(max(self.numbers))}]"


def rule_of(claim, numbers):
    """(verdict, why)"""
    middle, slack = statistics.median(numbers), claim.tolerance * abs(claim.theirs)
    if claim.rule == "order":
        held = sum(number < 1 for number in numbers) / len(numbers)
        if middle < 1 and held >= ROUNDS_IN_ORDER:
            return REPRODUCED, ""
        return NOT_SHOWN, f"the order holds in {held:.0%} of the rounds"
    if claim.rule == "drawback":
        return (REPRODUCED, "") if middle > 1 + claim.tolerance else (BETTER, "ours does not have it")
    if claim.rule == "same":
        return (REPRODUCED, "") if abs(middle - claim.theirs) <= slack else (NOT_SHOWN, "ours differs")
    if claim.rule not in ("less", "more"):
        raise ValueError(f"no rule {claim.rule}")
    ahead = claim.theirs - middle if claim.rule == "less" else middle - claim.theirs
    if ahead > slack:
        return BETTER, ""
    return (REPRODUCED, "") if ahead >= -slack else (NOT_SHOWN, "ours is behind")


def judge(claim, values, quick=False):
    """The judgement of one claim; values None: the figure was not measured; quick: its times say nothing."""
    if values is None:
        return Judgement(claim, (), NOT_SHOWN, "not measured")
    try:
        numbers = tuple(claim.ours(values))
    except KeyError:  # the figure was measured before it had this case
        return Judgement(claim, (), NOT_SHOWN, "not measured yet")
    if not numbers:
        return Judgement(claim, (), NOT_SHOWN, NO_NUMBER)
    if quick:
        return Judgement(claim, numbers, NOT_SHOWN, QUICK)
    return Judgement(claim, numbers, *rule_of(claim, numbers))


def verdict(judgements):
    """Of the figure: not shown if one of its claims is not; better if one is and none is behind."""
    found = {judgement.verdict for judgement in judgements}
    if not found or NOT_SHOWN in found:
        return NOT_SHOWN
    return BETTER if BETTER in found else REPRODUCED


def contradicted(judgements):
    """The claims that were measured, and came out another way."""
    return [one for one in judgements if one.numbers and one.why and one.why != QUICK]
