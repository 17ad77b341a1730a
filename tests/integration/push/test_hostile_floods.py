"""Too much of everything: bounded memory, clear refusals, and nobody else is harmed."""

import random

import pytest

from push_follower import META, PLAIN, POLL, SSE, Follower, Subscriber
from push_torture import ACCEPT_MODES, JSON, MIB, Publisher, Witness, push_config, sized, subscribers
from push_wire import Asker, Peer, Reactor

CHANNEL_CAP = 2000


def retry_after(answer):
    assert answer.status == 503 and int(answer.fields["retry-after"]) > 0, answer
    return True


class Refused(Subscriber):
    """Is in, or is told why not."""

    verdict = None

    def on_open(self):
        self.verdict = "in"

    def on_end(self, why):
        self.verdict = why


def await_verdicts(reactor, members, count):
    """Of all, `count` of whom are in. A WebSocket is refused once it is open."""
    def all_told():
        verdicts = [member.verdict for member in members]
        return all(verdicts) and verdicts.count("in") <= count
    reactor.run_until(all_told, "verdicts")
    verdicts = [member.verdict for member in members]
    assert verdicts.count("in") == count
    return verdicts


def test_more_channels_published_to_than_there_may_be(start_server):
    cap, names = sized(CHANNEL_CAP, 10_000, 500), sized(3 * CHANNEL_CAP, 1_000_000, 1500)
    server = start_server(push_config({"history": {"messages": 1, "seconds": 2}}, push={"max_channels": cap}))
    with Reactor() as reactor, Witness(reactor, server) as witness:
        asker = Asker(reactor, server.address)
        for attempt in range(2):
            answers, sent = {202: 0, 503: 0}, 0

            def count(answer):
                answers[answer.status] += 1
                assert answer.status == 202 or retry_after(answer)
            while sent < names:
                for _ in range(500):
                    asker.ask("POST", f"/pub/name-{attempt}-{sent}", JSON, b"x", count)
                    sent += 1
                reactor.run_until(lambda: sum(answers.values()) == sent, "answers")
            print(answers)
            assert cap - 10 <= answers[202] and answers[503] > 0  # histories end meanwhile, and make room
            witness.go_on()
            # A name a while later: those without a subscriber are let go with their last message.
            reactor.run_until(lambda: asker.get("POST", f"/pub/again-{attempt}", JSON, b"x").status == 202, "room for a channel")
            for old in (0, cap // 2, cap - 20):
                reactor.run_until(lambda old=old: asker.get("GET", f"/pub/name-{attempt}-{old}").status == 404,
                                  "an old channel is let go")
        assert witness.grown() < cap * 2048 + 8 * MIB


def test_more_channels_subscribed_to_than_there_may_be(start_server):
    cap, clients, attempts = 200, 600, sized(1, 3)
    server = start_server(push_config(push={"max_channels": cap}))
    with Reactor() as reactor, Witness(reactor, server) as witness:
        asker = Asker(reactor, server.address)
        for attempt in range(attempts):
            members = [Refused(reactor, server.address, f"/sub/s-{attempt}-{i}", (SSE, META, PLAIN)[i % 3])
                       for i in range(clients)]
            for member in members:
                member.open()
            verdicts = await_verdicts(reactor, members, cap - 1)
            assert set(verdicts) <= {"in", "503", "close 1013"}
            for member in members:
                member.leave()
            # They are let go after a while, sooner where somebody wants another.
            reactor.run_until(lambda: asker.get("POST", f"/pub/room-{attempt}", JSON, b"x").status == 202, "room for a channel")
            assert asker.get("DELETE", f"/pub/room-{attempt}").status == 200
        witness.go_on()
        assert witness.grown() < 8 * MIB


@pytest.mark.parametrize("limit, key", [(50, "max_subscribers"), (30, "max_subscribers_per_channel"),
                                        (20, "max_subscribers_per_address")])
def test_more_subscribers_than_there_may_be(start_server, limit, key):
    server = start_server(push_config(push={key: limit}))
    with Reactor() as reactor:
        asker = Asker(reactor, server.address)
        for _ in range(3):
            members = [Refused(reactor, server.address, "/sub/c", (SSE, META, PLAIN)[i % 3]) for i in range(3 * limit)]
            for member in members:
                member.open()
            verdicts = await_verdicts(reactor, members, limit)
            assert set(verdicts) <= {"in", "503", "429", "close 1013"}
            assert subscribers(asker, "c") == limit
            for member in members:
                member.leave(reset=random.random() < 0.5)
            reactor.run_until(lambda: subscribers(asker, "c") == 0, "all are gone")


@pytest.mark.parametrize("accept", ACCEPT_MODES)
def test_one_channel_is_flooded(start_server, accept):
    """Publishers flood a channel over many connections; another's subscribers lose nothing and wait within bounds."""
    connections, depth, messages = sized(16, 50, 8), 32, sized(100, 3000, 50)
    server = start_server(push_config({"history": {"messages": 10, "seconds": 60}}, accept=accept))
    with Reactor() as reactor, Witness(reactor, server) as witness:
        listeners = [Follower(reactor, server.address, "flood", transport, first=None) for transport in (SSE, META) * 20]
        counts = []
        for listener in listeners:
            listener.on_message = lambda *_: counts.append(1)
            listener.on_gap = lambda *_: None
            listener.open()
        statuses = {201: 0, 202: 0, 503: 0}

        def flood(asker, left=[connections * messages]):
            def answered(answer):
                statuses[answer.status] += 1
                assert answer.status != 503 or retry_after(answer)
                if left[0] > 0:
                    left[0] -= 1
                    asker.ask("POST", "/pub/flood", (), b"x" * 500, answered)
            for _ in range(depth):
                asker.ask("POST", "/pub/flood", (), b"x" * 500, answered)
        for _ in range(connections):
            flood(Asker(reactor, server.address))
        total = connections * (messages + depth)
        reactor.run_until(lambda: sum(statuses.values()) == total, lambda: f"answers: {statuses}")
        print(statuses, f"{len(counts)} received")
        assert witness.worst_s < 10
        assert witness.grown() < 96 * MIB  # what may wait for a loop, and its wire forms


@pytest.mark.parametrize("transport", [SSE, POLL])
def test_a_subscriber_sends_without_end(start_server, transport):
    server = start_server(push_config())
    with Reactor() as reactor, Witness(reactor, server) as witness:
        talkers = []
        for piece in (b"x" * 65536, b"\r\n" * 30000, b"GET /sub/talk HTTP/1.1\r\nHost: x\r\n\r\n" * 1500, b"\0" * 65536):
            for _ in range(5):
                talker = Subscriber(reactor, server.address, "/sub/talk", transport)
                talker.got, talker.end, talker.piece, talker.sent = [], None, piece, 0
                talker.on_message = lambda message_id, body, event, talker=talker: talker.got.append(body)
                talker.on_end = lambda why, talker=talker: setattr(talker, "end", why)
                talker.open()
                talkers.append(talker)
        witness.go_on()
        for _ in range(100):  # as much as goes, up to 6 MB each
            for talker in talkers:
                if talker.peer.fd >= 0:
                    try:
                        talker.sent += talker.peer.socket.send(talker.piece)
                    except (BlockingIOError, ConnectionError):
                        pass
            reactor.turn()
        witness.go_on()
        print("sent:", sorted({talker.sent for talker in talkers}), "ended:", {talker.end for talker in talkers})
        assert witness.grown() < len(talkers) * 128 * 1024 + 8 * MIB
        Publisher(reactor, server.address).run([("talk", b"hello")])
        if transport == SSE:  # who is still there gets what it listens for
            reactor.run_until(lambda: all(talker.got or talker.end for talker in talkers), "messages")
        else:
            witness.go_on()
        for talker in talkers:
            talker.leave()


def test_storms_of_clients_that_come_and_leave(start_server):
    server = start_server(push_config())
    with Reactor() as reactor, Witness(reactor, server) as witness:
        fds = server.open_fds()
        asker = Asker(reactor, server.address)
        for wave in range(sized(10, 100, 4)):
            for index in range(200):
                member = Subscriber(reactor, server.address, "/sub/storm", (SSE, META, PLAIN, POLL)[index % 4])
                member.on_end = lambda why: None
                member.open()
                if index % 5 == 0:
                    reactor.turn()
                member.leave(reset=wave % 2 == 0)
            witness.go_on(2)
        reactor.run_until(lambda: subscribers(asker, "storm") == 0, "all have left")
        reactor.run_until(lambda: server.open_fds() <= fds + 2, "their connections are closed")
        assert witness.grown() < 8 * MIB


def test_half_open(start_server):
    """Half a head, half a body, half a connection: each ends by itself."""
    config = push_config()
    config["http"].update(head_timeout_ms=500, body_timeout_ms=500)
    server = start_server(config)
    with Reactor() as reactor, Witness(reactor, server) as witness:
        ends = []

        def peer(data):
            one = Peer(reactor, server.address, lambda peer: None, lambda peer, why: ends.append((bytes(peer.buffer[:12]), why)))
            one.send(data)
        for _ in range(50):
            peer(b"GET /sub/half HTT")
            peer(b"POST /pub/half HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\nhalf")
            peer(b"POST /pub/half HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhal")
        reactor.run_until(lambda: len(ends) == 150, "they are ended")
        assert {head for head, _ in ends} <= {b"HTTP/1.1 408", b""}
        asker = Asker(reactor, server.address)
        assert asker.get("GET", "/pub/half").status == 404
        # Subscribers that say they will send nothing more are gone, or are served on; the count says which.
        members = [Subscriber(reactor, server.address, "/sub/closed", transport) for transport in (SSE, META, POLL)]
        left = []
        for member in members:
            member.on_end = left.append
            member.open()
        reactor.run_until(lambda: all(m.opened for m in members if m.transport != POLL), "they are in")
        for member in members:
            member.peer.socket.shutdown(1)
        reactor.run_until(lambda: subscribers(asker, "closed") == len(members) - len(left), "the count")
        assert witness.grown() < 8 * MIB
