"""html/push.js stays small, its files agree with each other, and it works in Node. More is tried in Chromium: scripts/browse_push.py."""

import gzip
import json
import re
import shutil

import pytest

from push_node import has_node, node
from roost_server import REPOSITORY, merged

SCRIPT = REPOSITORY / "html/push.js"
LIMIT_BYTES = 3000
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


def test_the_demo_is_for_this_machine_alone():
    """conf/server.json as it comes lets nobody else publish, and bounds what may be."""
    text = (REPOSITORY / "conf/server.json").read_text()
    config = json.loads(re.sub(r",(\s*[}\]])", r"\1", re.sub(r"(?m)(^|[\s,{\[])//.*$", r"\1", text)))
    demo = [route for site in config["http"]["sites"] for route in site["routes"] if "push_pubsub" in route]
    assert len(demo) == 1
    assert set(demo[0]["access"]["allow"]) == {"127.0.0.0/8", "::1"}
    publish = merged({}, demo[0]["push_pubsub"]["publish"])
    assert publish["max_message_bytes"] <= 4096 and publish["history"]["messages"] <= 100 and publish["messages_per_second"] <= 200
