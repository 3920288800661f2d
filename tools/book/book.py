#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes a book of the docs, which is read without a network: the pages, the tables of docs/results/*.json, the public
headers, and the sources that pages link to. Its search works in a browser that opens build/book/html/README.html.

Sphinx is installed into a virtual environment beside it, of the versions and hashes in requirements.txt. A link that
leads nowhere, a page that no table of contents has, and a script, style or picture of another machine fail.

usage: book.py --source FOLDER --output FOLDER [--install-only]
"""

import argparse
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import venv

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
import headers

LINK = re.compile(r"\]\(([^)\s]+)\)")
PICTURES = (".png", ".svg")
LANGUAGES = {".c": "c", ".h": "c", ".cpp": "cpp", ".py": "python", ".F90": "fortran", ".f90": "fortran"}
REMOTE = re.compile(r"""<(?:script|link|img|iframe|source)\b[^>]*?(?:src|href)\s*=\s*["']?(?:https?:)?//[^>]*>"""
                    r"""|url\(\s*["']?(?:https?:)?//[^)]*\)|@import\s+["'](?:https?:)?//[^;]*""")
# Parts of the book. The order of the user's pages is that of the table in README.md.
PARTS = {
    "What it does": ["docs/status", "docs/performance", "docs/mpi-faults", "docs/papers", "docs/soundness", "CHANGELOG"],
    "Change it": ["CONTRIBUTING", "docs/architecture", "docs/decisions", "docs/dev/*"],
    "Look up": ["include/index", "docs/results/index"],
}


def environment_of(output):
    """the virtual environment with Sphinx; made, unless it is there"""
    folder, wanted = output / "environment", (HERE / "requirements.txt").read_text()
    done = folder / "requirements.txt"
    if not done.exists() or done.read_text() != wanted:
        venv.create(folder, clear=True, with_pip=True)
        subprocess.run([folder / "bin/python3", "-m", "pip", "install", "--quiet", "--disable-pip-version-check",
                        "--require-hashes", "--only-binary", ":all:", "--requirement", HERE / "requirements.txt"], check=True)
        done.write_text(wanted)
    return folder


def table_of(entry):
    """Markdown of one table of a file of results, with what is said of it"""
    heading = f"## {entry['heading']}" if "heading" in entry else ""
    command = "\n".join(f"    {line}" for line in entry.get("command", "").splitlines())
    lines = [f"| {' | '.join(row)} |" for row in [entry.get("columns", []), *entry.get("rows", [])] if row]
    lines[1:1] = [f"|{' --- |' * len(entry['columns'])}"] if lines else []
    return [part for part in (heading, entry.get("notes", ""), command, "\n".join(lines)) if part]


def page_of_results(path):
    parts = [f"# {path.name}"]
    for entry in json.loads(path.read_text()):
        parts += [part for part in table_of(entry) if part != parts[-1]]
    return "\n\n".join(parts) + "\n"


def page_of_source(path):
    return f"# {path.name}\n\n```{LANGUAGES.get(path.suffix, 'text')}\n{path.read_text()}\n```\n"


