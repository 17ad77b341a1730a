"""File descriptors run out: idle connections go first, what is held goes on, nothing spins, and it recovers."""

import contextlib
import resource
import time

import pytest

from raw_http import ProtocolError, Wire, request
from roost_server import eventually

SITE = {"a": b"answer", "unseen": b"answer too"}
LIMIT = 64


def limit_descriptors():
    resource.setrlimit(resource.RLIMIT_NOFILE, (LIMIT, LIMIT))


def served(server):
    try:
        return server.ask("/a").body == b"answer"
    except (ProtocolError, ConnectionError):
        return False


@pytest.mark.parametrize("config", [{"accept": "handoff"}, {"accept": "reuseport"},
                                    {"accept": "reuseport", "fd_table": "per_thread", "worker_processes": 1}],
                         ids=["handoff", "reuseport", "per_thread"])
def test_idle_connections_make_room(start_server, config):
    server = start_server({**config, "http": {"keep_alive_timeout_ms": 600000}}, files=SITE, before_exec=limit_descriptors)
    wires = []
    for _ in range(3 * LIMIT):  # far more than it can have
        wires.append(Wire(server.address, timeout=5))
        assert wires[-1].ask("/a").body == b"answer"  # nobody is refused
    assert wires[-1].ask("/unseen").body == b"answer too"
    newest = wires[-5:]
    for wire in newest:
        assert wire.ask("/a").body == b"answer"
    wires[0].expect_close()  # the oldest went
    for wire in wires:
        wire.close()


@pytest.mark.parametrize("accept", ["handoff", "reuseport"])
def test_exhaustion(start_server, accept):
    """Nobody is idle: every client waits for an answer."""
    sites = [{"host": ["*"], "routes": [{"path": "/hold", "hold": {}}, {"path": "/", "static": {}}]}]
    server = start_server({"accept": accept, "http": {"sites": sites}}, files=SITE, before_exec=limit_descriptors)
    wires = []
    try:
        for _ in range(2 * LIMIT):  # more than it can have
            wires.append(Wire(server.address, timeout=5))
            with contextlib.suppress(ConnectionError):  # turned away
                wires[-1].send(request("/hold"))
        eventually(lambda: "Too many open files" in server.log, "a line that says why")

        before, begin = server.cpu_seconds(), time.monotonic()
        time.sleep(1)
        assert server.cpu_seconds() - before < 0.5
        assert time.monotonic() - begin >= 1
        assert server.log.count("Too many open files") < 20
    finally:
        for wire in wires:
            wire.close()
    eventually(lambda: served(server), "new clients are served again")


def test_the_soft_limit_is_raised(start_server):
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    server = start_server(before_exec=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (min(256, hard), hard)))
    assert resource.prlimit(server.process.pid, resource.RLIMIT_NOFILE)[0] == hard
