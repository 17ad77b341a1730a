"""Clients that keep a connection busy with next to nothing, over real sockets. Named after what they do."""

import select
import socket
import time

import pytest

from roost_server import eventually

SITES = [{"host": ["*"], "routes": [
    {"path": "/pub", "push_publish": {"channel": "c"}}, {"path": "/sub", "push_subscribe": {"channel": "c"}},
    {"path": "/metrics", "metrics": {}}, {"path": "/", "static": {}}]}]
RATES = {"worker_processes": 1, "http": {
    "min_body_rate": 1000, "min_send_rate": 1000, "min_rate_window_ms": 1000, "send_timeout_ms": 2000, "sites": SITES}}
POST = b"POST /pub HTTP/1.1\r\nHost: localhost\r\n"
CHUNKED = POST + b"Transfer-Encoding: chunked\r\n\r\n"


def count(server, name):
    line = [line for line in server.ask("/metrics").body.decode().splitlines() if line.startswith(name + " ")]
    return int(float(line[0].split()[1]))


@pytest.mark.parametrize("head, piece", [
    (POST + b"Content-Length: 1000000\r\n\r\n", b"x"),
    (CHUNKED, b"1;" + b"e" * 500 + b"\r\nx\r\n"),
    (CHUNKED + b"0\r\n", b"T: " + b"t" * 100 + b"\r\n")], ids=["slow body", "slow chunk extensions", "slow trailers"])
def test_a_body_that_says_little(start_server, head, piece):
    server = start_server(RATES)
    with server.connect() as wire:
        wire.send(head)
        for _ in range(300):
            wire.send(piece)
            if select.select([wire.socket], [], [], 0.05)[0]:
                break
        assert wire.read_response().status == 408
    assert count(server, "roost_http_slow_bodies_total") == 1


def test_a_slow_reader(start_server):
    server = start_server(RATES, files={"large.bin": b"x" * 50_000_000})
    with socket.socket() as slow:
        slow.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        slow.connect(server.address)
        slow.sendall(b"GET /large.bin HTTP/1.1\r\nHost: localhost\r\n\r\n")

        def cut_off():
            try:
                slow.recv(10)
            except ConnectionResetError:
                return True
            time.sleep(0.02)
            return False

        eventually(cut_off, "it is cut off", 30)
    assert count(server, "roost_http_slow_readers_total") == 1


def test_a_held_request_may_last(start_server):
    """An event stream says nothing for longer than the window, and is there."""
    server = start_server(RATES)
    with server.connect() as wire:
        wire.send(b"GET /sub HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\n\r\n")
        assert wire.read_head().status == 200
        while select.select([wire.socket], [], [], 3)[0]:
            wire.read_line()  # what comes at first; then 3 s of silence
        assert server.ask("/pub", "POST", body=b"late").status in (200, 201, 202)
        while b"late" not in wire.read_line():
            pass
    assert count(server, "roost_http_slow_readers_total") == 0
