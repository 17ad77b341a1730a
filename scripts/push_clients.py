#!/usr/bin/env python3
"""Lets clients that others have written subscribe to push channels, with reconnections, and prints who got what.

The npm library `nchan` runs in Chromium over its three transports, and so does push.js with its declarations checked by
TypeScript; their connections are cut from outside while messages are published. Python's websockets and httpx, those of the
system and the newest of PyPI, and curl come back by themselves with the id they had. A client that is not there is left out, and
said. Packages go to --packages. The exit code is 1 when one lost something, had it twice or in another order.
"""

import argparse
import contextlib
import functools
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile
import venv

from autobahn import free_port, stop, wait_for
from browse_push import LISTEN, TRANSPORTS, World, configuration, numbers
from browse_site import ROOT, Browser, find_chromium

REAL_CLIENTS = ROOT / "tests/integration/push/real_clients.py"
MESSAGES = 40
NCHAN = """
(() => {
  window.seen = []; window.connects = 0;
  window.sub = new NchanSubscriber(location.origin + '/demo/%s', { subscriber: '%s', reconnectTimeout: 50 });
  sub.on('message', (data, meta) => seen.push([data, meta]));
  sub.on('connect', () => connects++);
  sub.start();
})()
"""
TYPED = """
import { Push, type Gap, type State, type Published } from './push.js';
const push: Push = new Push('/sub/x', { transports: ['sse', 'long_poll'], lastId: '1:2', init: { credentials: 'include' },
  onmessage(data, { id, event, contentType }) { (typeof data == 'string' ? data.length : data.byteLength) + id.length; },
  ongap: (gap: Gap) => gap.missed?.toFixed(), onstate(state: State, { wait }) { state.length + (wait ?? 0); } });
push.send(new Uint8Array(3), { contentType: 'application/octet-stream' }).then((answer: Published) => answer.messages.toFixed());
push.reconnect();
new globalThis.Push(new URL('http://x/')).close();
// @ts-expect-error
new Push('/x', { transports: ['pigeon'] });
// @ts-expect-error
new Push();
"""


def npm(folder, package):
    """The folder of a package, installed if it is not there."""
    where = folder / "node_modules" / package
    if not where.exists():
        folder.mkdir(parents=True, exist_ok=True)
        subprocess.run(["npm", "install", "--silent", "--no-audit", "--no-fund", "--prefix", str(folder), package], check=True)
    return where, json.loads((where / "package.json").read_text())["version"]


def while_cut(tab, world, proxy, channel):
    """Publishes to `channel` while the connections of the tab end again and again; what it says in the table."""
    cuts = 0
    for first in range(1, MESSAGES, 4):
        world.publish(channel, first, first + 1)
        tab.until(f"seen.length >= {first}")
        cuts += proxy.cut()
        world.publish(channel, first + 2, first + 3)
    tab.until(f"seen.length >= {MESSAGES}")
    assert numbers(tab) == list(range(1, MESSAGES + 1)), numbers(tab)
    return f"{MESSAGES} messages, {cuts} connections ended"


def nchan(world, transport):
    """The library keeps the id itself; a new subscriber is told where to begin."""
    channel = f"nchan-{transport}"
    with world.proxied("/nchan/index.html") as (tab, proxy):
        tab.until("typeof NchanSubscriber == 'function'")
        tab.run(NCHAN % (channel, transport))
        what = while_cut(tab, world, proxy, channel)
        last = tab.run("sub.stop(), seen.at(-1)[1].id")
        if last is None:
            return what
        world.publish(channel, MESSAGES + 1)
        tab.run((NCHAN % (channel, transport)).replace("reconnectTimeout", f"id: '{last}', reconnectTimeout"))
        tab.until("seen.length >= 1")
        tab.run("sub.stop()")
        again = numbers(tab)[0]
        return f"{what}; started with an id: {'goes on' if again == MESSAGES + 1 else f'from message {again} on'}"


def push_js(world, transport):
    channel = f"own-{transport}"
    with world.proxied() as (tab, proxy):
        tab.run(LISTEN % (channel, json.dumps([transport]), "{}"))
        what = while_cut(tab, world, proxy, channel)
        tab.run("push.close()")
        return what


