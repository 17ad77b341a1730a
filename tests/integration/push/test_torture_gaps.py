"""Whoever misses messages is told so, and how many: short histories, deleted channels, servers that start anew."""

import pytest

from push_follower import META, PLAIN, POLL, RESUMING, SSE, Follower, payload
from push_torture import ACCEPT_MODES, Publisher, push_config, seeded, sized, subscribers
from push_wire import Asker, Reactor

SHORT = {"history": {"messages": 5, "seconds": 3600}}
BURST = 300


def numbered(channel, begin, end):
    for number in range(begin, end):
        yield channel, payload(channel, number)


def followers_of(reactor, server, channel, transports, each=1, **more):
    followers = [Follower(reactor, server.address, channel, transport, **more) for transport in transports for _ in range(each)]
    for follower in followers:
        follower.gaps_allowed = True
        follower.open()
    return followers


@pytest.mark.parametrize("accept", ACCEPT_MODES)
def test_a_burst_beyond_the_history(start_server, accept):
    server = start_server(push_config(SHORT, accept=accept))
    with Reactor() as reactor:
        for channel in (f"c{i}" for i in range(sized(4, 20, 2))):
            live = followers_of(reactor, server, channel, (SSE, META, PLAIN), 5)
            polling = followers_of(reactor, server, channel, (POLL,), 5)
            away = followers_of(reactor, server, channel, RESUMING, 5)
            publisher = Publisher(reactor, server.address, depth=BURST)
            publisher.run((channel, payload(channel, n)) for n in range(5))
            reactor.run_until(lambda: all(f.next == 5 for f in live + polling + away), "the first five")
            for follower in away:
                follower.leave()
            publisher.run((channel, payload(channel, n)) for n in range(5, BURST))
            reactor.run_until(lambda: all(f.next == BURST for f in live + polling), "the burst")
            assert all(f.received == BURST and not f.gaps for f in live)
            for follower in polling:
                assert follower.received + sum(missed for _, missed in follower.gaps) == BURST
            for index, follower in enumerate(away):
                follower.open(RESUMING[index % 3])
            reactor.run_until(lambda: all(f.next == BURST for f in away), "those who were away")
            assert {tuple(f.gaps) for f in away} == {((5, BURST - 5 - 5),)}
            assert {f.received for f in away} == {10}
            for follower in live + polling + away:
                follower.leave()


def test_a_gap_is_told_at_every_place(start_server):
    """Back from each message of forty, with five in the history: the gap is what lies between, and none where nothing does."""
    server = start_server(push_config(SHORT))
    with Reactor() as reactor:
        ids = {}
        first = followers_of(reactor, server, "c", (SSE,), ids=ids)[0]
        reactor.run_until(lambda: first.opened, "the first is in")
        Publisher(reactor, server.address).run(("c", payload("c", n)) for n in range(40))
        reactor.run_until(lambda: len(ids) == 40, "all messages")
        back = []
        for number in range(40):
            for transport in RESUMING:
                follower = Follower(reactor, server.address, "c", transport, number + 1, last_id=ids[number])
                follower.gaps_allowed = True
                follower.open()
                back.append((number, follower))
        reactor.run_until(lambda: all(f.next == 40 for _, f in back), "all who come back")
        reactor.settle()
        for number, follower in back:
            missed = max(0, 40 - 5 - number - 1)
            assert follower.gaps == ([(number + 1, missed)] if missed else []), (number, follower.transport)


class Returning(Follower):
    """Comes back when its channel is deleted or its server gone."""

    def __init__(self, *arguments, **more):
        super().__init__(*arguments, **more)
        self.gaps_allowed = True
        self.ends = []

    def on_end(self, why):
        self.story.append(why)
        assert why in ("410", "end", "close 1000", "close 1001"), (self.transport, why)
        self.ends.append((self.transport, why))
        if self.last_id is None or ":0-" in self.last_id:
            self.anything = True  # it has never had a message, of that making of the channel: whichever is first
        self.open(self.chooser.choice(RESUMING))


@pytest.mark.parametrize("accept", ACCEPT_MODES)
def test_channels_are_deleted_under_load(start_server, accept):
    """Numbers go on from one channel of a name to the next. Within each nothing is missed, between them the gap is told."""
    chooser = seeded(f"deleting {accept}")
    server = start_server(push_config(accept=accept))
    names, messages, deletions = [f"c{i}" for i in range(10)], sized(150, 1500, 60), sized(30, 500, 15)
    with Reactor() as reactor:
        followers = []
        for name in names:
            for transport in RESUMING:
                for _ in range(2):
                    follower = Returning(reactor, server.address, name, transport=transport)
                    follower.chooser = chooser
                    follower.open()
                    followers.append(follower)
        asker, deleted = Asker(reactor, server.address), []
        for name in names:
            reactor.run_until(lambda name=name: subscribers(asker, name) == 6, "all are in")
        publishers = [Publisher(reactor, server.address, numbered(name, 0, messages), 2).start() for name in names]
        for _ in range(deletions):
            asker.ask("DELETE", f"/pub/{chooser.choice(names)}", on_answer=deleted.append)
            count = len(deleted)
            reactor.run_until(lambda count=count: len(deleted) > count, "an answer to DELETE")
            for _ in range(chooser.randrange(20)):
                reactor.turn()
        assert {answer.status for answer in deleted} <= {200, 404}
        reactor.run_until(lambda: all(publisher.done for publisher in publishers), "all publications")
        for publisher, name in zip(publishers, names):
            publisher.run(numbered(name, messages, messages + 20))
        reactor.run_until(lambda: all(f.next == messages + 20 for f in followers),
                          lambda: [(f.channel, f.transport, f.next, f.last_id) for f in followers
                                   if f.next != messages + 20][:10])
        ended = {end for follower in followers for end in follower.ends}
        print("ends:", sorted(ended))
        # A poll is there for a moment only: whether one meets a deletion is chance.
        assert {transport for transport, _ in ended} >= set(RESUMING) - {POLL}


@pytest.mark.parametrize("accept", ACCEPT_MODES)
def test_a_server_that_starts_anew(start_server, accept):
    server = start_server(push_config(accept=accept))
    with Reactor() as reactor:
        followers = followers_of(reactor, server, "c", RESUMING, 5)
        Publisher(reactor, server.address).run(("c", payload("c", n)) for n in range(20))
        reactor.run_until(lambda: all(f.next == 20 for f in followers), "all messages")
        for follower in followers:
            follower.leave()
        server.stop()
        again = start_server(push_config(accept=accept, port=server.address[1]))
        for follower in followers[::2]:  # some are back before the first message, some behind it
            follower.open()
        publisher = Publisher(reactor, again.address)
        publisher.run(("c", payload("c", n)) for n in range(100, 110))
        for follower in followers[1::2]:
            follower.open()
        publisher.run(("c", payload("c", n)) for n in range(110, 120))
        reactor.run_until(lambda: all(f.next == 120 for f in followers), "the new messages")
        for follower in followers:
            assert follower.received == 40 and follower.gaps == [(20, None)], (follower.transport, follower.gaps)
