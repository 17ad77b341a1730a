"""Event streams: the head, the fields of events, hostile payloads, heartbeats, the end."""

import json

import pytest

from subscribe_case import ID, SUBSCRIBE, Stream, conditions, fresh, publish, wait_for
from roost_server import eventually


@pytest.fixture
def push(shared_server):
    server = shared_server(SUBSCRIBE)
    yield server
    server.check_alive()


def test_head_and_beginning(push):
    channel = fresh()
    with Stream(push, "/sub/" + channel) as stream:
        head = stream.head
        assert head.status == 200 and head["Content-Type"] == "text/event-stream; charset=utf-8"
        assert "no-cache" in head["Cache-Control"] and head["X-Accel-Buffering"] == "no"
        assert "Content-Length" not in head and head["Transfer-Encoding"] == "chunked"
        wait_for(push, channel, 1)
        sent = publish(push, channel, "hello")
        # One block: readers that take each for a message find one.
        hi, (comment, position), (retry, ms), *event = stream.block()
        assert hi == ("", " hi") and comment == "" and ID.fullmatch(position.removeprefix(" position "))
        assert retry == "retry" and 3000 <= int(ms) <= 3750
        assert event == [("id", sent), ("data", "hello")]
    wait_for(push, channel, 0)


def test_each_block_is_a_message(push):
    """Libraries that give each block to their users, whatever stands in it, give them messages and nothing else."""
    channel = fresh()
    with Stream(push, "/beat/" + channel) as stream:
        wait_for(push, channel, 1)
        for text in ("one", "two"):
            while len(stream.text.split("\n:\n")) < 2:  # a heartbeat before each
                stream._more()
            publish(push, channel, text)
            assert ("data", text) in stream.block()


def test_without_retry(push):
    channel = fresh()
    with Stream(push, "/plain/" + channel) as stream:
        wait_for(push, channel, 1)
        publish(push, channel, "x")
        assert [name for name, _ in stream.block()] == ["", "", "id", "data"]


def test_retry_is_spread(push):
    seen = set()
    for _ in range(12):
        channel = fresh()
        publish(push, channel, "x")
        with Stream(push, "/sub/" + channel) as stream:
            seen.add(dict(stream.block())["retry"])
    assert len(seen) > 6


@pytest.mark.parametrize("accept, events", [
    ("text/event-stream", True), ("TEXT/Event-Stream", True), ("text/event-stream, */*;q=0.1", True),
    ("text/event-stream;q=0.5", True), ("text/event-stream, text/html", True), ("text/event-stream;q=0.1, */*", False),
    ("text/event-stream;q=0", False), ("*/*", False), ("text/*", False), ("text/event-streams", False),
    ("application/json", False), ("", False),
])
def test_asked_for(push, accept, events):
    channel = fresh()
    publish(push, channel, "x")
    with Stream(push, "/sub/" + channel, {"Accept": accept}) as stream:
        assert stream.head["Content-Type"].startswith("text/event-stream") == events if events else \
            "text/event-stream" not in stream.head.get("Content-Type", "")


@pytest.mark.parametrize("target, accept, status", [
    ("/events/", "*/*", 200), ("/events/", None, 200), ("/events/", "text/html", 406), ("/events/", "text/event-stream;q=0", 406),
    ("/polls/", "text/event-stream", 200), ("/sockets/", "text/event-stream", 426), ("/sockets/", "*/*", 426)])
def test_ways(push, target, accept, status):
    channel = fresh()
    publish(push, channel, "x")
    with Stream(push, target + channel, {"Accept": accept} if accept is not None else {}) as stream:
        assert stream.head.status == status
        if target == "/events/" and status == 200:
            assert stream.head["Content-Type"].startswith("text/event-stream")


