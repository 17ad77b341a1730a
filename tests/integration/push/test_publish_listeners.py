"""Publishing while somebody listens: counts, waiting for delivery, both ends under one address, the end of the server."""

import json
import re
import signal
import time

import pytest

from publish_case import PUSH, fresh, json_of, numbers, publish, publish_list
from raw_http import request
from roost_server import eventually

ROUTES = PUSH["http"]["sites"][0]["routes"] + [
    {"path": "/sub/{channel}", "push_subscribe": {"first_message": "newest"}},
    {"path": "/old/{channel}", "push_subscribe": {"first_message": "oldest"}},
    {"path": "/both/{channel}", "push_pubsub": {"publish": {"max_message_bytes": 20},
                                                "subscribe": {"first_message": "newest", "transports": ["long_poll", "sse"]}}},
]
CONFIG = {"http": {"sites": [{"host": ["*"], "routes": ROUTES}]}}


@pytest.fixture
def push(shared_server):
    server = shared_server(CONFIG)
    yield server
    server.check_alive()


class Stream:
    """An event stream that is read in pieces."""

    def __init__(self, server, target):
        self.wire = server.connect()
        self.wire.send(request(target, fields={"Accept": "text/event-stream"}))
        self.text = b""
        self.read_until(b"\r\n\r\n")

    def read_until(self, mark, timeout=10):
        deadline = time.monotonic() + timeout
        while mark not in self.text:
            assert time.monotonic() < deadline, self.text
            piece = self.wire.socket.recv(65536)
            self.text += piece
            assert piece or mark in self.text, self.text
        return self.text

    def read_to_end(self):
        while piece := self.wire.socket.recv(65536):
            self.text += piece
        return self.text

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.wire.close()


def value(server, name):
    return int(re.search(rf"^{name} (\d+)$", server.ask("/metrics").body.decode(), re.MULTILINE)[1])


def listeners(server, channel, count):
    """Waits until so many listen."""
    def there():
        told = server.ask(f"/pub/{channel}")
        return told.status == 200 and numbers(told)[2] == count
    eventually(there, f"{count} listen to {channel}")


def poll(server, target):
    wire = server.connect()
    wire.send(request(target))
    return wire


@pytest.mark.parametrize("count", [1, 2, 5, 40])
def test_somebody_listens(push, count):
    channel = fresh()
    streams = [Stream(push, f"/sub/{channel}") for _ in range(count)]
    publish(push, f"/pub/{channel}", b"first")
    listeners(push, channel, count)
    answer = publish(push, f"/pub/{channel}", b"second")
    assert answer.status == 201 and numbers(answer)[:3] == (2, 0, count)
    for stream in streams:
        stream.read_until(b"data: second")
        stream.wire.close()
    listeners(push, channel, 0)
    assert publish(push, f"/pub/{channel}").status == 202


def test_requested_ages(push):
    channel = fresh()
    publish(push, f"/pub/{channel}")
    with Stream(push, f"/sub/{channel}"):
        listeners(push, channel, 1)
    eventually(lambda: numbers(push.ask(f"/pub/{channel}"))[1] >= 1, "a second has passed")


def test_fields_come_through(push):
    channel = fresh()
    publish(push, f"/pub/{channel}", b"before")
    with Stream(push, f"/sub/{channel}") as stream, poll(push, f"/sub/{channel}") as waiting:
        listeners(push, channel, 2)
        publish(push, f"/pub/{channel}")
        answer = waiting.read_response()
        assert answer.status == 200 and answer.body == b"hello"
        publish(push, f"/pub/{channel}", b"<b>", Content_Type="text/html", X_EventSource_Event="tick")
        stream.read_until(b"event: tick\ndata: <b>\n")
        again = push.ask(f"/sub/{channel}", fields={"If-None-Match": answer["Etag"],
                                                    "If-Modified-Since": answer["Last-Modified"]})
        assert (again.body, again["Content-Type"]) == (b"<b>", "text/html")


