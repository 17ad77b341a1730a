"""Framing, control frames, text and the closing handshake (RFC 6455 sections 5 to 8), byte by byte on a bare socket."""

import struct

import pytest

from ws_wire import (BINARY, CLOSE, CONTINUATION, PING, PONG, TEXT, WsWire, close, fragments, frame, some_bytes)

SIZES = (0, 1, 125, 126, 127, 128, 65535, 65536, 300_000)

# What is sent, and what comes back before the client closes with 1000.
ANSWERED = {
    **{f"text of {n}": (frame(TEXT, b"*" * n), [(TEXT, b"*" * n)]) for n in SIZES},
    **{f"binary of {n}": (frame(BINARY, b"\xfe" * n), [(BINARY, b"\xfe" * n)]) for n in SIZES},
    "ping without payload": (frame(PING), [(PONG, b"")]),
    "ping with text": (frame(PING, b"Hello"), [(PONG, b"Hello")]),
    "ping with bytes": (frame(PING, bytes(range(125))), [(PONG, bytes(range(125)))]),
    "pong unasked": (frame(PONG, b"x") + frame(PING, b"y"), [(PONG, b"y")]),
    "ten pings": (b"".join(frame(PING, b"%d" % i) for i in range(10)), [(PONG, b"%d" % i) for i in range(10)]),
    "fragments": (fragments(TEXT, b"frag", b"ment"), [(TEXT, b"fragment")]),
    "empty fragments": (fragments(TEXT, b"", b"", b""), [(TEXT, b"")]),
    "an empty one between": (fragments(BINARY, b"", b"middle", b""), [(BINARY, b"middle")]),
    "a ping between fragments": (frame(TEXT, b"a", fin=False) + frame(PING, b"?") + frame(CONTINUATION, b"b"),
                                 [(PONG, b"?"), (TEXT, b"ab")]),
    "a pong between fragments": (frame(TEXT, b"a", fin=False) + frame(PONG) + frame(CONTINUATION, b"b"), [(TEXT, b"ab")]),
    "many fragments": (fragments(BINARY, *[b"x"] * 500), [(BINARY, b"x" * 500)]),
    "two messages": (frame(TEXT, b"one") + fragments(BINARY, b"t", b"wo"), [(TEXT, b"one"), (BINARY, b"two")]),
    "UTF-8": (frame(TEXT, "Hello-µ@ßöäüàá-UTF-8!! 😀".encode()), [(TEXT, "Hello-µ@ßöäüàá-UTF-8!! 😀".encode())]),
    "UTF-8 cut within a character": (fragments(TEXT, b"\xce\xba\xe1\xbd", b"\xb9\xcf\x83"), [(TEXT, b"\xce\xba\xe1\xbd\xb9\xcf\x83")]),
    "UTF-8 byte by byte": (fragments(TEXT, *[bytes([b]) for b in "κόσμε 𝄞".encode()]), [(TEXT, "κόσμε 𝄞".encode())]),
    "the last code point": (frame(TEXT, b"\xf4\x8f\xbf\xbf"), [(TEXT, b"\xf4\x8f\xbf\xbf")]),
    "noncharacters": (frame(TEXT, b"\xef\xbf\xbe\xef\xbf\xbf"), [(TEXT, b"\xef\xbf\xbe\xef\xbf\xbf")]),
    "a NUL": (frame(TEXT, b"a\0b"), [(TEXT, b"a\0b")]),
}

# What is sent, and the code that the server fails the connection with.
REFUSED = {
    **{f"RSV {rsv}": (frame(TEXT, b"x", rsv=rsv), 1002) for rsv in range(1, 8)},
    "RSV on a ping": (frame(PING, b"x", rsv=4), 1002),
    "RSV on a continuation": (frame(TEXT, b"a", fin=False) + frame(CONTINUATION, b"b", rsv=2), 1002),
    **{f"opcode {opcode}": (frame(opcode, b"x"), 1002) for opcode in (3, 4, 5, 6, 7, 11, 12, 13, 14, 15)},
    "ping too long": (frame(PING, b"x" * 126), 1002),
    "pong too long": (frame(PONG, b"x" * 126), 1002),
    "close too long": (frame(CLOSE, struct.pack("!H", 1000) + b"x" * 124), 1002),
    "fragmented ping": (frame(PING, b"x", fin=False), 1002),
    "fragmented close": (frame(CLOSE, b"", fin=False), 1002),
    "not masked": (frame(TEXT, b"x", mask=False), 1002),
    "ping not masked": (frame(PING, b"", mask=False), 1002),
    "continuation of nothing": (frame(CONTINUATION, b"x"), 1002),
    "continuation after the end": (fragments(TEXT, b"a", b"b") + frame(CONTINUATION, b"c"), 1002),
    "a message within a message": (frame(TEXT, b"a", fin=False) + frame(TEXT, b"b"), 1002),
    "a length in two bytes that fits one": (frame(TEXT, b"x" * 125, length_form=2), 1002),
    "a length in eight bytes that fits two": (frame(TEXT, b"x" * 65535, length_form=8), 1002),
    "the highest bit of a length": (b"\x82\xff\x80" + bytes(7), 1002),
    "a length beyond all limits": (b"\x82\xff\x7f" + b"\xff" * 7, 1009),
    "a message beyond the limit": (frame(BINARY, bytes(1001)), 1009),
    "fragments beyond the limit": (fragments(BINARY, bytes(600), bytes(401)), 1009),
    **{f"not UTF-8: {text.hex()}": (frame(TEXT, text), 1007) for text in (
        b"\x80", b"\xff", b"\xc0\xaf", b"\xe0\x80\xaf", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\xf8\x88\x80\x80\x80",
        b"plain text before it \xce", b"\xce\xba\xed\xa0\x80edited")},
    "not UTF-8 in a fragment": (frame(TEXT, b"\xce\xba", fin=False) + frame(CONTINUATION, b"\xed\xa0\x80", fin=False), 1007),
    "not UTF-8, in half a frame": (frame(TEXT, b"\xf4\x90" + b"x" * 100)[:9], 1007),
}

