"""Publishers that are faster than their subscribers are slowed down; nobody is refused, and nothing is lost."""

import collections
import json
import pathlib
import sys

import pytest

from push_follower import META, SSE, Subscriber
from push_torture import MIB, SANITIZED, push_config, rss_anon, sized
from push_wire import Asker, Reactor
from roost_server import eventually
from subscribe_case import TEXT, WsWire, frame

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "swarm"))
from swarm_process import run_swarm, start_swarm

NARROW = {"max_backlog_messages": 64}  # what is published and not yet delivered, for each loop
HISTORY = {"history": {"messages": 100000}}
ROUTES = [{"path": "/batch", "push_publish": {"channel": "batch", "batch": {}, **HISTORY}},
          {"path": "/talk/{channel}", "push_pubsub": {"publish": HISTORY}},
          {"path": "/acked/{channel}", "push_publish": HISTORY},
          {"path": "/metrics", "metrics": {}}]


class Reader(Subscriber):
    """Gets "publisher number" of many publishers, those of each in their order."""

    def __init__(self, *args):
        super().__init__(*args)
        self.next = collections.Counter()
        self.count = 0

    def on_message(self, message_id, body, event):
        publisher, number = body.split()[:2]
        assert int(number) == self.next[publisher], f"{body} where {self.next[publisher]} is due"
        self.next[publisher] += 1
        self.count += 1


def counted(server, name, route):
    """A route's counter; all its reasons together."""
    lines = server.ask("/metrics").body.decode().splitlines()
    return sum(int(line.split()[-1]) for line in lines if line.startswith(name + "{") and f'route="{route}"' in line)


def readers(reactor, server, channel, count):
    made = [Reader(reactor, server.address, f"/sub/{channel}", (SSE, META)[index % 2]) for index in range(count)]
    for reader in made:
        reader.open()
    reactor.run_until(lambda: all(reader.opened for reader in made), "all are in")
    return made


@pytest.mark.parametrize("push", [{}, NARROW], ids=["as it comes", "narrow"])
def test_publishers_flat_out(start_server, push):
    """64 keep-alive publishers and 100 subscribers: as many as can be delivered, and no refusal."""
    publishers, messages = 64, sized(20, 200, 8)
    server = start_server(push_config(push=push, routes=ROUTES))
    with Reactor() as reactor:
        listeners = readers(reactor, server, "flat", 100)
        statuses = collections.Counter()

        def start(index):
            asker, sent = Asker(reactor, server.address), [0]

            def publish(answer=None):
                if answer:
                    statuses[answer.status] += 1
                if sent[0] < messages:
                    sent[0] += 1
                    asker.ask("POST", "/pub/flat", (), b"%d %d %s" % (index, sent[0] - 1, b"x" * 100), publish)
            publish()
        for index in range(publishers):
            start(index)
        total = publishers * messages
        reactor.run_until(lambda: sum(statuses.values()) == total, lambda: f"answers: {statuses}")
        assert statuses == {201: total}
        reactor.run_until(lambda: all(reader.count == total for reader in listeners), "all messages")
        queued = counted(server, "roost_push_publish_queued_total", "/pub/{channel}")
        assert queued > 0 or not push
        assert counted(server, "roost_push_publish_refused_total", "/pub/{channel}") == 0


def test_publishers_flat_out_in_a_crowd(start_server, tmp_path):
    """The same with a load generator, which waits for nothing but its answers."""
    total = 64 * sized(60, 1000, 20)
    server = start_server(push_config(routes=ROUTES, worker_processes=2))
    url = "http://{}:{}".format(*server.address)
    listeners = start_swarm(f"{url}/sub/crowd", "--kind", "sse", "-H", "Accept: text/event-stream", "-c", 100, "-d", 300, "-q")
    try:
        eventually(lambda: counted(server, "roost_push_subscribers", "/sub/{channel}") == 100, "all are in")
        run_swarm(f"{url}/pub/crowd", "-X", "POST", "--body", "x" * 100, "-c", 64, "--requests-per-client", total // 64, "-d", 50,
                  "--expect-status", 201, "--expect-bytes", -2, "-q")
        eventually(lambda: counted(server, "roost_push_deliveries_total", "/sub/{channel}") == 100 * total, "all messages", 60)
    finally:
        listeners.terminate()
        listeners.communicate()
    assert counted(server, "roost_push_gaps_total", "/sub/{channel}") == 0


