"""One id goes on over every way, limits, what filters add, and the end of the server."""

import itertools
import json

import pytest

from roost_server import eventually, run_server
from subscribe_case import SUBSCRIBE, WAYS, Poll, Stream, fresh, id_of, listening, publish, socket, wait_for


@pytest.fixture
def push(shared_server):
    server = shared_server(SUBSCRIBE)
    yield server
    server.check_alive()


@pytest.mark.parametrize("first, second", itertools.product(["poll", "sse", "meta"], WAYS))
def test_one_id_on_every_way(push, first, second):
    channel = fresh()
    for number in range(3):
        publish(push, channel, str(number))
    with listening(push, first, "/sub/", channel) as read:
        assert read()[1] == "0"
        last_id, text = read()
        assert text == "1"
    with listening(push, second, "/sub/", channel, last_id) as read:
        assert read()[1] == "2"
        publish(push, channel, "3")
        assert read()[1] == "3"


@pytest.mark.parametrize("way", WAYS)
def test_gap_on_every_way(push, way):
    channel = fresh()
    ids = [publish(push, channel, str(number), "/short/") for number in range(7)]
    with listening(push, way, "/sub/", channel, ids[0]) as read:
        kind, gap = read()
        assert kind == "gap" and gap["after"] == ids[0] and gap["missed"] == 3
        assert [read()[1] for _ in range(3)] == ["4", "5", "6"]


@pytest.mark.parametrize("way", WAYS)
def test_another_making_of_the_channel_is_a_gap(push, way):
    channel = fresh()
    old = publish(push, channel, "old")
    push.ask("/pub/" + channel, "DELETE")
    publish(push, channel, "new")
    with listening(push, way, "/sub/", channel, old) as read:
        kind, gap = read()
        assert kind == "gap" and gap["missed"] is None and read()[1] == "new"


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("count", [1, 2])
def test_many_ways_at_once(push, way, count):
    channel = fresh()
    with listening(push, "sse", "/sub/", channel) as one, listening(push, way, "/sub/", channel) as other:
        wait_for(push, channel, 1 if way == "poll" else 2)
        for number in range(count):
            publish(push, channel, str(number))
        for number in range(count):
            assert one()[1] == other()[1] == str(number)


# What filters add

ORIGIN = {"Origin": "https://page.example"}


def answer_of(push, target, channel, waits, fields, how):
    if how == "message" and not waits:
        publish(push, channel, "x")
    with Poll(push, target + channel, fields) as poll:
        if waits:
            wait_for(push, channel, 1)
        if how == "message" and waits:
            publish(push, channel, "x")
        if how == "deletion":
            push.ask("/pub/" + channel, "DELETE")
        return poll.answer()


@pytest.mark.parametrize("how, waits", [("message", False), ("message", True), ("timeout", True), ("deletion", True)])
def test_cors_by_origin(push, how, waits):
    answer = answer_of(push, "/cors/", fresh(), waits, ORIGIN, how)
    assert answer.status == {"message": 200, "timeout": 304, "deletion": 410}[how]
    assert answer["Access-Control-Allow-Origin"] == "https://page.example"
    assert answer["Access-Control-Expose-Headers"] == "Etag, Push-Gap"
    assert "Origin" in ", ".join(answer.all("Vary"))


@pytest.mark.parametrize("how, waits", [("message", False), ("message", True), ("timeout", True)])
def test_cors_of_another_origin(push, how, waits):
    answer = answer_of(push, "/cors/", fresh(), waits, {"Origin": "https://other.example"}, how)
    assert "Access-Control-Allow-Origin" not in answer and "Origin" in ", ".join(answer.all("Vary"))


def test_cors_is_each_ones_own(push):
    channel = fresh()
    with Poll(push, "/cors/" + channel, ORIGIN) as one, Poll(push, "/cors/" + channel) as two:
        wait_for(push, channel, 2)
        publish(push, channel, "x")
        assert "Access-Control-Allow-Origin" in one.answer() and "Access-Control-Allow-Origin" not in two.answer()


@pytest.mark.parametrize("how, waits", [("message", False), ("message", True), ("timeout", True), ("deletion", True)])
def test_fields_for_all(push, how, waits):
    answer = answer_of(push, "/all/", fresh(), waits, ORIGIN, how)
    assert answer["Access-Control-Allow-Origin"] == "*"
    answer = answer_of(push, "/dressed/", fresh(), waits, {}, how)
    assert answer["X-Channel"] == "here" and answer["X-Content-Type-Options"] == "nosniff"


@pytest.mark.parametrize("target, name", [("/cors/", "Access-Control-Allow-Origin"), ("/all/", "Access-Control-Allow-Origin"),
                                          ("/dressed/", "X-Channel")])
def test_fields_of_streams(push, target, name):
    with Stream(push, target + fresh(), ORIGIN) as stream:
        assert name in stream.head


# Limits

LIMITS = {**SUBSCRIBE, "push": {"max_subscribers_per_channel": 2}}
BY_ADDRESS = {**SUBSCRIBE, "push": {"max_subscribers_per_address": 3}}
IN_ALL = {**SUBSCRIBE, "push": {"max_subscribers": 2}}


