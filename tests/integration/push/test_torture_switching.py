"""One id resumes on every transport: nothing lost, nothing twice, in order, however clients and publishers go on."""

import pytest

from push_follower import META, POLL, RESUMING, SSE, Follower, payload
from push_torture import ACCEPT_MODES, Publisher, push_config, seeded, sized
from push_wire import Reactor


class Switcher(Follower):
    """Changes its transport after some of the messages, drops what has already come behind them, and at times leaves twice."""

    def __init__(self, *arguments, chooser, **more):
        super().__init__(*arguments, transport=chooser.choice(RESUMING), **more)
        self.chooser = chooser
        self.switches = 0

    def step(self, number):
        if self.chooser.random() < 0.5:
            self.switches += 1
            self.open(self.chooser.choice(RESUMING))
            if self.chooser.random() < 0.15:  # what it is sent now goes to nobody
                self.leave(reset=self.chooser.random() < 0.5)
                self.open(self.chooser.choice(RESUMING))


@pytest.mark.parametrize("accept", ACCEPT_MODES)
def test_switching_at_random(start_server, accept):
    channels, messages = sized(500, 500, 100), sized(12, 100, 12)
    chooser = seeded(f"switching {accept}")
    server = start_server(push_config(accept=accept))
    with Reactor() as reactor:
        names = [f"c{i}" for i in range(channels)]
        followers = [Switcher(reactor, server.address, name, ids={}, chooser=chooser) for name in names]
        for follower in followers:
            follower.open()

        def script(mine):
            left = {name: 0 for name in mine}
            while left:
                name = chooser.choice(mine)
                if name in left:
                    yield name, payload(name, left[name])
                    left[name] += 1
                    if left[name] == messages:
                        del left[name]

        ids = {name: [] for name in names}
        publishers = [Publisher(reactor, server.address, script(names[i::4]), 8,
                                lambda name, result: ids[name].append(result["last_message_id"])).start() for i in range(4)]
        reactor.run_until(lambda: all(publisher.done for publisher in publishers), "all publications")
        reactor.run_until(lambda: all(follower.next == messages for follower in followers), lambda: behind(followers, messages))
        for follower in followers:  # the publisher has been told the same ids
            assert [follower.ids[number] for number in range(messages)] == ids[follower.channel]
            assert follower.received == messages and not follower.gaps
        reactor.settle()
        assert sum(follower.switches for follower in followers) > messages * channels / 4


def behind(followers, messages):
    return [(follower.channel, follower.transport, follower.next, follower.last_id)
            for follower in followers if follower.next != messages][:10]


@pytest.mark.parametrize("depth", [1, 16])
def test_a_publisher_that_never_pauses(start_server, depth):
    """There is always a message between two polls; each of them comes, and the one after the last is waited for."""
    messages = sized(2000, 20000, 500)
    server = start_server(push_config())
    with Reactor() as reactor:
        followers = [Follower(reactor, server.address, "busy", POLL, ids={}) for _ in range(3)]
        followers += [Follower(reactor, server.address, "busy", transport) for transport in (SSE, META)]
        for follower in followers:
            follower.chooser = seeded("busy")
            follower.open()
        publisher = Publisher(reactor, server.address, (("busy", payload("busy", n)) for n in range(messages)), depth).start()
        reactor.run_until(lambda: publisher.done and all(follower.next == messages for follower in followers),
                          lambda: behind(followers, messages))
        publisher.run([("busy", payload("busy", messages))])
        reactor.run_until(lambda: all(follower.next == messages + 1 for follower in followers),
                          lambda: behind(followers, messages + 1))
