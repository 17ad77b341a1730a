"""What publishers are answered: statuses, forms, names, limits."""

import json
import re
import socket
import time
import xml.etree.ElementTree

import pytest

from publish_case import ID, PUSH, chunked, fresh, json_of, numbers, publish
from roost_server import eventually


@pytest.fixture
def push(shared_server):
    server = shared_server(PUSH)
    yield server
    server.check_alive()


# The form of the answer

FORMS = [
    (None, "text/plain"), ("*/*", "text/plain"), ("text/*", "text/plain"), ("text/plain", "text/plain"),
    ("application/json", "application/json"), ("text/json", "text/json"), ("APPLICATION/JSON", "application/json"),
    ("application/json;charset=utf-8", "application/json"), ("application/*", "application/json"),
    ("text/html, application/json;q=0.5", "application/json"),
    ("text/plain;q=0.5, application/json", "application/json"),
    ("text/plain, application/json", "text/plain"), ("text/plain;q=0, */*", "application/json"),
    ("application/json;q=0.1, text/xml;q=0.2", "text/xml"),
    ("text/xml", "text/xml"), ("application/xml", "text/xml"),
    ("text/yaml", "text/yaml"), ("application/yaml", "text/yaml"), ("text/x-yaml", "text/yaml"),
    ("application/x-yaml", "text/yaml"), ("image/png", "text/plain"), ("nonsense", "text/plain"), ("", "text/plain"),
]


def read_form(answer):
    """The four numbers of an answer, whatever its form."""
    kind = answer["Content-Type"]
    text = answer.body.decode()
    if kind == "text/plain":
        return numbers(answer)
    if kind == "text/xml":
        assert text.startswith('<?xml version="1.0" encoding="UTF-8" ?>\r\n')
        root = xml.etree.ElementTree.fromstring(text)
        assert root.tag == "channel"
        values = {child.tag: child.text for child in root}
    elif kind == "text/yaml":
        lines = text.split("\r\n")
        assert lines[0] == "---" and lines[5:] == ["", ""]
        values = dict(line.split(": ", 1) for line in lines[1:5])
        values["last_message_id"] = values["last_message_id"].strip('"')
    else:
        values = json.loads(text)
    assert list(values) == ["messages", "requested", "subscribers", "last_message_id"]
    return int(values["messages"]), int(values["requested"]), int(values["subscribers"]), values["last_message_id"]


@pytest.mark.parametrize("accept, kind", FORMS)
def test_form(push, accept, kind):
    channel = fresh()
    fields = {} if accept is None else {"Accept": accept}
    published = publish(push, f"/pub/{channel}", **fields)
    assert published.status == 202 and published["Content-Type"] == kind
    told = push.ask(f"/pub/{channel}", fields=fields)
    assert told.status == 200 and told["Content-Type"] == kind and told["Cache-Control"] == "no-store"
    for answer in (published, told):
        messages, requested, subscribers, last = read_form(answer)
        assert (messages, requested, subscribers) == (1, -1, 0)
        assert re.fullmatch(ID, last)


# Methods

@pytest.mark.parametrize("method", ["POST", "PUT"])
def test_publish_methods(push, method):
    channel = fresh()
    for count in (1, 2, 3):
        answer = push.ask(f"/pub/{channel}", method, body=b"x")
        assert answer.status == 202 and numbers(answer)[0] == count
    assert b"GET" not in answer.body


@pytest.mark.parametrize("method", ["GET", "HEAD", "DELETE"])
def test_unknown_channel(push, method):
    answer = push.ask(f"/pub/{fresh('nobody')}", method)
    assert answer.status == 404
    assert answer.body == (b"" if method == "HEAD" else b"there is no such channel\n")


def test_head_tells_without_content(push):
    channel = fresh()
    publish(push, f"/pub/{channel}")
    full, head = push.ask(f"/pub/{channel}"), push.ask(f"/pub/{channel}", "HEAD")
    assert head.status == 200 and head.body == b""
    assert head["Content-Length"] == full["Content-Length"] and head["Content-Type"] == full["Content-Type"]


