"""The memory that a burst of clients took is given back to the system, and what cannot be is used again and refuses nobody."""

import pathlib
import re
import resource
import socket
import struct
import zlib

import pytest

from raw_http import request
from roost_server import BINARY, eventually

MB = 1_000_000
WAIT_S = 20
# Sanitizers have allocators of their own, which give nothing back.
SANITIZED = b"__asan_init" in pathlib.Path(BINARY).read_bytes() or b"__tsan_init" in pathlib.Path(BINARY).read_bytes()
pytestmark = pytest.mark.skipif(SANITIZED, reason="memory is not the server's own under a sanitizer")

CONFIG = {"worker_processes": 2, "accept": "reuseport", "push": {"max_channels": 0, "max_subscribers_per_address": 0, "slow_window_bytes": 64 << 20},
          "http": {"sites": [{"host": ["*"], "routes": [
              {"path": "/sub/{channel}", "push_subscribe": {"timeout_ms": 0, "origins": ["*"]}},
              {"path": "/pub/{channel}", "push_publish": {"history": {"messages": 0}}},
              {"path": "/echo", "ws_echo": {"compression": {"client_context_takeover": True}}},
              {"path": "/metrics", "metrics": {}},
              {"path": "/", "static": {}}]}]}}
BODY_PART = b"POST /pub/a HTTP/1.1\r\nHost: a\r\nContent-Length: 1000000\r\n\r\n" + b"x" * 900_000
UPGRADE = (b"GET %b HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
           b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n%b\r\n")


@pytest.fixture(autouse=True, scope="module")
def descriptors():
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def resident(server):
    status = pathlib.Path(f"/proc/{server.process.pid}/status").read_text()
    return int(re.search(r"VmRSS:\s+(\d+) kB", status).group(1)) * 1024


def metric(server, name):
    return sum(float(value) for value in re.findall(rf"^{name}(?:{{.*}})? (\S+)$", server.ask("/metrics").body.decode(), re.M))


def connect(server, receive_bytes=None):
    sock = socket.socket()
    sock.settimeout(20)
    if receive_bytes:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_bytes)
    sock.connect(server.address)
    return sock


def bodies(server, count):
    held = [connect(server) for _ in range(count)]
    for sock in held:
        sock.sendall(BODY_PART)
    return held


def polls(server, count):
    held = [connect(server) for _ in range(count)]
    for number, sock in enumerate(held):
        sock.sendall(request(f"/sub/c{number}"))
    return held


def inflation(server, count):
    coder = zlib.compressobj(9, zlib.DEFLATED, -15)
    payload = coder.compress(bytes(900_000)) + coder.flush(zlib.Z_SYNC_FLUSH)
    held = [connect(server) for _ in range(count)]
    for sock in held:
        sock.sendall(UPGRADE % (b"/echo", b"Sec-WebSocket-Extensions: permessage-deflate\r\n"))
        assert b"permessage-deflate" in sock.recv(4096)
        sock.sendall(struct.pack("!BBH", 0x42, 0x80 | 126, len(payload)) + bytes(4) + payload)
    return held


def messages(server, count):
    held = [connect(server, 4096) for _ in range(count)]
    for sock in held:
        sock.sendall(UPGRADE % (b"/sub/big", b""))
        assert b" 101 " in sock.recv(4096)
    for _ in range(40):
        assert server.ask("/pub/big", method="POST", body=b"x" * MB).status in (201, 202)
    return held


# How many clients, and how much memory they make the server hold at least.
BURSTS = {"polls": (polls, 12000, 8 * MB), "bodies": (bodies, 150, 100 * MB), "inflation": (inflation, 200, 100 * MB),
          "messages": (messages, 100, 20 * MB)}


@pytest.mark.parametrize("name", BURSTS)
@pytest.mark.parametrize("stay_every", [0, 100], ids=["all-leave", "some-stay"])
def test_memory_is_back_after_a_burst(start_server, name, stay_every):
    burst, count, least = BURSTS[name]
    server = start_server(CONFIG, files={"a": b"a\n"})
    assert server.ask("/a").status == 200
    before = resident(server)
    held = burst(server, count)
    eventually(lambda: resident(server) > before + least, "the burst takes memory", WAIT_S)
    peak = resident(server)
    stays = held[::stay_every] if stay_every else []
    for number, sock in enumerate(held):
        if not stay_every or number % stay_every:
            sock.close()
    allowed = before * 1.2 + 8 * MB + (2 * (peak - before) / stay_every if stay_every else 0)
    # Where some stay, what lies free between what they have is reusable.
    look = (lambda: metric(server, "roost_memory_in_use_bytes")) if stay_every else (lambda: resident(server))
    eventually(lambda: 0 < look() <= allowed, f"{peak} bytes are back below {allowed}", WAIT_S)
    assert server.ask("/a").status == 200
    for sock in stays:
        sock.close()


def test_memory_that_is_free_refuses_nobody(start_server):
    """The cap is reached, nearly all clients leave, and the burst comes back in part."""
    server = start_server({**CONFIG, "overload": {"max_memory_bytes": 100 * MB}}, files={"a": b"a\n"})
    held = bodies(server, 90)
    eventually(lambda: "new connections wait" in server.log, "the cap is near", WAIT_S)
    stays = held[::30]
    for number, sock in enumerate(held):
        if number % 30:
            sock.close()
    eventually(lambda: "everything is let in again" in server.log, "shedding ends", WAIT_S)
    shed = metric(server, "roost_http_shed_total")
    more = bodies(server, 30)
    for _ in range(50):
        assert server.ask("/a").status == 200
    assert metric(server, "roost_http_shed_total") == shed
    for sock in [*stays, *more]:
        sock.close()
