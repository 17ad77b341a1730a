"""The opening handshake (RFC 6455 section 4) and who may do it."""

import pytest

from ws_wire import ACCEPT, TEXT, WsWire, frame

GOOD = ["Host: test", "Connection: Upgrade", "Upgrade: websocket", "Sec-WebSocket-Version: 13",
        "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ=="]


def ask(server, lines, path="/plain", method="GET"):
    return server.ask_raw("\r\n".join([f"{method} {path} HTTP/1.1", *lines, "", ""]).encode())


def test_answer(ws_server):
    response = ask(ws_server, GOOD)
    assert response.status == 101
    assert response["Sec-WebSocket-Accept"] == ACCEPT
    assert response["Upgrade"] == "websocket" and response["Connection"] == "Upgrade"
    assert "Sec-WebSocket-Extensions" not in response and "Sec-WebSocket-Protocol" not in response


@pytest.mark.parametrize("line, instead, status", [
    ("Sec-WebSocket-Version: 13", "Sec-WebSocket-Version: 12", 426),
    ("Sec-WebSocket-Version: 13", "X: y", 426),
    ("Upgrade: websocket", "Upgrade: h2c", 426),
    ("Connection: Upgrade", "Connection: keep-alive", 426),
    (GOOD[4], "X: y", 400),
    (GOOD[4], "Sec-WebSocket-Key: short", 400),
])
def test_refusals(ws_server, line, instead, status):
    response = ask(ws_server, [instead if text == line else text for text in GOOD])
    assert response.status == status
    if status == 426:
        assert response["Sec-WebSocket-Version"] == "13" and response["Upgrade"] == "websocket"


def test_other_methods(ws_server):
    response = ask(ws_server, [*GOOD, "Content-Length: 0"], method="POST")
    assert response.status == 405 and response["Allow"] == "GET"


@pytest.mark.parametrize("path, origin, status", [
    ("/plain", "http://test", 101), ("/plain", "http://elsewhere", 403), ("/plain", "null", 403),
    ("/chat", "https://pages.example", 101), ("/chat", "http://pages.example", 403), ("/chat", "http://test", 403),
])
def test_origins(ws_server, path, origin, status):
    assert ask(ws_server, [*GOOD, f"Origin: {origin}"], path).status == status


@pytest.mark.parametrize("offered, chosen", [
    ("chat", "chat"), ("superchat, chat", "superchat"), ("unknown, chat", "chat"), ("unknown", None)])
def test_subprotocols(ws_server, offered, chosen):
    response = ask(ws_server, [*GOOD, f"Sec-WebSocket-Protocol: {offered}"], "/chat")
    assert response.status == 101 and response.get("Sec-WebSocket-Protocol") == chosen


def test_frames_that_come_with_the_handshake(ws_server):
    with WsWire(ws_server, "/plain") as ws:
        assert ws.fields["Sec-WebSocket-Accept"] == ACCEPT
    request = "\r\n".join(["GET /plain HTTP/1.1", *GOOD, "", ""]).encode()
    with ws_server.connect() as wire:
        wire.send(request + frame(TEXT, b"early"))
        assert wire.read_response().status == 101
        assert wire.read_exactly(7) == b"\x81\x05early"


def test_a_reload_of_nothing_keeps_it(ws_server):
    """Ordinary requests and WebSockets share a server."""
    with WsWire(ws_server, "/plain") as ws:
        assert ws_server.ask("/plain").status == 426
        ws.send(frame(TEXT, b"still here"))
        assert ws.read() == (TEXT, b"still here")
