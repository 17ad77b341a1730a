"""Ids that nobody was given: never a crash and never a message silently skipped, but a refusal or a gap that is told."""

import json

import pytest

from push_follower import META, POLL, RESUMING, SSE, Follower, Subscriber, payload
from push_torture import Publisher, Witness, push_config
from push_wire import Asker, Reactor

HUGE = "9" * 100
NOW = 1_800_000_000

IDS = [
    f"{NOW}:999999999-00000001", f"{NOW}:{2**63}-5f3a9c01", f"{NOW}:{2**64 - 1}-5f3a9c01", f"{NOW}:{2**64}-5f3a9c01",
    f"{NOW}:{HUGE}-5f3a9c01", f"{HUGE}:1-5f3a9c01", f"{2**63}:1-5f3a9c01", f"{2**63 - 1}:1-5f3a9c01", f"{-2**63}:1-5f3a9c01",
    "-1:1-5f3a9c01", "-1:-1--1", "0:0-00000000", "0:0", ":", "1:", ":1", "::", "1:1:1", "1:1-", "1:-", "1:1-5f3a9c01-1",
    "1:1-5f3a9c0", "1:1-5f3a9c011", "1:1-5F3A9C01", "1:+1-5f3a9c01", "1: 1-5f3a9c01", "1:0x1-5f3a9c01", "1.5:1-5f3a9c01",
    "1e9:1-5f3a9c01", "x", "newest", "%", "%0", "%zz", "%00", "%0d%0aX:%20y", "1%3A1-5f3a9c01", "%31:%31", "\u00e9", "%ff%fe",
    '"', '""', 'W/"', "1:W/", '1:W/"', '1:"', '1:""',
    '1:W/"1-5f3a9c01', "1:1,1:1", "1:[1],2", "1:1-ffffffff", "x" * 8000, "1" * 8000, ":" * 8000, "1:" + '"' * 7000, "%41" * 2500,
]


class Asking(Subscriber):
    """Comes with an id, and notes what it is told."""

    def __init__(self, *arguments, **more):
        super().__init__(*arguments, **more)
        self.got, self.gap, self.refused = [], False, None

    def on_message(self, message_id, body, event):
        self.got.append(body)
        if self.transport == POLL:
            self.leave()

    def on_gap(self, after, missed):
        assert not self.got
        self.gap = True

    def on_end(self, why):
        self.refused = why


def ways(text, channel):
    """(transport, path, fields) of each way to send an id."""
    query = "".join(c if 33 < ord(c) < 127 and c not in "#" else f"%{b:02X}" for c in text for b in c.encode()[:1])
    field = text.encode().decode("latin-1")
    for transport in RESUMING:
        yield transport, f"/sub/{channel}?last_event_id={query}", []
        yield transport, f"/sub/{channel}", [f"Last-Event-ID: {field}"]
    yield POLL, f"/sub/{channel}", [f"If-None-Match: {field}", "If-Modified-Since: Tue, 01 Jan 2030 00:00:00 GMT"]
    yield POLL, f"/sub/{channel}", [f"If-Modified-Since: {field}", 'If-None-Match: "1-5f3a9c01"']
    yield POLL, f"/sub/{channel}", [f"If-None-Match: {field}"]


