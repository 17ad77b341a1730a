#!/usr/bin/env python3
"""Lets Chromium, Node and Python talk to ws_echo, with compression and without, and reports what came of it.

Every client sends text and bytes of many sizes and checks the echoes, then closes with 1000. Chromium and Node's own
WebSocket always offer compression, so there the route decides; npm's ws (installed below build/ws_clients) and
Python's websockets are asked both ways. A client that is not there is left out, and said. The exit code is 1 when one failed.
"""

import argparse
import asyncio
import contextlib
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

from browse_site import ROOT, Browser, find_chromium
from autobahn import free_port, stop, wait_for

ROUTES = {
    "plain": {},
    "fresh": {"compression": {"min_message_bytes": 0}},
    "context": {"compression": {"min_message_bytes": 0, "server_context_takeover": True, "client_context_takeover": True}},
    "window": {"compression": {"min_message_bytes": 0, "server_max_window_bits": 9, "client_max_window_bits": 10}},
}
SIZES = (0, 1, 20, 125, 126, 1000, 65535, 65536, 300000, 2000000)
LIMIT = 4 << 20

# What browsers and Node run: resolves to "ok <extensions>", or rejects with what was wrong.
TALK = """
function talk(url, sizes, make) {
  return new Promise((resolve, reject) => {
    const ws = make ? make(url) : new WebSocket(url);
    ws.binaryType = 'arraybuffer';
    const plans = [];
    for (const size of sizes) {
      let text = '';
      while (text.length < size) text += 'w\\u00f6rds \\u20ac and \\u{1F600} ' + text.length;
      plans.push(Array.from(text).slice(0, size).join(''));
      const bytes = new Uint8Array(size);
      for (let i = 0; i < size; i++) bytes[i] = (i * 7919) >> (i % 5);
      plans.push(bytes);
    }
    let next = 0;
    const send = () => ws.send(plans[next]);
    ws.onopen = send;
    ws.onerror = () => reject(new Error('no connection, or a broken one, after ' + next + ' messages'));
    ws.onmessage = event => {
      const sent = plans[next], got = event.data;
      const same = typeof sent === 'string' ? sent === got
          : got.byteLength === sent.length && new Uint8Array(got).every((byte, i) => byte === sent[i]);
      if (!same) return reject(new Error('another echo for message ' + next));
      if (++next < plans.length) send(); else ws.close(1000, 'done');
    };
    ws.onclose = event => {
      if (next < plans.length) return reject(new Error('closed with ' + event.code + ' after ' + next));
      if (event.code !== 1000 || !event.wasClean) return reject(new Error('closed with ' + event.code));
      resolve('ok ' + (typeof ws.extensions === 'string' ? ws.extensions : ''));
    };
  });
}
"""


class Chromium:
    name = "Chromium"

    def __init__(self, folder, origin):
        program = find_chromium()
        if program is None:
            raise FileNotFoundError("no Chromium")
        self.browser = Browser(program, folder)
        target = self.browser.call("Target.createTarget", url=f"{origin}/")["targetId"]
        self.session = self.browser.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        # Only the page that the server has sent is of the origin that may open its WebSockets.
        while self.evaluate("document.readyState + location.origin") != f"complete{origin}":
            time.sleep(0.05)

    def evaluate(self, expression):
        return self.browser.call("Runtime.evaluate", self.session, expression=expression)["result"].get("value")

    def ways(self, route):
        return [route != "plain"]

    def talk(self, url, _):
        answer = self.browser.call("Runtime.evaluate", self.session, awaitPromise=True, returnByValue=True,
                                   expression=f"{TALK}; talk('{url}', {list(SIZES)})")
        if "exceptionDetails" in answer:
            raise AssertionError(answer["exceptionDetails"]["exception"]["description"].splitlines()[0])
        return answer["result"]["value"]

    def stop(self):
        self.browser.stop()


