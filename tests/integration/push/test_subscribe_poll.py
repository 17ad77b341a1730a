"""Long polls and interval polls: where they begin, what they are answered, when they give up."""

import time

import pytest

from raw_http import request
from subscribe_case import SUBSCRIBE, Poll, conditions, fresh, id_of, publish, wait_for


@pytest.fixture
def push(shared_server):
    server = shared_server(SUBSCRIBE)
    yield server
    server.check_alive()


@pytest.fixture
def three(push):
    """A channel with three messages, and their ids."""
    channel = fresh()
    return channel, [publish(push, channel, text) for text in ("one", "two", "three")]


# The answer

def test_waits_for_the_next_message(push):
    channel = fresh()
    with Poll(push, "/sub/" + channel) as poll:
        wait_for(push, channel, 1)
        sent = publish(push, channel, "news", Content_Type="text/x-news")
        answer = poll.answer()
        assert (answer.status, answer.body, answer["Content-Type"]) == (200, b"news", "text/x-news")
        assert id_of(answer) == sent
        assert answer["Vary"] == "If-None-Match, If-Modified-Since"
        assert answer["Cache-Control"] == "no-store"
        assert "Push-Gap" not in answer and "X-EventSource-Event" not in answer
        poll.wire.expect_alive("/metrics")
    wait_for(push, channel, 0)


