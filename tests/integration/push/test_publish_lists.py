"""Lists of messages for many channels in one request."""

import base64
import json

import pytest

from publish_case import PUSH, chunked, fresh, json_of, numbers, publish, publish_list


@pytest.fixture
def push(shared_server):
    server = shared_server(PUSH)
    yield server
    server.check_alive()


def message(channel="m", **more):
    return {"channel": channel, **({} if "base64" in more else {"data": "x"}), **more}


WHOLE = [  # what is no list of messages: nothing of it is published
    (b"", 400, "no list of messages"), (b"{}", 400, "a list of messages is an array"), (b"null", 400, "is an array"),
    (b"3", 400, "is an array"), (b'"a"', 400, "is an array"), (b"true", 400, "is an array"), (b"1.5", 400, "is an array"),
    (b"[", 400, "not JSON, at byte"), (b"[{]", 400, "not JSON, at byte 3"), (b"[] x", 400, "not JSON, at byte 4"),
    (b'[{"channel": "a", "data": "x"},]', 400, "not JSON, at byte 32"), (b"\xff", 400, "not JSON, at byte 1"),
    (b'[{"channel": "\xff", "data": "x"}]', 400, "not JSON"), (b'[{"channel": "a\x01", "data": "x"}]', 400, "not JSON"),
    (b'[{"channel": "\\ud800", "data": "x"}]', 400, "not JSON"),
    (b"[1]", 400, "message 1: a message is an object"), (b"[null]", 400, "message 1: a message is an object"),
    (b"[[]]", 400, "message 1: a message is an object"), (b'["a"]', 400, "message 1: a message is an object"),
    (b"[" * 100000, 400, "message 1: a message is an object"),
    ([message(), {"channel": "b"}], 400, 'message 2: a message has either "data" or "base64"'),
    ([message(), {"data": "b"}], 400, 'message 2: "channel" is missing'),
    ([message(base64="eA==", data="x")], 400, 'either "data" or "base64"'),
    ([{"channel": 1, "data": "x"}], 400, 'message 1: "channel" is a text'),
    ([{"channel": "a", "data": {"a": 1}}], 400, 'message 1: "data" is a text'),
    ([{"channel": "a", "data": ["a"]}], 400, 'message 1: "data" is a text'),
    ([{"channel": "a", "data": None}], 400, 'message 1: "data" is a text'),
    ([message(), message(), message(chanel="a")], 400, 'message 3: "chanel" is no member of a message'),
    (b'[{"channel": "a", "data": "x", "data": "y"}]', 400, 'message 1: "data" stands twice'),
]


@pytest.mark.parametrize("text, status, why", WHOLE, ids=lambda value: str(value)[:40])
def test_refused_as_a_whole(push, text, status, why):
    push.ask("/list/m", "DELETE")
    answer = publish_list(push, "/list/any", text)
    assert answer.status == status and why in json_of(answer)["error"]
    assert json_of(answer)["status"] == status
    assert push.ask("/list/m").status == 404, "nothing is published"


ENTRIES = [  # one message's fault is its own
    (message(""), 400, "empty"), (message("n" * 1024), 202, None), (message("n" * 1025), 400, "1024"),
    (message("a\nb"), 400, "control"), (message("a\u0000"), 400, "control"), (message("ä€🦚"), 202, None),
    (message(data=""), 202, None), (message(data="d" * 100), 202, None), (message(data="d" * 101), 413, "larger"),
    (message(data="€" * 34), 413, "larger"),
    (message(base64=base64.b64encode(bytes(100)).decode()), 202, None),
    (message(base64=base64.b64encode(bytes(101)).decode()), 413, "larger"),
    (message(base64=""), 202, None), (message(base64="eA=="), 202, None), (message(base64="eA"), 400, "base64"),
    (message(base64="eA=a"), 400, "base64"), (message(base64="e==="), 400, "base64"), (message(base64="eB=="), 400, "base64"),
    (message(base64="e A="), 400, "base64"), (message(base64="____"), 400, "base64"), (message(base64="===="), 400, "base64"),
    (message(event="tick"), 202, None), (message(event="gap"), 400, "gap"), (message(event="a\nb"), 400, "control"),
    (message(event="a\rb"), 400, "control"), (message(event="e" * 255), 202, None), (message(event="e" * 256), 400, "255"),
    (message(content_type="text/html"), 202, None), (message(content_type="a\nSet-Cookie: x"), 400, "control"),
    (message(content_type="a" * 256), 400, "255"), (message(id_key="k" * 256), 400, "255"),
]


@pytest.mark.parametrize("entry, status, why", ENTRIES, ids=lambda value: str(value)[:40])
def test_one_message(push, entry, status, why):
    good = fresh("good")
    answer = publish_list(push, "/list/any", [message(good), entry, message(good)])
    assert answer.status == 200
    first, one, last = json_of(answer)
    assert (first["status"], last["status"], last["messages"]) == (202, 202, 2)
    assert one["status"] == status and one["channel"] == entry["channel"]
    if why is None:
        assert one["messages"] >= 1 and "error" not in one
    else:
        assert why in one["error"] and "messages" not in one


