"""File descriptors run out: what is held goes on, nothing spins, and it recovers."""

import resource
import time

import pytest

from raw_http import ProtocolError, Wire
from roost_server import eventually

SITE = {"a": b"answer", "unseen": b"answer too"}
LIMIT = 64


def limit_descriptors():
    resource.setrlimit(resource.RLIMIT_NOFILE, (LIMIT, LIMIT))


@pytest.mark.parametrize("accept", ["handoff", "reuseport"])
def test_exhaustion(start_server, accept):
    server = start_server({"accept": accept}, files=SITE, before_exec=limit_descriptors)
    held, beyond = [], []
    try:
        for _ in range(LIMIT):  # more than it can have: its own descriptors count too
            wire = Wire(server.address, timeout=5)
            try:
                if wire.ask("/a").body != b"answer":  # taken, but there is no descriptor left to open the file with
                    wire.close()
                    break
                held.append(wire)
            except (ProtocolError, ConnectionError):
                wire.close()
                break
        assert 10 < len(held) < LIMIT
        beyond = [Wire(server.address, timeout=5) for _ in range(LIMIT)]
        eventually(lambda: "Too many open files" in server.log, "a line that says why")

        # Those that are connected have descriptors left for files nobody has asked for yet.
        # (A loop that looks whether it can accept again has them all for a moment.)
        eventually(lambda: held[0].ask("/unseen").body == b"answer too", "a file nobody has asked for yet")

        before, begin = server.cpu_seconds(), time.monotonic()
        while time.monotonic() - begin < 1:
            for wire in held:
                assert wire.ask("/a").body == b"answer"
            time.sleep(0.1)
        assert server.cpu_seconds() - before < 0.5
        assert server.log.count("Too many open files") < 20
    finally:
        for wire in held + beyond:
            wire.close()

    def answers():
        try:
            return server.ask("/a").body == b"answer"
        except (ProtocolError, ConnectionError):
            return False

    eventually(answers, "new clients are served again")


def test_the_soft_limit_is_raised(start_server):
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    server = start_server(before_exec=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (min(256, hard), hard)))
    assert resource.prlimit(server.process.pid, resource.RLIMIT_NOFILE)[0] == hard