PAYLOADS = {
    "empty": ("", [""]), "one": ("a", ["a"]), "LF": ("a\nb", ["a", "b"]), "CR": ("a\rb", ["a", "b"]), "CRLF": ("a\r\nb", ["a", "b"]),
    "LFCR": ("a\n\rb", ["a", "", "b"]), "CRCRLF": ("a\r\r\nb", ["a", "", "b"]), "end LF": ("a\n", ["a", ""]),
    "end CR": ("a\r", ["a", ""]), "only breaks": ("\r\n\r\n", ["", "", ""]), "forged id": ("a\nid: 1", ["a", "id: 1"]),
    "forged event": ("\n\nevent: gap\ndata: x\n\n", ["", "", "event: gap", "data: x", "", ""]),
    "forged by CR": ("x\r\revent: gap\r\r", ["x", "", "event: gap", "", ""]), "colon": (": hi", [": hi"]),
    "space": (" a", [" a"]), "retry": ("a\r\nretry: 1", ["a", "retry: 1"]), "utf-8": ("gr\u00fc\u00df\u2028e\u0085", ["gr\u00fc\u00df\u2028e\u0085"]),
    "nul": ("a\0b", ["a\0b"]), "vertical": ("a\x0b\x0cb", ["a\x0b\x0cb"]), "long": ("x" * 100000, ["x" * 100000]),
    "many lines": ("\n" * 5000, [""] * 5001),
}


@pytest.mark.parametrize("name", PAYLOADS)
@pytest.mark.parametrize("waits", [False, True])
def test_payloads(push, name, waits):
    text, lines = PAYLOADS[name]
    channel = fresh()
    sent = None if waits else publish(push, channel, text, X_EventSource_Event="e")
    with Stream(push, "/sub/" + channel) as stream:
        if waits:
            wait_for(push, channel, 1)
            sent = publish(push, channel, text, X_EventSource_Event="e")
        assert stream.block()[3:] == [("id", sent), ("event", "e")] + [("data", line) for line in lines]
        after = publish(push, channel, "after")
        assert stream.block() == [("id", after), ("data", "after")]


@pytest.mark.parametrize("place", ["Last-Event-ID", "query", "conditions"])
def test_resumes(push, place):
    channel = fresh()
    ids = [publish(push, channel, str(number)) for number in range(4)]
    fields = {"Last-Event-ID": ids[1]} if place == "Last-Event-ID" else conditions(ids[1]) if place == "conditions" else {}
    with Stream(push, f"/sub/{channel}" + (f"?last_event_id={ids[1]}" if place == "query" else ""), fields) as stream:
        assert [stream.event() for _ in range(2)] == [(ids[2], "message", "2"), (ids[3], "message", "3")]


def test_position_resumes(push):
    channel = fresh()
    publish(push, channel, "old")
    with Stream(push, "/new/" + channel) as stream:
        position = stream.position()
    publish(push, channel, "between")
    with Stream(push, "/new/" + channel, {"Last-Event-ID": position}) as stream:
        assert stream.texts(1) == ["between"]


def test_gap(push):
    channel = fresh()
    ids = [publish(push, channel, str(number), "/short/") for number in range(6)]
    with Stream(push, "/sub/" + channel, {"Last-Event-ID": ids[0]}) as stream:
        id_text, name, data = stream.event()
        assert name == "gap" and json.loads(data) == {"after": ids[0], "missed": 2} and id_text == ids[2]
        assert stream.texts(3) == ["3", "4", "5"]


@pytest.mark.parametrize("unknown", ["5:5-5f3a9c01", "99999999999:3-00000001"])
def test_unknown_id(push, unknown):
    channel = fresh()
    publish(push, channel, "x")
    with Stream(push, f"/sub/{channel}?last_event_id={unknown}") as stream:
        id_text, name, data = stream.event()
        assert name == "gap" and json.loads(data) == {"after": unknown, "missed": None}
        assert stream.texts(1) == ["x"]
    with Stream(push, f"/sub/{channel}?last_event_id={id_text}") as stream:
        assert stream.event()[1:] == ("message", "x")  # who has been told is not told again


def test_a_gap_is_told_once_on_a_quiet_channel(push):
    channel = fresh()
    old = publish(push, channel, "old")
    push.ask("/pub/" + channel, "DELETE")
    with Stream(push, "/sub/" + channel, {"Last-Event-ID": old}) as stream:
        id_text, name, _ = stream.event()
        assert name == "gap" and id_text != old
    with Stream(push, "/sub/" + channel, {"Last-Event-ID": id_text}) as stream:
        publish(push, channel, "new")
        assert stream.event()[1:] == ("message", "new")


