"""html/push.js stays small, its files agree with each other, and it works in Node. More is tried in Chromium: scripts/browse_push.py."""

import gzip
import json
import re
import shutil

import pytest

from push_node import has_node, node
from roost_server import REPOSITORY, merged

SCRIPT = REPOSITORY / "html/push.js"
LIMIT_BYTES = 3600
# Publishes and listens, ending connections; prints what came.
TALK = """
import { createRequire } from 'node:module';
import { Push } from './push.mjs';
globalThis.WebSocket ??= createRequire(import.meta.url)('ws').WebSocket;
const url = '%s', seen = [], gaps = [];
for (const transport of ['websocket', 'sse', 'long_poll', 'websocket', 'long_poll', 'sse']) {
  await new Promise((resolve, reject) => {
    const first = seen.length, wanted = first + 3;
    const push = new Push(url, { transports: [transport], lastId: globalThis.last, retry: 50, ongap: gap => gaps.push(gap),
      onmessage(data, { id }) {
        seen.push(data);
        if (seen.length == wanted) { globalThis.last = id; push.close(); resolve(); }
        else push.reconnect();
      } });
    setTimeout(reject, 20000, new Error(transport + ': ' + seen)).unref();
    (async () => { for (let i = 0; i < 3; i++) await push.send(String(first + i), { contentType: 'text/plain' }); })();
  });
}
console.log(JSON.stringify({ seen, gaps }));
process.exit(0);
"""
# Comes to an empty channel with an id of another server; prints the gaps, and at the end the id.
DEAD_ID = """
import { createRequire } from 'node:module';
import { Push } from './push.mjs';
globalThis.WebSocket ??= createRequire(import.meta.url)('ws').WebSocket;
const gaps = [], push = new Push('%s', { transports: ['%s'], lastId: '1500000000:1-deadbeef', retry: 50, ongap: gap => gaps.push(gap),
  onmessage(data, { id }) { console.log(JSON.stringify([gaps, data, id == push.id])); process.exit(0); } });
while (!gaps.length) await new Promise(resolve => setTimeout(resolve, 10));
push.reconnect();
await push.send('news');
"""
# What a page's browser has that Node has not: locks that all its tabs share.
SEATS = """
import { Push } from './push.mjs';
const url = new URL('%s'), held = new Set(), seen = [];
const locks = { async request(name, { ifAvailable }, use) {
  await null;
  if (held.has(name)) return use(null);
  held.add(name);
  try { return await use({ name }); } finally { held.delete(name); }
} };
Object.defineProperty(globalThis, 'navigator', { value: { locks, onLine: true }, configurable: true });
const until = async what => { while (!await what()) await new Promise(resolve => setTimeout(resolve, 50)); };
const streams = async () => Number(/^roost_push_subscribers.*transport="sse"\\} (\\d+)/m.exec(await (await fetch(new URL('/metrics', url))).text())[1]);
const tabs = [];
for (let tab = 0; tab < 7; tab++) {
  seen.push([]);
  tabs.push(new Push(url, { transports: ['sse'], onmessage: data => seen[tab].push(data) }));
}
await until(() => tabs.every(tab => tab.state == 'open'));
const most = await streams();
for (const text of ['one', 'two', 'three']) await tabs[0].send(text);
await until(() => seen.every(messages => messages.length >= 3));
for (const tab of tabs.splice(0, 3)) tab.close();
await until(async () => await streams() == 4 && tabs.every(tab => tab.state == 'open'));
console.log(JSON.stringify({ most, seen }));
process.exit(0);
"""
# Against servers that do wrong, or say "later".
TROUBLE = """
import { createRequire } from 'node:module';
import http from 'node:http';
import { Push } from './push.mjs';
const require = createRequire(import.meta.url), { WebSocketServer, WebSocket } = require('ws');
globalThis.WebSocket ??= WebSocket;
const listening = server => new Promise(resolve => server.on('listening', () => resolve('http://127.0.0.1:' + server.address().port + '/x')));
const said = {};

// A WebSocket that says nothing at all once it is open.
const silent = new WebSocketServer({ port: 0, host: '127.0.0.1' });
let sockets = 0;
silent.on('connection', () => ++sockets);
const mute = new Push(await listening(silent), { transports: ['websocket'], silence: 150, retry: 20 });
while (sockets < 3) await new Promise(resolve => setTimeout(resolve, 20));
mute.close();

// Fields given as Headers; Retry-After; no answer at all.
const asked = [];
const server = http.createServer((request, response) => {
  asked.push([request.method, request.headers['x-token']]);
  if (request.method == 'GET') return response.writeHead(404).end();
  if (request.url == '/hang') return;
  if (request.url == '/x' && asked.filter(([method]) => method == 'POST').length == 1)
    return response.writeHead(503, { 'Retry-After': '1' }).end();
  if (request.url == '/never') return response.writeHead(429, { 'Retry-After': '60' }).end();
  response.writeHead(202, { 'Content-Type': 'application/json' }).end('{"messages": 1}');
}).listen(0, '127.0.0.1');
const url = await listening(server), init = { headers: new Headers({ 'X-Token': 'secret' }) };
const push = new Push(url, { transports: ['long_poll'], init });
said.sent = await push.send('hello');
said.asked = asked;
const problem = async (path, options) => {
  try { await new Push(new URL(path, url), { transports: ['long_poll'], init }).send('x', options); } catch (error) { return [error.name, error.status, error.after]; }
};
said.hang = await problem('/hang', { timeout: 200 });
said.never = await problem('/never');
console.log(JSON.stringify(said));
process.exit(0);
"""
needs_node = pytest.mark.skipif(not has_node("ws"), reason="no Node of version 18 with ws (Debian packages nodejs and node-ws)")


