"""A WebSocket of a publisher's route: each message is published, and answered with the channel's numbers, as Nchan does."""

import json

import pytest

from publish_case import PUSH, fresh, numbers
from roost_server import eventually
from subscribe_case import BINARY, TEXT, close, frame
from ws_wire import WsWire


class Answer:
    def __init__(self, body):
        self.body = body


@pytest.fixture
def push(shared_server):
    server = shared_server(PUSH)
    yield server
    server.check_alive()


def counted(server, name, route, more=""):
    lines = server.ask("/metrics").body.decode().splitlines()
    return sum(int(line.split()[-1]) for line in lines if line.startswith(f'{name}{{route="{route}"{more}'))


def test_each_message_is_answered(push):
    channel = fresh()
    before = counted(push, "roost_push_published_total", "/pub/{channel}")
    with WsWire(push, "/pub/" + channel) as ws:
        assert ws.status == 101
        ids = []
        for count in (1, 2, 3):
            ws.send(frame(TEXT, b"hello"))
            opcode, text = ws.read()
            assert opcode == TEXT
            messages, requested, subscribers, message_id = numbers(Answer(text))
            assert (messages, requested, subscribers) == (count, -1, 0)
            ids.append(message_id)
        assert len(set(ids)) == 3
        assert numbers(push.ask("/pub/" + channel)) == (3, -1, 0, ids[-1])
        ws.send(close(1000))
        assert ws.read_close() == 1000
    assert counted(push, "roost_push_published_total", "/pub/{channel}") == before + 3


def test_the_form_is_that_of_accept(push):
    with WsWire(push, "/pub/" + fresh(), ["Accept: application/json"]) as ws:
        ws.send(frame(BINARY, b"\xff\x00"))
        assert json.loads(ws.read()[1])["messages"] == 1


def test_many_at_once_are_answered_in_their_order(push):
    channel = fresh()
    with WsWire(push, "/pub/" + channel, ["Accept: application/json"]) as ws:
        ws.send(b"".join(frame(TEXT, str(number).encode()) for number in range(200)))
        ids = [json.loads(ws.read()[1])["last_message_id"] for _ in range(200)]
    assert [int(one.split(":")[1].split("-")[0]) for one in ids] == list(range(1, 201))


def test_faster_than_it_may(push):
    """It is read as fast as it may publish; each message is published."""
    with WsWire(push, "/slow/" + fresh(), ["Accept: application/json"]) as ws:
        ws.send(b"".join(frame(TEXT, b"x") for _ in range(6)))
        assert [json.loads(ws.read()[1])["messages"] for _ in range(6)] == [1, 2, 3, 4, 5, 6]


def test_larger_than_it_may_be(push):
    refused = ',reason="size"'
    before = counted(push, "roost_push_publish_refused_total", "/small/{channel}", refused)
    with WsWire(push, "/small/" + fresh()) as ws:
        ws.send(frame(TEXT, b"x" * 11))
        assert ws.read_close() == 1009
    eventually(lambda: counted(push, "roost_push_publish_refused_total", "/small/{channel}", refused) == before + 1, "it counts")


def test_pages_of_other_origins(push):
    with WsWire(push, "/pub/" + fresh(), ["Origin: https://other.example"]) as ws:
        assert ws.status == 403
    with WsWire(push, "/pub/" + fresh(), ["Origin: http://test"]) as ws:
        assert ws.status == 101


def test_a_name_that_is_none(push):
    with WsWire(push, "/query") as ws:
        assert ws.status == 400


def test_it_leaves_while_its_message_waits(push):
    channel = fresh()
    for _ in range(20):
        with WsWire(push, "/slow/" + channel) as ws:
            ws.send(b"".join(frame(TEXT, b"x") for _ in range(20)))


def test_what_cannot_be_published_closes_and_counts(start_server):
    server = start_server({**PUSH, "push": {"max_channels": 1}})
    with WsWire(server, "/pub/one") as ws:
        ws.send(frame(TEXT, b"x"))
        assert ws.read()[0] == TEXT
    with WsWire(server, "/pub/other") as ws:
        ws.send(frame(TEXT, b"x"))
        assert ws.read() == (8, b"\x03\xf5503 Service Unavailable")
    assert counted(server, "roost_push_publish_refused_total", "/pub/{channel}", ',reason="channels"') == 1
