# SPDX-License-Identifier: Apache-2.0
# script: docs.book timeout=600 -- {source} {build}
"""The book that `./dev docs` makes of the docs: it has every page, every table of results and every public header; a
link that leads nowhere fails; and nothing is fetched from elsewhere.

Without Sphinx (`./dev docs` installs it in the build folder) only the pages are made.

usage: book_test.py SOURCE BUILD"""
import contextlib
import io
import json
import pathlib
import re
import sys
import tempfile

SOURCE, BUILD = (pathlib.Path(word).resolve() for word in sys.argv[1:3])
sys.path[:0] = [str(SOURCE / "tools/book"), str(SOURCE / "tests/tools")]
import book
import harness
import headers

ENVIRONMENT = BUILD.parent / "book" / "environment"


def pages_in(folder):
    made = book.Book(SOURCE, pathlib.Path(folder) / "pages")
    made.stage()
    return made.folder


def test_it_has_every_page():
    with tempfile.TemporaryDirectory() as folder:
        pages = pages_in(folder)
        for path in [*(SOURCE / "docs").rglob("*.md"), *(SOURCE / "include").rglob("*.*"), *(SOURCE / "docs").rglob("*.json")]:
            name = str(path.relative_to(SOURCE)).removesuffix(".md") + ".md"
            assert (pages / name).exists(), name
        # Each page for users is in the table of contents, in the order of the README.
        contents = (pages / "README.md").read_text().split("```{toctree}", 1)[1]
        users = {f"docs/user/{path.stem}" for path in (SOURCE / "docs/user").glob("*.md")}
        assert users == set(re.findall(r"^docs/user/.+", contents, re.MULTILINE)), contents
        # A link to a source leads to its page.
        assert "(../../include/sennit.h.md)" in "".join(path.read_text() for path in (pages / "docs/user").glob("*.md"))
        assert (pages / "tests/mpi/programs/objects.F90.md").exists()


def test_results_are_tables():
    with tempfile.TemporaryDirectory() as folder:
        pages = pages_in(folder)
        for path in (SOURCE / "docs/results").glob("*.json"):
            text = (pages / "docs/results" / f"{path.name}.md").read_text()
            for entry in json.loads(path.read_text()):
                for row in entry.get("rows", []):
                    assert f"| {' | '.join(row)} |" in text, (path, row)


def test_headers_keep_every_declaration_and_comment():
    for path in (SOURCE / "include").rglob("*.*"):
        page = headers.page_of(path)
        for line in path.read_text().splitlines():
            words = re.sub(r"^(?:/\*| ?\*/?|!)|\*/$", "", line).strip()
            if words and not headers.PLUMBING.match(line) and "SPDX" not in line:
                assert words in page or headers.escaped(words) in page, (path, line)
    page = headers.page_of(SOURCE / "include/mpix_detach.h")
    assert re.search(r"## `MPIX_Detach`, `MPIX_Detach_status`\n\nOne request\.\n\n```c\nint MPIX_Detach\(", page), page


def test_what_is_of_another_machine_is_seen():
    with tempfile.TemporaryDirectory() as folder:
        page = pathlib.Path(folder) / "page.html"
        for wrong in ('<script async src="https://a.org/a.js"></script>', "<img src='//a.org/a.png'>",
                      '<link rel="stylesheet" href="http://a.org/a.css">', "<style>@import 'https://a.org/a';</style>",
                      "<style>a { background: url(https://a.org/a.png) }</style>"):
            page.write_text(wrong)
            assert len(list(book.remote_parts(page.parent))) == 1, wrong
        page.write_text('<a href="https://a.org"></a><script src="_static/a.js"></script><img src="a.png">')
        assert not list(book.remote_parts(page.parent))


def test_it_is_made_and_can_be_searched():
    if not (ENVIRONMENT / "requirements.txt").exists():
        print("./dev docs has installed no Sphinx: the book itself is not made")
        return
    with tempfile.TemporaryDirectory() as folder:
        html = pathlib.Path(folder) / "html"
        assert book.render(ENVIRONMENT, pages_in(folder), html)
        assert "sennit_task_self" in (html / "include/sennit.h.html").read_text()
        index = (html / "searchindex.js").read_text()
        assert "docs/user/start" in index and "include/mpix_detach.h" in index
        assert '"searchindex.js"' in (html / "search.html").read_text()  # as a script: a browser reads no other file


def test_a_link_that_leads_nowhere_fails():
    if not (ENVIRONMENT / "requirements.txt").exists():
        return
    with tempfile.TemporaryDirectory() as folder:
        pages = pathlib.Path(folder) / "pages"
        pages.mkdir()
        for link, well in (("README.md#title", True), ("none.md", False), ("README.md#none", False)):
            (pages / "README.md").write_text(f"# Title\n\nA [link]({link}).\n")
            with contextlib.redirect_stderr(io.StringIO()):
                assert book.render(ENVIRONMENT, pages, pathlib.Path(folder) / "html") == well, link


if __name__ == "__main__":
    harness.run_tests(sys.modules[__name__])
