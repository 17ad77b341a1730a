"""WebSocket subscribers: plain and ws+meta.nchan, publishing, refusals, closing."""

import json
import time

import pytest

from subscribe_case import (BINARY, PING, SUBSCRIBE, TEXT, close, conditions, fresh, frame, meta_of, publish, socket,
                            wait_for)
from ws_wire import PONG


@pytest.fixture
def push(shared_server):
    server = shared_server(SUBSCRIBE)
    yield server
    server.check_alive()


PAYLOADS = [
    ("", None, TEXT), ("text", None, TEXT), ("text", "text/plain", TEXT), ("{}", "application/json", TEXT),
    ("text", "application/octet-stream", BINARY), ("text", "Application/Octet-Stream; x=y", BINARY),
    (b"\xff\xfe", None, BINARY), (b"\xc3\x28", "text/plain", BINARY), (b"\xed\xa0\x80", None, BINARY),
    ("gr\u00fc\u00df", None, TEXT), ("a\0b", None, TEXT), ("x" * 125, None, TEXT), ("x" * 126, None, TEXT),
    ("x" * 65535, None, TEXT), ("x" * 65536, None, TEXT), (b"\xf0" * 70000, None, BINARY),
]


@pytest.mark.parametrize("number", range(len(PAYLOADS)))
@pytest.mark.parametrize("meta", [False, True])
@pytest.mark.parametrize("waits", [False, True])
def test_payloads(push, number, meta, waits):
    text, kind, opcode = PAYLOADS[number]
    channel, body = fresh(), text if isinstance(text, bytes) else text.encode()
    fields = {"Content_Type": kind, "X_EventSource_Event": "e v"} if kind else {}
    sent = None if waits else publish(push, channel, body, **fields)
    with socket(push, "/sub/" + channel, meta) as ws:
        assert ws.fields.get("Sec-WebSocket-Protocol") == ("ws+meta.nchan" if meta else None)
        if waits:
            wait_for(push, channel, 1)
            sent = publish(push, channel, body, **fields)
        got, payload = ws.read()
        assert got == opcode
        if meta:
            head, payload = meta_of(payload)
            assert list(head.items()) == [("id", sent)] + ([("content-type", kind), ("event", "e v")] if kind else [])
        assert payload == body
    wait_for(push, channel, 0)


def test_meta_as_it_stands(push):
    channel = fresh()
    sent = publish(push, channel, "\n\nid: forged", Content_Type="text/plain")
    with socket(push, "/sub/" + channel, True) as ws:
        assert ws.read()[1] == f"id: {sent}\ncontent-type: text/plain\n\n\n\nid: forged".encode()


@pytest.mark.parametrize("protocols, chosen", [
    ("ws+meta.nchan", "ws+meta.nchan"), ("chat, ws+meta.nchan", "ws+meta.nchan"), ("chat", None), ("WS+META.NCHAN", None)])
def test_subprotocols(push, protocols, chosen):
    channel = fresh()
    publish(push, channel, "x")
    with socket(push, "/sub/" + channel, fields=["Sec-WebSocket-Protocol: " + protocols]) as ws:
        assert ws.fields.get("Sec-WebSocket-Protocol") == chosen
        assert (ws.read()[1] == b"x") == (chosen is None)


@pytest.mark.parametrize("place", ["query", "Last-Event-ID", "conditions"])
def test_resumes(push, place):
    channel = fresh()
    ids = [publish(push, channel, str(number)) for number in range(3)]
    fields = {"Last-Event-ID": ids[0]} if place == "Last-Event-ID" else conditions(ids[0]) if place == "conditions" else {}
    query = f"?last_event_id={ids[0]}" if place == "query" else ""
    with socket(push, f"/sub/{channel}{query}", fields=[f"{name}: {text}" for name, text in fields.items()]) as ws:
        assert [ws.read()[1] for _ in range(2)] == [b"1", b"2"]


