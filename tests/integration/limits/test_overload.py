"""Memory runs short: who holds most goes first; then new connections wait, new requests are refused, and it recovers."""

import pathlib
import re
import resource
import time

import pytest

from local_wire import LocalWire
from raw_http import ProtocolError, request
from roost_server import BINARY, eventually
from site_files import pattern

MIB = 1 << 20
BIG_SIZE = 12 * MIB
CACHED_SIZE = MIB
SITES = [{"host": ["*"], "routes": [{"path": "/metrics", "metrics": {}}, {"path": "/", "static": {}}]}]
PART_OF_HEAD = b"GET / HTTP/1.1\r\nHost: a\r\nX-Filler: " + b"x" * (900 << 10)  # the server has to keep it
# Sanitizers take and keep memory of their own.
SANITIZED = b"__asan_init" in pathlib.Path(BINARY).read_bytes() or b"__tsan_init" in pathlib.Path(BINARY).read_bytes()


def resident_bytes(server):
    status = pathlib.Path(f"/proc/{server.process.pid}/status").read_text()
    return int(re.search(r"VmRSS:\s+(\d+) kB", status).group(1)) * 1024


def metric(server, name):
    lines = re.findall(rf"^{name}(?:{{[^}}]*}})? ([0-9]+)", server.ask("/metrics").body.decode(), re.MULTILINE)
    return sum(map(int, lines))


@pytest.mark.skipif(SANITIZED, reason="memory is not the server's own under a sanitizer")
@pytest.mark.parametrize("accept", ["handoff", "reuseport"])
def test_the_dearest_connections_go_before_newcomers_wait_for_long(start_server, accept):
    cap = 64 * MIB
    server = start_server({"accept": accept, "worker_processes": 2, "overload": {"max_memory_bytes": cap},
                           "http": {"max_head_size_bytes": MIB, "head_timeout_ms": 600000, "sites": SITES}},
                          files={"a": b"a\n", "big": pattern(BIG_SIZE)})
    assert resident_bytes(server) < cap / 2
    # Cheap, and to be left alone: a download that is not read, idle connections.
    download = LocalWire(server.address, receive_bytes=65536)
    download.send(request("/big"))
    assert download.read_head().status == 200
    idle = [server.connect() for _ in range(2)]
    for wire in idle:
        assert wire.ask("/a").status == 200

    hogs = []
    for _ in range(120):  # 108 MB together
        hogs.append(server.connect(timeout=20))
        try:
            hogs[-1].send(PART_OF_HEAD)
        except ConnectionError:  # it has become the dearest before it was done
            pass
    for _ in range(5):
        assert server.ask("/a").status == 200
        time.sleep(0.1)
    assert metric(server, "roost_connections_reset_for_memory_total") > 30
    eventually(lambda: "have been reset or closed" in server.log, "a line that says so")
    assert download.read_exactly(BIG_SIZE) == pattern(BIG_SIZE)
    for wire in idle:
        assert wire.ask("/a").status == 200
    for wire in [download, *idle, *hogs]:
        wire.close()


# What connections do not hold, their end does not bring back: here it is the cache of files.
@pytest.mark.skipif(SANITIZED, reason="memory is not the server's own under a sanitizer")
@pytest.mark.parametrize("accept", ["handoff", "reuseport"])
def test_memory(start_server, accept):
    cap = 64 * MIB
    files = {f"{i}": b"x" * CACHED_SIZE for i in range(80)}
    server = start_server({"accept": accept, "worker_processes": 1, "overload": {"max_memory_bytes": cap},
                           "http": {"file_cache": {"max_bytes": 256 * MIB, "max_file_bytes": CACHED_SIZE}}},
                          files={"a": b"a\n", "big": pattern(BIG_SIZE), **files})
    assert resident_bytes(server) < cap / 2
    # Held: a download that is not read, idle connections.
    download = LocalWire(server.address, receive_bytes=65536)
    download.send(request("/big"))
    assert download.read_head().status == 200
    idle = [server.connect() for _ in range(2)]
    for wire in idle:
        assert wire.ask("/a").status == 200

    with server.connect() as reader:
        for name in files:
            if reader.ask("/" + name).status != 200:
                break
            if resident_bytes(server) > cap * 3 / 4:
                time.sleep(0.1)  # so that no look at the memory finds both limits passed at once
    eventually(lambda: "new requests are refused" in server.log, "shedding begins")
    assert re.findall("MiB allowed: (.*) \\(", server.log)[:2] == ["new connections wait",
                                                                  "new connections wait, new requests are refused"]

    refused = idle[0].ask("/a")
    assert refused.status == 503 and refused.closes and int(refused["Retry-After"]) > 0
    idle[0].expect_close()
    with server.connect() as waiting:  # the kernel takes it, the server does not
        waiting.send(request("/a"))
        waiting.expect_silence(1.5)
        assert download.read_exactly(BIG_SIZE) == pattern(BIG_SIZE)  # what is under way is not hurt
        assert "have been reset or closed" not in server.log

        for name in files:
            (server.html / name).unlink()
        eventually(lambda: "everything is let in again" in server.log, "shedding ends", 20)
        assert waiting.read_response().status == 200
    assert idle[1].ask("/a").status == 200
    assert server.ask("/a").status == 200
    assert server.log.count("MiB allowed: ") <= 8  # stages, not every look
    for wire in [download, *idle]:
        wire.close()


@pytest.mark.skipif(SANITIZED, reason="a sanitizer takes terabytes of address space")
def test_the_usual_cap_knows_the_limit_of_address_space(start_server):
    limit = 2048 * MIB
    server = start_server({"http": {"sites": SITES}}, files={"a": b"a\n"},
                          before_exec=lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit)))
    assert server.ask("/a").status == 200
    cap = metric(server, "roost_resident_limit_bytes")
    status = pathlib.Path(f"/proc/{server.process.pid}/status").read_text()
    taken = int(re.search(r"VmSize:\s+(\d+) kB", status).group(1)) * 1024 - resident_bytes(server)
    assert 100 * MIB < cap < limit * 0.8
    assert abs(cap - (limit - taken) * 0.8) < 64 * MIB


def test_no_cap_by_default_is_in_the_way(server):
    assert "MiB allowed" not in server.log


@pytest.mark.parametrize("accept", ["handoff", "reuseport"])
def test_connections_per_address(start_server, accept):
    config = {"accept": accept, "worker_processes": 2,
              "limits": {"connections_per_address": 3, "exempt": ["127.0.0.9", "127.1.0.0/16"]}}
    server = start_server(config, files={"a": b"a\n"})

    def connect(source):
        wire = LocalWire(server.address, source)
        try:
            wire.send(request("/a"))
            if wire.read_response().status == 200:
                return wire
        except (ProtocolError, ConnectionError):
            pass
        wire.close()
        return None

    held = [connect("127.0.0.1") for _ in range(3)]
    assert all(held)
    for _ in range(3):
        assert connect("127.0.0.1") is None
    others = [connect(source) for source in ("127.0.0.2", "127.0.0.3")]
    exempt = [connect(source) for source in ["127.0.0.9"] * 5 + ["127.1.2.3"] * 5]
    assert all(others) and all(exempt)
    eventually(lambda: "its address has 3 connections already" in server.log, "a line that says why")
    held.pop().close()
    held.append(eventually(lambda: connect("127.0.0.1"), "room for another"))
    assert connect("127.0.0.1") is None
    for wire in held + others + exempt:
        assert wire.ask("/a").status == 200
        wire.close()
    eventually(lambda: connect("127.0.0.1"), "room again").close()