@pytest.mark.parametrize("waits", [False, True])
@pytest.mark.parametrize("size", [0, 1, 5, 4096, 16384, 16385, 100000, 1048576])
def test_sizes(push, waits, size):
    channel, body = fresh(), bytes(range(256)) * (size // 256 + 1)
    if not waits:
        publish(push, channel, body[:size])
    with Poll(push, "/sub/" + channel) as poll:
        if waits:
            wait_for(push, channel, 1)
            publish(push, channel, body[:size])
        answer = poll.answer()
        assert answer.body == body[:size] and answer["Content-Length"] == str(size)
        poll.wire.expect_alive("/metrics")


def test_event_name_and_no_type(push):
    channel = fresh()
    publish(push, channel, "x", X_EventSource_Event="tick")
    answer = push.ask("/sub/" + channel)
    assert answer["X-EventSource-Event"] == "tick" and "Content-Type" not in answer


def test_one_after_the_other_on_one_connection(push, three):
    channel, ids = three
    with Poll(push, "/sub/" + channel) as poll:
        for number, id_text in enumerate(ids):
            answer = poll.answer()
            assert id_of(answer) == id_text and answer.body == (b"one", b"two", b"three")[number]
            poll.wire.send(request("/sub/" + channel, fields=conditions(id_text)))
        wait_for(push, channel, 1)
        publish(push, channel, "four")
        assert poll.answer().body == b"four"


def test_pipelined(push, three):
    channel, ids = three
    live = fresh()
    with Poll(push, "/sub/" + live) as poll:
        wait_for(push, live, 1)
        poll.wire.send(request("/sub/" + channel) + request("/sub/" + channel, fields=conditions(ids[1])) +
                       request("/new/" + live))
        publish(push, live, "first")
        assert [poll.answer().body for _ in range(3)] == [b"first", b"one", b"three"]
        wait_for(push, live, 1)
        publish(push, live, "second")
        assert poll.answer().body == b"second"


@pytest.mark.parametrize("version, fields, closes", [
    ("1.1", {}, False), ("1.1", {"Connection": "close"}, True), ("1.0", {}, True),
    ("1.0", {"Connection": "keep-alive"}, False)])
@pytest.mark.parametrize("waits", [False, True])
def test_versions(push, version, fields, closes, waits):
    channel = fresh()
    if not waits:
        publish(push, channel, "x")
    with Poll(push, "/sub/" + channel, fields, version=version) as poll:
        if waits:
            wait_for(push, channel, 1)
            publish(push, channel, "x")
        answer = poll.answer()
        assert answer.status == 200 and answer.body == b"x" and answer.closes == closes
        if closes:
            poll.wire.expect_close()
        else:
            poll.wire.expect_alive("/metrics")


@pytest.mark.parametrize("target, status", [("/sub/", 200), ("/interval/", 200), ("/events/", 200)])
def test_head_has_the_fields_alone(push, target, status):
    channel = fresh()
    sent = publish(push, channel, "hello")
    with Poll(push, target + channel, method="HEAD") as poll:
        answer = poll.answer()
        assert answer.status == status and answer.body == b""
        if target != "/events/":
            assert id_of(answer) == sent and answer["Content-Length"] == "5"
        poll.wire.expect_alive("/metrics")


def test_head_does_not_wait(push):
    with Poll(push, "/sub/" + fresh(), method="HEAD") as poll:
        assert poll.answer().status == 304
        poll.wire.expect_alive("/metrics")


# Where it begins

@pytest.mark.parametrize("target, body", [("/sub/", b"one"), ("/last2/", b"two"), ("/polls/", b"one")])
def test_first_message(push, three, target, body):
    assert push.ask(target + three[0]).body == body


def test_newest_waits(push, three):
    with Poll(push, "/new/" + three[0]) as poll:
        wait_for(push, three[0], 1)
        publish(push, three[0], "four")
        assert poll.answer().body == b"four"


PLACES = {
    "query": lambda id_text: ("?last_event_id=" + id_text, {}),
    "query, encoded": lambda id_text: ("?a=b&last_event_id=" + id_text.replace(":", "%3a").replace("-", "%2D"), {}),
    "query, tag quoted": lambda id_text: ("?last_event_id=" + id_text.replace(":", ":%22") + "%22&x", {}),
    "Last-Event-ID": lambda id_text: ("", {"Last-Event-ID": id_text}),
    "last-event-id": lambda id_text: ("", {"last-event-id": id_text}),
    "conditions": lambda id_text: ("", conditions(id_text)),
    "conditions, plain": lambda id_text: ("", conditions(id_text, "{}")),
    "conditions, weak": lambda id_text: ("", conditions(id_text, 'W/"{}"')),
    "conditions, list": lambda id_text: ("", conditions(id_text, '"other", W/"{}", "1-ffffffff"')),
    "conditions, no date": lambda id_text: ("", {"If-None-Match": conditions(id_text)["If-None-Match"]}),
    "conditions, no real date": lambda id_text: ("", {**conditions(id_text), "If-Modified-Since": "yesterday"}),
}


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("index", [0, 1])
def test_after_an_id(push, three, place, index):
    channel, ids = three
    more, fields = PLACES[place](ids[index])
    answer = push.ask("/sub/" + channel + more, fields=fields)
    assert answer.body == (b"two", b"three")[index] and "Push-Gap" not in answer


@pytest.mark.parametrize("target, more, fields, body", [
    ("/sub/", "?last_event_id={0}", {"Last-Event-ID": "{1}"}, b"three"),
    ("/sub/", "?last_event_id={1}", {"Last-Event-ID": "{0}", "conditions": 0}, b"two"),
    ("/sub/", "?last_event_id={1}", {"conditions": 0}, b"three"),
    ("/sub/", "?last_event_id=", {"Last-Event-ID": "{1}"}, b"three"),
    ("/sub/", "", {"Last-Event-ID": "{1}", "conditions": 0}, b"three"),
    ("/sub/", "?since={1}", {}, b"one"),
    ("/sub/", "?xlast_event_id={1}&last_event_i={1}", {}, b"one"),
    ("/sub/", "?last_event_id={0}&last_event_id={1}", {}, b"two"),
    ("/sub/", "", {"X-Message-Id": "{1}"}, b"one"),
    ("/since/", "?since={1}&last_event_id={0}", {}, b"three"),
    ("/noquery/", "?last_event_id={1}", {"Last-Event-ID": "{0}"}, b"two"),
    ("/header/", "", {"X-Message-Id": "{1}", "Last-Event-ID": "{0}"}, b"three"),
    ("/header/", "?last_event_id={0}", {"X-Message-Id": "{1}"}, b"three"),
    ("/header/", "", {"x-message-id": "{1}", "conditions": 0}, b"three"),
    ("/header/", "", {"X-Message-Id": "", "Last-Event-ID": "{0}"}, b"two"),
])
def test_precedence(push, three, target, more, fields, body):
    channel, ids = three
    asked = {name: text.format(*ids) for name, text in fields.items() if name != "conditions"}
    if "conditions" in fields:
        asked.update(conditions(ids[fields["conditions"]]))
    assert push.ask(target + channel + more.format(*ids), fields=asked).body == body


def test_id_header_in_answers(push, three):
    channel, ids = three
    answer = push.ask("/header/" + channel)
    assert answer["X-Message-Id"] == ids[0] == id_of(answer)
    answer = push.ask("/header/" + channel, fields={"X-Message-Id": ids[2]})
    assert (answer.status, answer["X-Message-Id"]) == (304, ids[2])


MALFORMED = ["x", "-1", "1:2:3x", " ", "99999999999999999999:1-5f3a9c01", "1" * 129, "%zz", "%4", "%", "1%00", "0x1:1-5f3a9c01",
             "+1:1-5f3a9c01", "1 :1-5f3a9c01", "a" * 4000]


@pytest.mark.parametrize("text", [text for text in MALFORMED if text not in ("1:2:3x", " ")])
def test_malformed_query(push, text):
    with Poll(push, "/sub/" + fresh() + "?last_event_id=" + text.replace(" ", "+")) as poll:
        assert poll.answer().status == 400
        poll.wire.expect_alive("/metrics")


@pytest.mark.parametrize("text", [text for text in MALFORMED if "%" not in text and text not in ("1:2:3x", " ")])
def test_malformed_fields(push, text):
    channel = fresh()
    publish(push, channel, "x")
    answer = push.ask("/sub/" + channel, fields={"Last-Event-ID": text})
    assert (answer.status, answer.body, answer["Push-Gap"]) == (200, b"x", "unknown")
    assert push.ask("/header/" + fresh(), fields={"X-Message-Id": text}).status == 400


# Gaps

@pytest.mark.parametrize("known, missed", [(0, "1"), (1, None), (2, None)])
def test_expired_id(push, known, missed):
    channel = fresh()
    ids = [publish(push, channel, str(number), "/short/") for number in range(5)]
    answer = push.ask("/sub/" + channel, fields=conditions(ids[known]))
    assert answer.get("Push-Gap") == missed
    assert answer.body == (b"2" if known < 2 else b"3")


@pytest.mark.parametrize("id_text", ["{0}:1-00000001", "{0}:99-{2}", "99999999999:99-{2}", "0:7-ffffffff"])
def test_unknown_id(push, three, id_text):
    channel, ids = three
    seconds, tag = ids[0].split(":")
    answer = push.ask("/sub/" + channel + "?last_event_id=" + id_text.format(seconds, 0, tag.split("-")[1]))
    assert (answer.body, answer["Push-Gap"]) == (b"one", "unknown")


def test_gap_on_a_poll_that_waits(push):
    channel = fresh()
    with Poll(push, "/sub/" + channel + "?last_event_id=5:5-5f3a9c01") as poll:
        wait_for(push, channel, 1)
        publish(push, channel, "x")
        answer = poll.answer()
        assert (answer.body, answer["Push-Gap"]) == (b"x", "unknown")


@pytest.mark.parametrize("fields", [{"If-None-Match": '"someone-elses"'}, {"If-None-Match": "*"},
                                    {"If-Modified-Since": "Sun, 06 Nov 1994 08:49:37 GMT"}])
def test_conditions_that_are_not_ours(push, three, fields):
    assert push.ask("/sub/" + three[0], fields=fields).body == b"one"


@pytest.mark.parametrize("fields", [
    {"If-None-Match": '"0"', "If-Modified-Since": "{date}"}, {"If-None-Match": "*", "If-Modified-Since": "{date}"},
    {"Last-Event-ID": "{seconds}:0"}, {"Last-Event-ID": "{seconds}:1-00000000"}])
def test_a_tag_of_another_server_is_a_gap(push, three, fields):
    """However plausible its time is: which messages of that second the client has had is not known."""
    channel, ids = three
    known = {"date": conditions(ids[2])["If-Modified-Since"], "seconds": ids[2].split(":")[0]}
    answer = push.ask("/sub/" + channel, fields={name: text.format(**known) for name, text in fields.items()})
    assert (answer.body, answer["Push-Gap"]) == (b"one", "unknown")


def test_a_quiet_channel_forgotten_meanwhile_is_no_gap(push):
    """Who has been told that there was nothing yet has missed nothing where there is nothing now."""
    channel = fresh()
    answer = push.ask("/interval/" + channel)
    old = f"{id_of(answer).split(':')[0]}:0-00000001"
    answer = push.ask("/interval/" + channel, fields=conditions(old))
    assert answer.status == 304 and "Push-Gap" not in answer and id_of(answer) != old
    publish(push, channel, "x")
    assert push.ask("/interval/" + channel, fields=conditions(old))["Push-Gap"] == "unknown"
    publish(push, channel, "y")
    answer = push.ask("/interval/" + channel, fields=conditions(id_of(answer)))
    assert answer.body == b"x" and "Push-Gap" not in answer


# Time

@pytest.mark.parametrize("target, status", [("/quick/", 408), ("/quick304/", 304)])
def test_timeout(push, three, target, status):
    channel, ids = three
    with Poll(push, target + channel, conditions(ids[2])) as poll:
        before = time.monotonic()
        answer = poll.answer()
        assert time.monotonic() - before > 0.2
        assert answer.status == status and id_of(answer) == ids[2] and answer["Cache-Control"] == "no-store"
        poll.wire.expect_alive("/metrics")
    wait_for(push, channel, 0)


@pytest.mark.parametrize("target", ["/quick/", "/quick304/"])
def test_nothing_is_lost_by_a_timeout(push, target):
    channel = fresh()
    answer = push.ask(target + channel)
    publish(push, channel, "between")
    answer = push.ask(target + channel, fields=conditions(id_of(answer)))
    assert answer.body == b"between" and "Push-Gap" not in answer


def test_interval_poll(push, three):
    channel, ids = three
    assert push.ask("/interval/" + channel).body == b"one"
    assert push.ask("/interval/" + channel, fields=conditions(ids[0])).body == b"two"
    answer = push.ask("/interval/" + channel, fields=conditions(ids[2]))
    assert answer.status == 304 and id_of(answer) == ids[2]
    nothing = fresh()
    for _ in range(4):  # whichever loop has it
        answer = push.ask("/interval/" + nothing)
        assert answer.status == 304
    publish(push, nothing, "first")
    assert push.ask("/interval/" + nothing, fields=conditions(id_of(answer))).body == b"first"


# The end

def test_deletion(push):
    channel = fresh()
    with Poll(push, "/sub/" + channel) as poll:
        wait_for(push, channel, 1)
        assert push.ask("/pub/" + channel, "DELETE").status == 200
        assert poll.answer().status == 410
        poll.wire.expect_alive("/metrics")


@pytest.mark.parametrize("leave", ["close", "reset", "shutdown_write"])
def test_a_client_that_leaves_is_forgotten(push, leave):
    channel = fresh()
    with Poll(push, "/sub/" + channel) as poll:
        wait_for(push, channel, 1)
        getattr(poll.wire, leave)()
        wait_for(push, channel, 0)


@pytest.mark.parametrize("method, status", [("POST", 405), ("PUT", 405), ("DELETE", 405), ("OPTIONS", 204), ("PATCH", 405)])
def test_other_methods(push, method, status):
    answer = push.ask("/sub/" + fresh(), method)
    assert answer.status == status and answer["Allow"] == "GET, HEAD, OPTIONS"


def test_content_is_refused(push):
    assert push.ask("/sub/" + fresh(), body=b"what is this").status == 400


def test_names(push):
    assert push.ask("/sub/" + "n" * 1025).status == 400
    assert push.ask("/sub/%01x").status == 400