@pytest.mark.parametrize("meta", [False, True])
def test_gap(push, meta):
    channel = fresh()
    ids = [publish(push, channel, str(number), "/short/") for number in range(6)]
    with socket(push, f"/sub/{channel}?last_event_id={ids[1]}", meta) as ws:
        opcode, payload = ws.read()
        assert opcode == TEXT
        if meta:
            head, payload = meta_of(payload)
            assert head == {"id": ids[2], "event": "gap"}
            assert json.loads(payload) == {"after": ids[1], "missed": 1}
        else:
            assert json.loads(payload) == {"event": "gap", "after": ids[1], "missed": 1}
        assert ws.read()[1].endswith(b"3")


@pytest.mark.parametrize("fields, told", [([], False), (["Sec-WebSocket-Protocol: ws+meta.nchan"], False),
                                          (["Sec-WebSocket-Protocol: ws+meta.nchan, position"], True)])
def test_gap_messages_may_be_left_out(push, fields, told):
    """Among the messages of clients that could not tell one from a message."""
    channel = fresh()
    ids = [publish(push, channel, str(number), "/short/") for number in range(6)]
    with socket(push, f"/nogaps/{channel}?last_event_id={ids[1]}", fields=fields) as ws:
        assert (b"event: gap" in ws.read()[1]) == told
        assert ws.read()[1].endswith(b"3" if told else b"4")


@pytest.mark.parametrize("waits", [False, True])
def test_as_nchan_has_it(push, waits):
    """Its clients know the lines "id" and "content-type" and no others: not "event", not for a gap, and no position."""
    channel = fresh()
    if not waits:
        ids = [publish(push, channel, str(number), "/short/", X_EventSource_Event="e") for number in range(6)]
    query = "" if waits else f"?last_event_id={ids[1]}"
    with socket(push, f"/sub/{channel}{query}", fields=["Sec-WebSocket-Protocol: ws+meta.nchan"]) as ws:
        if waits:
            wait_for(push, channel, 1)
            ids = [publish(push, channel, str(number), "/short/", X_EventSource_Event="e") for number in range(6)]
        else:
            head, payload = meta_of(ws.read()[1])
            assert head == {"id": ids[2]} and json.loads(payload) == {"event": "gap", "after": ids[1], "missed": 1}
        for number in range(0 if waits else 3, 6):
            assert ws.read()[1] == f"id: {ids[number]}\n\n{number}".encode()
        sent = publish(push, channel, "typed", X_EventSource_Event="e", Content_Type="text/x-a")
        assert ws.read()[1] == f"id: {sent}\ncontent-type: text/x-a\n\ntyped".encode()


@pytest.mark.parametrize("query, status", [("?last_event_id=x", 400), ("", 101)])
def test_malformed_id_is_refused_before_it_opens(push, query, status):
    with socket(push, "/sub/" + fresh() + query) as ws:
        assert ws.status == status


@pytest.mark.parametrize("origin, status", [(None, 101), ("https://page.example", 101), ("https://other.example", 403)])
def test_origins(push, origin, status):
    with socket(push, "/open/" + fresh(), fields=[f"Origin: {origin}"] if origin else []) as ws:
        assert ws.status == status


@pytest.mark.parametrize("origin, status", [("http://test", 101), ("https://other.example", 403)])
def test_same_origin_by_default(push, origin, status):
    with socket(push, "/sub/" + fresh(), fields=[f"Origin: {origin}"]) as ws:
        assert ws.status == status


def test_not_on_a_route_without(push):
    with socket(push, "/polls/" + fresh()) as ws:
        assert ws.status == 406


def test_what_a_client_says_is_ignored(push):
    channel = fresh()
    with socket(push, "/sub/" + channel) as ws:
        ws.send(frame(TEXT, b"hello") + frame(BINARY, b"\0" * 5000) + frame(PING, b"there?"))
        assert ws.read() == (10, b"there?")
        publish(push, channel, "x")
        assert ws.read() == (TEXT, b"x")


def test_too_much_is_not(push):
    with socket(push, "/sub/" + fresh()) as ws:
        ws.send(frame(TEXT, b"x" * 20000)[:100])
        assert ws.read_close() == 1009


