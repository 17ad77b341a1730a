#!/usr/bin/env python3
"""Drives the push demos and push.js in headless Chromium over every transport, and reports what came of it.

The counter runs on each transport while connections are cut and resumed; two tabs chat; push.js goes on through connections that
are ended from outside, falls back where a proxy swallows WebSockets or keeps event streams to itself, and stops where it is
refused; the browser's own EventSource resumes with Last-Event-ID. The pages, routes and limits are those of conf/server.json.
The exit code is 1 when something was lost, came twice, or did not happen.
"""

import argparse
import copy
import contextlib
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import time
import urllib.parse
import urllib.request

from autobahn import free_port, stop, wait_for
from browse_site import ROOT, Browser, find_chromium
from push_proxy import Proxy

TRANSPORTS = ("websocket", "sse", "long_poll")
SECONDS = 30


class Tab:
    """A page, and JavaScript run in it."""

    def __init__(self, browser, url, width=None):
        self.browser = browser
        target = browser.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = browser.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        self.target = target
        if width:
            browser.call("Emulation.setDeviceMetricsOverride", self.session, width=width, height=800, deviceScaleFactor=2, mobile=True)
        browser.call("Page.navigate", self.session, url=url)
        self.until("document.readyState == 'complete' && location.href != 'about:blank'")

    def run(self, expression):
        """What the expression, or the promise it gives, evaluates to."""
        answer = self.browser.call("Runtime.evaluate", self.session, expression=expression, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in answer:
            raise AssertionError(answer["exceptionDetails"].get("exception", {}).get("description", answer["exceptionDetails"]["text"]))
        return answer["result"].get("value")

    def until(self, expression, seconds=SECONDS):
        deadline = time.monotonic() + seconds
        while not (value := self.run(expression)):
            if time.monotonic() > deadline:
                raise AssertionError(f"still not: {expression}")
            time.sleep(0.02)
        return value

    def close(self):
        self.browser.call("Target.closeTarget", targetId=self.target)


class World:
    """The browser, the server's origin, and a proxy before it. `restart` ends the server and starts another, or is None."""

    def __init__(self, browser, address, restart=None):
        self.browser, self.address, self.restart = browser, address, restart
        self.origin = "http://{}:{}".format(*address)

    @contextlib.contextmanager
    def tab(self, path="/", origin=None, width=None):
        tab = Tab(self.browser, (origin or self.origin) + path, width)
        try:
            yield tab
        finally:
            tab.close()

    @contextlib.contextmanager
    def proxied(self, path="/index.html"):
        """A tab whose page came through a proxy, and that proxy."""
        proxy = Proxy(self.address)
        try:
            with self.tab(path, "http://{}:{}".format(*proxy.address)) as tab:
                yield tab, proxy
        finally:
            proxy.stop()

    def publish(self, channel, *messages, path="demo", **fields):
        for message in messages:
            data = message if isinstance(message, bytes) else str(message).encode()
            request = urllib.request.Request(f"{self.origin}/{path}/{urllib.parse.quote(channel)}", data, {"Content-Type": "text/plain", **fields})
            urllib.request.urlopen(request, timeout=10).close()


# A subscription in the page that keeps what it has seen.
LISTEN = """
import('/push.js').then(({ Push }) => {
  window.seen = []; window.states = []; window.gaps = [];
  window.push = new Push('/demo/%s', { transports: %s, timeout: 1500, retry: 100, ...(%s),
    onmessage: (data, meta) => seen.push([typeof data == 'string' ? data : Array.from(new Uint8Array(data)), meta]),
    ongap: gap => gaps.push(gap), onstate: (state, detail) => states.push([state, detail]) });
  return true;
})
"""


def listen(tab, channel, transports, options="{}"):
    tab.run(LISTEN % (channel, json.dumps(transports), options))


def listen_at(tab, path, transports, options):
    tab.run(LISTEN.replace("/demo/%s", "%s") % (path, json.dumps(transports), json.dumps(options)))


def numbers(tab):
    return [int(data) for data, _ in tab.run("seen")]


def counter(world, transport):
    """The page's own buttons: cut, publish, resume; then everything is there once."""
    with world.tab("/counter.html", width=390) as tab:
        card = f"document.querySelector('[data-transport={transport}]')"
        tab.until(f"document.querySelectorAll('.badge[data-state=open]').length == 3")
        tab.run("document.getElementById('many').click()")
        tab.until(f"{card}.querySelector('[data-is=received]').textContent == 20")
        for cut in range(1, 4):
            tab.run(f"{card}.querySelector('button').click()")
            tab.run("document.getElementById('one').click(); document.getElementById('many').click()")
            tab.until(f"document.getElementById('published').textContent == {20 + 21 * cut}")
            assert tab.run(f"{card}.querySelector('[data-is=last]').textContent") == str(20 + 21 * (cut - 1)), "it listens although it is cut"
            tab.run(f"{card}.querySelector('button').click()")
            tab.until(f"{card}.querySelector('[data-is=last]').textContent == {20 + 21 * cut}")
        tally = tab.run(f"Object.fromEntries([...{card}.querySelectorAll('[data-is]')].map(e => [e.dataset.is, e.textContent]))")
        assert (tally["received"], tally["lost"], tally["twice"], tally["gaps"]) == ("83", "0", "0", "0"), tally
        wide = tab.run("document.documentElement.scrollWidth - innerWidth")
        assert wide <= 0, f"a phone would have to scroll sideways by {wide}"
        return f"{tally['received']} messages, 3 cuts, last id {tally['ids'].split()[0]}"


def chat(world, transport):
    """Two tabs in one room; one of them is away for a while."""
    room = f"/chat.html?room={transport}&transport={transport}&name="
    says = "document.getElementById('text').value = '%s'; document.querySelector('#write button').click()"
    texts = "[...document.querySelectorAll('#log .message span')].map(e => e.textContent).join()"
    is_open = "document.getElementById('state').dataset.state == 'open'"
    with world.tab(room + "Ada") as ada, world.tab(room + "Bob", width=390) as bob:
        ada.until(is_open), bob.until(is_open)
        ada.run(says % "hello")
        bob.until(f"{texts} == 'hello'")
        bob.run(says % "<b>hi</b>")
        ada.until(f"{texts} == 'hello,<b>hi</b>'")
        bob.run("document.getElementById('cut').click()")
        for text in ("are you", "there?"):
            ada.run(says % text)
            ada.until(f"{texts}.endsWith('{text}')")
        bob.run("document.getElementById('cut').click()")
        both = "hello,<b>hi</b>,are you,there?"
        bob.until(f"{texts} == '{both}'")
        assert ada.run(texts) == both
        names = bob.run("[...document.querySelectorAll('#log .message b')].map(e => e.textContent).join()")
        assert names == "Ada,Bob,Ada,Ada", names
        assert bob.run("document.documentElement.scrollWidth - innerWidth") <= 0, "a phone would have to scroll sideways"
        return "4 messages each, one tab away for two of them"


def ended_from_outside(world, transport):
    """Connections end again and again while somebody publishes."""
    channel = f"outside-{transport}"
    with world.proxied() as (tab, proxy):
        listen(tab, channel, [transport])
        tab.until("push.state == 'open'")
        ended = 0
        for first in range(1, 41, 4):
            world.publish(channel, first, first + 1)
            ended += proxy.cut()
            world.publish(channel, first + 2, first + 3)
            tab.until(f"seen.length >= {first + 2}")
        tab.until("seen.length >= 40")
        got = numbers(tab)
        assert got == list(range(1, 41)), got
        assert ended >= 8, f"only {ended} connections ended"
        return f"40 messages in order, {ended} connections ended meanwhile"


def any_transport(world):
    """One id resumes on each of the others."""
    with world.tab() as tab:
        number, last_id = 0, None
        for transport in TRANSPORTS * 2 + TRANSPORTS[::-1]:
            listen(tab, "any", [transport], json.dumps({"lastId": last_id} if last_id else {}))
            if number == 0:
                tab.until("push.state == 'open'")
            world.publish("any", number + 1, number + 2)
            tab.until("seen.length >= 2")
            last_id = tab.run("push.close(), push.id")
            got = numbers(tab)
            assert got == [number + 1, number + 2], f"{transport}: {got} after {number}"
            number += 2
            world.publish("any", number + 1)  # while nobody listens
            listen(tab, "any", [transport], json.dumps({"lastId": last_id}))
            tab.until("seen.length >= 1")
            last_id = tab.run("push.close(), push.id")
            assert numbers(tab) == [number + 1]
            number += 1
        return f"{number} messages over 9 changes, last id {last_id}"


def content(world, transport):
    """Any text, and bytes where the transport can carry them."""
    channel = f"content-{transport}"
    texts = ["", " ", "two\nlines", "a\n\nb\n", "data: id: 7", "\ufeffwörds € 😀", "id: 1:2\n\nx", "x" * 900]
    bytes_ = [b"\x00\xff\n\n\x80", bytes(range(256))] if transport != "sse" else []
    with world.tab() as tab:
        listen(tab, channel, [transport])
        tab.until("push.state == 'open'")
        world.publish(channel, *(text.encode() for text in texts))
        world.publish(channel, *bytes_, **{"Content-Type": "application/octet-stream"})
        world.publish(channel, "named", **{"X-EventSource-Event": "price"})
        tab.until(f"seen.length >= {len(texts) + len(bytes_) + 1}")
        seen = tab.run("seen")
        assert [data for data, _ in seen] == [*texts, *map(list, bytes_), "named"], seen
        assert seen[-1][1].get("event") == "price" or transport == "long_poll", seen[-1]
        return f"{len(seen)} messages as they were"


def gap(world, transport):
    """Away for longer than the history is: told, and how many."""
    channel = f"gap-{transport}"
    with world.tab() as tab:
        world.publish(channel, 1, 2)
        listen(tab, channel, [transport])
        tab.until("seen.length >= 2")
        last_id = tab.run("push.close(), push.id")
        world.publish(channel, *range(3, 103))
        listen(tab, channel, [transport], json.dumps({"lastId": last_id}))
        tab.until("seen.length >= 50")
        got, gaps = numbers(tab), tab.run("gaps")
        assert got == list(range(53, 103)), got
        assert [one["missed"] for one in gaps] == [50], gaps
        listen(tab, channel, [transport], json.dumps({"lastId": "1500000000:7-01234567"}))
        tab.until("seen.length >= 50")
        gaps = tab.run("gaps")
        assert len(gaps) == 1 and gaps[0]["missed"] is None, gaps
        return "50 of 100 missed and told; an unknown id told"


def falls_back(world, hindrance):
    """A proxy in between lets only a lesser transport through."""
    with world.proxied() as (tab, proxy):
        proxy.swallow = "Upgrade: websocket"
        if hindrance == "sse":
            proxy.hold = "text/event-stream"
        began = time.monotonic()
        channel = f"back-{hindrance}"
        listen(tab, channel, TRANSPORTS)
        tab.until("push.state == 'open'")
        took = time.monotonic() - began
        transport = tab.run("push.transport")
        assert transport == ("sse" if hindrance == "websocket" else "long_poll"), transport
        world.publish(channel, 1, 2)
        tab.until("seen.length >= 2")
        tab.run("push.reconnect()")
        world.publish(channel, 3)
        tab.until("seen.length >= 3")
        assert numbers(tab) == [1, 2, 3], numbers(tab)
        assert tab.run("push.transport") == transport
        return f"open over {transport} after {took:.1f} s"


def gap_alone(world, path):
    """What is missing is told although nothing has come since, and only once."""
    last_id = "1500000000:1-deadbeef"
    with world.tab() as tab:
        listen_at(tab, f"/{path}/gap-alone", ["long_poll"], {"lastId": last_id})
        tab.until("gaps.length")
        tab.until(f"push.id != '{last_id}'")
        tab.run("push.reconnect()")
        tab.until("push.state == 'open'")
        world.publish("gap-alone", 1, path=path)
        tab.until("seen.length")
        assert tab.run("gaps") == [{"after": last_id, "missed": None}], tab.run("gaps")
        return "told once, before anything was published"


def quiet(world, path):
    """Where nothing is published each poll ends with its time; none is taken for dead. A browser does not show every 408."""
    with world.tab() as tab:
        listen_at(tab, f"/{path}/quiet-{path}", ["long_poll"], {"silence": 1600})
        tab.until("push.state == 'open'")
        time.sleep(6)  # polls of a second
        world.publish(f"quiet-{path}", 1, path=path)
        tab.until("seen.length")
        states = [state for state, _ in tab.run("states")]
        assert states == ["connecting", "open"], states
        return "open throughout"


def swallowed(world):
    """A poll that is swallowed is no transport that works: what is better is tried again."""
    with world.proxied() as (tab, proxy):
        proxy.swallow = "GET /demo/"
        listen_at(tab, "/demo/swallowed", TRANSPORTS, {"silence": 3000})
        tab.until("push.state == 'open' && push.transport == 'long_poll'")
        proxy.swallow = None
        began = time.monotonic()
        tab.until("push.state == 'open' && push.transport == 'websocket'")
        world.publish("swallowed", 1)
        tab.until("seen.length")
        return f"open over websocket {time.monotonic() - began:.1f} s after the bad time"


def dead(world):
    """A WebSocket that dies without a word is noticed: behind pings nothing comes any more."""
    with world.proxied() as (tab, proxy):
        listen_at(tab, "/quick304/dead", ["websocket"], {"silence": 700})
        tab.until("push.state == 'open'")
        world.publish("dead", 1, path="quick304")
        tab.until("seen.length == 1")
        time.sleep(2.5)
        assert tab.run("states.filter(([state]) => state == 'open').length") == 1, tab.run("states")
        proxy.deafen()
        world.publish("dead", 2, path="quick304")
        began = time.monotonic()
        tab.until("seen.length == 2")
        assert numbers(tab) == [1, 2], tab.run("seen")
        return f"noticed and caught up after {time.monotonic() - began:.1f} s"


def dead_at_once(world):
    """So is one that dies before its first ping."""
    with world.proxied() as (tab, proxy):
        listen_at(tab, "/demo/dead-at-once", ["websocket"], {"silence": 700})
        tab.until("push.state == 'open' && push.id")
        proxy.deafen()
        world.publish("dead-at-once", 1)
        began = time.monotonic()
        tab.until("seen.length == 1")
        return f"noticed and caught up after {time.monotonic() - began:.1f} s"


def seventh_tab(world):
    """A browser has six connections to a host over HTTP/1.1: however many tabs listen, all hear, and pages still load."""
    with contextlib.ExitStack() as tabs:
        listeners = [tabs.enter_context(world.tab("/index.html")) for _ in range(8)]
        for tab in listeners:
            listen_at(tab, "/demo/tabs", ["sse"], {})
        for tab in listeners:
            tab.until("push.state == 'open'")
        world.publish("tabs", 1, 2)
        for tab in listeners:
            tab.until("seen.length == 2")
        tabs.enter_context(world.tab("/index.html"))
        tab.run("push.send('3')")
        for tab in listeners:
            tab.until("seen.length == 3")
        return f"3 messages in each of {len(listeners)}"


def shared_counter(world):
    """Two counters of one channel, of which the second comes late, and a third who publishes there: all is counted, once."""
    tally = "[...document.querySelectorAll('.counters li')].map(c => ['received', 'lost', 'twice'].map(n => c.querySelector(`[data-is=${n}]`).textContent).join())"
    with world.tab("/counter.html?channel=shared") as first:
        first.until("document.querySelectorAll('.badge[data-state=open]').length == 3")
        first.run("document.getElementById('many').click()")
        first.until(f"{tally}.every(t => t == '20,0,0')")
        with world.tab("/counter.html?channel=shared") as second:
            second.until(f"{tally}.every(t => t == '20,0,0')")
            second.run("document.getElementById('many').click()")
            world.publish("shared", 1000)
            first.run("document.getElementById('many').click()")
            for tab in (first, second):
                tab.until(f"{tally}.every(t => t == '61,0,0')")
        return "61 messages in both, none lost or twice"


def better_again(world):
    """After ten minutes with a lesser transport the first is tried again."""
    with world.proxied() as (tab, proxy):
        proxy.swallow, proxy.hold = "Upgrade: websocket", "text/event-stream"
        listen_at(tab, "/demo/better", TRANSPORTS, {})
        tab.until("push.state == 'open' && push.transport == 'long_poll'")
        world.publish("better", 1)
        tab.until("seen.length == 1")
        proxy.swallow = proxy.hold = None
        world.publish("better", 2)
        tab.until("seen.length == 2")
        assert tab.run("push.transport") == "long_poll"
        tab.run("{ const now = Date.now; Date.now = () => now() + 601000; }")
        world.publish("better", 3)
        tab.until("push.state == 'open' && push.transport == 'websocket'")
        world.publish("better", 4)
        tab.until("seen.length == 4")
        assert numbers(tab) == [1, 2, 3, 4], numbers(tab)
        assert not tab.run("gaps.length + states.filter(([state]) => state == 'waiting').length"), tab.run("states")
        return "4 messages, the third while it changed"


def before_the_first(world, transport):
    """It is cut off before it has had a message, and misses none all the same."""
    with world.proxied() as (tab, proxy):
        tab.run(LISTEN.replace("/demo/", "/newest/") % (f"first-{transport}", json.dumps([transport]), "{}"))
        tab.until("push.state == 'open'")
        tab.until("push.id")
        proxy.cut()
        world.publish(f"first-{transport}", 1, 2, path="newest")
        tab.until("seen.length >= 2")
        assert numbers(tab) == [1, 2], numbers(tab)
        return "2 messages, of before it was back"


def other_origin(world, transport):
    """A page of another origin, where cors and origins let it in."""
    with world.tab("/index.html", f"http://localhost:{world.address[1]}") as tab:
        target = f"{world.origin}/open/%s"
        tab.run(LISTEN.replace("/demo/%s", target) % (transport, json.dumps([transport]), "{}"))
        tab.until("push.state == 'open'")
        for number in range(1, 4):
            tab.run(f"push.send('{number}', {{ contentType: 'text/plain' }})")
            tab.until(f"seen.length >= {number}")
            tab.run("push.reconnect()")
        assert numbers(tab) == [1, 2, 3], numbers(tab)
        return f"3 messages from {world.origin}"


def no_network(world, transport):
    """The browser says that it is offline, and later that it is not."""
    with world.proxied() as (tab, proxy):
        listen(tab, f"network-{transport}", [transport])
        tab.until("push.state == 'open'")
        world.publish(f"network-{transport}", 1)
        tab.until("seen.length == 1")
        world.browser.call("Network.enable", tab.session)
        network = {"latency": 0, "downloadThroughput": -1, "uploadThroughput": -1}
        world.browser.call("Network.emulateNetworkConditions", tab.session, offline=True, **network)
        deadline = time.monotonic() + SECONDS
        while tab.run("push.state") != "offline":  # a poll may have been about to begin
            assert time.monotonic() < deadline, tab.run("states")
            proxy.cut()
            time.sleep(0.05)
        world.publish(f"network-{transport}", 2, 3)
        world.browser.call("Network.emulateNetworkConditions", tab.session, offline=False, **network)
        began = time.monotonic()
        tab.until("seen.length >= 3")
        assert numbers(tab) == [1, 2, 3], numbers(tab)
        return f"caught up {time.monotonic() - began:.2f} s after it was back"


def server_restart(world, transport):
    """Another server, which knows nothing of the messages before: told, and then it goes on."""
    if world.restart is None:
        return "left out: it is not ours to restart"
    channel = f"restart-{transport}"
    with world.tab() as tab:
        listen(tab, channel, [transport])
        tab.until("push.state == 'open'")
        world.publish(channel, 1, 2)
        tab.until("seen.length == 2")
        world.restart()
        world.publish(channel, 3, 4)
        tab.until("seen.length >= 4")
        got, gaps = numbers(tab), tab.run("gaps")
        assert got == [1, 2, 3, 4], got
        assert [one["missed"] for one in gaps] == [None], gaps
        return "a gap of unknown size told, then the messages since"


def closed_within(world, transport):
    """Nothing comes behind the message whose callback closes, and one that goes on behind it has the rest."""
    channel = f"within-{transport}"
    world.publish(channel, *range(1, 9))
    with world.tab() as tab:
        script = """import('/push.js').then(({ Push }) => { window.seen = []; (function go(lastId) {
            const push = new Push('/demo/%s', { transports: ['%s'], lastId, retry: 100, onmessage(data) {
              seen.push([data, 0]);
              if (Number(data) %% 3 == 0) { push.close(); setTimeout(go, 50, push.id); } } }); })(); })"""
        tab.run(script % (channel, transport))
        tab.until("seen.length >= 8")
        time.sleep(0.5)  # for what should not come
        assert numbers(tab) == list(range(1, 9)), numbers(tab)
        return "closed by the third and the sixth message, 8 in all"


def refused(world, transport):
    """Where it may not listen it stops, and says so."""
    with world.tab() as tab:
        tab.run(LISTEN.replace("/demo/%s", "/forbidden%s") % ("", json.dumps([transport] if transport != "websocket" else TRANSPORTS), "{}"))
        tab.until("push.state == 'closed'")
        assert tab.run("states.at(-1)[1].status") == 403, tab.run("states")
        return "closed with 403"


def waits_as_told(world):
    """Retry-After is kept to, with something added at random."""
    with world.tab() as tab:
        tab.run(LISTEN.replace("/demo/%s", "/busy%s") % ("", json.dumps(TRANSPORTS), "{}"))
        tab.until("push.state == 'waiting'")
        wait = tab.run("states.at(-1)[1].wait")
        assert 7000 <= wait <= 10500, wait
        tab.run("push.close()")
        return f"would be back after {wait / 1000:.1f} s"


def event_source(world):
    """The browser's own: it comes back by itself, and says where it was."""
    with world.proxied() as (tab, proxy):
        tab.run("window.seen = []; window.es = new EventSource('/demo/native'); es.onmessage = e => seen.push([e.data, e.lastEventId])")
        tab.until("es.readyState == 1")
        world.publish("native", 1, 2)
        tab.until("seen.length == 2")
        for cut in range(2):
            last_id = tab.run("seen.at(-1)[1]")
            assert proxy.cut()
            world.publish("native", *range(3 + 2 * cut, 5 + 2 * cut))
            tab.until(f"seen.length >= {4 + 2 * cut}")
            asked = [head for head in proxy.heads if "Last-Event-ID" in head]
            assert f"Last-Event-ID: {last_id}" in asked[-1], asked[-1]
        assert numbers(tab) == [1, 2, 3, 4, 5, 6], tab.run("seen")
        tab.run("es.close()")
        return f"resumed twice, with Last-Event-ID: {last_id}"


ON_EACH = (counter, chat, ended_from_outside, other_origin, no_network, server_restart, closed_within, content, gap, refused)
CASES = [*((case, transport) for case in ON_EACH for transport in TRANSPORTS),
         # A poll learns its place only from its first answer.
         (before_the_first, "websocket"), (before_the_first, "sse"),
         (any_transport,), (falls_back, "websocket"), (falls_back, "sse"), (swallowed,), (dead,), (dead_at_once,), (seventh_tab,), (shared_counter,), (better_again,), (waits_as_told,), (event_source,),
         *((case, path) for case in (gap_alone, quiet) for path in ("quick304", "quick408"))]


def configuration(port):
    """conf/server.json on another port, and routes that refuse."""
    text = re.sub(r'^\s*//.*$|(?<=[,{\[]) *//.*$', "", (ROOT / "conf/server.json").read_text(), flags=re.MULTILINE)
    config = json.loads(re.sub(r",(\s*[}\]])", r"\1", text))
    config.update(port=port, log={"path": "", "level": "WARN"}, worker_processes=2)
    config["http"]["root_path"] = str(ROOT / "html")
    for route in config["http"]["sites"][0]["routes"]:
        if "push_pubsub" in route:
            route["push_pubsub"]["subscribe"] = {"retry_ms": 100}
            newest = copy.deepcopy(route)
    config["http"]["sites"][0]["routes"] += [
        *({**newest, "path": f"/quick{status}/{{channel}}",
           "push_pubsub": {**newest["push_pubsub"], "channel": f"quick{status}/{{channel}}", "subscribe": {"timeout_ms": 1000, "timeout_status": status, "ping_interval_ms": 500}}}
          for status in (304, 408)),
        {**newest, "path": "/newest/{channel}", "push_pubsub": {**newest["push_pubsub"], "channel": "newest/{channel}",
                                                                "subscribe": {"retry_ms": 100, "first_message": "newest"}}},
        {**newest, "path": "/open/{channel}", "cors": {"origins": [f"http://localhost:{port}"], "methods": ["GET", "POST"],
                                                       "headers": ["Content-Type"], "expose": ["Etag", "Push-Gap", "Retry-After"]},
         "push_pubsub": {**newest["push_pubsub"], "channel": "open/{channel}", "subscribe": {"origins": [f"http://localhost:{port}"]}}},
        {"path": "/forbidden", "respond": {"status": 403, "body": "no"}},
        {"path": "/busy", "respond": {"status": 503, "body": "later"}, "headers": {"set": {"Retry-After": "7"}}}]
    config.pop("$schema", None)
    return config


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0], epilog=__doc__.split("\n\n", 1)[1])
    parser.add_argument("--server", default=str(ROOT / "server"), help="the program (./server)")
    parser.add_argument("--at", metavar="HOST:PORT", help="one that runs already and serves html/ and /demo/, instead")
    parser.add_argument("only", nargs="*", help="only cases whose name has one of these texts")
    return parser.parse_args()


