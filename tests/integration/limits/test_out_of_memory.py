"""Memory runs out while clients fill it: whoever wanted more is refused, nobody else notices, and the server lives.

The server is started under RLIMIT_AS (ulimit -v), a little above what it needs. Clients then send bodies and messages that never end.
"""

import resource
import struct

import pytest

from crowd import CLIENTS, MIB, SANITIZED, Crowd, unfinished, virtual_bytes
from raw_http import ProtocolError, request
from roost_server import eventually

pytestmark = pytest.mark.skipif(SANITIZED, reason="sanitizers map more than any limit allows")
ROUTES = [
    {"path": "/pub/{channel}", "push_publish": {"max_message_bytes": 2 * MIB}},
    {"path": "/sub/{channel}", "push_subscribe": {"publish": {"max_message_bytes": 2 * MIB}}},
    {"path": "/batch", "push_publish": {"channel": "none", "batch": {"max_bytes": 2 * MIB}}},
    {"path": "/echo", "ws_echo": {"max_message_bytes": 2 * MIB, "compression": {}}},
    {"path": "/metrics", "metrics": {}},
    {"path": "/", "static": {}},
]
CONFIG = {"worker_processes": 2, "http": {"sites": [{"host": ["*"], "routes": ROUTES}], "body_timeout_ms": 120000}}


@pytest.fixture
def small(start_server):
    """A server that may have 96 MiB more than it has after its start."""
    probe = start_server(CONFIG)
    limit = virtual_bytes(probe) + 96 * MIB
    probe.stop()
    server = start_server(CONFIG, before_exec=lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit)))
    yield server
    server.check_alive()


def metric(server, name):
    lines = server.ask("/metrics").body.decode().splitlines()
    return sum(int(line.rpartition(" ")[2]) for line in lines if line.startswith(name + " ") or line.startswith(name + "{"))


def check_well(server):
    """Others are served again: a large body among them, once the reserve is whole."""
    def published():
        try:
            return server.ask("/pub/after", "POST", body=b"x" * MIB).status in (201, 202)
        except (ProtocolError, OSError):  # it waits in the kernel, or was closed
            server.check_alive()
            return False
    eventually(published, "a message is taken again", 60)
    assert server.ask("/metrics").status == 200


@pytest.mark.parametrize("target, fields", [
    ("/pub/held", {}), ("/batch", {"Content-Type": "application/json"})], ids=["push", "batch"])
def test_unfinished_bodies(small, target, fields):
    crowd = Crowd(small, unfinished(target, **fields))
    crowd.run(40, lambda: not any(crowd.left.values()) or len(crowd.statuses()) > CLIENTS // 2)
    crowd.run(1)
    small.check_alive()
    refused = crowd.statuses()
    assert refused and set(refused) <= {503, 507}, f"{len(refused)} answers: {set(refused)}"
    crowd.close()
    check_well(small)
    assert metric(small, "roost_http_no_memory_total") + metric(small, "roost_http_shed_total") > 0
    assert "no memory" in small.log


def test_chunked_bodies(small):
    """Nothing is announced, so all of it grows as it comes."""
    head = request("/pub/held", "POST", fields={"Transfer-Encoding": "chunked"})
    crowd = Crowd(small, head + b"%x\r\n" % MIB + b"x" * MIB)
    crowd.run(40, lambda: not any(crowd.left.values()) or len(crowd.statuses()) > CLIENTS // 2)
    crowd.run(1)
    small.check_alive()
    assert crowd.statuses() and set(crowd.statuses()) <= {503, 507}
    crowd.close()
    check_well(small)


UPGRADE = {"Connection": "Upgrade", "Upgrade": "websocket", "Sec-WebSocket-Version": "13", "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ=="}


@pytest.mark.parametrize("target", ["/echo", "/sub/held"])
def test_unfinished_websocket_messages(small, target):
    """One frame of 2 MiB of which a byte is missing."""
    size = 2 * MIB
    frame = struct.pack("!BBQ4s", 0x82, 0xff, size, bytes(4)) + bytes(size - 1)
    crowd = Crowd(small, request(target, fields=UPGRADE) + frame, 400)
    crowd.run(40, lambda: not any(crowd.left.values()))
    crowd.run(1)
    small.check_alive()
    closed = [answer for answer in crowd.answers.values() if answer.endswith(b"\x88\x0f" + struct.pack("!H", 1013) + b"out of memory")]
    statuses = set(crowd.statuses())
    assert closed or 503 in statuses, f"{statuses}"
    assert statuses <= {101, 503}
    crowd.close()
    check_well(small)


def test_subscribers_who_do_not_read(small):
    """Large messages for many, each of whom takes nothing: the copies are what runs out, or the history gives way."""
    wires = [small.connect() for _ in range(200)]
    for number, wire in enumerate(wires):
        wire.send(request(f"/sub/flood{number}", fields={"Accept": "text/event-stream"}))
    crowd = Crowd(small, b"", 0)
    for number in range(200):
        crowd.add(small, request(f"/pub/flood{number}", "POST", body=b"x" * MIB))
    crowd.run(20, lambda: len(crowd.statuses()) == 200)
    small.check_alive()
    statuses = crowd.statuses()
    assert 201 in statuses and {503, 507} & set(statuses) and set(statuses) <= {201, 202, 503, 507}, statuses
    crowd.close()
    for wire in wires:
        wire.close()
    check_well(small)


def test_histories_give_way(small):
    """What channels keep is given up before the server refuses everybody for as long as it is kept."""
    crowd = Crowd(small, b"", 0)
    for number in range(250):
        crowd.add(small, request(f"/pub/kept{number}", "POST", body=b"x" * MIB))
    crowd.run(20, lambda: len(crowd.statuses()) == 250)
    crowd.close()
    check_well(small)