@pytest.mark.parametrize("count", [1, 3, 20])
def test_wait_for_all(push, count):
    channel = fresh()
    streams = [Stream(push, f"/sub/{channel}") for _ in range(count)]
    publish(push, f"/pub/{channel}")
    listeners(push, channel, count)
    for _ in range(3):
        told = json_of(publish(push, f"/pub/{channel}?wait=30000", Accept="application/json"))
        assert (told["subscribers"], told["delivered"], told["all_delivered"]) == (count, count, True)
        assert 0 <= told["last_delivery_ms"] < 30000
    for stream in streams:
        stream.wire.close()


def test_wait_for_polls(push):
    channel = fresh()
    publish(push, f"/pub/{channel}")
    waiting = [poll(push, f"/sub/{channel}") for _ in range(6)]
    listeners(push, channel, 6)
    told = json_of(publish(push, f"/pub/{channel}?wait=30000", b"now", Accept="application/json"))
    assert (told["delivered"], told["all_delivered"]) == (6, True)
    for wire in waiting:
        assert wire.read_response().body == b"now"
        wire.close()


def test_wait_for_one_that_does_not_read(push):
    channel = fresh()
    with Stream(push, f"/sub/{channel}") as good, Stream(push, f"/sub/{channel}"):
        publish(push, f"/pub/{channel}")
        listeners(push, channel, 2)
        for _ in range(12):
            publish(push, f"/pub/{channel}", b"x" * (1 << 20))
        good.wire.socket.settimeout(20)
        good.read_until(b"hello")
        begun = time.monotonic()
        with push.connect() as publisher:
            publisher.send(request(f"/pub/{channel}?wait=700", "POST", {"Accept": "application/json"}, b"the end"))
            good.read_until(b"the end", 30)
            told = json_of(publisher.read_response("POST"))
        assert (told["subscribers"], told["all_delivered"]) == (2, False)
        assert told["delivered"] <= 1 and time.monotonic() - begun >= 0.5


def test_publisher_leaves_while_it_waits(push):
    channel = fresh()
    with Stream(push, f"/sub/{channel}") as stream:
        publish(push, f"/pub/{channel}")
        listeners(push, channel, 1)
        for _ in range(10):
            with push.connect() as publisher:
                publisher.send(request(f"/pub/{channel}?wait=60000", "POST", {}, b"gone"))
            with push.connect() as publisher:
                publisher.send(request(f"/pub/{channel}?wait=60000", "POST", {}, b"reset"))
                publisher.reset()
        publish(push, f"/pub/{channel}", b"last")
        stream.read_until(b"data: last")
    push.check_alive()


def test_list_with_listeners(push):
    one, other = fresh(), fresh()
    with Stream(push, f"/sub/{one}") as stream:
        publish(push, f"/pub/{one}")
        listeners(push, one, 1)
        messages = [{"channel": one, "data": "a\nb"}, {"channel": other, "data": "x"},
                    {"channel": one, "base64": "Yw==", "event": "e"}]
        results = json_of(publish_list(push, "/list/any?wait=30000", messages))
        assert [result["status"] for result in results] == [201, 202, 201]
        assert [result["delivered"] for result in results] == [1, 0, 1]
        text = stream.read_until(b"event: e\ndata: c\n")
        assert b"data: a\ndata: b\n" in text


def test_repeat_is_not_delivered(push):
    channel = fresh()
    with Stream(push, f"/sub/{channel}") as stream:
        publish(push, f"/pub/{channel}")
        listeners(push, channel, 1)
        answers = [publish(push, f"/pub/{channel}", b"once", Idempotency_Key="k") for _ in range(5)]
        assert {answer.status for answer in answers} == {201}
        publish(push, f"/pub/{channel}", b"the end")
        assert stream.read_until(b"data: the end").count(b"data: once") == 1


def test_delete_ends_listeners(push):
    channel = fresh()
    publish(push, f"/pub/{channel}")
    with Stream(push, f"/sub/{channel}") as stream, poll(push, f"/sub/{channel}") as waiting:
        listeners(push, channel, 2)
        gone = push.ask(f"/pub/{channel}", "DELETE")
        assert gone.status == 200 and numbers(gone)[2] == 2
        assert waiting.read_response().status == 410
        stream.read_until(b"\r\n0\r\n\r\n")
    assert push.ask(f"/pub/{channel}").status == 404


