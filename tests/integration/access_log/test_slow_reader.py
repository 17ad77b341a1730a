"""A line is written when the client has taken the answer, or has gone without it."""

import socket
import time

import pytest

from raw_http import Wire, request

SIZE = 4 << 20  # more than the socket takes, no more than is queued at once


class SlowWire(Wire):
    """A connection that takes little unless it is asked to."""

    def __init__(self, address, timeout=10):
        self.timeout, self.buffer = timeout, bytearray()
        self.socket = socket.socket()
        self.socket.settimeout(timeout)
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        self.socket.connect(address)


@pytest.fixture
def large(start_logged):
    server = start_logged({"path": "logs/access.json", "format": "json"},
                          sites=[{"host": ["*"], "routes": [{"path": "/", "static": {}}]}])
    (server.folder / "html" / "large").write_bytes(b"x" * SIZE)
    return server


def test_a_client_that_leaves(large):
    with SlowWire(large.address) as wire:
        wire.send(request("/large"))
        assert wire.read_head().status == 200
        wire.reset()
    entry = large.entry()
    assert entry["aborted"] and entry["status"] == 200 and entry["bytes"] < SIZE


def test_a_client_that_takes_its_time(large):
    with SlowWire(large.address) as wire:
        wire.send(request("/large") + request("/hello.txt"))
        head = wire.read_head()
        time.sleep(0.5)
        assert len(wire.read_exactly(head.content_length())) == SIZE
        assert wire.read_response().status == 200
    first, second = large.entries(2)
    assert not first["aborted"] and first["bytes"] == SIZE and first["duration_ms"] >= 400
    assert second["target"] == "/hello.txt" and second["duration_ms"] < first["duration_ms"]