def test_lists_flat_out(start_server):
    """Lists wait as single messages do."""
    publishers, lists, length = 8, 3, 300
    server = start_server(push_config(push=NARROW, routes=ROUTES))
    with Reactor() as reactor:
        listeners = readers(reactor, server, "lists", 20)
        statuses, left = collections.Counter(), [publishers * lists]

        def start(index):
            asker, sent = Asker(reactor, server.address), [0]

            def publish(answer=None):
                if answer:
                    left[0] -= 1
                    statuses.update(result["status"] for result in json.loads(answer.body))
                if sent[0] < lists:
                    first = sent[0] * length
                    sent[0] += 1
                    messages = [{"channel": "lists", "data": f"{index} {first + i}"} for i in range(length)]
                    asker.ask("POST", "/batch", ["Content-Type: application/json"], json.dumps(messages).encode(), publish)
            publish()
        for index in range(publishers):
            start(index)
        reactor.run_until(lambda: left[0] == 0, "answers")
        total = publishers * lists * length
        assert statuses == {201: total}
        reactor.run_until(lambda: all(reader.count == total for reader in listeners), "all messages")


def test_a_socket_flat_out(start_server):
    """A WebSocket that publishes faster than its channel can take it is read more slowly, and is not closed."""
    server = start_server(push_config(push=NARROW, routes=ROUTES))
    total = 1000
    with Reactor() as reactor:
        listeners = readers(reactor, server, "talk", 20)
        with WsWire(server, "/talk/talk") as talker:
            talker.send(b"".join(frame(TEXT, b"0 %d" % number) for number in range(total)))
            reactor.run_until(lambda: all(reader.count == total for reader in listeners), "all messages")
            for number in range(total):
                assert talker.read() == (TEXT, b"0 %d" % number)
    assert counted(server, "roost_push_published_total", "/talk/{channel}") == total
    assert counted(server, "roost_push_published_bytes_total", "/talk/{channel}") > total
    assert counted(server, "roost_push_publish_refused_total", "/talk/{channel}") == 0


@pytest.mark.parametrize("push", [{"publish_queue_ms": 0}, {"publish_queue_bytes": 1024}], ids=["no time", "no room"])
def test_a_flood_that_may_not_wait(start_server, push):
    """Beyond what may wait, a publication is refused with a time to come back, and so is a list's; a socket is closed."""
    server = start_server(push_config(push={"max_backlog_messages": 4, **push}, routes=ROUTES))
    with Reactor() as reactor:
        memory = rss_anon(server)
        for listener in readers(reactor, server, "flood", 20):
            listener.on_message = lambda *_: None  # what has been refused is missing
        answers, asker = [], Asker(reactor, server.address)
        for index in range(4):
            messages = [{"channel": "flood", "data": f"{index} {number}" + "x" * 1000} for number in range(200)]
            asker.ask("POST", "/batch", ["Content-Type: application/json"], json.dumps(messages).encode(), answers.append)
        reactor.run_until(lambda: len(answers) == 4, "answers")
        statuses = [collections.Counter(result["status"] for result in json.loads(answer.body)) for answer in answers]
        assert any(status[503] for status in statuses)
        for answer, status in zip(answers, statuses):
            assert set(status) <= {201, 503}
            assert ("retry-after" in answer.fields) == (503 in status)
        assert counted(server, "roost_push_publish_refused_total", "/batch") == sum(status[503] for status in statuses)
        assert SANITIZED or rss_anon(server) < memory + 32 * MIB