@pytest.mark.parametrize("text", IDS, ids=lambda text: text[:20].encode("ascii", "backslashreplace").decode() + f"+{len(text)}")
def test_ids_that_nobody_was_given(shared_server, text):
    server = shared_server(push_config())
    channel = f"id{IDS.index(text)}"
    with Reactor() as reactor:
        publisher = Publisher(reactor, server.address)
        publisher.run((channel, payload(channel, n)) for n in range(3))
        asking = []
        for transport, path, fields in ways(text, channel):
            subscriber = Asking(reactor, server.address, path, transport, fields=fields)
            subscriber.open()
            asking.append(subscriber)
        reactor.settle(5)
        publisher.run([(channel, payload(channel, 3))])  # for those who wait for something later than they have named
        last = payload(channel, 3)
        reactor.run_until(lambda: all(s.refused or s.got and (s.transport == POLL or s.got[-1] == last) for s in asking),
                          lambda: [(s.transport, s.path[:80], s.fields, s.got) for s in asking if not s.got])
        expected = [payload(channel, n) for n in range(4)]
        for subscriber in asking:
            what = (subscriber.transport, subscriber.path[:100], [f[:100] for f in subscriber.fields], subscriber.refused,
                    subscriber.got)
            print(*what, "gap" if subscriber.gap else "")
            if subscriber.refused:
                assert subscriber.refused in ("400", "414", "431") and not subscriber.got, what
            elif subscriber.gap or subscriber.got[0] == expected[0]:  # all there is
                assert subscriber.got == expected[:len(subscriber.got)], what
            else:  # by a time alone, which is in the future: what is new
                assert subscriber.got == expected[3:] and subscriber.transport == POLL, what
    server.check_alive()


def test_what_a_publisher_cannot_forge(shared_server):
    """Neither fields of an event nor gaps can be forged by what is published."""
    server = shared_server(push_config())
    refused = [["X-EventSource-Event: gap"], ["X-EventSource-Event: a\rid: 1:1"], ["X-EventSource-Event: a\nid: 1:1"],
               ["X-EventSource-Event: a\0b"], ["Content-Type: text/plain\rid: 1:1"]]
    bodies = [b"x\ny", b"x\r\ny", b"x\ry", b"a\n\nid: 9:9\nevent: gap\ndata: {}\n\n", b"\n", b"\r", b"id: 9:9",
              b"event: gap\n\nb", b": c",
              b"a\rdata: b\r\rid: 7", b"\n\n\n", "a\u2028b\u0085c".encode()]
    with Reactor() as reactor, Witness(reactor, server):
        got = {transport: [] for transport in (SSE, META)}
        for transport, list_of in got.items():
            subscriber = Subscriber(reactor, server.address, "/sub/forge", transport)
            subscriber.on_message = lambda message_id, body, event, list_of=list_of: list_of.append((message_id, body, event))
            subscriber.open()
        asker = Asker(reactor, server.address)
        for fields in refused:
            one = Asker(reactor, server.address)
            assert one.get("POST", "/pub/forge", fields, b"x").status == 400, fields
        ids = []
        for body in bodies:
            answer = asker.get("POST", "/pub/forge", ["Accept: application/json", "X-EventSource-Event: news"], body)
            ids.append(json.loads(answer.body)["last_message_id"])
        reactor.run_until(lambda: all(len(list_of) == len(bodies) for list_of in got.values()), lambda: f"{got}")
        assert got[META] == [(ids[i], body, "news") for i, body in enumerate(bodies)]
        normal = [body.replace(b"\r\n", b"\n").replace(b"\r", b"\n") for body in bodies]
        assert got[SSE] == [(ids[i], body, "news") for i, body in enumerate(normal)]


def test_odd_names(shared_server):
    """Names of every kind are names, or refused; none of them is another's."""
    server = shared_server(push_config())
    with Reactor() as reactor, Witness(reactor, server):
        seen = {}
        for name in ["a%2Fb", "a%00b", "%0d%0a", "%ff", "..%2f", "%2e%2e", "x" * 1000, "x" * 5000, "%e2%80%ae", "a;b", "a,b",
                     "a+b", "a%20b", "{a}", "%25"]:
            answer = Asker(reactor, server.address).get("POST", f"/pub/{name}", ["Accept: application/json"], b"x")
            seen[name] = answer.status
            assert answer.status in (202, 400, 403, 404, 414, 431), (name, answer)
            if answer.status == 202:
                assert json.loads(answer.body)["messages"] == 1, name
        print(seen)