def test_empty_list(push):
    answer = publish_list(push, "/list/any", [])
    assert answer.status == 200 and json_of(answer) == []


def test_order_within_a_channel(push):
    channel = fresh()
    results = json_of(publish_list(push, "/list/any", [message(channel) for _ in range(20)]))
    ids = [result["last_message_id"] for result in results]
    assert [int(one.split(":")[1].split("-")[0]) for one in ids] == list(range(1, 21))
    assert numbers(push.ask(f"/pub/{channel}"))[3] == ids[-1]


def test_many_channels_on_all_loops(push):
    names = [fresh("many") for _ in range(200)]
    results = json_of(publish_list(push, "/big/any", [message(name) for name in names]))
    assert [result["channel"] for result in results] == names
    assert all(result["status"] == 202 and result["messages"] == 1 for result in results)
    assert all(push.ask(f"/pub/{name}").status == 200 for name in names[::20])


def test_long_list(push):
    """Long enough to be read away from the loop."""
    names = [fresh("long") for _ in range(1000)]
    results = json_of(publish_list(push, "/big/any", [message(name, data="d" * 500) for name in names]))
    assert [result["channel"] for result in results] == names
    assert {result["status"] for result in results} == {202}


def test_long_list_that_is_none(push):
    answer = publish_list(push, "/big/any", json.dumps([message(data="d" * 500)] * 1000).encode()[:-1])
    assert answer.status == 400 and "not JSON, at byte" in json_of(answer)["error"]


def test_long_list_of_a_client_that_leaves(push):
    name = fresh("left")
    text = json.dumps([message(name, data="d" * 500)] * 500).encode()
    for _ in range(5):
        with push.connect() as wire:
            wire.send(b"POST /big/any HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n"
                      % len(text) + text)
    push.check_alive()


@pytest.mark.parametrize("messages, status", [(3, 200), (4, 413), (100, 413)])
def test_count(push, messages, status):
    name = fresh()
    answer = publish_list(push, "/few/any", [{"channel": name, "data": ""}] * messages if messages < 5 else
                          b"[" + b",".join([b'{"channel":"a","data":""}'] * 7) + b"]")
    assert answer.status == status
    if status == 413:
        assert push.ask(f"/pub/{name}").status == 404


@pytest.mark.parametrize("size, status", [(200, 200), (201, 413)])
@pytest.mark.parametrize("in_chunks", [False, True])
def test_bytes(push, size, status, in_chunks):
    text = b"[]".ljust(size)
    if in_chunks:
        answer = push.ask("/few/any", "POST", body=chunked(text[:100], text[100:]),
                          fields={"Transfer-Encoding": "chunked", "Content-Type": "application/json"})
    else:
        answer = publish_list(push, "/few/any", text)
    assert answer.status == status


@pytest.mark.parametrize("channel, status", [("own/a", 202), ("own/", 202), ("also", 202), ("also-b", 202), ("own", 403),
                                             ("other", 403), ("a/own/", 403), ("OWN/a", 403)])
def test_channels_that_may_be_named(push, channel, status):
    (result,) = json_of(publish_list(push, "/own/any", [message(channel)]))
    assert result["status"] == status


@pytest.mark.parametrize("kind, is_list", [("application/json", True), ("Application/JSON; charset=utf-8", True),
                                           ("text/json", False), ("text/plain", False), ("application/jsonx", False)])
def test_what_is_taken_for_a_list(push, kind, is_list):
    answer = publish(push, f"/list/{fresh()}", b"[]", Content_Type=kind)
    assert (answer.status, answer.body) == ((200, b"[]\n") if is_list else (415, answer.body))


def test_put_is_no_list(push):
    answer = push.ask(f"/list/{fresh()}", "PUT", body=b"[]", fields={"Content-Type": "application/json"})
    assert answer.status == 202


def test_without_batch_it_is_a_message(push):
    answer = publish(push, f"/pub/{fresh()}", b"[]", Content_Type="application/json")
    assert answer.status == 202 and numbers(answer)[0] == 1


def test_keys_in_a_list(push):
    name = fresh()
    entries = [message(name, id_key="k"), message(name, id_key="k"), message(name, id_key="other")]
    first, again, other = json_of(publish_list(push, "/list/any", entries))
    assert again["replayed"] is True and "replayed" not in first and "replayed" not in other
    assert again["last_message_id"] == first["last_message_id"] and other["messages"] == 2


def test_waiting_for_a_list(push):
    (result,) = json_of(publish_list(push, "/list/any?wait=100", [message(fresh())]))
    assert (result["delivered"], result["last_delivery_ms"], result["all_delivered"]) == (0, -1, True)


def test_text_json(push):
    answer = publish(push, "/list/any", b"[]", Content_Type="application/json", Accept="text/json")
    assert answer["Content-Type"] == "text/json"


def test_a_list_has_no_key_of_its_own(push):
    name = fresh()
    answer = publish_list(push, "/list/any", [message(name)], Idempotency_Key="whole")
    assert answer.status == 400 and "id_key" in json_of(answer)["error"]
    assert push.ask("/list/" + name).status == 404