def test_delete_tells_what_was(push):
    channel = fresh()
    publish(push, f"/pub/{channel}")
    last = numbers(publish(push, f"/pub/{channel}"))[3]
    gone = push.ask(f"/pub/{channel}", "DELETE")
    assert gone.status == 200 and numbers(gone) == (2, -1, 0, last)
    assert push.ask(f"/pub/{channel}").status == 404
    assert push.ask(f"/pub/{channel}", "DELETE").status == 404
    again = numbers(publish(push, f"/pub/{channel}"))
    assert again[0] == 1 and again[3].split("-")[1] != last.split("-")[1], "a channel made anew has another epoch"


def test_options(push):
    answer = push.ask(f"/pub/{fresh()}", "OPTIONS")
    assert answer.status == 204 and answer["Allow"] == "GET, HEAD, POST, PUT, DELETE, OPTIONS"


@pytest.mark.parametrize("method", ["PATCH", "TRACE", "BREW"])
def test_other_methods(push, method):
    answer = push.ask(f"/pub/{fresh()}", method)
    assert answer.status in (405, 501)
    if answer.status == 405:
        assert answer["Allow"] == "GET, HEAD, POST, PUT, DELETE, OPTIONS"


def test_preflight_is_the_cors_modules(push):
    fields = {"Origin": "https://page.example", "Access-Control-Request-Method": "POST"}
    answer = push.ask(f"/cors/{fresh()}", "OPTIONS", fields=fields)
    assert answer.status == 204 and answer["Access-Control-Allow-Origin"] == "https://page.example"
    answer = push.ask(f"/cors/{fresh()}", "POST", body=b"x", fields={"Origin": "https://page.example"})
    assert answer.status == 202 and answer["Access-Control-Allow-Origin"] == "https://page.example"


# Channels

def long_name(size):
    return "n" * size


GOOD_NAMES = [
    "/pub/a", "/pub/A-Z_0.9~", "/pub/with%20space", "/pub/100%25", "/pub/%C3%A4%E2%82%AC", "/pub/%F0%9F%A6%9A", "/pub/a:b;c,d@e",
    "/pub/%22quoted%22", "/pub/%5Cback", "/pub/%FF%FE", "/pub/" + long_name(1024), "/app/one/two", "/app/a%20b/c%2Bd",
    "/app/1/2", "/fixed", "/query?id=x", "/query?a=b&id=a%20b", "/query?id=a%2Fb", "/re/room-17", "/pub/..%2e",
]
BAD_NAMES = [
    ("/pub/" + long_name(1025), {}, "longer than 1024"), ("/app/" + long_name(1000) + "/" + long_name(24), {}, "longer than 1024"),
    ("/query", {}, "is empty"), ("/query?id=", {}, "is empty"), ("/query?idx=1", {}, "is empty"),
    ("/query?id=a%0Ab", {}, "control character"), ("/query?id=a%00b", {}, "control character"),
    ("/query?id=%7f", {}, "control character"), ("/query?id=%1f", {}, "control character"),
    ("/header", {"X-Room": "a\tb"}, "control character"),
]


@pytest.mark.parametrize("target", GOOD_NAMES, ids=lambda target: target[:30])
def test_good_names(push, target):
    push.ask(target, "DELETE")
    assert push.ask(target).status == 404
    assert publish(push, target).status == 202
    assert numbers(push.ask(target))[0] == 1
    assert push.ask(target, "DELETE").status == 200


@pytest.mark.parametrize("target, fields, why", BAD_NAMES, ids=lambda value: str(value)[:30])
@pytest.mark.parametrize("method", ["POST", "GET", "DELETE"])
def test_bad_names(push, target, fields, why, method):
    answer = push.ask(target, method, fields=fields, body=b"x" if method == "POST" else b"")
    assert answer.status == 400 and why in answer.body.decode()


