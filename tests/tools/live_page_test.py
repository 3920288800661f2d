# SPDX-License-Identifier: Apache-2.0
# script: tools.live_page timeout=180 -- {sennit} {member} {programs}/dlb_calls.gcc
"""`sennit top --html`: what it serves, to whom, and when it ends. In a browser: live_page_browser_test.py.

Usage: live_page_test.py SENNIT POOL-MEMBER PROGRAM"""
import http.client
import json
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.parse

import harness
from pools import PROGRAMS, SENNIT, Pools

(PROGRAM,) = PROGRAMS


class Server:
    """Programs that each wait for a line, and the page of them."""

    def __init__(self, programs=1):
        self.programs = programs

    def __enter__(self):
        self.pools = Pools().__enter__()
        start = {"text": True, "env": self.pools.environment, "stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
        self.jobs = [subprocess.Popen([SENNIT, "exec", "--threads", "2", "--talp", PROGRAM, "talp"],
                                      stderr=subprocess.DEVNULL, **start) for _ in range(self.programs)]
        for job in self.jobs:
            while not job.stdout.readline().startswith("reset "):
                assert job.poll() is None
        self.top = subprocess.Popen([SENNIT, "top", "--html"], **start)
        self.address = self.top.stdout.readline().strip()
        parts = urllib.parse.urlsplit(self.address)
        assert parts.hostname == "127.0.0.1" and parts.path == "/", self.address
        self.port, self.word = parts.port, parts.query.removeprefix("word=")
        assert len(self.word) == 32, self.address
        return self

    def __exit__(self, *_):
        for process in (self.top, *self.jobs):
            process.kill()
            process.communicate()
        self.pools.__exit__()

    def ask(self, target, method="GET", **headers):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=harness.LIMIT)
        try:
            connection.request(method, target, headers=headers)
            answer = connection.getresponse()
            return answer.status, answer.read().decode()
        finally:
            connection.close()

    def data(self):
        status, text = self.ask(f"/data?word={self.word}")
        assert status == 200, (status, text)
        return json.loads(text)

    def raw(self, text):
        """The first line of the answer."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=harness.LIMIT) as connection:
            connection.sendall(text)
            return connection.recv(64).split(b"\r\n")[0].decode()


def test_who_may_see_it():
    with Server() as server:
        right = f"?word={server.word}"
        wrong = "?word=" + server.word[:-1] + ("0" if server.word[-1] != "0" else "1")
        for target in ("/", "/data"):
            assert server.ask(target + right)[0] == 200
            for word in ("", "?", "?word=", wrong, right + "0", right[:-1], "?words=" + server.word, right + "&"):
                assert server.ask(target + word) == (403, "open the whole address that sennit top has printed\n"), word
            for host in (f"evil.example:{server.port}", "127.0.0.1", f"127.0.0.1:{server.port}.evil.example", ""):
                assert server.ask(target + right, Host=host)[0] == 403, host
            assert server.ask(target + right, Origin="http://evil.example")[0] == 403
            assert server.ask(target + right, Origin="null")[0] == 403
            assert server.ask(target + right, Origin=f"http://localhost:{server.port}")[0] == 200
        assert server.ask("/" + right, method="POST")[0] == 405
        assert server.ask("/" + right, Host=f"localhost:{server.port}")[0] == 200
        assert server.ask("/etc/passwd" + right)[0] == server.ask("/../" + right)[0] == 404
        with open("/proc/net/tcp", encoding="ascii") as file:
            listens = [line.split()[1] for line in file if f":{server.port:04X} " in line and line.split()[3] == "0A"]
        assert listens == [f"0100007F:{server.port:04X}"], listens
        with open(f"/proc/{server.top.pid}/net/tcp6", encoding="ascii") as file:
            assert f":{server.port:04X} 000" not in file.read()


def test_bad_and_slow_clients():
    with Server() as server:
        own = f"Host: 127.0.0.1:{server.port}\r\n"
        for text in ("\r\n\r\n", "GET\r\n\r\n", "GET / \r\n\r\n", "\0\xff / HTTP/1.1\0\r\n\r\n",
                     f"GET /?word={server.word} HTTP/1.1\r\n{own}no header\r\n\r\n",
                     f"GET /?word={server.word} HTTP/1.1\r\n{own}{own}\r\n"):
            assert server.raw(text.encode("latin-1")).startswith("HTTP/1.1 400 "), text
        assert server.raw(b"GET / HTTP/1.1\r\n\r\n").startswith("HTTP/1.1 403 ")
        assert server.raw(b"GET / HTTP/1.1\r\nX: " + b"x" * 9000).startswith("HTTP/1.1 431 ")
        silent = []
        for _ in range(100):  # more than it keeps
            silent.append(socket.create_connection(("127.0.0.1", server.port), timeout=harness.LIMIT))
            silent[-1].sendall(b"GET /data?word=")
        for _ in range(5):
            assert server.data()["over"] is False
        closed = 0
        for one in silent:
            one.setblocking(False)
            try:
                closed += one.recv(1) == b""
            except BlockingIOError:
                pass
            except ConnectionResetError:
                closed += 1
            one.close()
        assert closed >= 36, closed
        assert server.top.poll() is None


def test_it_shows_the_program_and_ends_with_it():
    with Server() as server:
        status, page = server.ask(f"/?word={server.word}")
        assert status == 200 and "http" not in page.replace("http-", "").replace("https://", "") and server.word not in page
        (job,) = server.jobs
        (one,) = server.data()["top"]["processes"]
        assert one["pid"] == job.pid and one["spent"]["threads"] == 2, one
        limit = time.monotonic() + harness.LIMIT
        # One of two threads is in the program, and waits for a line.
        while abs((seen := server.data())["top"]["efficiencies"][0]["now"]["parallel"] - 0.5) > 0.05:
            assert time.monotonic() < limit, seen
            time.sleep(0.1)
        once = json.loads(server.pools.well("top", "--json"))
        assert 0 < once["efficiencies"][0]["since_start"]["parallel"] < 1, once
        assert " efficiency since the start: parallel " in server.pools.well("top", "--once")
        job.communicate("\n", timeout=harness.LIMIT)
        said, _ = server.top.communicate(timeout=harness.LIMIT)
        assert said == "the last process has ended\n" and server.top.returncode == 0, (said, server.top)


def test_it_ends_with_a_signal():
    with Server() as server:
        server.data()
        server.top.send_signal(signal.SIGINT)
        assert server.top.wait(harness.LIMIT) == 0


if __name__ == "__main__":
    harness.run_tests(sys.modules[__name__])
