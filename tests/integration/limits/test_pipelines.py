"""Pipelined requests for files, by clients that do not read: what they hold is bounded, and others are served."""

import contextlib
import pathlib
import re
import time

import pytest

from local_wire import LocalWire
from raw_http import request
from roost_server import BINARY, eventually
from site_files import pattern

MIB = 1 << 20
FILE_SIZE = 100000  # goes out as a range of the file
REQUEST = request("/file")
PIPELINE = REQUEST * (33000 // len(REQUEST))
CONFIG = {"worker_processes": 2,
          "http": {"sites": [{"host": ["*"], "routes": [{"path": "/metrics", "metrics": {}}, {"path": "/", "static": {}}]}]}}
FILES = {"a": b"a\n", "file": pattern(FILE_SIZE)}
SANITIZED = b"__asan_init" in pathlib.Path(BINARY).read_bytes() or b"__tsan_init" in pathlib.Path(BINARY).read_bytes()


def resident_bytes(server):
    status = pathlib.Path(f"/proc/{server.process.pid}/status").read_text()
    return int(re.search(r"VmRSS:\s+(\d+) kB", status).group(1)) * 1024


def metric(server, name):
    lines = re.findall(rf"^{name}(?:{{[^}}]*}})? ([0-9]+)", server.ask("/metrics").body.decode(), re.MULTILINE)
    return sum(map(int, lines))


def attack(server, count):
    """That many connections, each of which has sent its requests and reads nothing."""
    wires = [LocalWire(server.address, receive_bytes=4096) for _ in range(count)]
    for wire in wires:
        wire.send(PIPELINE)
    return wires


def test_a_client_that_reads_nothing_has_few_requests_answered(start_server):
    server = start_server(CONFIG, files=FILES)
    [wire] = attack(server, 1)
    eventually(lambda: metric(server, "roost_http_pipeline_waits_total") > 0, "a request waits")
    time.sleep(0.2)
    assert metric(server, "roost_http_requests_total") < 400  # of 804, and those for the metrics
    got = 0
    for _ in range(len(PIPELINE) // len(REQUEST)):  # once it reads, all are answered
        answer = wire.read_response()
        assert answer.status == 200 and answer.body == FILES["file"]
        got += 1
    assert got == len(PIPELINE) // len(REQUEST)
    wire.close()


@pytest.mark.skipif(SANITIZED, reason="memory is not the server's own under a sanitizer")
@pytest.mark.parametrize("accept", ["handoff", "reuseport"])
def test_pipelines_do_not_fill_the_memory(start_server, accept):
    server = start_server({**CONFIG, "accept": accept, "overload": {"max_memory_bytes": 200 * MIB}}, files=FILES)
    assert server.ask("/file").status == 200
    before = resident_bytes(server)
    wires = attack(server, 60)
    eventually(lambda: metric(server, "roost_http_pipeline_waits_total") >= 60, "all of them wait")
    assert resident_bytes(server) - before < 20 * MIB  # it was 4.2 MB for each
    for _ in range(3):
        for wire in wires:
            with contextlib.suppress(OSError):
                wire.socket.recv(2000)
        assert server.ask("/a").status == 200
    assert "MiB allowed" not in server.log
    for wire in wires:
        wire.close()
