# SPDX-License-Identifier: Apache-2.0
# script: tools.live_page_browser timeout=180 skip=77 -- {sennit} {member} {programs}/dlb_calls.gcc
"""The page of `sennit top --html` in a headless Chromium follows several processes, until the last one ends.

Usage: live_page_browser_test.py SENNIT POOL-MEMBER PROGRAM     (exit code 77: no Chromium here)"""
import os
import sys
import time

import harness
from live_page_test import Server

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir, "page"))
import browser  # pylint: disable=wrong-import-position


def test_a_browser_shows_it():
    with Server(programs=2) as server, browser.Browser() as window:
        limit = time.monotonic() + harness.LIMIT

        def until(condition):
            while not window.run(condition):
                assert time.monotonic() < limit, (condition, window.errors)
                time.sleep(0.1)

        def text_of(name):
            return window.run(f"document.getElementById('{name}').textContent")

        window.call("Page.navigate", url=server.address)
        until("window.sennit !== undefined && sennit.seen.length > 3")
        first, last = server.jobs
        text = text_of("processes")
        assert str(first.pid) in text and str(last.pid) in text and text.count("dlb_calls") == 2, text
        # A line for names, two for each job: now, and since the start.
        assert window.run("document.getElementById('efficiencies').rows.length") == 5, text_of("efficiencies")
        assert window.run("document.getElementById('timeline').height") > 0
        first.communicate("\n", timeout=harness.LIMIT)
        until(f"!document.getElementById('processes').textContent.includes('{first.pid}')")
        assert str(last.pid) in text_of("processes") and not window.run("sennit.over")
        last.communicate("\n", timeout=harness.LIMIT)
        until("sennit.over")
        assert text_of("state") == "the last process has ended"
        assert window.errors == [], window.errors


if __name__ == "__main__":
    if not browser.find():
        print("no Chromium here")
        sys.exit(77)
    harness.run_tests(sys.modules[__name__])
