"""permessage-deflate (RFC 7692): what is agreed on, and messages under it."""

import json
import zlib

import pytest

from ws_wire import BINARY, CONTINUATION, PING, PONG, TEXT, WsWire, close, deflated, frame, inflated

NAME = "permessage-deflate"
BOTH = "server_no_context_takeover; client_no_context_takeover"

# The route, the offer, and the server's answer (None: nothing is agreed on).
AGREEMENTS = [
    ("/plain", NAME, None),
    ("/deflate", NAME, f"{NAME}; {BOTH}"),
    ("/deflate", "x-unknown, permessage-deflate", f"{NAME}; {BOTH}"),
    ("/context", NAME, NAME),
    ("/context", f"{NAME}; client_max_window_bits", NAME),
    ("/context", f"{NAME}; client_max_window_bits=10", f"{NAME}; client_max_window_bits=10"),
    ("/context", f"{NAME}; server_max_window_bits=8", f"{NAME}; server_max_window_bits=8"),
    ("/context", f"{NAME}; server_max_window_bits=\"9\"", f"{NAME}; server_max_window_bits=9"),
    ("/context", f"{NAME}; server_no_context_takeover", f"{NAME}; server_no_context_takeover"),
    ("/context", f"{NAME}; client_no_context_takeover", f"{NAME}; client_no_context_takeover"),
    ("/window", NAME, f"{NAME}; {BOTH}; server_max_window_bits=10"),
    ("/window", f"{NAME}; client_max_window_bits", f"{NAME}; {BOTH}; server_max_window_bits=10; client_max_window_bits=9"),
    # Offers that make no sense are passed over; the next one counts.
    ("/context", f"{NAME}; server_max_window_bits", None),
    ("/context", f"{NAME}; server_max_window_bits=7", None),
    ("/context", f"{NAME}; server_max_window_bits=16", None),
    ("/context", f"{NAME}; server_max_window_bits=010", None),
    ("/context", f"{NAME}; client_max_window_bits=0", None),
    ("/context", f"{NAME}; server_no_context_takeover=1", None),
    ("/context", f"{NAME}; server_no_context_takeover; server_no_context_takeover", None),
    ("/context", f"{NAME}; unknown", None),
    ("/context", f"{NAME};", None),
    ("/context", f"{NAME}; unknown, {NAME}; client_no_context_takeover", f"{NAME}; client_no_context_takeover"),
]


@pytest.mark.parametrize("path, offer, answer", AGREEMENTS)
def test_agreements(ws_server, path, offer, answer):
    with WsWire(ws_server, path, [f"Sec-WebSocket-Extensions: {offer}"]) as ws:
        assert ws.status == 101
        assert ws.fields.get("Sec-WebSocket-Extensions") == answer
        ws.send(frame(TEXT, b"plain messages stay possible"))
        opcode, payload, _, rsv = ws.read_frame()
        if rsv:
            bits = 8 if "server_max_window_bits=8" in answer else 15
            payload = inflated(payload, bits)
        assert (opcode, payload) == (TEXT, b"plain messages stay possible")


def texts():
    return [json.dumps({"id": i, "name": "somebody", "words": ["alpha", "beta", "gamma"] * (i % 7)}).encode()
            for i in range(60)] + [b"", b"x", "ü€😀".encode() * 5000]


@pytest.mark.parametrize("path, extra", [
    ("/deflate", ""), ("/context", ""), ("/context", "; server_no_context_takeover"), ("/context", "; client_no_context_takeover"),
    ("/context", "; server_max_window_bits=8"), ("/context", "; server_max_window_bits=9"),
    ("/context", "; client_max_window_bits=9"), ("/window", "; client_max_window_bits")])
