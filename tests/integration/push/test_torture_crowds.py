"""Crowds that come and go: whoever stays misses nothing, counts are exact, memory comes back."""

import pytest

from push_follower import META, PLAIN, POLL, SSE, Follower, Subscriber, payload
from push_torture import ACCEPT_MODES, MIB, SANITIZED, Publisher, push_config, rss_anon, seeded, sized, subscribers
from push_wire import Asker, Reactor


class Member(Subscriber):
    """One of a crowd, who looks at nothing it gets."""

    def on_message(self, message_id, body, event):
        pass

    def on_gap(self, after, missed):
        pass


def expect_subscribers(reactor, asker, channel, count):
    """Those who leave are noticed when the kernel says so; from then on the number stays."""
    seen = []

    def exact():
        seen.append(subscribers(asker, channel))
        return seen[-1] == count
    reactor.run_until(exact, lambda: f"{channel} has {count} subscribers, not {seen[-5:]}")
    reactor.settle(5)
    assert subscribers(asker, channel) == count


@pytest.mark.parametrize("accept", ACCEPT_MODES)
def test_thousands_are_reset_in_the_middle_of_broadcasts(start_server, accept):
    crowd = sized(5000 if accept == "handoff" else 1000, 5000, 600)
    messages, rounds = sized(100, 400, 40), sized(2, 8, 2)
    server = start_server(push_config({"history": {"messages": 20, "seconds": 60}}, accept=accept))
    with Reactor() as reactor:
        stay = [Follower(reactor, server.address, "c", transport) for transport in (SSE, META, PLAIN) for _ in range(5)]
        for follower in stay:
            follower.open()
        asker = Asker(reactor, server.address)
        number, memory = 0, []
        for _ in range(rounds):
            members = [Member(reactor, server.address, "/sub/c", (POLL, SSE, META, PLAIN)[i % 4])
                       for i in range(crowd)]
            for member in members:
                member.open()
            reactor.run_until(lambda: all(member.opened for member in members if member.transport != POLL), "the crowd is in")
            for member in members:  # they do not read what comes
                member.peer.pause()
            number += messages
            publisher = Publisher(reactor, server.address,
                                  (("c", payload("c", n, b"x" * 2000)) for n in range(number - messages, number)))
            publisher.start()
            reactor.run_until(lambda: publisher.published >= messages // 4, "some publications")
            for member in members:
                member.leave(reset=True)
            reactor.run_until(lambda: publisher.done and all(follower.next == number for follower in stay), "all messages")
            expect_subscribers(reactor, asker, "c", len(stay))
            memory.append(rss_anon(server))
        print("RssAnon after each round, MiB:", [round(size / MIB, 1) for size in memory])
        if not SANITIZED:
            assert memory[-1] < memory[len(memory) // 2 - 1] + 4 * MIB
            assert memory[-1] < 32 * MIB


@pytest.mark.parametrize("accept", ACCEPT_MODES)
def test_the_count_is_exact_under_churn(start_server, accept):
    chooser = seeded(f"churn {accept}")
    clients, channels, rounds, steps = sized(200, 500, 60), 7, sized(6, 30), sized(400, 1500, 200)
    server = start_server(push_config({"history": {"messages": 5, "seconds": 60}}, accept=accept))
    with Reactor() as reactor:
        asker = Asker(reactor, server.address)
        publisher = Publisher(reactor, server.address)
        names = [f"c{i}" for i in range(channels)]
        members = [Member(reactor, server.address, f"/sub/{chooser.choice(names)}") for _ in range(clients)]

        def expected(name):
            return sum(1 for member in members if member.path == f"/sub/{name}" and member.peer and member.peer.fd >= 0)

        for _ in range(rounds):
            publisher.start((name, payload(name, 0)) for name in chooser.choices(names, k=steps))
            for member in chooser.choices(members, k=steps):
                if member.peer and member.peer.fd >= 0 and chooser.random() < 0.6:
                    member.leave(reset=chooser.random() < 0.3)
                else:
                    member.leave()
                    member.path, member.last_id = f"/sub/{chooser.choice(names)}", None
                    member.open(chooser.choice((POLL, SSE, META, PLAIN)))
                reactor.turn()
            reactor.run_until(lambda: publisher.done, "all publications")
            reactor.settle()
            for name in names:
                expect_subscribers(reactor, asker, name, expected(name))
                told = []  # a publication counts the same; polls that it answers come back behind it
                publisher.on_answer = lambda _, result, told=told: told.append(result["subscribers"])
                publisher.run([(name, payload(name, 0))])
                assert told == [expected(name)]
                publisher.on_answer = None
        for member in members:
            member.leave(reset=chooser.random() < 0.5)
        for name in names:
            expect_subscribers(reactor, asker, name, 0)


@pytest.mark.parametrize("transport", [SSE, META, PLAIN])
@pytest.mark.parametrize("channels", ["one", "many"])
def test_who_knows_that_it_is_subscribed_is_counted(start_server, transport, channels):
    """At once, whichever loop it is on and whichever is asked: to a channel that is known there, and to one that is not yet."""
    server = start_server(push_config())
    with Reactor() as reactor:
        askers = [Asker(reactor, server.address) for _ in range(4)]
        members = []
        for index in range(sized(200, 2000, 60)):
            channel = "c" if channels == "one" else f"c{index}"
            member = Member(reactor, server.address, f"/sub/{channel}", transport)
            members.append(member)
            member.open()
            reactor.run_until(lambda member=member: member.opened, "the answer to a subscription")
            assert subscribers(askers[index % 4], channel) == (len(members) if channels == "one" else 1), f"client {index}"