# Close frames and the code that comes back.
CLOSES = {
    "without a code": (close(), None),
    "of one byte": (frame(CLOSE, b"\x03"), 1002),
    "with a reason": (close(1000, b"going home"), 1000),
    "with the longest reason": (close(1000, b"*" * 123), 1000),
    "with a reason that is not UTF-8": (close(1000, b"\xed\xa0\x80"), 1007),
    **{f"with {code}": (close(code), code)
       for code in (1000, 1001, 1002, 1003, 1007, 1008, 1009, 1010, 1011, 3000, 3999, 4000, 4999)},
    **{f"with {code}": (close(code), 1002)
       for code in (0, 999, 1004, 1005, 1006, 1015, 1016, 1100, 2000, 2999, 5000, 65535)},
    "and then a ping": (close(1000) + frame(PING, b"x"), 1000),
    "and then text": (close(1000) + frame(TEXT, b"x"), 1000),
    "within a message": (frame(TEXT, b"begun", fin=False) + close(1000), 1000),
    "twice": (close(1000) + close(1001), 1000),
}


@pytest.mark.parametrize("step", [None, 1])
@pytest.mark.parametrize("name", ANSWERED)
def test_answered(ws_server, name, step):
    sent, expected = ANSWERED[name]
    if step == 1 and len(sent) > 2000:
        step = 977
    with WsWire(ws_server, "/plain") as ws:
        ws.send(sent, step)
        assert [ws.read() for _ in expected] == expected
        ws.send(close(1000))
        assert ws.read_close() == 1000


@pytest.mark.parametrize("name", REFUSED)
def test_refused(ws_server, name):
    sent, code = REFUSED[name]
    with WsWire(ws_server, "/small") as ws:
        ws.send(frame(TEXT, b"fine"))
        assert ws.read() == (TEXT, b"fine")
        ws.send(sent)
        while True:
            opcode, payload = ws.read()
            if opcode == CLOSE:
                break
            assert (opcode, payload) == (TEXT, b"ab")  # the whole message before the mistake
        assert struct.unpack("!H", payload[:2])[0] == code
        ws.expect_end()


@pytest.mark.parametrize("name", CLOSES)
def test_close(ws_server, name):
    sent, code = CLOSES[name]
    with WsWire(ws_server, "/plain") as ws:
        ws.send(sent)
        assert ws.read_close() == code


def test_sixteen_megabytes(ws_server):
    payload = some_bytes(16 << 20)
    with WsWire(ws_server, "/plain", timeout=60) as ws:
        ws.send(frame(BINARY, payload))
        assert ws.read() == (BINARY, payload)
        third = len(payload) // 3
        ws.send(fragments(BINARY, payload[:third], payload[third:2 * third], payload[2 * third:]))
        assert ws.read() == (BINARY, payload)


def test_a_megabyte_a_byte_at_a_time(ws_server):
    """Takes no longer than its frames do: what is there already is not moved for each of them."""
    count = 1 << 20
    with WsWire(ws_server, "/plain", timeout=10) as ws:
        ws.send(frame(BINARY, b"x", fin=False) + frame(CONTINUATION, b"x", fin=False) * (count - 2) + frame(CONTINUATION, b"x"))
        assert ws.read() == (BINARY, b"x" * count)


def test_silence_is_pinged_and_then_ended(ws_server):
    with WsWire(ws_server, "/times") as ws:
        assert ws.read() == (PING, b"")
        ws.send(frame(PONG))
        assert ws.read() == (PING, b"")
        with pytest.raises((EOFError, ConnectionResetError)):
            ws.read()


def test_the_server_says_when_it_goes(start_server):
    server = start_server({"http": {"sites": [{"host": ["*"], "routes": [{"path": "/", "ws_echo": {}}]}]}})
    with WsWire(server, "/") as ws:
        ws.send(frame(TEXT, b"here"))
        assert ws.read() == (TEXT, b"here")
        server.signal(15)
        opcode, payload = ws.read()
        assert (opcode, payload) == (CLOSE, struct.pack("!H", 1001))
        ws.send(close(1001))
        ws.expect_end()
    assert server.wait() == 0
