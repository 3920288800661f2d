#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Pictures of a page of `sennit report`: light and dark, wide and on a phone, and zoomed in. docs/results/demo has
those that the docs show.

usage: screenshots.py build/demo/policies.html build/demo/policies"""

import sys

import browser


def main(page, prefix):
    with browser.Browser() as window:
        for name, width, height, scale in (("1280", 1280, 1215, 1), ("phone", 390, 1640, 1)):
            for theme in ("light", "dark"):
                window.resize(width, height, scale, touch=name == "phone")
                window.open(page, f"#theme={theme}")
                window.screenshot(f"{prefix}-{name}-{theme}.png")
        window.resize(1280, 1060, 1)
        window.open(page, "#theme=light&from=.30&to=.34")
        window.screenshot(f"{prefix}-1280-zoom.png")
        assert not window.errors, window.errors


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(*sys.argv[1:])