class Book:
    """A folder with all pages, each where it is in the sources, so that links lead where they do there."""

    def __init__(self, source, folder):
        self.source = source
        self.folder = folder
        self.linked = set()  # files that are no pages

    def put(self, name, text):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def follow(self, page, match):
        """A link to a source, a header or results leads to its page."""
        target = match[1]
        path = (page.parent / target).resolve()
        if not path.is_file() or path.suffix in (".md", *PICTURES) or not path.is_relative_to(self.source):
            return match[0]
        self.linked.add(path)
        return f"]({target}.md)"

    def order(self, readme):
        """the user's pages"""
        return list(dict.fromkeys(re.findall(r"\]\((docs/user/[\w-]+)\.md", readme)))

    def contents(self, readme):
        parts = {"Use it": self.order(readme), **PARTS}
        for caption, pages in parts.items():
            listed = "\n".join(pages)
            yield f"```{{toctree}}\n:hidden:\n:glob:\n:maxdepth: 1\n:caption: {caption}\n\n{listed}\n```\n"

    def add_index(self, name, title, told, pages):
        """a page that lists others: name -> what it is"""
        rows = "".join(f"| [{page}]({page}.md) | {pages[page]} |\n" for page in pages)
        listed = "\n".join(pages)
        self.put(name, f"# {title}\n\n{told}\n\n| | |\n| --- | --- |\n{rows}\n```{{toctree}}\n:hidden:\n\n{listed}\n```\n")

    def add_pages(self):
        pages = [self.source / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")]
        for page in [*pages, *sorted((self.source / "docs").rglob("*.md"))]:
            text = LINK.sub(lambda match, page=page: self.follow(page, match), page.read_text())
            if page.name == "README.md":
                text += "\n" + "\n".join(self.contents(text))
            self.put(page.relative_to(self.source), text)
        for picture in (self.source / "docs").rglob("*"):
            if picture.suffix in PICTURES:
                to = self.folder / picture.relative_to(self.source)
                to.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(picture, to)

    def add_results(self):
        files = sorted((self.source / "docs/results").glob("*.json"))
        for path in files:
            self.put(f"docs/results/{path.name}.md", page_of_results(path))
        self.add_index("docs/results/index.md", "Results", "The tables behind [performance](../performance.md).",
                       {path.name: "; ".join(entry["heading"] for entry in json.loads(path.read_text())[:1]
                                             if "heading" in entry) for path in files} |
                       {path.stem: path.read_text().splitlines()[0].removeprefix("# ")
                        for path in sorted((self.source / "docs/results").glob("*.md"))})

    def add_headers(self):
        files = {path.relative_to(self.source / "include"): path for path in sorted((self.source / "include").rglob("*.*"))}
        for name, path in files.items():
            self.put(f"include/{name}.md", headers.page_of(path))
        self.add_index("include/index.md", "Headers", "What a program may call. [MPI in tasks](../docs/user/mpi.md), [objects]"
                       "(../docs/user/objects.md) and [share a node](../docs/user/node.md) say what for.",
                       {str(name): headers.summary_of(path) for name, path in files.items()})

    def add_sources(self):
        """Those that pages link to."""
        for path in sorted(self.linked):
            name = f"{path.relative_to(self.source)}.md"
            if not (self.folder / name).exists():
                self.put(name, "---\norphan: true\n---\n" + page_of_source(path))

    def stage(self):
        shutil.rmtree(self.folder, ignore_errors=True)
        self.add_pages()
        self.add_results()
        self.add_headers()
        self.add_sources()


def remote_parts(folder):
    """what a browser would fetch from elsewhere, as lines"""
    for path in sorted(folder.rglob("*")):
        if path.suffix in (".html", ".css"):
            for found in REMOTE.findall(path.read_text(errors="replace")):
                yield f"{path.relative_to(folder)}: {found}"


def render(environment, pages, html):
    """True: Sphinx has no complaint, and nothing is fetched."""
    shutil.rmtree(html, ignore_errors=True)
    done = subprocess.run([environment / "bin/sphinx-build", "-q", "-W", "--keep-going", "-j", "2", "-d",
                           pages.parent / "doctrees", "-c", HERE, pages, html], check=False)
    wrong = list(remote_parts(html))
    for line in wrong:
        print(f"book: of another machine: {line}", file=sys.stderr)
    return done.returncode == 0 and not wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--source", type=pathlib.Path, required=True)
    parser.add_argument("--output", type=pathlib.Path, required=True)
    parser.add_argument("--install-only", action="store_true", help="only Sphinx")
    options = parser.parse_args()
    output = options.output.resolve()
    environment = environment_of(output)
    if options.install_only:
        return 0
    book = Book(options.source.resolve(), output / "pages")
    book.stage()
    if not render(environment, book.folder, output / "html"):
        return 1
    print(f"{os.path.relpath(output / 'html' / 'README.html')}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
