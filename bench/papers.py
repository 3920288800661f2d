#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The figures and tables of the five papers beside ours: a page of Markdown, a page of HTML, and the numbers as JSON.

usage: sennit bench papers [--quick] [--only FIGURE,FIGURE] [--output FOLDER]

For each figure: what the paper says, its number, ours (median, least and greatest of the rounds), a verdict, which
follows from the numbers, and plots. Times are measured here. What the papers ran on a cluster is simulated: those numbers come from
the results of the bench that is named. With --only, the other figures keep the numbers of papers.json. With --quick each
program runs once at a tiny size: this shows that all is there, and its times say nothing."""

import argparse
import html
import os
import pathlib
import sys

import cells
import machine
import paper_plots
import paper_runs
import report
import tables
from paper_figures import FIGURES, PAPERS
from paper_verdicts import NOT_EXAMINED, NOT_SHOWN, contradicted, judge, verdict

HERE = pathlib.Path(__file__).resolve().parent
PLOTS = "papers"  # the folder beside the page
COLUMNS = ("the paper says", "paper", "ours", "verdict")


def results_folder():
    """Of the sources; of the copies beside this script, if it was copied into a build."""
    sources = HERE.parent / "docs/results"
    return sources if sources.is_dir() else HERE / "results"


def rows_of(judgements):
    return [[one.claim.says, one.claim.theirs_text(), one.ours_text(), one.verdict + (f": {one.why}" if one.why else "")]
            for one in judgements]


def judged(found):
    """[(figure, its judgements)]; found: {key: what was measured}"""
    return [(figure, [judge(claim, *(found[figure.key][name] for name in ("values", "quick"))) if figure.key in found
                      else judge(claim, None) for claim in figure.claims]) for figure in FIGURES]


def why_not(judgements):
    """Of a figure that is not shown."""
    if behind := contradicted(judgements):
        return f"{len(behind)} of {len(judgements)} sentences come out another way"
    return next(one.why for one in judgements if one.verdict == NOT_SHOWN)


def verdict_text(judgements):
    found = verdict(judgements)
    return f"{found}: {why_not(judgements)}" if found == NOT_SHOWN else found


def contradictions(pairs):
    """The sentences that ours contradicts, and why, as far as somebody has looked."""
    return [f"{figure.paper}, {figure.name}: “{one.claim.says}”. Paper {one.claim.theirs_text()}, ours {one.ours_text()}: {one.why}. "
            f"Why: {one.claim.because or NOT_EXAMINED}"
            for figure, judgements in pairs for one in contradicted(judgements)]


def results_of(pairs, found, notes):
    """The tables of papers.json, in the form of the other files of results."""
    results = [{"heading": "The papers' figures beside ours", "notes": "\n".join(notes)}]
    for figure, judgements in pairs:
        one = {"heading": f"{figure.paper}, {figure.name}", "command": figure.command,
               "notes": f"{figure.shows}: {verdict_text(judgements)}.", "columns": list(COLUMNS), "rows": rows_of(judgements)}
        if figure.key in found:
            one["figure"] = found[figure.key]
        if others := contradicted(judgements):
            one["because"] = {other.claim.says: other.claim.because or NOT_EXAMINED for other in others}
        results.append(one)
    return results


def markdown(pairs, found, notes):
    parts = ["# The papers' figures beside ours", "`sennit bench papers` writes this page. Verdicts follow from the numbers.",
             "\n".join(f"- {note}" for note in notes)]
    for paper in PAPERS:
        own = [(figure, judgements) for figure, judgements in pairs if figure.paper == paper]
        parts.append(f"## {paper}")
        for figure, judgements in own:
            parts += [f"### {figure.name}", f"{figure.shows[0].upper()}{figure.shows[1:]}. **{verdict_text(judgements)}**.",
                      f"    {figure.command}"]
            if known := circumstances_text(figure, found):
                parts.append(f"*{known}*")
            parts.append(report.markdown(COLUMNS, rows_of(judgements)))
            if more := paper_plots.table_of(figure.key, found):
                parts.append(report.markdown(*more))
            parts += [f"![{name.removesuffix('.svg')}]({PLOTS}/{name})" for name in paper_plots.plots_of(figure.key, found)]
    parts += ["## Sentences that ours contradicts", "\n".join(f"- {line}" for line in contradictions(pairs)) or "None."]
    return "\n\n".join(parts) + "\n"


PAGE = """<!doctype html><html lang="en"><meta charset="utf-8"><title>The papers' figures beside ours</title>
<style>body{{font:15px sans-serif;max-width:70em;margin:2em auto}}td,th{{text-align:left;padding:.2em .8em;border-bottom:1px solid #ccc}}
.better{{color:#060}}.reproduced{{color:#046}}.not{{color:#900}}</style>
<h1>The papers' figures beside ours</h1><ul>{notes}</ul>{figures}<h2>Sentences that ours contradicts</h2><ul>{lines}</ul></html>
"""


def web(pairs, found, notes):
    def items(lines):
        return "".join(f"<li>{html.escape(line)}</li>" for line in lines)

    figures = []
    for figure, judgements in pairs:
        rows = "".join("<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in row) + "</tr>" for row in rows_of(judgements))
        figures.append(f"<h2>{html.escape(figure.paper)}, {html.escape(figure.name)}</h2><p>{html.escape(figure.shows)}: "
                       f'<b class="{verdict(judgements).split()[0]}">{html.escape(verdict_text(judgements))}</b>'
                       f"</p><pre>{html.escape(figure.command)}</pre><p>{html.escape(circumstances_text(figure, found))}</p>"
                       "<table><tr>"
                       + "".join(f"<th>{name}</th>" for name in COLUMNS) + f"</tr>{rows}</table>"
                       + "".join(paper_plots.plots_of(figure.key, found).values()))
    return PAGE.format(notes=items(notes), figures="".join(figures), lines=items(contradictions(pairs)) or "<li>None.</li>")


def circumstances(run, figure, load):
    """Of a figure that has just been measured, {what: text}; load: the machine's before."""
    if figure.recorded:
        files, commits = (", ".join(sorted(set(all_of))) for all_of in zip(*run.origins))
        return {"from": files, "commit": commits}
    here = {"commit": machine.commit(HERE) or "not known", "machine": f"{machine.cpu_model()}, {paper_runs.versions.cores()} cores"}
    if figure.timed:
        here |= {"MPI": run.mpi, "rounds": str(run.rounds), "load": f"{load:.1f} before, {os.getloadavg()[0]:.1f} after"}
        if os.sched_getscheduler(0) in (os.SCHED_FIFO, os.SCHED_RR):
            here["priority"] = "real-time"
    return here


def circumstances_text(figure, found):
    """A line of the page, or nothing"""
    known = found[figure.key]["measured"] if figure.key in found else {}
    return "; ".join(f"{what}: {text}" for what, text in known.items())


def measure(run, wanted, found):
    """Fills `found`; a figure that this build cannot measure is not there."""
    for figure in FIGURES:
        if figure.key not in wanted or figure.by_hand and not figure.by_hand(run):
            continue
        found.pop(figure.key, None)
        run.origins.clear()
        load = os.getloadavg()[0]
        values = figure.values(run)
        paper_runs.say(f"{figure.key}: {'done' if values else 'this build or machine has not got what it needs'}")
        if values:
            found[figure.key] = {"key": figure.key, "measured": circumstances(run, figure, load),
                                 "quick": run.quick and figure.timed, "values": values}


def write_plots(folder, found):
    """And removes the figures' plots of before that are not drawn any more."""
    folder.mkdir(exist_ok=True)
    plots = {name: text for key in found for name, text in paper_plots.plots_of(key, found).items()}
    for name, text in plots.items():
        (folder / name).write_text(text)
    for old in folder.glob("*.svg"):
        if old.name not in plots and old.name.startswith(tuple(f"{figure.key}-" for figure in FIGURES)):
            old.unlink()


def parse(arguments):
    parser = argparse.ArgumentParser(prog="sennit bench papers", description=__doc__.splitlines()[0])
    parser.add_argument("--home", type=pathlib.Path, default=HERE.parent / "build/release", help=argparse.SUPPRESS)
    parser.add_argument("--results", type=pathlib.Path, default=results_folder(), help="what other benches wrote")
    parser.add_argument("--output", type=pathlib.Path, default=pathlib.Path("papers"), help="folder of the three files")
    parser.add_argument("--only", help=f"of {', '.join(figure.key for figure in FIGURES)}; recorded: those that run nothing")
    parser.add_argument("--quick", action="store_true", help="once at a tiny size: times say nothing")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--imb", type=pathlib.Path, metavar="PATH", help="IMB-MPI1, linked with that --mpi, for virtual-4-imb-…")
    parser.add_argument("--npb", type=pathlib.Path, metavar="FOLDER", help="NPB's OpenMP programs, for virtual-3-npb")
    parser.add_argument("--mpi", choices=("mpich", "openmpi"), default="openmpi")
    options = parser.parse_args(arguments)
    known = [figure.key for figure in FIGURES]
    recorded = [figure.key for figure in FIGURES if figure.recorded]
    options.wanted = known if not options.only else [key for word in options.only.split(",")
                                                     for key in (recorded if word == "recorded" else [word])]
    if unknown := [key for key in options.wanted if key not in known]:
        parser.error(f"no figure {unknown[0]}; there are {', '.join(known)}")
    for path in (options.imb, options.npb):
        if path and not path.exists():
            parser.error(f"there is no {path}")
    if options.rounds < 1:
        parser.error("--rounds: at least 1")
    return options


def main(arguments=None):
    options = parse(arguments)
    build = options.home.resolve()
    run = paper_runs.Run(build, options.results, options.mpi, 1 if options.quick else options.rounds, options.quick,
                         options.imb and options.imb.resolve(), options.npb and options.npb.resolve())
    file = options.output / "papers.json"
    by_hand = [figure.key for figure in FIGURES if figure.by_hand]
    found = {key: one for key, one in paper_runs.kept(file).items() if options.only or key in by_hand}
    measure(run, options.wanted, found)
    notes = ["Ours are quotients or numbers as the paper has them: median [least – greatest] of the rounds",
             "*Reproduced*: within 5% of the paper's number, or the paper's order in 3 of 4 rounds",
             "Load: the machine's, of the last minute. A commit that is `before` another one is not known better: that other one "
             "has the numbers first"]
    pairs = judged(found)
    options.output.mkdir(parents=True, exist_ok=True)
    file.write_text(tables.text_of(results_of(pairs, found, notes)))
    (options.output / "papers.md").write_text(markdown(pairs, found, notes))
    (options.output / "papers.html").write_text(web(pairs, found, notes))
    write_plots(options.output / PLOTS, found)
    for figure, judgements in pairs:
        print(f"{figure.paper}, {figure.name}: {verdict_text(judgements)}")


if __name__ == "__main__":
    try:
        main()
    except cells.BenchError as error:
        sys.exit(f"sennit bench papers: {error}")
