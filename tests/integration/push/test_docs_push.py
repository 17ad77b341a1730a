"""docs/push.md: every example is run, against a server with the configuration that stands above it.

A section (##) has one server, which a block of jsonc in it (a whole configuration, or a route) replaces, and one folder to work in.
`console` blocks are run by bash, line by line after "$ ", and their output compared; `python` blocks print what the `text` block
behind them says; `js` blocks run in Node, and in Chromium, where it is installed, in a page of that server. Ids, times and
numbers of milliseconds differ from run to run: what stood in the text for one stands for the real one in later commands, too, and an id
that comes again has to be the same again. "…" stands for anything, on a line of its own for any number of lines.
"""

import json
import re
import shutil
import subprocess
import sys

import pytest

from push_node import has_node, node
from roost_server import REPOSITORY, Server

PAGE = REPOSITORY / "docs/push.md"
FENCE = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
TOKENS = re.compile(r"(?P<id>\b(?:1\d{9}|0):\d+-[0-9a-f]{8}\b)|(?P<tag>\b\d+-[0-9a-f]{8}\b)|(?P<date>\w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d GMT)"
                    r"|(?P<ms>\b\d+\.\d{3}\b)|(?P<ago>(?<=requested.: )\d+)|(?P<any>…)")
PATTERNS = {"id": r"(?:1\d{9}|0):SEQ-[0-9a-f]{8}", "tag": r"SEQ-[0-9a-f]{8}", "date": r"\w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d GMT",
            "ms": r"\d+\.\d{3}", "ago": r"\d+", "any": ".*"}
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


def sections():
    """(title, [(language, text), ...]) of those that have examples."""
    for section in re.split(r"^## ", PAGE.read_text(), flags=re.MULTILINE)[1:]:
        blocks = FENCE.findall(section)
        if blocks:
            yield section.partition("\n")[0], blocks


SECTIONS = list(sections())


def without_comments(text):
    return re.sub(r",(\s*[}\]])", r"\1", re.sub(r"(?m)(^|[\s,{\[])//.*$", r"\1", text))


class Reader:
    """Somebody who works through one section."""

    def __init__(self, folder):
        self.folder = folder
        self.known = {}  # what the text shows: what it is here
        self.server = None
        self.count = 0
        self.left_out = False

    def configure(self, text):
        value = json.loads(without_comments(text))
        config = value
        if "path" in value:
            config = json.loads(without_comments(SECTIONS[0][1][0][1]))
            config["http"]["sites"][0]["routes"].insert(0, value)
        self.stop()
        self.count += 1
        folder = self.folder / f"server{self.count}"
        shutil.copytree(REPOSITORY / "html", folder / "html")
        self.server = Server(folder, {**config, "address": "127.0.0.1", "port": 0})
        self.known["127.0.0.1:4507"] = self.known["localhost:4507"] = "{}:{}".format(*self.server.address)

    def stop(self):
        if self.server is not None:
            self.server.stop()

    def here(self, text):
        """The text with what it shows replaced by what it is here."""
        for shown in sorted(self.known, key=len, reverse=True):
            text = text.replace(shown, self.known[shown])
        return text

    def check(self, shown, real, what):
        """Compares lines, and learns what ids and times are."""
        shown, real = shown.rstrip("\n").split("\n"), real.rstrip("\n").replace("\r", "").split("\n")
        position = 0
        for number, line in enumerate(shown):
            if line.strip() == "…":
                rest = len([later for later in shown[number + 1:] if later.strip() != "…"])
                if rest == 0:
                    return
                while position < len(real) - rest and not self.matches(shown[number + 1], real[position]):
                    position += 1
                continue
            assert position < len(real), f"{what}\nends before: {line}\n{chr(10).join(real)}"
            assert self.matches(line, real[position], learn=True), f"{what}\n{line!r} is shown, it is {real[position]!r}:\n{chr(10).join(real)}"
            position += 1
        assert position == len(real), f"{what}\nmore than is shown: {real[position:]}"

    def matches(self, shown, real, learn=False):
        pattern, names, end = "", [], 0
        for token in TOKENS.finditer(shown):
            kind, text = token.lastgroup, token.group()
            names.append((kind, text))
            seq = re.sub(r"^.*:|-.*$", "", text)
            pattern += re.escape(self.here(shown[end:token.start()])) + "(" + PATTERNS[kind].replace("SEQ", seq) + ")"
            end = token.end()
        match = re.fullmatch(pattern + re.escape(self.here(shown[end:])), real)
        if not match:
            return False
        for (kind, text), value in zip(names, match.groups()):
            if kind in ("id", "tag"):
                if self.known.get(text, value) != value:
                    return False
            if learn and kind in ("id", "tag", "date"):
                self.known[text] = value
        return True

    # the languages

    def console(self, text):
        for step in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
            lines = step.split("\n")
            command = [lines.pop(0)]
            while command[-1].endswith("\\"):
                command.append(lines.pop(0))
            script = self.here("\n".join(command)).replace("sleep 0.5", "sleep 1")  # other tests run beside this one
            # A file, since what runs on in the background would keep a pipe open.
            with open(self.folder / "output", "w+b") as output:
                subprocess.run(["bash", "-c", script], cwd=self.folder, stdin=subprocess.DEVNULL, stdout=output, stderr=output,
                               timeout=60, check=False)
            self.check("\n".join(lines).rstrip("\n"), (self.folder / "output").read_text(), script)

    def python(self, text, expected):
        ran = subprocess.run([sys.executable, "-c", self.here(text)], cwd=self.folder, capture_output=True, text=True, timeout=60, check=False)
        self.check(expected, ran.stdout + ran.stderr, text)

    def js(self, text, expected):
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


@pytest.mark.parametrize("blocks", [blocks for _, blocks in SECTIONS], ids=[title for title, _ in SECTIONS])
def test_section(blocks, tmp_path):
    reader = Reader(tmp_path)
    try:
        if not any(language == "jsonc" for language, _ in blocks):
            reader.configure(SECTIONS[0][1][0][1])
        elif blocks[0][0] != "jsonc":
            reader.configure(SECTIONS[0][1][0][1])
        for number, (language, text) in enumerate(blocks):
            if language == "jsonc":
                reader.configure(text)
            elif language == "console":
                reader.console(text)
            elif language in ("python", "js"):
                following = blocks[number + 1] if number + 1 < len(blocks) else (None, "")
                assert following[0] == "text", f"what this prints is wanted in a text block:\n{text}"
                getattr(reader, language)(text, following[1])
            else:
                assert language == "text", f"no example can be in {language}"
    finally:
        reader.stop()
    if reader.left_out:
        pytest.skip("all but the scripts of pages, for want of Node (with ws and eventsource) or Chromium")


def test_there_are_examples():
    text = PAGE.read_text()
    assert len(SECTIONS) >= 8
    assert len(FENCE.findall(text)) * 2 == text.count("```"), "a block without a language is not run"


def test_metrics_are_there(tmp_path):
    reader = Reader(tmp_path)
    try:
        reader.configure('{ "path": "/metrics", "metrics": {} }')
        said = reader.server.ask("/metrics").body.decode()
    finally:
        reader.stop()
    named = re.findall(r"`(roost_\w+)`", PAGE.read_text())
    types = re.findall(r"^# TYPE (\w+) ", said, re.MULTILINE)
    assert len(named) >= 10 and not set(named) - set(types)
    assert len(types) == len(set(types))