@pytest.mark.parametrize("target", ["/pub/", "/pub", "/pub/a/b", "/pub/a/", "/app/one", "/re/room-x"])
def test_no_such_route(push, target):
    assert publish(push, target).status == 404


@pytest.mark.parametrize("target", ["/pub/%00", "/pub/a%0d%0ab", "/pub/a%2Fb", "/pub/%zz"])
def test_paths_that_are_none(push, target):
    assert publish(push, target).status == 400


SAME = [("/pub/x%2Dy", "/pub/x-y"), ("/app/m/n", "/query?id=m/n"), ("/re/a-5", "/query?id=a:5"),
        ("/query?id=h-here", "/header")]


@pytest.mark.parametrize("one, other", SAME)
def test_one_channel_by_two_ways(push, one, other):
    fields = {"X-Room": "here"}
    push.ask(one, "DELETE", fields=fields)
    push.ask(one, "POST", body=b"1", fields=fields)
    push.ask(other, "POST", body=b"2", fields=fields)
    assert numbers(push.ask(one, fields=fields))[0] == 2
    assert numbers(push.ask(other, fields=fields))[0] == 2


# Sizes

SIZES = [("/small", 0, 202), ("/small", 1, 202), ("/small", 9, 202), ("/small", 10, 202), ("/small", 11, 413),
         ("/small", 5000, 413), ("/none", 0, 202), ("/none", 1, 413), ("/pub", 1 << 20, 202), ("/pub", (1 << 20) + 1, 413)]


@pytest.mark.parametrize("route, size, status", SIZES)
def test_size_announced(push, route, size, status):
    channel = fresh()
    answer = push.ask(f"{route}/{channel}", "POST", body=b"x" * size, fields={"Content-Length": str(size)})
    assert answer.status == status
    assert push.ask(f"{route}/{channel}").status == (200 if status == 202 else 404)