@pytest.mark.parametrize("limits", [LIMITS, IN_ALL])
def test_too_many_subscribers(start_server, limits):
    server = start_server(limits)
    channel = fresh()
    with Stream(server, "/sub/" + channel), Poll(server, "/sub/" + channel):
        wait_for(server, channel, 2)
        for _ in range(3):
            answer = server.ask("/sub/" + channel)
            assert answer.status == 503 and 5 <= int(answer["Retry-After"]) <= 10
            with Stream(server, "/sub/" + channel) as stream:
                assert stream.head.status == 503 and "Retry-After" in stream.head
            with socket(server, "/sub/" + channel) as ws:
                assert ws.status == 503 and "Retry-After" in ws.fields
        wait_for(server, channel, 2)
    wait_for(server, channel, 0)
    with Stream(server, "/sub/" + channel) as stream:
        assert stream.head.status == 200


def test_too_many_of_one_address(start_server):
    server = start_server(BY_ADDRESS)
    one, other = fresh(), fresh()
    with Stream(server, "/sub/" + one) as stream, socket(server, "/sub/" + other), Poll(server, "/new/" + one) as poll:
        wait_for(server, one, 2)
        wait_for(server, other, 1)
        for channel in (one, other):
            answer = server.ask("/sub/" + channel)
            assert answer.status == 429 and "Retry-After" in answer
            with socket(server, "/sub/" + channel) as ws:
                assert ws.status == 429
        publish(server, one, "x")
        assert poll.answer().body == b"x" and stream.texts(1) == ["x"]
        eventually(lambda: server.ask("/sub/" + one).status == 200, "the poll's place is free again")
    wait_for(server, other, 0)


# The end of the server

def test_stop(start_server):
    server = start_server(SUBSCRIBE)
    channel = fresh()
    with Stream(server, "/sub/" + channel) as stream, socket(server, "/sub/" + channel) as ws, \
            Poll(server, "/sub/" + channel) as poll:
        wait_for(server, channel, 3)
        server.stop()
        assert stream.event() is None
        assert ws.read()[0] == 8
        assert poll.wire.read_until_close()[:12] in (b"", b"HTTP/1.1 503")


def test_explained(tmp_path):
    (tmp_path / "conf").mkdir()
    (tmp_path / "conf" / "server.json").write_text(json.dumps({"port": 0, **SUBSCRIBE}))
    for target in ("/sub/room", "/interval/room"):
        result = run_server("-f", tmp_path / "conf" / "server.json", "--explain", f"GET http://localhost{target}")
        assert 'subscribes to "room"' in result.stdout, result


def test_count_is_exact_when_many_come_and_go(push):
    channel = fresh()
    polls = [Poll(push, "/sub/" + channel) for _ in range(40)]
    wait_for(push, channel, 40)
    for poll in polls[::2]:
        poll.wire.reset()
    wait_for(push, channel, 20)
    sent = publish(push, channel, "x")
    for poll in polls[1::2]:
        assert id_of(poll.answer()) == sent
        poll.wire.close()
    wait_for(push, channel, 0)


# What else stands on a route

WATCHED = {"http": {"sites": [{"host": ["*"], "routes": [
    {"path": "/pub/{channel}", "push_publish": {}},
    {"path": "/sub/{channel}", "push_subscribe": {"timeout_ms": 60000}, "connection_limit": {"max": 2},
     "access_log": {"path": "logs/watched.log", "format": "{method} {path} {status} {bytes}"}},
]}]}}


def test_logged_and_limited_while_parked(start_server):
    server = start_server(WATCHED)
    channel = fresh()
    with Poll(server, "/sub/" + channel) as one, Stream(server, "/sub/" + channel) as two:
        wait_for(server, channel, 2)
        assert server.ask("/sub/" + channel).status in (429, 503)
        publish(server, channel, "hello")
        assert one.answer().body == b"hello" and two.texts(1) == ["hello"]
        eventually(lambda: server.ask("/sub/" + channel).status == 200, "the answered poll's place is free again")

    def logged():
        return sorted((server.folder / "logs" / "watched.log").read_text().splitlines())
    poll = f"GET /sub/{channel} 200 5"
    eventually(lambda: logged().count(poll) == 2 and len(logged()) >= 4, "the polls, the stream and the refusal in the log")


@pytest.mark.parametrize("keys, why", [
    ({"id_header": "content-length"}, "id_header"), ({"origins": ["nonsense"]}, "origins"), ({"channel": "{what}"}, "channel"),
    ({"transports": ["telepathy"]}, "transports"), ({"first_message": "last"}, "first_message"), ({"timeout_status": 200}, "timeout")])
def test_configurations_that_are_refused(tmp_path, keys, why):
    (tmp_path / "conf").mkdir()
    config = {"port": 0, "http": {"sites": [{"host": ["*"], "routes": [{"path": "/s/{channel}", "push_subscribe": keys}]}]}}
    (tmp_path / "conf" / "server.json").write_text(json.dumps(config))
    result = run_server("-t", "-f", tmp_path / "conf" / "server.json")
    assert result.returncode != 0 and why in result.stdout + result.stderr, result
