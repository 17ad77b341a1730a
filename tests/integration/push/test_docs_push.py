"""docs/push.md: every example is run (manual.py), against a server with the configuration that stands above it.

`python` blocks print what the `text` block behind them says; `js` blocks run in Node, and in Chromium, where it is installed, in a
page of that server.
"""

import re
import shutil
import subprocess
import sys

import pytest

from manual import Page, Reader
from push_node import has_node, node
from roost_server import REPOSITORY

PAGE = Page("push.md")
CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)

# What a page has and Node 18 has not; a little later than the last line that is wanted, so that one too many is seen.
NODE_PAGE = """
import { createRequire } from 'node:module';
const require = createRequire(import.meta.url), EventSource = require('eventsource');
globalThis.location = new URL('%s');
globalThis.WebSocket ??= require('ws').WebSocket;
globalThis.EventSource = class extends EventSource { constructor(url, ...rest) { super(new URL(url, location).href, ...rest); } };
let left = %d;
console.log = (...what) => { process.stdout.write(what.join(' ') + '\\n'); if (!--left) setTimeout(process.exit, 200); };
await import('./script.mjs');
"""


class PushReader(Reader):
    left_out = False

    def python(self, text, language, expected):
        assert language == "text", f"what this prints is wanted in a text block:\n{text}"
        ran = subprocess.run([sys.executable, "-c", self.here(text)], cwd=self.folder, capture_output=True, text=True, timeout=60, check=False)
        self.check(expected, ran.stdout + ran.stderr, text)

    def nginx(self, text, language, expected):
        """Tried by test_behind_nginx.py."""

    def js(self, text, language, expected):
        assert language == "text", f"what this prints is wanted in a text block:\n{text}"
        text = self.here(text)
        self.js_in_node(text, expected)
        if CHROMIUM is not None:
            self.js_in_chromium(text, expected)

    def js_in_node(self, text, expected):
        if not has_node("ws", "eventsource"):
            self.left_out = CHROMIUM is None
            return
        folder = self.folder / f"server{self.count}/node"
        folder.mkdir(exist_ok=True)
        shutil.copy(REPOSITORY / "html/push.js", folder / "push.js")
        (folder / "package.json").write_text('{ "type": "module" }')
        (folder / "script.mjs").write_text(text)
        (folder / "page.mjs").write_text(NODE_PAGE % ("http://{}:{}/".format(*self.server.address), len(expected.strip().splitlines())))
        ran = node(folder / "page.mjs")
        self.check(expected, ran.stdout + ran.stderr, text)

    def js_in_chromium(self, text, expected):
        sys.path.insert(0, str(REPOSITORY / "scripts"))
        from browse_push import Tab
        from browse_site import Browser
        browser = Browser(CHROMIUM, self.folder)
        try:
            tab = Tab(browser, "http://{}:{}/index.html".format(*self.server.address))
            tab.run("window.printed = []; console.log = (...what) => printed.push(what.join(' '))")
            script = re.sub(r"^import (\{.*?\}) from '\./push\.js';", r"const \1 = await import('/push.js');", text, flags=re.MULTILINE)
            tab.run(f"(async () => {{ {script} }})()")
            tab.until(f"printed.length >= {len(expected.strip().splitlines())}")
            self.check(expected, "\n".join(tab.run("printed")), text)
        finally:
            browser.stop()


@pytest.mark.parametrize("blocks", [blocks for _, blocks in PAGE.sections], ids=[title for title, _ in PAGE.sections])
def test_section(blocks, tmp_path):
    reader = PushReader(PAGE, tmp_path)
    reader.work_through(blocks)
    if reader.left_out:
        pytest.skip("all but the scripts of pages, for want of Node (with ws and eventsource) or Chromium")


def test_there_are_examples():
    assert len(PAGE.sections) >= 8
    PAGE.check_languages()


def test_metrics_are_there(tmp_path):
    reader = PushReader(PAGE, tmp_path)
    try:
        reader.configure('{ "path": "/metrics", "metrics": {} }')
        said = reader.server.ask("/metrics").body.decode()
    finally:
        reader.stop()
    named = re.findall(r"`(roost_\w+)`", PAGE.text)
    types = re.findall(r"^# TYPE (\w+) ", said, re.MULTILINE)
    assert len(named) >= 10 and not set(named) - set(types)
    assert len(types) == len(set(types))