# Both under one address

def test_both_ends(push):
    channel = fresh()
    target = f"/both/{channel}"
    with Stream(push, target) as stream:
        publish(push, target, b"one")
        stream.read_until(b"data: one\n")
        assert publish(push, target, b"two").status == 201
        assert push.ask(target, "PUT", body=b"three").status == 201
        stream.read_until(b"data: three\n")
        assert numbers(push.ask(target, "DELETE"))[:1] == (3,)
        stream.read_until(b"\r\n0\r\n\r\n")


def test_both_limits_are_the_publishers(push):
    target = f"/both/{fresh()}"
    assert publish(push, target, b"x" * 20).status == 202
    assert publish(push, target, b"x" * 21).status == 413


@pytest.mark.parametrize("method, status", [("OPTIONS", 204), ("PATCH", 405)])
def test_both_other_methods(push, method, status):
    answer = push.ask(f"/both/{fresh()}", method)
    assert answer.status == status and answer["Allow"] == "GET, HEAD, POST, PUT, DELETE, OPTIONS"


def test_both_poll(push):
    channel = fresh()
    target = f"/both/{channel}"
    publish(push, target, b"before")
    with poll(push, target) as waiting:
        listeners(push, channel, 1)
        assert publish(push, target, b"after").status == 201
        assert waiting.read_response().body == b"after"


# The end

def test_everybody_is_told_of_the_end(start_server):
    server = start_server(CONFIG)
    streams = [Stream(server, "/sub/c") for _ in range(10)]
    publish(server, "/pub/c")
    publish(server, "/pub/large")
    stuck = Stream(server, "/sub/large")
    listeners(server, "large", 1)
    for _ in range(12):
        publish(server, "/pub/large", b"x" * (1 << 20))
    publisher = server.connect()
    publisher.send(request("/pub/large?wait=60000", "POST", {}, b"x" * 1000))
    for stream in streams:
        stream.read_until(b"hello")
    eventually(lambda: value(server, "roost_push_messages_total") == 15, "all is published")
    begun = time.monotonic()
    server.signal(signal.SIGTERM)
    told = publisher.read_response("POST")
    assert told.status == 503 and "Retry-After" in told
    for stream in streams:
        assert stream.read_to_end().endswith(b"\r\n0\r\n\r\n")
        stream.wire.close()
    assert server.wait() == 0 and time.monotonic() - begun < 15
    stuck.wire.close()
    publisher.close()


def test_polls_are_answered_at_the_end(start_server):
    server = start_server(CONFIG)
    publish(server, "/pub/c")
    polls = [poll(server, "/sub/c") for _ in range(20)]
    listeners(server, "c", 20)
    server.signal(signal.SIGTERM)
    for wire in polls:
        answer = wire.read_response()
        assert answer.status >= 300 and answer.closes, answer
        wire.close()
    assert server.wait() == 0


def test_ids_are_one_on_publish_and_subscribe(push):
    channel = fresh()
    last = json.loads(publish(push, f"/pub/{channel}", Accept="application/json").body)["last_message_id"]
    answer = push.ask(f"/old/{channel}")
    assert answer["Etag"].strip('"') == last.split(":")[1]
    with Stream(push, f"/old/{channel}") as stream:
        assert re.search(rb"id: (\S+)\ndata: hello", stream.read_until(b"data: hello"))[1].decode() == last


def test_a_long_list_leaves_time_to_those_who_listen(push):
    name, count = fresh(), 5000
    with Stream(push, f"/sub/{name}") as listener:
        listeners(push, name, 1)
        results = json_of(publish_list(push, "/big/any", [{"channel": name, "data": f"<{i}>"} for i in range(count)]))
        assert [result["status"] for result in results] == [201] * count
        listener.read_until(b"<%d>" % (count - 1))
        assert [int(number) for number in re.findall(rb"<(\d+)>", listener.text)] == list(range(count))