@pytest.mark.parametrize("route, size, status", SIZES)
def test_size_in_chunks(push, route, size, status):
    channel = fresh()
    body = b"x" * size
    pieces = [body[i:i + max(1, size // 3)] for i in range(0, size, max(1, size // 3))]
    answer = push.ask(f"{route}/{channel}", "POST", body=chunked(*pieces), fields={"Transfer-Encoding": "chunked"})
    assert answer.status == status
    assert push.ask(f"{route}/{channel}").status == (200 if status == 202 else 404)


def test_too_large_is_refused_before_it_is_sent(push):
    head = b"POST /small/a HTTP/1.1\r\nHost: x\r\nContent-Length: 11\r\nExpect: 100-continue\r\n\r\n"
    with push.connect() as wire:
        wire.send(head)
        answer = wire.read_response("POST")
    assert answer.status == 413 and answer.interim == []


def test_content_is_asked_for(push):
    with push.connect() as wire:
        wire.send(b"POST /small/a HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\nExpect: 100-continue\r\n\r\n")
        wire.send(b"abc")
        assert wire.read_response("POST").status == 202


def test_connection_lives_on_after_a_refusal(push):
    with push.connect() as wire:
        for _ in range(3):
            assert wire.ask("/small/keep", "POST", body=b"x" * 11).status == 413
            assert wire.ask("/small/keep", "POST", body=b"x" * 10).status == 202


def test_pipelined_publications_are_answered_in_order(push):
    channel = fresh()
    one = b"POST /pub/%s HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\nhi" % channel.encode()
    with push.connect() as wire:
        wire.send(one * 50)
        counts = [numbers(wire.read_response("POST")) for _ in range(50)]
    assert [count[0] for count in counts] == [min(i, 10) for i in range(1, 51)]
    assert [int(re.fullmatch(ID, count[3])[2]) for count in counts] == list(range(1, 51))


def test_body_byte_by_byte(push):
    channel = fresh()
    with push.connect() as wire:
        wire.send(b"POST /pub/%s HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\n" % channel.encode())
        for byte in b"hello":
            wire.wait_until_read()
            wire.send(bytes([byte]))
        assert wire.read_response("POST").status == 202
    assert numbers(push.ask(f"/pub/{channel}"))[0] == 1


def test_half_a_message_is_none(push):
    channel = fresh()
    with push.connect() as wire:
        wire.send(b"POST /pub/%s HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhel" % channel.encode())
        wire.wait_until_read()
    assert push.ask(f"/pub/{channel}").status == 404


# History

@pytest.mark.parametrize("route, published, kept", [("/short", 1, 1), ("/short", 3, 3), ("/short", 7, 3), ("/pub", 12, 10),
                                                    ("/nohistory", 4, 0)])
def test_history_by_count(push, route, published, kept):
    channel = fresh()
    for _ in range(published):
        answer = publish(push, f"{route}/{channel}")
    assert answer.status == 202 and numbers(answer)[0] == kept


def test_history_by_age(push):
    channel = fresh()
    publish(push, f"/brief/{channel}")
    eventually(lambda: (lambda told: told.status == 404 or numbers(told)[0] == 0)(push.ask(f"/brief/{channel}")),
               "an old message is let go")


# Fields

FIELDS = [
    ({"Content-Type": "text/plain"}, 202), ({"Content-Type": "application/json"}, 202), ({"Content-Type": ""}, 202),
    ({"Content-Type": "a" * 255}, 202), ({"Content-Type": "a" * 256}, 400), ({"Content-Type": "a\tb"}, 400),
    ({"X-EventSource-Event": "tick"}, 202), ({"x-eventsource-event": "tick"}, 202), ({"X-EventSource-Event": ""}, 202),
    ({"X-EventSource-Event": "gap"}, 400), ({"X-EventSource-Event": "Gap"}, 202), ({"X-EventSource-Event": "gaps"}, 202),
    ({"X-EventSource-Event": "e" * 255}, 202), ({"X-EventSource-Event": "e" * 256}, 400),
    ({"X-EventSource-Event": "a\tb"}, 400), ({"X-EventSource-Event": "\xe4"}, 202),
    ({"Idempotency-Key": "k" * 255}, 202), ({"Idempotency-Key": "k" * 256}, 400), ({"Idempotency-Key": "a\tb"}, 400),
    ({"Idempotency-Key": ""}, 202),
]


@pytest.mark.parametrize("fields, status", FIELDS, ids=lambda value: str(value)[:40])
def test_fields(push, fields, status):
    channel = fresh()
    answer = push.ask(f"/pub/{channel}", "POST", body=b"x", fields=fields)
    assert answer.status == status
    assert push.ask(f"/pub/{channel}").status == (200 if status == 202 else 404)


@pytest.mark.parametrize("field", ["Content-Type", "X-EventSource-Event", "Idempotency-Key"])
@pytest.mark.parametrize("ending", [b"\r", b"\n", b"\0"])
def test_fields_with_line_breaks(push, field, ending):
    with push.connect() as wire:
        wire.send(b"POST /pub/a HTTP/1.1\r\nHost: x\r\n" + field.encode() + b": a" + ending + b"data: forged\r\n"
                  b"Content-Length: 1\r\n\r\nx")
        assert wire.read_response("POST").status == 400


def test_refusal_in_json(push):
    answer = publish(push, "/pub/a", Accept="application/json", X_EventSource_Event="gap")
    assert answer.status == 400
    assert json_of(answer) == {"status": 400, "error": '"gap" is the event that lost messages are told by'}


# Waiting

WAITS = [("/pub", "wait=0", 202, False), ("/pub", "wait=50", 202, True), ("/pub", "a=b&wait=50", 202, True),
         ("/pub", "wait=60000", 202, True), ("/pub", "wait=60001", 400, False), ("/pub", "wait=", 400, False),
         ("/pub", "wait", 400, False), ("/pub", "wait=-1", 400, False), ("/pub", "wait=1s", 400, False),
         ("/pub", "wait=99999999999999999999", 400, False), ("/pub", "waits=x", 202, False), ("/pub", "await=x", 202, False),
         ("/impatient", "wait=100", 202, True), ("/impatient", "wait=101", 400, False), ("/nowait", "wait=x", 202, False)]


@pytest.mark.parametrize("route, query, status, waited", WAITS)
def test_wait_without_subscribers(push, route, query, status, waited):
    """Nobody is waited for: the answer comes at once."""
    begun = time.monotonic()
    answer = publish(push, f"{route}/{fresh()}?{query}", Accept="application/json")
    assert answer.status == status and time.monotonic() - begun < 20
    if status == 202:
        told = json_of(answer)
        assert ("delivered" in told) == waited
        if waited:
            assert (told["delivered"], told["last_delivery_ms"], told["all_delivered"]) == (0, -1, True)


@pytest.mark.parametrize("accept, lines", [
    ("text/plain", ["delivered: 0", "last delivery: -1.000 ms (-1=none)", "all delivered: yes"]),
    ("text/xml", ["  <delivered>0</delivered>", "  <last_delivery_ms>-1.000</last_delivery_ms>",
                  "  <all_delivered>true</all_delivered>"]),
    ("text/yaml", ["delivered: 0", "last_delivery_ms: -1.000", "all_delivered: true"])])
def test_wait_in_every_form(push, accept, lines):
    answer = publish(push, f"/pub/{fresh()}?wait=10", Accept=accept)
    assert set(lines) <= set(answer.body.decode().split("\r\n"))


# Idempotency

def test_repeat_is_answered_as_the_first(push):
    channel = fresh()
    first = publish(push, f"/pub/{channel}", Idempotency_Key="one")
    publish(push, f"/pub/{channel}")
    again = publish(push, f"/pub/{channel}", Idempotency_Key="one")
    assert (first.status, again.status) == (202, 202)
    assert "Idempotency-Replayed" not in first and again["Idempotency-Replayed"] == "true"
    assert numbers(again)[3] == numbers(first)[3]
    assert numbers(push.ask(f"/pub/{channel}"))[0] == 2


@pytest.mark.parametrize("body, fields", [(b"something else", {}), (b"hello", {"Content_Type": "text/x-other"}),
                                          (b"hello", {"X_EventSource_Event": "other"}), (b"", {})])
def test_a_key_with_another_message(push, body, fields):
    channel = fresh()
    assert publish(push, f"/pub/{channel}", Idempotency_Key="one").status == 202
    refused = publish(push, f"/pub/{channel}", body, Idempotency_Key="one", **fields)
    assert refused.status == 422 and refused.body == b"this idempotency key came with another message before\n"
    assert numbers(push.ask(f"/pub/{channel}"))[0] == 1
    assert publish(push, f"/pub/{channel}", Idempotency_Key="one")["Idempotency-Replayed"] == "true"


def test_keys_are_a_channels_own(push):
    one, other = fresh(), fresh()
    assert "Idempotency-Replayed" not in publish(push, f"/pub/{one}", Idempotency_Key="k")
    assert "Idempotency-Replayed" not in publish(push, f"/pub/{other}", Idempotency_Key="k")


def test_keys_are_compared_as_they_are(push):
    channel = fresh()
    for key in ("k", "K", '"k"', "k2"):
        assert "Idempotency-Replayed" not in publish(push, f"/pub/{channel}", Idempotency_Key=key)
    assert numbers(push.ask(f"/pub/{channel}"))[0] == 4


def test_oldest_key_is_forgotten(push):
    channel = fresh()
    for i in range(65):
        publish(push, f"/pub/{channel}", Idempotency_Key=f"k{i}")
    assert "Idempotency-Replayed" in publish(push, f"/pub/{channel}", Idempotency_Key="k64")
    assert "Idempotency-Replayed" not in publish(push, f"/pub/{channel}", Idempotency_Key="k0")


def test_a_deleted_channel_has_no_keys(push):
    channel = fresh()
    publish(push, f"/pub/{channel}", Idempotency_Key="k")
    push.ask(f"/pub/{channel}", "DELETE")
    assert "Idempotency-Replayed" not in publish(push, f"/pub/{channel}", Idempotency_Key="k")


def test_repeats_at_once_are_published_once(push):
    channel = fresh()
    wires = [push.connect() for _ in range(16)]
    for wire in wires:
        wire.send(b"POST /pub/%s HTTP/1.1\r\nHost: x\r\nIdempotency-Key: same\r\nContent-Length: 1\r\n\r\nx" % channel.encode())
    answers = [wire.read_response("POST") for wire in wires]
    for wire in wires:
        wire.close()
    assert {answer.status for answer in answers} == {202}
    assert sum("Idempotency-Replayed" not in answer for answer in answers) == 1
    assert numbers(push.ask(f"/pub/{channel}"))[0] == 1


# Limits

def test_too_fast(push):
    channel = fresh()
    answers = [publish(push, f"/slow/{channel}") for _ in range(12)]
    refused = [answer for answer in answers if answer.status == 429]
    assert answers[0].status == 202 and len(refused) >= 6
    assert {answer["Retry-After"] for answer in refused} == {"1"}
    assert refused[0].body == b"you publish to this channel faster than you may\n"
    assert publish(push, f"/slow/{fresh()}").status == 202, "other channels are not held up"
    eventually(lambda: publish(push, f"/slow/{channel}").status == 202, "the channel takes messages again")


def publish_from(server, source, target):
    with socket.create_connection(server.address, 10, (source, 0)) as peer:
        peer.sendall(f"POST {target} HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nConnection: close\r\n\r\nx".encode())
        return int(peer.makefile("rb").readline().split()[1])


def test_one_publisher_too_fast_does_not_limit_another(push):
    channel = fresh()
    assert 429 in [publish_from(push, "127.0.0.2", f"/slow/{channel}") for _ in range(12)]
    assert publish_from(push, "127.0.0.3", f"/slow/{channel}") == 202
    assert publish_from(push, "127.0.0.2", f"/slow/{fresh()}") == 202


def test_too_many_channels(start_server):
    server = start_server({**PUSH, "push": {"max_channels": 5}})
    answers = [publish(server, f"/pub/c{i}") for i in range(40)]
    assert [answer.status for answer in answers].count(202) == 5
    refused = next(answer for answer in answers if answer.status != 202)
    assert refused.status == 503 and 2 <= int(refused["Retry-After"]) <= 6
    assert publish(server, "/pub/c0").status == 202, "those that are there go on"
    server.ask("/pub/c0", "DELETE")
    assert publish(server, "/pub/another").status == 202


def test_history_is_bounded(start_server):
    server = start_server({**PUSH, "push": {"max_history_bytes": 1 << 20}})
    for i in range(200):
        assert publish(server, f"/pub/c{i}", b"x" * 50_000).status == 202
    kept = eventually(lambda: (lambda n: n if n <= 1 << 20 else 0)(value(server, "roost_push_history_bytes")), "it is cut")
    assert kept > 1 << 19
    assert value(server, "roost_push_evictions_total") > 100
    assert publish(server, "/pub/new", b"x" * 50_000).status == 202


def value(server, name):
    text = server.ask("/metrics").body.decode()
    return int(re.search(rf"^{name} (\S+)$", text, re.MULTILINE)[1])


def test_retry_after_is_spread(start_server):
    server = start_server({**PUSH, "push": {"max_channels": 1}})
    assert publish(server, "/pub/one").status == 202
    assert len({publish(server, "/pub/other")["Retry-After"] for _ in range(60)}) > 1
