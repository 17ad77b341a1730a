"""What the torture tests of push have in common: sizes, seeds, configurations, publishers, the server's memory.

ROOST_TORTURE=full makes the tests large, ROOST_TORTURE_SEED=N gives them another seed (each prints its own).
"""

import collections
import itertools
import json
import os
import pathlib
import random
import re
import time

from push_follower import META, PLAIN, POLL, SSE, Follower, payload
from push_wire import Asker
from roost_server import BINARY

FULL = os.environ.get("ROOST_TORTURE") == "full"
SANITIZED = any(name in pathlib.Path(BINARY).read_bytes() for name in (b"__asan_init", b"__tsan_init"))
MIB = 1 << 20
JSON = ["Accept: application/json"]
ACCEPT_MODES = ["handoff", "reuseport"]


def sized(ordinary, full, sanitized=None):
    """How many: in an ordinary run, with ROOST_TORTURE=full, and (of either) under a sanitizer."""
    size = full if FULL else ordinary
    return min(size, sanitized) if SANITIZED and sanitized else size


def seeded(salt):
    seed = f"{os.environ.get('ROOST_TORTURE_SEED', '5')} {salt}"
    print(f"seed: {seed}")
    return random.Random(seed)


def push_config(publish=None, subscribe=None, push=None, accept="handoff", **more):
    """Four loops, publishing under /pub/, subscribing under /sub/. Histories hold everything unless the test says otherwise."""
    publish = {"history": {"messages": 100000, "seconds": 3600}, "max_message_bytes": 4 * MIB, **(publish or {})}
    routes = [{"path": "/pub/{channel}", "push_publish": publish},
              {"path": "/witness/{channel}", "push_publish": {"history": {"messages": 1000, "seconds": 3600}}},
              {"path": "/sub/{channel}", "push_subscribe": subscribe or {}}]
    routes += more.pop("routes", [])
    return {"worker_processes": 4, "accept": accept, "push": push or {}, "log": {"level": "INFO"},
            "http": {"max_body_size": 64 * MIB, "sites": [{"host": ["*"], "routes": routes}]}, **more}


def rss_anon(server):
    """Bytes of the server's own memory."""
    status = pathlib.Path(f"/proc/{server.process.pid}/status").read_text()
    return int(re.search(r"RssAnon:\s+(\d+) kB", status).group(1)) * 1024


def channel_info(asker, channel):
    """What GET says of a channel; None: there is none."""
    answer = asker.get("GET", f"/pub/{channel}", JSON)
    assert answer.status in (200, 404), answer
    return json.loads(answer.body) if answer.status == 200 else None


def subscribers(asker, channel):
    """How many the channel has, by its own account."""
    info = channel_info(asker, channel)
    return info["subscribers"] if info else 0


class Publisher:
    """Publishes what an iterator of (channel, body) gives, up to `depth` requests on their way at a time over one connection."""

    def __init__(self, reactor, address, messages=(), depth=8, on_answer=None, under="/pub"):
        self.asker = Asker(reactor, address)
        self.reactor, self.messages, self.depth, self.on_answer = reactor, iter(messages), depth, on_answer
        self.pending = self.published = 0
        self.exhausted = False
        self.extra, self.under = list(JSON), under

    def start(self, messages=None):
        if messages is not None:
            assert self.exhausted or not self.pending
            self.messages, self.exhausted = iter(messages), False
        while not self.exhausted and self.pending < self.depth:
            message = next(self.messages, None)
            if message is None:
                self.exhausted = True
                break
            channel, body = message
            self.pending += 1
            self.asker.ask("POST", f"{self.under}/{channel}", self.extra, body,
                           lambda answer, channel=channel: self._answer(channel, answer))
        return self

    def _answer(self, channel, answer):
        self.pending -= 1
        self.published += 1
        assert answer.status in (201, 202), f"publishing to {channel}: {answer}"
        result = json.loads(answer.body)
        assert (answer.status == 201) == (result["subscribers"] > 0), answer
        if self.on_answer:
            self.on_answer(channel, result)
        if self.pending < self.depth:
            self.start()

    @property
    def done(self):
        return self.exhausted and self.pending == 0

    def run(self, messages):
        """Publishes them all and waits for the answers."""
        self.start(messages)
        self.reactor.run_until(lambda: self.done, "answers to all publications")


class Witness:
    """Subscribers of every transport and a publisher that go on all the while: each message must come to each of them.

        with Witness(reactor, server) as witness: ...
    """

    serial = itertools.count()
    AHEAD = 100  # messages at most that the publisher is ahead of the slowest

    def __init__(self, reactor, server):
        self.reactor, self.server, self.channel = reactor, server, f"witness{next(Witness.serial)}"
        self.going = True
        self.sent = self.through = 0
        self.worst_s = 0.0  # from sending a publication until all have it
        self.begun = collections.deque()
        self.publisher = Publisher(reactor, server.address, depth=1, on_answer=self._go, under="/witness")
        self.followers = [Follower(reactor, server.address, self.channel, transport)
                          for transport in (SSE, META, PLAIN, POLL) * 2]
        for follower in self.followers:
            follower.step = self._go

    def _go(self, *_):
        through = min(follower.next for follower in self.followers)
        for _ in range(through - self.through):
            self.worst_s = max(self.worst_s, time.monotonic() - self.begun.popleft())
        self.through = through
        if self.going and not self.publisher.pending and self.sent - through < self.AHEAD:
            self.begun.append(time.monotonic())
            self.sent += 1
            self.publisher.start([(self.channel, payload(self.channel, self.sent - 1))])

    def __enter__(self):
        for follower in self.followers:
            follower.open()
        self.reactor.run_until(lambda: all(f.opened for f in self.followers if f.transport != POLL), "the witnesses are in")
        self.memory = self.most = rss_anon(self.server)
        self.publisher.start()
        self._go()
        self.go_on()
        return self

    def go_on(self, messages=20):
        """Lets so many more messages pass, through to everybody; minds the server's memory."""
        until = self.sent + messages
        self.reactor.run_until(lambda: self.through >= until, "the witnesses' messages")
        self.most = max(self.most, rss_anon(self.server))

    def grown(self):
        """Bytes by which the server's memory has grown, at most, at any of the looks at it."""
        self.most = max(self.most, rss_anon(self.server))
        print(f"RssAnon {self.memory / MIB:.1f} MiB, at most {self.most / MIB:.1f}, {rss_anon(self.server) / MIB:.1f} now; "
              f"{self.sent} messages to witnesses, the slowest after {self.worst_s * 1e3:.0f} ms")
        return 0 if SANITIZED else self.most - self.memory

    def __exit__(self, kind, *_):
        if kind is None:
            self.go_on()
            self.going = False
            self.reactor.run_until(lambda: self.through == self.sent, "the witnesses' last messages")
            self.server.check_alive()
