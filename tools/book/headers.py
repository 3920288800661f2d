# SPDX-License-Identifier: Apache-2.0
"""A public header as a page: each comment, and the declarations that it stands above.

The headers have one comment for several declarations where these belong together. A tool that gives each declaration a
page of its own would lose it for all but the first one. So a chapter here is what lies between two comments at the margin,
as a reader of the header sees it."""
import re

# What is there for the compiler alone.
PLUMBING = re.compile(r'#\s*(?:ifndef \w+_H$|define \w+_H$|ifdef __cplusplus|include|endif|if |else)|extern "C" \{|\}$')
NAMES = re.compile(r"^(?:#define (\w+)|typedef [^{]*?\(?\*?(\w+)\)?(?:\([^{]*\))?;$|\} (\w+);|(?:enum|struct) (\w+) \{"
                   r"|[\w *]*?\b(\w+)\()")
MOST = 3  # names in a heading


def names_of(code):
    """what it declares, in order"""
    depth, names = 0, []
    for line in code:
        found = NAMES.match(line)
        if found and (depth == 0 or line.startswith("}")):
            names.append(next(filter(None, found.groups())))
        depth += line.count("{") - line.count("}")
    return list(dict.fromkeys(names))


def heading_of(code):
    names = names_of(code)
    more = ", …" if len(names) > MOST else ""
    return ", ".join(f"`{name}`" for name in names[:MOST]) + more


def escaped(line):
    """as Markdown; what is in backquotes, and code, which is indented, stays"""
    if line.startswith("    "):
        return line
    return "".join(part if part.startswith("`") else re.sub(r"([*<])", r"\\\1", part)
                   for part in re.split(r"(`[^`]*`)", line))


def prose(lines):
    return "\n".join(escaped(line) for line in lines if not line.startswith("SPDX-")).strip("\n")


def chapters(text):
    """(the lines of a comment at the margin, the lines of code below it)"""
    comment, code, inside = [], [], False
    for line in text.splitlines():
        if line.startswith("/*") and "*/" not in line[:-2]:
            yield comment, code
            comment, code, inside = [], [], True
        if inside:
            comment.append(re.sub(r"^(?:/\*| \*/?) ?|\s*\*/$", "", line))
            inside = not line.endswith("*/")
        elif not PLUMBING.match(line):
            code.append(line)
    yield comment, code


def page_of_c(text):
    parts = []
    for at, (comment, code) in enumerate(chapters(text)):
        code = "\n".join(code).strip("\n").splitlines()
        heading, told = heading_of(code), prose(comment)
        chapter = [f"## {heading}" if heading else "", told, "```c\n" + "\n".join(code) + "\n```" if code else ""]
        if at < 2:  # the file's own comment, behind what is above it
            chapter[:2] = reversed(chapter[:2])
        parts += filter(None, chapter)
    return "\n\n".join(parts)


def page_of_fortran(text):
    lines = text.splitlines()
    first = next(at for at, line in enumerate(lines) if not line.startswith("!"))
    comment = [line[1:].removeprefix(" ") for line in lines[:first]]
    return prose(comment) + "\n\n```fortran\n" + "\n".join(lines[first:]) + "\n```"


def page_of(path):
    """Markdown of a header or module"""
    text = path.read_text()
    body = page_of_fortran(text) if text.startswith("!") else page_of_c(text)
    return f"# {path.name}\n\n{body}\n"


def summary_of(path):
    """the first sentence of what it says of itself"""
    body = page_of(path).split("\n\n")[1].removeprefix(f"{path.name} - ")
    return re.split(r"(?<=[.])\s", body)[0].replace("\n", " ")