def test_small():
    size = len(gzip.compress(SCRIPT.read_bytes(), 9))
    assert size < LIMIT_BYTES, f"{size} bytes compressed by gzip"


def test_pages_use_nothing_from_elsewhere():
    for name in ("chat.html", "counter.html"):
        text = (REPOSITORY / "html" / name).read_text()
        assert not re.search(r"""(src|href)=["']?(https?:)?//|@import|url\(""", text), f"{name} asks another host"
        assert "from './push.js'" in text


def test_declares_what_there_is():
    """The options that push.js reads are those of push.d.ts."""
    options = re.search(r"interface Options \{(.*?)^\}", (REPOSITORY / "html/push.d.ts").read_text(), re.S | re.M).group(1)
    declared = set(re.findall(r"^  (\w+)\??[(:]", options, re.M))
    text = SCRIPT.read_text()
    used = set(re.findall(r"#call\('(\w+)'", text)) | {"lastId"}
    for inside in re.findall(r"const \{ ([\w, ]+) \} = this\.#options", text) + re.findall(r"this\.#options = \{(.*?)\};", text):
        used |= {word for word in re.split(r"\W+", re.sub(r":[^,]*(\[.*?\])?", "", re.sub(r"\[.*?\]", "", inside))) if word and word != "options"}
    used |= set(re.findall(r"this\.#options\.(\w+)", text))
    assert used == declared


def said_in_node(shared_server, tmp_path, script, *more, **subscribe):
    """What a script says that is given the address of a channel."""
    server = shared_server({"http": {"sites": [{"host": ["*"], "routes": [{"path": "/both/{channel}", "push_pubsub": {"subscribe": subscribe}}]}]}})
    shutil.copy(SCRIPT, tmp_path / "push.mjs")
    url = "http://{}:{}/both/{}".format(*server.address, tmp_path.name)
    (tmp_path / "script.mjs").write_text(script % (url, *more))
    ran = node(tmp_path / "script.mjs")
    assert ran.returncode == 0, ran.stdout + ran.stderr
    return json.loads(ran.stdout)


@needs_node
def test_in_node(shared_server, tmp_path):
    assert said_in_node(shared_server, tmp_path, TALK) == {"seen": [str(number) for number in range(18)], "gaps": []}


@needs_node
@pytest.mark.parametrize("status", [304, 408])
def test_a_gap_without_a_message_is_told(shared_server, tmp_path, status):
    gap = {"after": "1500000000:1-deadbeef", "missed": None}
    assert said_in_node(shared_server, tmp_path, DEAD_ID, "long_poll", timeout_ms=300, timeout_status=status) == [[gap], "news", True]


def in_node(tmp_path, script):
    shutil.copy(SCRIPT, tmp_path / "push.mjs")
    (tmp_path / "script.mjs").write_text(script)
    ran = node(tmp_path / "script.mjs")
    assert ran.returncode == 0, ran.stdout + ran.stderr
    return json.loads(ran.stdout)


@needs_node
def test_a_seventh_tab(shared_server, tmp_path):
    """Six connections are all that a browser has for a host; all tabs together have four streams, and the others poll briefly."""
    server = shared_server({"http": {"sites": [{"host": ["*"], "routes": [{"path": "/both/{channel}", "push_pubsub": {}}, {"path": "/metrics", "metrics": {}}]}]}})
    said = in_node(tmp_path, SEATS % "http://{}:{}/both/{}".format(*server.address, tmp_path.name))
    assert said == {"most": 4, "seen": [["one", "two", "three"]] * 7}


@needs_node
def test_in_trouble(tmp_path):
    """A WebSocket that dies before its first ping, fields in Headers, Retry-After and no answer to send()."""
    said = in_node(tmp_path, TROUBLE)
    assert said["sent"] == {"messages": 1}
    assert sorted(said["asked"][:3]) == [["GET", "secret"], ["POST", "secret"], ["POST", "secret"]]
    assert said["hang"] == ["TimeoutError", None, None]
    assert said["never"] == ["Error", 429, 60000]


def test_the_demo_is_for_this_machine_alone():
    """conf/server.json as it comes lets nobody else publish, and bounds what may be."""
    text = (REPOSITORY / "conf/server.json").read_text()
    config = json.loads(re.sub(r",(\s*[}\]])", r"\1", re.sub(r"(?m)(^|[\s,{\[])//.*$", r"\1", text)))
    demo = [route for site in config["http"]["sites"] for route in site["routes"] if "push_pubsub" in route]
    assert len(demo) == 1
    assert set(demo[0]["access"]["allow"]) == {"127.0.0.0/8", "::1"}
    publish = merged({}, demo[0]["push_pubsub"]["publish"])
    assert publish["max_message_bytes"] <= 4096 and publish["history"]["messages"] <= 100 and publish["messages_per_second"] <= 200
