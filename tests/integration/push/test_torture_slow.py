"""Subscribers that read nothing, or a little now and then: they cost the server next to nothing, are told what they missed, and
whoever reads gets everything."""

import pytest

from push_follower import META, PLAIN, POLL, SSE, Follower, payload
from push_torture import MIB, SANITIZED, Publisher, push_config, rss_anon, seeded, sized
from push_wire import Reactor

POLICIES = {"/sub": "drop_oldest", "/latest": "latest", "/strict": "disconnect"}
TINY = {"receive_bytes": 2048, "segment_bytes": 536}  # so that little of what they do not read fits into the kernel
MESSAGE = 40_000
HISTORY = 10
WINDOW = MIB // 4
LOOPS = 4


class Laggard(Follower):
    """Reads nothing until it is told to. One that the server has ended comes back by the last id it has."""

    def __init__(self, *arguments, may_be_ended, **more):
        super().__init__(*arguments, **more, **TINY)
        self.gaps_allowed, self.may_be_ended, self.ends = True, may_be_ended, []

    def on_end(self, why):
        assert self.may_be_ended, (self.path, self.transport, why)
        self.ends.append(why)
        self.open()


def server_of(start_server, accept="handoff"):
    routes = [{"path": f"{under}/{{channel}}", "push_subscribe": {"slow": policy}}
              for under, policy in POLICIES.items() if under != "/sub"]
    config = push_config({"history": {"messages": HISTORY, "seconds": 3600}}, accept=accept, routes=routes,
                         push={"slow_window_bytes": WINDOW, "slow_window_messages": 256})
    config["http"]["send_timeout_ms"] = 600_000
    return start_server(config)


def paced(fast, messages, channel="c"):
    """Messages that never run further ahead of those who read than the history is long."""
    def one(number):
        return channel, payload(channel, number, b"x" * MESSAGE)

    def ready(number):
        return all(follower.next > number - HISTORY // 2 for follower in fast)
    return one, ready


def publish_paced(reactor, publisher, fast, begin, end, each=None):
    one, ready = paced(fast, end)
    for number in range(begin, end):
        reactor.run_until(lambda number=number: ready(number), "those who read have read")
        publisher.start([one(number)])
        if each:
            each(number)
        reactor.run_until(lambda: publisher.done, "an answer")


@pytest.mark.parametrize("under", POLICIES)
def test_slow_readers(start_server, under):
    chooser = seeded(f"slow {under}")
    messages, each = sized(250, 1500, 100), sized(50, 300, 20)
    server = server_of(start_server)
    with Reactor() as reactor:
        fast = [Follower(reactor, server.address, "c", transport, under=path)
                for transport in (SSE, META, PLAIN) for path in POLICIES]
        slow = [Laggard(reactor, server.address, "c", transport=transport, under=under, may_be_ended=under == "/strict")
                for transport in (SSE, META, POLL) for _ in range(each)]
        for follower in fast + slow:
            follower.open()
        reactor.run_until(lambda: all(f.opened for f in fast + slow if f.transport != POLL), "all are subscribed")
        publisher = Publisher(reactor, server.address)
        publish_paced(reactor, publisher, fast + slow, 0, 1)
        reactor.run_until(lambda: all(f.next == 1 for f in slow), "the first message, to everybody")
        for follower in slow:
            follower.peer.pause()
        tricklers = slow[::3]
        publish_paced(reactor, publisher, fast, 1, HISTORY)
        before, most = rss_anon(server), 0

        def trickle(number):
            nonlocal most
            for follower in chooser.sample(tricklers, 5):
                follower.peer.read(700, trickle=True)
            if number % 10 == 0:
                most = max(most, rss_anon(server))

        publish_paced(reactor, publisher, fast, HISTORY, messages, trickle)
        reactor.run_until(lambda: all(f.next == messages for f in fast), "those who read have everything")
        grown = most - before
        # Each message may be there as published and in three wire forms; what is kept are the history and, on each loop, the
        # window, and what single clients are in the middle of, which is a message for each that trickles.
        bound = 4 * (HISTORY * MESSAGE + LOOPS * WINDOW + MESSAGE * (len(tricklers) + LOOPS)) + len(slow) * 4096 + 4 * MIB
        print(f"{len(slow)} slow readers of {messages * MESSAGE / MIB:.0f} MiB: RssAnon {before / MIB:.1f} MiB, "
              f"then {most / MIB:.1f}, may grow by {bound / MIB:.1f}")
        assert SANITIZED or grown < bound
        for follower in slow:
            follower.peer.widen()
            follower.peer.pause(False)
        reactor.run_until(lambda: all(f.next == messages for f in slow),
                          lambda: [(f.transport, f.next) for f in slow if f.next != messages][:9])
        for follower in slow:
            assert follower.gaps, f"{follower.transport}: {follower.received} messages, no gap"
            if under == "/strict" and follower.transport != POLL:
                assert follower.ends
        if under == "/latest":
            for follower in slow[:each * 2]:  # the newest at once, whatever the history holds
                assert follower.received < messages / 2