def test_publishes(push):
    channel = fresh()
    with socket(push, "/chat/" + channel) as one, socket(push, "/chat/" + channel, True) as two:
        wait_for(push, channel, 2)
        one.send(frame(TEXT, b"hello") + frame(BINARY, b"\x01") + frame(TEXT, b"again"))
        assert [one.read() for _ in range(3)] == [(TEXT, b"hello"), (BINARY, b"\x01"), (TEXT, b"again")]
        assert [meta_of(two.read()[1])[1] for _ in range(3)] == [b"hello", b"\x01", b"again"]
        two.send(frame(TEXT, b"back"))
        assert one.read() == (TEXT, b"back")


def test_publishes_many_in_order(push):
    channel = fresh()
    with socket(push, "/chat/" + channel) as ws:
        ws.send(b"".join(frame(TEXT, str(number).encode()) for number in range(300)))
        assert [int(ws.read()[1]) for _ in range(300)] == list(range(300))


def test_publishing_too_large(push):
    with socket(push, "/chat/" + fresh()) as ws:
        ws.send(frame(TEXT, b"x" * 101))
        assert ws.read_close() == 1009


def test_publishing_too_fast(push):
    """The socket is read as fast as it may publish, and is not closed."""
    target = "/slowchat/" + fresh()
    with socket(push, target) as ws, socket(push, target) as quiet:
        begun = time.monotonic()
        ws.send(b"".join(frame(TEXT, str(number).encode()) for number in range(6)))
        assert [int(ws.read()[1]) for _ in range(6)] == list(range(6))
        assert time.monotonic() - begun > 1.5  # two at once, then two a second
        assert [int(quiet.read()[1]) for _ in range(6)] == list(range(6))


def test_pubsub(push):
    channel = fresh()
    with socket(push, "/talk/" + channel) as ws:
        ws.send(frame(TEXT, b"by socket"))
        assert ws.read()[1] == b"by socket"
        assert push.ask("/talk/" + channel, "POST", body=b"by post").status == 201
        assert ws.read()[1] == b"by post"
        assert push.ask("/talk/" + channel).body == b"by socket"
        assert push.ask("/talk/" + channel, "DELETE").status == 200
        assert ws.read() == (8, b"\x03\xe8410 Gone")


def test_pings(push):
    with socket(push, "/beat/" + fresh()) as ws:
        assert ws.read() == (PING, b"")


@pytest.mark.parametrize("meta", [False, True])
def test_pages_hear_of_pings_if_they_know_what_it_is(push, meta):
    channel = fresh()
    with socket(push, "/beat/" + channel, meta) as ws:
        for _ in range(2):
            assert ws.read() == (PING, b"")
            ws.send(frame(PONG, b""))
            if meta:
                assert ws.read() == (TEXT, b"\n\n")
        publish(push, channel, "x")
        assert ws.read()[1].endswith(b"x")


def test_deletion(push):
    channel = fresh()
    with socket(push, "/sub/" + channel) as ws:
        wait_for(push, channel, 1)
        publish(push, channel, "last")
        push.ask("/pub/" + channel, "DELETE")
        assert ws.read() == (TEXT, b"last")
        assert ws.read() == (8, b"\x03\xe8410 Gone")
        ws.send(close(1000))
        ws.expect_end()


@pytest.mark.parametrize("leave", ["close frame", "close", "shutdown"])
def test_a_client_that_leaves_is_forgotten(push, leave):
    channel = fresh()
    with socket(push, "/sub/" + channel) as ws:
        wait_for(push, channel, 1)
        if leave == "close frame":
            ws.send(close(1000))
            assert ws.read_close() == 1000
        elif leave == "close":
            ws.socket.close()
        else:
            ws.socket.shutdown(1)
        wait_for(push, channel, 0)


def test_one_that_does_not_read(push):
    channel, text = fresh(), "x" * 500000
    with socket(push, "/new/" + channel, True) as slow, socket(push, "/new/" + channel) as quick:
        wait_for(push, channel, 2)
        for number in range(60):
            publish(push, channel, f"{number} {text}", "/short/")
            assert quick.read()[1].startswith(f"{number} ".encode())
        seen, missed = [], 0
        while not seen or seen[-1] != 59:
            head, payload = meta_of(slow.read()[1])
            if head.get("event") == "gap":
                missed += json.loads(payload)["missed"]
            else:
                seen.append(int(payload.split()[0]))
        assert seen == sorted(set(seen)) and missed == 60 - len(seen) > 0