def typescript(packages):
    """Checks push.d.ts against code that uses all of it."""
    where, _ = npm(packages, "typescript")
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for file in ("push.js", "push.d.ts"):
            shutil.copy(ROOT / "html" / file, folder)
        (folder / "uses.ts").write_text(TYPED)
        ran = subprocess.run(["node", str(where / "bin/tsc"), "--noEmit", "--strict", "--target", "es2022", "--module", "es2022",
                              "--moduleResolution", "bundler", "--lib", "es2022,dom", "--types", "", "uses.ts"],
                             cwd=folder, capture_output=True, text=True, check=False)
        assert ran.returncode == 0, ran.stdout
        return "declarations agree with their use"


class Table:
    def __init__(self):
        self.failed = self.rows = 0

    def row(self, client, version, what, good):
        self.rows += 1
        self.failed += not good
        print(f"  {client:<26} {version:<10} {'' if good else 'FAILED: '}{what}", flush=True)

    def attempt(self, client, version, function):
        try:
            what, good = function(), True
        except Exception as problem:  # one that failed must not keep the others from theirs
            what, good = problem, False
        self.row(client, version, what, good)

    def left_out(self, what):
        print(f"  left out: {what}", flush=True)


def in_chromium(table, world, site, packages):
    version = world.browser.call("Browser.getVersion")["product"].split("/")[1]
    for transport in TRANSPORTS:
        table.attempt(f"push.js, {transport}", version.split(".")[0], functools.partial(push_js, world, transport))
    try:
        where, version = npm(packages, "nchan")
    except (FileNotFoundError, subprocess.CalledProcessError) as problem:
        return table.left_out(f"npm's nchan: {problem}")
    (site / "nchan").mkdir()
    shutil.copy(where / "NchanSubscriber.js", site / "nchan")
    (site / "nchan/index.html").write_text("<!DOCTYPE html><title>nchan</title><script src=NchanSubscriber.js></script>")
    for transport in ("websocket", "eventsource", "longpoll"):
        table.attempt(f"npm nchan, {transport}", version, functools.partial(nchan, world, transport))


def in_python(table, world, packages):
    """real_clients.py in the system's Python and in an environment with the newest of PyPI."""
    newest = packages / "venv/bin/python"
    try:
        if not newest.exists():
            venv.create(packages / "venv", with_pip=True)
            subprocess.run([newest, "-m", "pip", "install", "--quiet", "websockets", "httpx"], check=True)
    except (OSError, subprocess.CalledProcessError) as problem:
        table.left_out(f"PyPI's websockets and httpx: {problem}")
        newest = None
    for number, python in enumerate(filter(None, ("/usr/bin/python3", newest))):
        ran = subprocess.run([python, REAL_CLIENTS, f"{world.origin}/demo/python{number}"], capture_output=True, text=True, check=False)
        if ran.returncode != 0:
            table.row("real_clients.py", "", ran.stderr, False)
        for line in map(json.loads, ran.stdout.splitlines()):
            if number == 0 or not line["client"].startswith("curl"):
                table.row(line["client"], line["version"], line["what"], line["good"])


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0], epilog=__doc__.split("\n\n", 1)[1])
    parser.add_argument("--server", default=str(ROOT / "server"), help="the program (./server)")
    parser.add_argument("--packages", type=pathlib.Path, default=ROOT / "build/push_clients", help="where packages of npm and PyPI go")
    return parser.parse_args()


def main():
    args = arguments()
    table = Table()
    with tempfile.TemporaryDirectory(prefix="push-clients-", ignore_cleanup_errors=True) as name, contextlib.ExitStack() as ends:
        folder = pathlib.Path(name)
        site = folder / "html"
        shutil.copytree(ROOT / "html", site)
        port = free_port()
        config = configuration(port)
        config["http"]["root_path"] = str(site)
        (folder / "server.json").write_text(json.dumps(config))
        server = subprocess.Popen([args.server, "-f", str(folder / "server.json")], stdout=subprocess.DEVNULL)
        ends.callback(stop, server)
        wait_for(port, server)
        world = World(None, ("127.0.0.1", port))
        program = find_chromium()
        if program is None:
            table.left_out("everything that needs Chromium (Debian package chromium)")
        else:
            world.browser = Browser(program, folder)
            ends.callback(world.browser.stop)
            in_chromium(table, world, site, args.packages)
        try:
            table.attempt("TypeScript, push.d.ts", npm(args.packages, "typescript")[1], functools.partial(typescript, args.packages))
        except (FileNotFoundError, subprocess.CalledProcessError) as problem:
            table.left_out(f"npm's typescript: {problem}")
        in_python(table, world, args.packages)
    print(f"{table.rows} clients, {table.failed} failures")
    return 1 if table.failed or not table.rows else 0


if __name__ == "__main__":
    sys.exit(main())