def test_messages(ws_server, path, extra):
    with WsWire(ws_server, path, [f"Sec-WebSocket-Extensions: {NAME}{extra}"], timeout=20) as ws:
        answer = ws.fields["Sec-WebSocket-Extensions"]
        parameters = dict((part.split("=") + ["15"])[:2] for part in answer.split("; "))
        out_bits = int(parameters.get("client_max_window_bits", 15))
        in_bits = int(parameters.get("server_max_window_bits", 15))
        def compressor():
            return zlib.compressobj(6, zlib.DEFLATED, -out_bits)
        def decompressor():
            return zlib.decompressobj(-in_bits)
        sending, reading = compressor(), decompressor()
        for text in texts():
            if "client_no_context_takeover" in parameters:
                sending = compressor()
            if "server_no_context_takeover" in parameters:
                reading = decompressor()
            payload = deflated(text, compressor=sending) if text else b"\0"
            third = len(payload) // 3
            # Compressed messages may come in fragments, and then only the first says so.
            ws.send(frame(TEXT, payload[:third], fin=False, rsv=4) + frame(PING, b"!") +
                    frame(CONTINUATION, payload[third:2 * third], fin=False) + frame(CONTINUATION, payload[2 * third:]))
            assert ws.read() == (PONG, b"!")
            opcode, got, fin, rsv = ws.read_frame()
            assert opcode == TEXT and fin
            assert (inflated(got, decompressor=reading) if rsv == 4 else got) == text
        ws.send(close(1000))
        assert ws.read_close() == 1000


def test_a_stream_may_end_within_a_message(ws_server):
    """RFC 7692 section 7.2.3.4: a block with BFINAL set, and another stream behind it."""
    with WsWire(ws_server, "/context", [f"Sec-WebSocket-Extensions: {NAME}"]) as ws:
        reading = zlib.decompressobj(-15)
        for _ in range(3):
            ws.send(frame(TEXT, b"\xf3\x48\xcd\xc9\xc9\x07\x00\x00", rsv=4))
            _, got, _, rsv = ws.read_frame()
            assert rsv == 4 and inflated(got, decompressor=reading) == b"Hello"


def test_several_blocks_in_a_message(ws_server):
    """RFC 7692 section 7.2.3.5."""
    with WsWire(ws_server, "/deflate", [f"Sec-WebSocket-Extensions: {NAME}"]) as ws:
        ws.send(frame(TEXT, b"\xf2\x48\x05\x00\x00\x00\xff\xff\xca\xc9\xc9\x07\x00", rsv=4))
        _, got, _, rsv = ws.read_frame()
        assert (inflated(got) if rsv else got) == b"Hello"


@pytest.mark.parametrize("what, code", [
    (frame(BINARY, b"\xff\xff\xff no DEFLATE", rsv=4), 1007),
    (frame(TEXT, deflated(b"\xff\xfe"), rsv=4), 1007),
    (frame(TEXT, deflated(b"hello world, hello world")[:4], rsv=4), 1007),
    (frame(TEXT, b"", rsv=4), 1007),
    (frame(BINARY, deflated(bytes(1001)), rsv=4), 1009),
    (frame(BINARY, deflated(bytes(50_000_000)), rsv=4), 1009),
    (frame(TEXT, deflated(b"x"), rsv=6), 1002),
    (frame(TEXT, b"\xca", fin=False, rsv=4) + frame(CONTINUATION, b"\0", rsv=4), 1002),
    (frame(PING, b"", rsv=4), 1002),
])
def test_refused(ws_server, what, code):
    with WsWire(ws_server, "/small", [f"Sec-WebSocket-Extensions: {NAME}"], timeout=20) as ws:
        ws.send(frame(BINARY, deflated(bytes(1000)), rsv=4))
        opcode, got, _, _ = ws.read_frame()
        assert opcode == BINARY and inflated(got) == bytes(1000)
        ws.send(what)
        assert ws.read_close() == code


def test_a_message_of_the_largest_size(ws_server):
    text = b"0123456789abcdef" * (1 << 16)
    with WsWire(ws_server, "/deflate", [f"Sec-WebSocket-Extensions: {NAME}"], timeout=20) as ws:
        ws.send(frame(TEXT, deflated(text), rsv=4))
        _, got, _, rsv = ws.read_frame()
        assert rsv == 4 and inflated(got) == text
        assert len(got) < len(text) / 50
        ws.send(frame(TEXT, deflated(text + b"!"), rsv=4))
        assert ws.read_close() == 1009