class Node:
    """`packages`: where npm's ws is; without them Node's own WebSocket."""

    def __init__(self, packages=None):
        self.program = shutil.which("node")
        if self.program is None:
            raise FileNotFoundError("no Node")
        self.packages = packages
        self.name = "Node, ws" if packages else "Node's own"
        self.flags = [] if packages else ["--experimental-websocket"]
        if packages and not (packages / "node_modules/ws").exists():
            packages.mkdir(parents=True, exist_ok=True)
            subprocess.run(["npm", "install", "--silent", "--no-audit", "--no-fund", "--prefix", str(packages), "ws"], check=True)
        if not packages:
            probe = subprocess.run([self.program, *self.flags, "-e", "new WebSocket('ws://127.0.0.1:1/').onerror = () => process.exit(0)"],
                                   capture_output=True, check=False, timeout=20)
            if probe.returncode != 0:
                raise FileNotFoundError("this Node has no WebSocket of its own")

    def ways(self, route):
        return [False, True] if self.packages and route != "plain" else [route != "plain"]

    def talk(self, url, compressed):
        make = "undefined"
        if self.packages:
            options = json.dumps({"perMessageDeflate": {"threshold": 0} if compressed else False})
            make = f"url => new (require('ws'))(url, {options})"
        script = f"{TALK}; talk('{url}', {list(SIZES)}, {make}).then(console.log, e => {{ console.log(e.message); process.exit(1); }})"
        ran = subprocess.run([self.program, *self.flags, "-e", script], capture_output=True, text=True, timeout=120, check=False,
                             env={**os.environ, "NODE_PATH": str(self.packages / "node_modules") if self.packages else ""})
        if ran.returncode != 0:
            raise AssertionError((ran.stdout or ran.stderr).strip())
        return ran.stdout.strip()

    def stop(self):
        pass


class Python:
    name = "Python, websockets"

    def __init__(self):
        import websockets
        self.websockets = websockets

    def ways(self, route):
        return [False, True] if route != "plain" else [False]

    def talk(self, url, compressed):
        async def run():
            async with self.websockets.connect(url, compression="deflate" if compressed else None, max_size=None) as ws:
                for size in SIZES:
                    for message in (os.urandom(size), ("wörds € and 😀 " * (size // 12 + 1))[:size]):
                        await ws.send(message)
                        assert await ws.recv() == message, f"another echo for {size} bytes"
                extensions = ws.extensions if hasattr(ws, "extensions") else ws.protocol.extensions
            return "ok " + ("permessage-deflate" if extensions else "")
        return asyncio.run(asyncio.wait_for(run(), 120))

    def stop(self):
        pass


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--server", default=str(ROOT / "server"), help="this server's program")
    parser.add_argument("--packages", default=str(ROOT / "build/ws_clients"), help="where npm's ws goes")
    return parser.parse_args()


def try_all(client, port):
    """Prints a line for each route and way; returns how many failed."""
    failed = 0
    for route in ROUTES:
        for compressed in client.ways(route):
            try:
                what = client.talk(f"ws://127.0.0.1:{port}/{route}", compressed)
                assert what.startswith("ok"), what
                assert ("permessage-deflate" in what) == compressed, f"compression was to be {'on' if compressed else 'off'}: {what}"
            except Exception as problem:  # a failed client must not keep the others from theirs
                what, failed = f"FAILED: {problem}", failed + 1
            print(f"  {client.name:<20} {route:<8} compression {'on ' if compressed else 'off'}  {what}", flush=True)
    return failed


def main():
    options = arguments()
    failed = tried = 0
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as name, contextlib.ExitStack() as ends:
        folder = pathlib.Path(name)
        port = free_port()
        (folder / "server.json").write_text(json.dumps({
            "address": "127.0.0.1", "port": port, "log": {"path": ""},
            "http": {"sites": [{"host": ["*"], "routes": [
                {"path": "/", "respond": {"content_type": "text/html", "body": "<title>WebSocket</title>"}},
                *({"path": f"/{route}", "ws_echo": {"max_message_bytes": LIMIT, **extra}} for route, extra in ROUTES.items())]}]}}))
        server = subprocess.Popen([options.server, "-f", str(folder / "server.json")], stdout=subprocess.DEVNULL)
        ends.callback(stop, server)
        wait_for(port, server)
        origin = f"http://127.0.0.1:{port}"
        for make in (lambda: Chromium(folder, origin), Node, lambda: Node(pathlib.Path(options.packages)), Python):
            try:
                client = make()
            except (FileNotFoundError, ImportError, subprocess.CalledProcessError, subprocess.TimeoutExpired) as problem:
                print(f"  left out: {problem}")
                continue
            ends.callback(client.stop)
            tried += 1
            failed += try_all(client, port)
    print(f"{tried} clients, {failed} failures")
    return 1 if failed or not tried else 0


if __name__ == "__main__":
    sys.exit(main())