@pytest.mark.parametrize("text", ["nonsense", "1:2:3x", "9" * 200])
def test_an_id_that_is_none_is_a_gap(push, text):
    """An EventSource never comes back after a refusal."""
    channel = fresh()
    publish(push, channel, "x")
    with Stream(push, "/sub/" + channel, {"Last-Event-ID": text}) as stream:
        assert stream.head.status == 200 and stream.event()[1] == "gap" and stream.texts(1) == ["x"]


def test_eventsource_with_an_id_in_its_address(push):
    """It comes back to the same address with the id of the last event it has had, which counts."""
    channel = fresh()
    ids = [publish(push, channel, text) for text in "abcd"]
    with Stream(push, f"/sub/{channel}?last_event_id={ids[0]}") as stream:
        assert stream.texts(2) == ["b", "c"]
    with Stream(push, f"/sub/{channel}?last_event_id={ids[0]}", {"Last-Event-ID": ids[2]}) as stream:
        assert stream.texts(1) == ["d"]


def test_heartbeats(push):
    channel = fresh()
    with Stream(push, "/beat/" + channel) as stream:
        while stream.text.count("\n:\n") < 2 and ":\n:\n" not in stream.text:
            stream._more()
        publish(push, channel, "x")
        assert stream.event()[2] == "x"
        while not stream.text.startswith(":\n"):
            stream._more()


def test_http10(push):
    channel = fresh()
    with Stream(push, "/sub/" + channel, version="1.0") as stream:
        assert "Transfer-Encoding" not in stream.head and stream.head.closes
        wait_for(push, channel, 1)
        publish(push, channel, "a\nb")
        assert stream.texts(1) == ["a\nb"]
        push.ask("/pub/" + channel, "DELETE")
        stream.wire.expect_close()


def test_deletion_ends_the_body(push):
    channel = fresh()
    with Stream(push, "/sub/" + channel) as stream:
        wait_for(push, channel, 1)
        publish(push, channel, "last")
        assert push.ask("/pub/" + channel, "DELETE").status == 200
        assert stream.texts(1) == ["last"] and stream.event() is None
        stream.wire.expect_alive("/metrics")


@pytest.mark.parametrize("leave", ["close", "reset", "shutdown_write"])
def test_a_client_that_leaves_is_forgotten(push, leave):
    channel = fresh()
    with Stream(push, "/sub/" + channel) as stream:
        wait_for(push, channel, 1)
        getattr(stream.wire, leave)()
        wait_for(push, channel, 0)


def test_every_message_in_order(push):
    channel = fresh()
    with Stream(push, "/sub/" + channel) as stream:
        wait_for(push, channel, 1)
        for number in range(100):
            publish(push, channel, str(number))
        assert stream.texts(100) == [str(number) for number in range(100)]


def test_one_that_does_not_read_is_told_of_the_gap(push):
    channel, text = fresh(), "x" * 500000
    with Stream(push, "/new/" + channel) as slow, Stream(push, "/new/" + channel) as quick:
        wait_for(push, channel, 2)
        for number in range(60):
            publish(push, channel, f"{number} {text}", "/short/")
            assert quick.event()[2].startswith(f"{number} ")
        seen, missed = [], 0
        while not seen or seen[-1] != 59:
            _, name, data = slow.event()
            if name == "gap":
                missed += json.loads(data)["missed"]
            else:
                seen.append(int(data.split()[0]))
        assert seen == sorted(set(seen)) and missed == 60 - len(seen) > 0


def test_metrics(push):
    channel = fresh("metrics")
    with Stream(push, "/sub/" + channel) as stream:
        wait_for(push, channel, 1)
        publish(push, channel, "x")
        stream.texts(1)

        def line(name):
            for text in push.ask("/metrics").body.decode().split("\n"):
                if text.startswith(name) and 'route="/sub/{channel}"' in text and ("transport" not in text or '"sse"' in text):
                    return float(text.split()[-1])
            return 0
        eventually(lambda: line("roost_push_subscribers{") >= 1 and line("roost_push_deliveries_total{") >= 1 and
                   line("roost_push_delivery_lag") >= 0, "the metrics count")