def main():
    args = arguments()
    program = find_chromium()
    if program is None:
        print("no Chromium here (Debian package chromium)", file=sys.stderr)
        return 2
    failed = tried = 0
    with tempfile.TemporaryDirectory(prefix="browse-push-", ignore_cleanup_errors=True) as name, contextlib.ExitStack() as ends:
        folder = pathlib.Path(name)
        running = restart = None
        if args.at:
            host, port = args.at.split(":")
        else:
            host, port = "127.0.0.1", free_port()
            (folder / "server.json").write_text(json.dumps(configuration(port)))

            def restart():
                nonlocal running
                if running is not None:
                    stop(running)
                running = subprocess.Popen([args.server, "-f", str(folder / "server.json")], stdout=subprocess.DEVNULL)
                wait_for(port, running)

            restart()
            ends.callback(lambda: stop(running))
        browser = Browser(program, folder)
        ends.callback(browser.stop)
        world = World(browser, (host, int(port)), restart)
        for case, *more in CASES:
            title = " ".join([case.__name__.replace("_", " "), *more])
            if args.only and not any(part in title for part in args.only):
                continue
            tried += 1
            began = time.monotonic()
            try:
                what = case(world, *more)
            except Exception as problem:  # one that failed must not keep the others from theirs
                what, failed = f"FAILED: {problem}", failed + 1
            print(f"  {title:<32} {time.monotonic() - began:5.1f} s  {what}", flush=True)
    print(f"{tried} cases, {failed} failures")
    return 1 if failed or not tried else 0


if __name__ == "__main__":
    sys.exit(main())
