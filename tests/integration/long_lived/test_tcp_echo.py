"""Listeners that speak no HTTP: bytes come back, beside HTTP on another port, in both ways to accept."""

import json
import re
import socket
import struct
import threading

import pytest

from raw_http import Wire
from roost_server import eventually, run_server

BOTH_MODES = pytest.mark.parametrize("accept", ["handoff", "reuseport"])
HTTP = {"address": "127.0.0.1", "port": 0}


def config(echo=None, **more):
    listen = [HTTP, {"address": "127.0.0.1", "port": 0, "tcp_echo": echo or {}}]
    return {"address": None, "port": None, "listen": listen, **more}


def echo_address(server):
    match = re.search(r" tcp_echo:127\.0\.0\.1:(\d+) ", server.output)
    assert match, server.output
    return ("127.0.0.1", int(match.group(1)))


@BOTH_MODES
def test_bytes_come_back(start_server, accept):
    server = start_server(config(accept=accept), files={"a": b"answer"})
    assert len(server.addresses) == 1  # the other is not called http://
    much = bytes(range(256)) * 40_000
    with Wire(echo_address(server)) as wire:
        for message in (b"x", b"GET / HTTP/1.1\r\n\r\n", b"\0" * 5000):
            wire.send(message)
            assert wire.read_exactly(len(message)) == message
        sender = threading.Thread(target=lambda: (wire.send(much), wire.shutdown_write()))
        sender.start()
        assert wire.read_until_close() == much
        sender.join()
    assert server.ask("/a").body == b"answer"


def test_a_peer_that_reads_nothing_stops_being_read(start_server):
    server = start_server(config({"idle_timeout_ms": 700}))
    with Wire(echo_address(server)) as wire:
        wire.send(b"here")
        assert wire.read_exactly(4) == b"here"
        before = server.open_fds()
        wire.socket.setblocking(False)
        sent = 0
        with pytest.raises(BlockingIOError):
            while sent < 1 << 30:
                sent += wire.socket.send(b"x" * 65536)
        eventually(lambda: server.open_fds() < before, "a peer that takes nothing is closed")


@pytest.mark.parametrize("work", [{"kind": kind, "us": 300, "where": where}
                                  for kind, where in (("sleep", "loop"), ("cpu", "loop"), ("sleep", "task"), ("cpu", "task"),
                                                      ("sleep", "timer"))], ids=lambda work: f"{work['kind']}-{work['where']}")
def test_work(start_server, work):
    server = start_server(config({"work": work}, task_processes=2))
    wires = [Wire(echo_address(server)) for _ in range(20)]
    for round_number in range(5):
        for i, wire in enumerate(wires):
            wire.send(struct.pack("!II", i, round_number))
        for i, wire in enumerate(wires):
            assert wire.read_exactly(8) == struct.pack("!II", i, round_number)
    for wire in wires[:10]:
        wire.send(b"left behind")
        wire.reset()
    wires[10].send(b"last")
    wires[10].shutdown_write()
    assert wires[10].read_until_close() == b"last"
    server.stop()


def test_behind_a_proxy_header(start_server):
    server = start_server({**config(), "listen": [{"unix": "echo.sock", "tcp_echo": {}, "proxy_protocol": "on"}, HTTP]})
    assert f"tcp_echo:unix:{server.folder}/echo.sock" in server.output
    with socket.socket(socket.AF_UNIX) as client:
        client.connect(str(server.folder / "echo.sock"))
        client.settimeout(10)
        client.sendall(b"PROXY TCP4 192.0.2.1 192.0.2.2 1 2\r\nhello")
        assert client.recv(100) == b"hello"


@pytest.mark.parametrize("echo, complaint", [
    ({"work": {"kind": "cpu", "where": "timer"}}, "a timer can wait"),
    ({"work": {"where": "task"}}, '"task_processes" is 0'),
    ({"wrk": {}}, 'unknown key "wrk" in listen[0].tcp_echo: did you mean "work"?'),
])
def test_mistakes(tmp_path, echo, complaint):

    (tmp_path / "conf").mkdir()
    path = tmp_path / "conf" / "server.json"
    path.write_text(json.dumps({"task_processes": 0, "listen": [{"port": 0, "tcp_echo": echo}]}))
    result = run_server("-t", "-f", path)
    assert result.returncode == 1
    assert complaint in result.stderr
