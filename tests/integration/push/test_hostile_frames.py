"""WebSocket clients that break the rules, where they listen only and where they may publish: each gets its close code."""

import os
import sys
import pathlib
import struct

import pytest

from push_torture import MIB, Witness, push_config
from push_wire import Reactor

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "websocket"))
from ws_wire import BINARY, CLOSE, CONTINUATION, PING, PONG, TEXT, WsWire, close, fragments, frame

LIMIT = 1000
ROUTES = [{"path": "/chat/{channel}", "push_pubsub": {"publish": {"max_message_bytes": LIMIT}, "subscribe": {}}}]
LENGTH_64_MIB = struct.pack("!Q", 64 * MIB)

REFUSED = {
    "64 MiB announced": (b"\x82\xff" + LENGTH_64_MIB + b"mask", 1009),
    "64 MiB of text announced, and a little of it": (b"\x81\xff" + LENGTH_64_MIB + b"mask" + b"x" * 5000, 1009),
    "64 MiB in a fragment": (b"\x02\xff" + LENGTH_64_MIB + b"mask", 1009),
    "64 MiB behind a fragment": (frame(TEXT, b"a", fin=False) + b"\x80\xff" + LENGTH_64_MIB + b"mask", 1009),
    "a length beyond all limits": (b"\x82\xff\x7f" + b"\xff" * 7 + b"mask", 1009),
    "the highest bit of a length": (b"\x82\xff\x80" + bytes(7) + b"mask", 1002),
    "fragments beyond the limit": (fragments(BINARY, *[bytes(60_000)] * 20), 1009),
    "64 MiB announced, not masked": (b"\x82\x7f" + LENGTH_64_MIB, 1002),
    "not masked": (frame(TEXT, b"x", mask=False), 1002),
    "ping not masked": (frame(PING, b"x", mask=False), 1002),
    **{f"RSV {rsv}": (frame(TEXT, b"x", rsv=rsv), 1002) for rsv in range(1, 8)},
    **{f"opcode {opcode}": (frame(opcode, b"x"), 1002) for opcode in (3, 7, 11, 15)},
    "fragmented ping": (frame(PING, b"x", fin=False), 1002),
    "fragmented close": (frame(CLOSE, b"", fin=False), 1002),
    "ping too long": (frame(PING, b"x" * 126), 1002),
    "pong too long": (frame(PONG, b"x" * 126), 1002),
    "continuation of nothing": (frame(CONTINUATION, b"x"), 1002),
    "a message within a message": (frame(TEXT, b"a", fin=False) + frame(TEXT, b"b"), 1002),
    "not UTF-8": (frame(TEXT, b"\xed\xa0\x80"), 1007),
    "close of one byte": (frame(CLOSE, b"\x03"), 1002),
    "close with 1005": (close(1005), 1002),
    "HTTP instead": (b"GET /sub/a HTTP/1.1\r\nHost: x\r\n\r\n", 1002),
}


@pytest.fixture
def server(shared_server):
    yield (server := shared_server(push_config(routes=ROUTES)))
    server.check_alive()


@pytest.mark.parametrize("path", ["/sub/frames", "/chat/frames"])
def test_refused(server, path):
    with Reactor() as reactor, Witness(reactor, server) as witness:
        for name, (sent, code) in REFUSED.items():
            for fields in ((), ("Sec-WebSocket-Protocol: ws+meta.nchan",)):
                with WsWire(server, path, fields) as ws:
                    assert ws.status == 101
                    ws.send(sent)
                    assert ws.read_close() == code, name
        witness.go_on(10)
        assert witness.grown() < 8 * MIB


def test_who_only_listens_cannot_publish(server):
    """What it says is read, thrown away, and bounded; it goes on listening."""
    with WsWire(server, "/sub/listen") as ws:
        ws.send(frame(TEXT, b"hello") + frame(BINARY, b"hello") + fragments(TEXT, b"a", b"b") + frame(PING, b"still there"))
        assert ws.read() == (PONG, b"still there")
        assert b"queued messages: 0" in server.ask("/pub/listen").body
        server.ask("/pub/listen", "POST", body=b"news")
        assert ws.read() == (TEXT, b"news")
        ws.send(frame(BINARY, bytes(MIB)))
        assert ws.read_close() == 1009


def test_many_begin_a_message_and_never_end_it(server):
    """A client costs no more than the largest message it may publish."""
    with Reactor() as reactor, Witness(reactor, server) as witness:
        clients = []
        for _ in range(300):
            ws = WsWire(server, "/chat/begun")
            ws.send(frame(BINARY, os.urandom(LIMIT - 1), fin=False) + frame(CONTINUATION, b"", fin=False) * 1000)
            clients.append(ws)
        witness.go_on(50)
        assert witness.grown() < 300 * 4 * LIMIT + 4 * MIB
        for ws in clients:
            ws.socket.close()


def test_handshakes_that_are_none(server):
    good = {"Connection": "Upgrade", "Upgrade": "websocket", "Sec-WebSocket-Version": "13",
            "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ=="}
    for changes, statuses in (({"Sec-WebSocket-Key": "short"}, (400,)), ({"Sec-WebSocket-Key": None}, (400,)),
                              ({"Sec-WebSocket-Version": "12"}, (426,)), ({"Origin": "http://elsewhere.example"}, (403,)),
                              ({"Sec-WebSocket-Key": "x" * 7000}, (400,))):
        fields = {name: value for name, value in {**good, **changes}.items() if value is not None}
        response = server.ask("/sub/handshake", fields=fields)
        assert response.status in statuses, (changes, response)
